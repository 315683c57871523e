"""Commands that check: our file formats, and the installation."""

import sys
from pathlib import Path

import click

from mockserver.cli.files import spread
from mockserver.errors import InvalidFile, Problem


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def validate(files: tuple[Path, ...]) -> None:
    """Check FILES of any of our formats; each problem is named with its file and line."""
    problems: list[Problem] = []
    for file in spread(files):
        try:
            kind = _check(file)
        except InvalidFile as error:
            problems.extend(error.problems)
        else:
            click.echo(f"{file}: a valid {kind}")
    for problem in problems:
        click.echo(str(problem), err=True)
    if problems:
        sys.exit(2)


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


@click.command()
def doctor() -> None:
    """Tell what is installed, what is missing, and what may get in the way."""
    from mockserver.cli.examination import examine

    worst = 0
    for finding in examine():
        click.echo(f"{finding.mark:4}  {finding.text}")
        worst = max(worst, finding.level)
    if worst > 1:
        sys.exit(1)
