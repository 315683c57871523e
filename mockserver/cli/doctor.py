"""Commands about the installation: what it lacks, and the completion of what is typed."""

import importlib.metadata
import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import click

from mockserver import __version__, resources
from mockserver.cli.printing import print_json, print_text

# What each extra is for, and the modules that it installs.
_EXTRAS = {
    "speed": ("more requests a second", ("uvloop", "orjson")),
    "signing": ("wallet signatures of 2.0", ("coincurve", "Crypto")),
    "mcp": ("tools for agents", ("mcp",)),
    "conformance": ("deep runs of Schemathesis", ("schemathesis", "pytest")),
}


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
