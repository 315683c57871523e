"""Commands that check our file formats and the installation, and complete what is typed."""

import importlib.metadata
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mockserver import __version__, resources
from mockserver.cli.files import with_overlay, yaml_files
from mockserver.cli.printing import print_json, print_text
from mockserver.errors import InvalidFile, Problem
from mockserver.wording import first_lines

if TYPE_CHECKING:
    from mockserver.recordings import Recording

# What each extra is for, and the modules that it installs.
_EXTRAS = {
    "speed": ("more requests a second", ("uvloop", "orjson")),
    "signing": ("wallet signatures of 2.0", ("coincurve", "Crypto")),
    "mcp": ("tools for agents", ("mcp",)),
    "conformance": ("deep runs of Schemathesis", ("schemathesis", "pytest")),
}


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
    from mockserver import documents, recordings
    from mockserver.contract import load
    from mockserver.validation import did_you_mean

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
        document = documents.read(file, "recording")
        raise InvalidFile(
            [document.problem(("exchanges", at, "operation"), text) for at, text in unknown.items()]
        )
    return recording


def _check(file: Path, check_recording: Callable[[Path], object]) -> str:
    from mockserver import documents, scenarios
    from mockserver.clock import wall_ms

    # Read twice: what the kind is decides who reads it, and with which form.
    kind = documents.read(file).kind
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
    from mockserver.responders.forms import BadControl
    from mockserver.worlds.factory import WorldFactory, WorldOptions

    if scenarios.load_scenario(file).failures:
        try:
            WorldFactory(WorldOptions(scenario=file), wall_ms)
        except BadControl as error:
            raise InvalidFile([Problem(str(file), None, "failures", str(error))]) from None


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


def doctor(as_json: bool) -> None:
    """Check the installation: what is there, what is missing, what may conflict."""
    examined = tuple(_examined())
    if as_json:
        print_json([{"mark": mark, "text": text} for mark, text in examined])
    else:
        for mark, text in examined:
            print_text(f"{mark:4}  {text}")
    if any(mark == "BAD" for mark, _ in examined):
        sys.exit(1)


# What was found, and its mark: `ok`, `-` if it is optional and missing, `note`, or `BAD`.
_Examined = tuple[str, str]


def _examined() -> Iterator[_Examined]:
    """Yield what was found, one thing at a time."""
    yield "ok", f"Python {platform.python_version()}"
    yield "ok", f"crosschain-mock {__version__}"
    yield from _data()
    yield from _conflicts()
    yield _plugin()
    for extra, (use, modules) in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            how = f"pip install 'crosschain-mock[{extra}]'"
            yield "-", f"extra {extra}, for {use}, is missing ({', '.join(missing)}): {how}"
        else:
            yield "ok", f"extra {extra}, for {use}"
    yield _parser()


def _plugin() -> _Examined:
    if find_spec("pytest") is None:
        return "-", "pytest plugin, for tests in Python, is missing (pytest): pip install pytest"
    return "ok", "pytest plugin, for tests with the fixture crosschain_mock"


def _data() -> Iterator[_Examined]:
    for folder in (resources.schemas(), resources.fixtures()):
        there = folder.is_dir() and any(folder.iterdir())
        text = f"data in {folder}" if there else f"no data in {folder}: install again"
        yield "ok" if there else "BAD", text


def _conflicts() -> Iterator[_Examined]:
    """Another distribution uses the import name `mockserver`, or the plugin name of it."""
    owners = importlib.metadata.packages_distributions().get("mockserver", [])
    others = sorted({name for name in owners if name != "crosschain-mock"})
    if others:
        text = f"the import name 'mockserver' is also installed by {', '.join(others)}: uninstall"
        yield "BAD", text
    plugins = importlib.metadata.entry_points(group="pytest11")
    for plugin in plugins:
        if plugin.name == "mockserver" and plugin.dist and plugin.dist.name != "crosschain-mock":
            text = (
                f"pytest plugin 'mockserver' belongs to {plugin.dist.name}; ours is "
                "'crosschain_mock', both can be used side by side"
            )
            yield "note", text
    if not others:
        yield "ok", "no other distribution claims the import name 'mockserver'"


def _parser() -> _Examined:
    from aiohttp.http_parser import HttpRequestParser

    compiled = HttpRequestParser.__module__ == "aiohttp._http_parser"
    parser = "compiled" if compiled else "slow Python"
    return "ok" if compiled else "note", f"aiohttp's HTTP parser is {parser}"


def completion(shell: str) -> None:
    """Print a script that completes commands and options in a SHELL.

    For example: eval "$(crosschain-mock completion bash)"
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"{shell} cannot be completed here; there are bash, zsh, fish")
    root = click.get_current_context().find_root()
    click.echo(made(root.command, {}, "crosschain-mock", "_CROSSCHAIN_MOCK_COMPLETE").source())
