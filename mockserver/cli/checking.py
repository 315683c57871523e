"""Commands that check: our file formats, and the installation."""

import sys
from pathlib import Path

import click

from mockserver.cli.files import spread, with_overlay
from mockserver.cli.printing import print_json
from mockserver.cli.shared_options import JSON, OVERLAY, PATH
from mockserver.errors import InvalidFile, Problem


@click.command()
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option(
    "--against-contract",
    is_flag=True,
    help="Hold the exchanges of recordings against the contract as well; 1 where one breaks it.",
)
@click.option("--dialect", help="The dialect to hold against; without it the recording's own.")
@OVERLAY
def validate(
    files: tuple[Path, ...], *, against_contract: bool, dialect: str | None, overlay: Path | None
) -> None:
    """Check FILES of any of our formats; each problem is named with its file and line."""
    problems: list[Problem] = []
    broken: list[Problem] = []
    for file in spread(files):
        try:
            kind = _check(file)
        except InvalidFile as error:
            problems.extend(error.problems)
        else:
            click.echo(f"{file}: a valid {kind}")
            if against_contract and kind == "recording":
                broken.extend(_breaches(file, dialect, overlay))
    for problem in problems:
        click.echo(str(problem), err=True)
    for problem in broken:
        click.echo(str(problem), err=True)
    if problems or broken:
        sys.exit(2 if problems else 1)


def _check(file: Path) -> str:
    from mockserver import documents, recordings, scenarios
    from mockserver.clock import wall_ms

    kind = documents.read(file).kind
    match kind:
        case "scenario":
            scenarios.load_scenario(file)
        case "calendar":
            scenarios.load_calendar(file, start_ms=wall_ms())
        case "catalog":
            scenarios.load_catalog(file.parent)
        case "recording":
            recordings.load(file)
    return kind


def _breaches(file: Path, dialect: str | None, overlay: Path | None) -> list[Problem]:
    from mockserver import documents, recordings
    from mockserver.contract import load
    from mockserver.responders.breaches import breaches

    recording = recordings.load(file)
    spoken = dialect or recording.dialect or "documented"
    contract = load(with_overlay(spoken, overlay))
    document = documents.read(file)
    return [
        document.problem(("exchanges", index, part), f"{name}: {message}")
        for index, name, part, message in breaches(recording, contract)
    ]


@click.command()
@JSON
def doctor(as_json: bool) -> None:
    """Tell what is installed, what is missing, and what may get in the way."""
    from mockserver.cli.examination import examine

    found = tuple(examine())
    if as_json:
        print_json([{"mark": one.mark, "text": one.text} for one in found])
    else:
        for one in found:
            click.echo(f"{one.mark:4}  {one.text}")
    if any(one.mark == "BAD" for one in found):
        sys.exit(1)
