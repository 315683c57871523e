"""The commands `diff` and `compare`: two versions of the contract, and two services."""

import sys
from contextlib import nullcontext
from typing import Any

import click

from mockserver.cli.printing import print_json, print_levels, print_text


def diff(old: str, new: str, dialect: str, form: str, fail_on: str, texts: bool) -> None:
    """Show what the contract NEW changes for clients of the contract OLD.

    Each is a folder of the form of `schemas/`, an OpenAPI 3.1 document (JSON or YAML), or a dialect
    of the shipped contract: 'documented', 'observed' or errata such as 'E-01,E-05'. Exits with 1
    if something breaks, and with 2 if one of the two cannot be read.
    """
    from mockserver.contract.diff import Level, read_side
    from mockserver.contract.diff import compare as held_against
    from mockserver.contract.diff.report import as_github, as_json, as_markdown, as_text

    comparison = held_against(read_side(old, dialect), read_side(new, dialect))
    comparison = comparison if texts else comparison.without_texts()
    if form == "text":
        print_levels(as_text(comparison))
    else:
        written = {"json": as_json, "markdown": as_markdown, "github": as_github}[form]
        click.echo(written(comparison))
    failing = () if fail_on == "never" else Level(fail_on).or_worse
    if any(comparison.of(level) for level in failing):
        sys.exit(1)


def compare(left: str, right: str, *, as_json: bool, verbose: bool, **given: Any) -> None:
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

    terms = Terms(Band(given.pop("band")), given.pop("words"), given.pop("ignore"))
    options = options_from(given)
    with Progress(sys.stderr) if sys.stderr.isatty() else nullcontext() as progress:
        comparison = held_against(left, right, options, terms, watch=progress)
    if as_json:
        print_json(facts(comparison))
    else:
        for line in lines(comparison, verbose=verbose):
            print_text(line)
    sys.exit(130 if INTERRUPTED in comparison.notes else comparison.exit_code)
