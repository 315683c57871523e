"""The head of a world: all of its dump but the long lists, and what dumps leave out, by part.

The parts are those of the dump, whatever they are: one that is added there is kept by itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from mockserver.clock import ClockMode
from mockserver.engine.dumps import from_plain, to_plain
from mockserver.jsontext import Json
from mockserver.signing.keyring import Keyring
from mockserver.worlds.claims_and_expectations import Beliefs
from mockserver.worlds.hosted import AwaitedRefusal, Horizon, HostedWorld
from mockserver.worlds.state.row_encoding import encoded
from mockserver.worlds.world_token import WorldToken

CLOCK, WALL, HOSTING = "world.clock", "wall", "hosting"
"""Parts by name: the clock, the wall clock's time when that was read, and what dumps leave out."""

_INSIDE = "world"
# Parts that no request for an operation changes.
_PLACES = ("format", "dialect", "appKeys", "node")


def parts_of(hosted: HostedWorld, app_keys: Iterable[str]) -> dict[str, str]:
    """Return the parts of a world as JSON, by name; those inside the engine's are dotted."""
    dump = hosted.dump(list(app_keys), _left_out)
    values = {name: value for name, value in dump.items() if name != _INSIDE}
    values |= {f"{_INSIDE}.{name}": value for name, value in dump[_INSIDE].items()}
    parts = {name: encoded(value) for name, value in values.items() if value is not None}
    return {**parts, HOSTING: encoded(hosting_of(hosted))}


def is_quiet(parts: Mapping[str, str]) -> bool:
    """Tell whether requests change nothing but clock, outages and rows: there are no faults, …."""
    return all(
        text == "[]"
        for name, text in parts.items()
        if not name.startswith((_INSIDE, WALL, HOSTING)) and name not in _PLACES
    )


def dump_of(parts: Mapping[str, Json]) -> dict[str, Json]:
    """Return the dump of parts, whose long lists are empty."""
    inside: dict[str, Json] = {"orders": [], "tickets": []}
    dump: dict[str, Json] = {"transactions": [], _INSIDE: inside}
    for name, value in parts.items():
        place, _, member = name.partition(".")
        if member:
            inside[member] = value
        elif name not in (WALL, HOSTING):
            dump[place] = value
    return dump


def _left_out(items: Iterable[Any]) -> None:
    """Leave a long list out: its items are rows."""


def hosting_of(hosted: HostedWorld) -> dict[str, Json]:
    """Return what the dump of a world leaves out."""
    scenario, keys = hosted.world.scenario, hosted.keys
    return {
        "began_ms": hosted.began_ms,
        "beginning": {
            "clock_mode": scenario.clock_mode.value,
            "clock_rate": str(scenario.clock_rate),
            "start_ms": scenario.start_ms,
        },
        "expected": [asdict(item) for item in hosted.expected],
        "failures": list(hosted.failures),
        "horizon": asdict(hosted.horizon),
        "keys": {"developers": dict(keys.developers), "wallets": keys.wallets},
        "lost": hosted.lost,
        # Left out without any, as in files from before they were kept.
        **({"beliefs": to_plain(beliefs)} if (beliefs := hosted.beliefs) != Beliefs() else {}),
        **({"token": asdict(hosted.token)} if hosted.token is not None else {}),
    }


def beginning_of(hosting: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a scenario that the options of its world had changed."""
    beginning = hosting["beginning"]
    return {
        "clock_mode": ClockMode(beginning["clock_mode"]),
        "clock_rate": Decimal(beginning["clock_rate"]),
        "start_ms": beginning["start_ms"],
    }


def restore_hosting(hosted: HostedWorld, hosting: Mapping[str, Any]) -> None:
    """Give a world back what its dump leaves out."""
    hosted.began_ms = hosting["began_ms"]
    hosted.expected = tuple(AwaitedRefusal(**item) for item in hosting["expected"])
    hosted.failures = tuple(hosting["failures"])
    undone = tuple((first, last) for first, last in hosting["horizon"]["undone"])
    hosted.horizon = Horizon(**{**hosting["horizon"], "undone": undone})
    # Keys of the command line come first: whoever starts the server may have changed them.
    by_option, kept = hosted.keys, hosting["keys"]
    developers = MappingProxyType({**kept["developers"], **by_option.developers})
    hosted.keys = Keyring(developers, kept["wallets"] or by_option.wallets, by_option.clock)
    hosted.lost = hosting["lost"]
    if "beliefs" in hosting:
        hosted.beliefs = from_plain(Beliefs, hosting["beliefs"])
    if "token" in hosting:
        hosted.token = WorldToken(**hosting["token"])
