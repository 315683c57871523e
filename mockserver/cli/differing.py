"""The command `compare`: do two services, or a service and a journal, answer alike?"""

import sys
from contextlib import nullcontext
from typing import Any

import click

from mockserver.cli.printing import print_json
from mockserver.cli.run_options import with_rows
from mockserver.cli.shared_options import JSON
from mockserver.cli.types import quantity
from mockserver.conformance.option_table import RUN


@click.command()
@click.argument("left")
@click.argument("right")
@click.option(
    "--band",
    type=quantity("percent", "percent", "0", "1000", sign="%"),
    default="1",
    show_default=True,
    help="By how many percent prices and amounts may differ.",
)
@click.option("--words", is_flag=True, help="Compare texts for people, too.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="PLACE",
    help="A place such as 'data.list[].scanUrl', or an operation; * fits. Repeatable.",
)
@JSON
@click.option("--verbose", "-v", is_flag=True, help="Every example and every reason.")
@with_rows(RUN)
def compare(left: str, right: str, *, as_json: bool, verbose: bool, **given: Any) -> None:
    """Tell how RIGHT answers otherwise than LEFT.

    Each is the base address of a service, two of them joined by a comma for v1 and 2.0, or a file
    that `conform --journal` wrote. A service is asked what the other side was asked; between two
    journals nothing is sent. Only reading requests are sent unless --arm-writes is given.

    Exit 0 where they answer alike, 1 where they differ, 2 for wrong or unsafe options, 3 where
    nothing could be compared.
    """
    from mockserver.conformance.comparison import Band, Terms
    from mockserver.conformance.comparison import compare as held_against
    from mockserver.conformance.comparison.rendering import facts, lines
    from mockserver.conformance.report.progress import Progress
    from mockserver.conformance.result import INTERRUPTED
    from mockserver.conformance.runs.settings import options_from

    terms = Terms(Band(given.pop("band")), given.pop("words"), given.pop("ignore"))
    options = options_from(given)
    with Progress(sys.stderr) if sys.stderr.isatty() else nullcontext() as progress:
        comparison = held_against(left, right, options, terms, watch=progress)
    if as_json:
        print_json(facts(comparison))
    else:
        for line in lines(comparison, verbose=verbose):
            click.echo(line)
    sys.exit(130 if INTERRUPTED in comparison.notes else comparison.exit_code)
