"""The command `compare`."""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from mockserver.cli.printing import print_json, print_text

if TYPE_CHECKING:
    from mockserver.conformance.comparison import Comparison


def compare(left: str, right: str, *, as_json: bool, verbose: bool, **settings: Any) -> None:
    """Show where the answers of RIGHT differ from those of LEFT.

    Each is the base address of a service, two of them joined by a comma for v1 and 2.0, a file
    that `conform --journal` wrote, or recordings. Both sides get the same requests; between two
    files nothing is sent. Only reading requests are sent unless --arm-writes is given.

    Exits with 0 if they answer alike, 1 if they differ, 2 for wrong or unsafe options, and 3 if
    nothing could be compared.
    """
    from mockserver.conformance.comparison import Band, Terms
    from mockserver.conformance.comparison import compare as held_against
    from mockserver.conformance.report.progress import Progress
    from mockserver.conformance.result import INTERRUPTED
    from mockserver.conformance.runs.option_reading import options_from

    terms = Terms(Band(settings.pop("band")), settings.pop("words"), settings.pop("ignore"))
    options = options_from(settings)
    with Progress(sys.stderr) if sys.stderr.isatty() else nullcontext() as progress:
        comparison = held_against(left, right, options, terms, watch=progress)
    print_comparison(comparison, as_json=as_json, verbose=verbose)
    sys.exit(130 if INTERRUPTED in comparison.notes else comparison.exit_code)


def print_comparison(comparison: "Comparison", *, as_json: bool, verbose: bool) -> None:
    """Print a comparison for people, or for programs."""
    from mockserver.conformance.comparison.result import facts, lines

    if as_json:
        print_json(facts(comparison))
        return
    for line in lines(comparison, verbose=verbose):
        print_text(line)
