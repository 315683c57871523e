"""The command `compare`."""

import sys
from contextlib import nullcontext
from typing import Any

from mockserver.cli.printing import print_json, print_text


def compare(left: str, right: str, *, as_json: bool, verbose: bool, **settings: Any) -> None:
    """Show where the answers of RIGHT differ from those of LEFT.

    Each is the base address of a service, two of them joined by a comma for v1 and 2.0, or a file
    that `conform --journal` wrote. Both sides get the same requests; between two
    journals nothing is sent. Only reading requests are sent unless --arm-writes is given.

    Exits with 0 if they answer alike, 1 if they differ, 2 for wrong or unsafe options, and 3 if
    nothing could be compared.
    """
    from mockserver.conformance.comparison import Band, Terms
    from mockserver.conformance.comparison import compare as held_against
    from mockserver.conformance.comparison.result import facts, lines
    from mockserver.conformance.report.progress import Progress
    from mockserver.conformance.result import INTERRUPTED
    from mockserver.conformance.runs.settings import options_from

    terms = Terms(Band(settings.pop("band")), settings.pop("words"), settings.pop("ignore"))
    options = options_from(settings)
    with Progress(sys.stderr) if sys.stderr.isatty() else nullcontext() as progress:
        comparison = held_against(left, right, options, terms, watch=progress)
    if as_json:
        print_json(facts(comparison))
    else:
        for line in lines(comparison, verbose=verbose):
            print_text(line)
    sys.exit(130 if INTERRUPTED in comparison.notes else comparison.exit_code)
