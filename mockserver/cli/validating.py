"""Commands that check our file formats."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mockserver.cli.files import with_overlay, yaml_files
from mockserver.errors import InvalidFile, Problem
from mockserver.wording import first_lines

if TYPE_CHECKING:
    from mockserver.recordings import Recording


def validate(
    files: tuple[Path, ...], *, against_contract: bool, dialect: str | None, overlay: Path | None
) -> None:
    """Check FILES in formats of this project, and print problems with their line."""
    from mockserver import recordings

    def check_recording(file: Path) -> None:
        if against_contract:
            # An operation that the contract lacks is then one of the breaches.
            recordings.load(file)
        else:
            recording_of(file, dialect, overlay)

    problems: list[str] = []
    broken: list[str] = []
    for file in yaml_files(files):
        try:
            kind = _check(file, check_recording)
        except InvalidFile as error:
            problems.append(str(error))
        else:
            click.echo(f"{file}: a valid {kind}")
            if against_contract and kind == "recording":
                broken.extend(first_lines(_breaches(file, dialect, overlay)))
    for line in (*problems, *broken):
        click.echo(line, err=True)
    if problems or broken:
        # A file that cannot be read weighs more than one that breaks the contract.
        sys.exit(2 if problems else 1)


def recording_of(
    file: Path, dialect: str | None = None, overlay: Path | None = None
) -> "Recording":
    """Return a recording file. Raises `InvalidFile`, also for operations that its dialect lacks."""
    from mockserver import file_formats, recordings
    from mockserver.contract import load
    from mockserver.suggestions import did_you_mean

    recording = recordings.load(file)
    spoken = [dialect or recording.dialect or "documented"]
    # Without a dialect of its own, a recording may be of any.
    spoken += [] if dialect or recording.dialect else ["observed"]
    names = [operation.id for name in spoken for operation in load(with_overlay(name, overlay))]
    unknown = {
        index: f"{exchange.operation!r} is no operation{did_you_mean(exchange.operation, names)}"
        for index, exchange in enumerate(recording.exchanges)
        if exchange.operation not in names
    }
    if unknown:
        document = file_formats.read(file, "recording")
        raise InvalidFile(
            [document.problem(("exchanges", at, "operation"), text) for at, text in unknown.items()]
        )
    return recording


def _check(file: Path, check_recording: Callable[[Path], object]) -> str:
    from mockserver import file_formats, scenarios
    from mockserver.clock import wall_ms

    # Read twice: what the kind is decides who reads it, and with which form.
    kind = file_formats.read(file).kind
    match kind:
        case "scenario":
            _check_scenario(file)
        case "calendar":
            scenarios.load_calendar(file, start_ms=wall_ms())
        case "catalog":
            scenarios.load_catalog(file.parent)
        case "recording":
            check_recording(file)
    return kind


def _check_scenario(file: Path) -> None:
    """Raise `InvalidFile`, also for failures that its worlds cannot begin with."""
    from mockserver import scenarios
    from mockserver.clock import wall_ms
    from mockserver.errors import Problem
    from mockserver.responders.control_forms import BadControl
    from mockserver.worlds.factory import WorldFactory, WorldOptions

    if scenarios.load_scenario(file).failures:
        try:
            WorldFactory(WorldOptions(scenario=file), wall_ms)
        except BadControl as error:
            raise InvalidFile([Problem(str(file), None, "failures", str(error))]) from None


def _breaches(file: Path, dialect: str | None, overlay: Path | None) -> list[Problem]:
    from mockserver import file_formats, recordings
    from mockserver.contract import load
    from mockserver.responders.contract_breaches import breaches

    recording = recordings.load(file)
    spoken = dialect or recording.dialect or "documented"
    contract = load(with_overlay(spoken, overlay))
    document = file_formats.read(file)
    return [
        document.problem(("exchanges", index, part), f"{name}: {message}")
        for index, name, part, message in breaches(recording, contract)
    ]
