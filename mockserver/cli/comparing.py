"""The command `diff`: what changes for clients between two versions of the contract."""

import sys

import click

from mockserver.cli.printing import print_levels
from mockserver.cli.shared_options import changes_as


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--dialect",
    default="documented",
    show_default=True,
    metavar="NAME",
    help="How folders are read: 'documented', 'observed', or errata such as 'E-01,E-03'.",
)
@changes_as(("text", "json", "markdown", "github"), ("breaking", "may-break", "never"))
@click.option("--all", "texts", is_flag=True, help="Show changes of mere wording too.")
def diff(old: str, new: str, dialect: str, form: str, fail_on: str, texts: bool) -> None:
    """Say what changes for clients from the contract OLD to NEW.

    Each is a folder of the form of `schemas/`, an OpenAPI 3.1 document (JSON or YAML), or a dialect
    of the shipped contract: 'documented', 'observed' or errata such as 'E-01,E-05'. Exits with 1
    where something breaks, with 2 where one of the two cannot be read.
    """
    from mockserver.contract.diff import Level, compare, read_side
    from mockserver.contract.diff.report import as_github, as_json, as_markdown, as_text

    comparison = compare(read_side(old, dialect), read_side(new, dialect))
    if form == "text":
        print_levels(as_text(comparison, texts=texts))
    else:
        written = {"json": as_json, "markdown": as_markdown, "github": as_github}[form]
        click.echo(written(comparison, texts=texts))
    failing = () if fail_on == "never" else Level(fail_on).or_worse
    if any(comparison.of(level, texts=texts) for level in failing):
        sys.exit(1)
