"""What `doctor` looks at: the interpreter, the packages, the shipped data, other distributions."""

import importlib.metadata
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from mockserver import __version__, resources

_EXTRAS = {
    "uvloop": "a faster event loop",
    "orjson": "a faster reader of JSON",
    "coincurve": "wallet signatures of 2.0 (pip install 'crosschain-mock[signing]')",
    "pytest": "the pytest plugin",
    "hypothesis": "property-based tests",
    "schemathesis": "deep fuzzing",
}


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing that was looked at: `ok`, a `note` that is worth knowing, or `BAD`."""

    mark: str
    text: str


def examine() -> Iterator[Examined]:
    """Yield what was found, one thing at a time."""
    yield _python()
    yield Examined("ok", f"crosschain-mock {__version__}")
    yield from _data()
    yield from _conflicts()
    yield from _extras()
    yield _parser()


def _python() -> Examined:
    version = platform.python_version()
    fine = sys.version_info >= (3, 11)
    return Examined(
        "ok" if fine else "BAD", f"Python {version}{'' if fine else ': 3.11 or newer needed'}"
    )


def _data() -> Iterator[Examined]:
    for folder in (resources.schemas(), resources.fixtures()):
        there = folder.is_dir() and any(folder.iterdir())
        text = f"shipped data in {folder}" if there else f"no data in {folder}: install again"
        yield Examined("ok" if there else "BAD", text)


def _conflicts() -> Iterator[Examined]:
    """Another distribution uses the import name `mockserver`, or the plugin name of it."""
    owners = importlib.metadata.packages_distributions().get("mockserver", [])
    others = sorted({name for name in owners if name != "crosschain-mock"})
    if others:
        text = f"the import name 'mockserver' is also installed by {', '.join(others)}: uninstall"
        yield Examined("BAD", text)
    plugins = importlib.metadata.entry_points(group="pytest11")
    for plugin in plugins:
        if plugin.name == "mockserver" and plugin.dist and plugin.dist.name != "crosschain-mock":
            yield Examined(
                "note",
                f"pytest plugin 'mockserver' belongs to {plugin.dist.name}; ours is "
                "'crosschain_mock', both can be used side by side",
            )
    if not others:
        yield Examined("ok", "no other distribution claims the import name 'mockserver'")


def _extras() -> Iterator[Examined]:
    from importlib.util import find_spec

    for module, use in _EXTRAS.items():
        there = find_spec(module) is not None
        text = f"{module} is there" if there else f"optional: {module} is not installed"
        yield Examined("ok", f"{text}: {use}")


def _parser() -> Examined:
    from aiohttp.http_parser import HttpRequestParser

    compiled = HttpRequestParser.__module__ == "aiohttp._http_parser"
    text = (
        "aiohttp's HTTP parser is compiled" if compiled else "aiohttp's HTTP parser is slow Python"
    )
    return Examined("ok" if compiled else "note", text)
