"""Control of worlds: made, forked, kept and brought back, dumped, loaded, bound and dropped."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from mockserver import jsontext
from mockserver.clock import ClockMode, iso
from mockserver.jsontext import Json
from mockserver.responders.forms import BadControl, instant_ms
from mockserver.responders.hosted import HostedWorld
from mockserver.server.control.row import Asked, House

_CHANGES: Mapping[str, tuple[str, Callable[[Any], object]]] = MappingProxyType(
    {
        "scenario": ("scenario", str),
        "dialect": ("dialect", str),
        "clock": ("clock", ClockMode),
        "rate": ("rate", Decimal),
        "start": ("start_ms", instant_ms),
        "seed": ("seed", int),
        "breaks": ("breaks", tuple),
    }
)
"""What a new world may have of its own: the member that says it, the option, and how it is read."""


def show(asked: Asked) -> Iterator[bytes]:
    """Return the worlds of the server."""
    worlds = jsontext.Each(shown(hosted, asked.house) for hosted in asked.house.worlds)
    return jsontext.pieces({"worlds": worlds})


def make(asked: Asked) -> Json:
    """Make a world under a new key."""
    body, worlds = asked.body, asked.house.worlds
    _free(asked, body["key"])
    mode = body.get("clock")
    if ("rate" in body) != (mode == ClockMode.SCALED):
        raise BadControl("body field 'rate': goes with clock 'scaled', and only with it")
    found = ((name, read(body[wire])) for wire, (name, read) in _CHANGES.items() if wire in body)
    changes: dict[str, Any] = dict(found)
    hosted = asked.house.founder.found(body["key"], **changes)
    worlds.bind(body.get("appKeys", ()), hosted.key)
    worlds.put(hosted)
    return shown(hosted, asked.house)


def drop(asked: Asked) -> Json:
    """Forget a world with everything in it; asked for again, it begins afresh."""
    key = asked.place["key"]
    if not asked.house.worlds.drop(key):
        raise BadControl(f"world {key[:80]!r} does not exist; {_known(asked.house)}")
    return {"dropped": key}


def fork(asked: Asked) -> Json:
    """Make another world that has been the same up to now."""
    _free(asked, asked.body["to"])
    twin = asked.hosted.fork(asked.body["to"])
    asked.house.worlds.put(twin)
    return shown(twin, asked.house)


def reset(asked: Asked) -> Json:
    """Begin the scenario anew, without faults, stubs and journal; snapshots, keys, breaks stay."""
    asked.hosted.reset()
    return shown(asked.hosted, asked.house)


def snapshots(asked: Asked) -> Json:
    """Return the names of the snapshots of a world, oldest first."""
    return {"snapshots": list(asked.hosted.world.snapshots())}


def snapshot(asked: Asked) -> Json:
    """Keep a world as it is, clock, faults, stubs and breaks too, under a name."""
    return {"name": asked.hosted.snapshot(asked.body.get("name")), "now": _now(asked.hosted)}


def revert(asked: Asked) -> Json:
    """Go back to a snapshot, which stays; the journal goes on."""
    asked.hosted.revert(asked.body["name"])
    return {"name": asked.body["name"], "now": _now(asked.hosted)}


def drop_snapshot(asked: Asked) -> Json:
    """Forget a snapshot."""
    asked.hosted.drop(asked.place["name"])
    return snapshots(asked)


def dump(asked: Asked) -> Iterator[bytes]:
    """Return everything that has happened in a world, to be loaded later."""
    keys = asked.house.worlds.bound(asked.hosted.key)
    return jsontext.pieces(asked.hosted.dump(keys, jsontext.Each))


def load(asked: Asked) -> Json:
    """Put the world of a dump in the place of this one, whose snapshots and journal are gone."""
    key, worlds = asked.hosted.key, asked.house.worlds
    loaded = asked.house.founder.load(key, asked.body)
    loaded.keys = asked.hosted.keys
    worlds.bind(asked.body["appKeys"], key)
    worlds.put(loaded)
    return shown(loaded, asked.house)


def bind(asked: Asked) -> Json:
    """Send v1 requests with these app keys to this world."""
    worlds, key = asked.house.worlds, asked.hosted.key
    worlds.bind(asked.body["appKeys"], key)
    return {"appKeys": worlds.bound(key)}


def bound(asked: Asked) -> Json:
    """Return the app keys whose requests go to this world."""
    return {"appKeys": asked.house.worlds.bound(asked.hosted.key)}


def unbind(asked: Asked) -> Json:
    """Send no app keys to this world any more."""
    return {"released": asked.house.worlds.unbind(asked.hosted.key)}


def shown(hosted: HostedWorld, house: House) -> dict[str, Json]:
    """Return a world as the control API shows it."""
    world = hosted.world
    return {
        "key": hosted.key,
        "scenario": world.scenario.name,
        "dialect": hosted.contract.dialect.name,
        "seed": world.scenario.seed,
        "now": _now(hosted),
        "clock": world.time.clock.mode.value,
        "orders": world.orders.count(),
        "faults": len(hosted.faults),
        "stubs": len(hosted.stubs),
        "requests": hosted.journal.last_sequence,
        "snapshots": list(world.snapshots()),
        "appKeys": house.worlds.bound(hosted.key),
        "breaks": hosted.breaks.names,
    }


def _now(hosted: HostedWorld) -> str:
    return iso(hosted.world.now())


def _free(asked: Asked, key: str) -> None:
    if key in asked.house.worlds:
        raise BadControl(f"world {key!r} exists already; drop it first, or choose another key")


def _known(house: House) -> str:
    keys = [hosted.key for hosted in house.worlds]
    more = f" and {len(keys) - 20} more" if len(keys) > 20 else ""
    return f"there are {', '.join(keys[:20])}{more}"
