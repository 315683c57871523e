"""Control of worlds: made, forked, kept and brought back, dumped, loaded, bound and dropped."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from mockserver import jsontext
from mockserver.clock import ClockMode
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, instant_ms
from mockserver.server.control.route import ControlRequest, NotAllowed, ServerState
from mockserver.times_and_durations import iso, parse_duration
from mockserver.worlds.hosted import HostedWorld, UnknownWorld, WorldAway
from mockserver.worlds.world_token import WorldToken

# The options of a new world: the member of the body, the option, and how it is read.
_CHANGES: Mapping[str, tuple[str, Callable[[Any], object]]] = MappingProxyType(
    {
        "scenario": ("scenario", str),
        "dialect": ("dialect", str),
        "clock": ("clock", ClockMode),
        "rate": ("rate", Decimal),
        "start": ("start_ms", instant_ms),
        "seed": ("seed", int),
        "breaks": ("breaks", tuple),
        "lenientChain": ("lenient_chain", bool),
        "finiteVault": ("finite_vault", bool),
        "blockPace": ("block_pace_ms", parse_duration),
    }
)


def show(request: ControlRequest) -> Iterator[bytes]:
    worlds = jsontext.LazyArray(
        world_json(hosted, request.server) for hosted in request.server.worlds
    )
    return jsontext.pieces({"worlds": worlds})


def make(request: ControlRequest) -> Json:
    return _made(request, request.body["key"])


def make_here(request: ControlRequest) -> Json:
    """Make the world that the path names; without options one that is there already will do."""
    key, worlds = request.hosted.key, request.server.worlds
    if "fork" in request.body:
        _copied(request, key)
    elif request.body or key not in worlds:
        _made(request, key)
    return where(replace(request, hosted=worlds.get(key)))


def check_copy(request: ControlRequest, key: str) -> None:
    """Raise `BadControl` where a world of a key cannot become a copy as a body says."""
    _free(request, key)
    more = [name for name in request.body if name not in ("fork", "appKeys", "token")]
    if more:
        raise BadControl(f"body field {more[0]!r}: a copy has that of its source; leave it out")


def source_of_copy(request: ControlRequest, key: str) -> HostedWorld:
    """Return the world of a key, to be copied. Raises `BadControl`, `NotAllowed`."""
    server = request.server
    try:
        is_there = server.worlds.is_there(key)
    except WorldAway as away:
        raise BadControl(f"{away.refusal}: {away}") from None
    if not is_there:
        raise UnknownWorld(
            f"there is no world {key!r} on this server{_at(_base(request))}; GET "
            f"/w/{key}/__mock/world tells where it lives, and 'world dump' and 'world load' copy "
            "worlds between servers"
        )
    source = server.worlds.get(key)
    if (denial := server.guard.denial(request.headers, source.token)) is not None:
        raise NotAllowed(f"world {key!r}: {denial.reason}")
    return source


def settle(request: ControlRequest, hosted: HostedWorld) -> None:
    """Give a new world the app keys and the token of a body. Raises `BadControl`."""
    request.server.worlds.bind(request.body.get("appKeys", ()), hosted.key)
    if "token" in request.body:
        hosted.token = WorldToken.of(request.body["token"])


def _copied(request: ControlRequest, key: str) -> None:
    check_copy(request, key)
    source = source_of_copy(request, request.body["fork"])
    if full := request.server.worlds.full(source.weight):
        raise BadControl(full)
    twin = source.fork(key)
    settle(request, twin)
    request.server.worlds.put(twin, forked_from=source)


def _made(request: ControlRequest, key: str) -> Json:
    body, worlds = request.body, request.server.worlds
    _free(request, key)
    mode = body.get("clock")
    if ("rate" in body) != (mode == ClockMode.SCALED):
        raise BadControl("body field 'rate': goes with clock 'scaled', and only with it")
    readings = ((name, read(body[wire])) for wire, (name, read) in _CHANGES.items() if wire in body)
    changes: dict[str, Any] = dict(readings)
    hosted = request.server.factory.create(key, **changes)
    settle(request, hosted)
    worlds.put(hosted)
    return world_json(hosted, request.server)


def where(request: ControlRequest) -> Json:
    """Return the address of a world, and the process that it lives in."""
    server, hosted = request.server, request.hosted
    return {
        "key": hosted.key,
        "url": f"{_base(request)}/w/{hosted.key}",
        "worker": server.worker,
        "workers": server.workers,
        "pid": os.getpid(),
        "epoch": hosted.epoch,
    }


def _base(request: ControlRequest) -> str:
    """Return the base URL by which clients reach this server; empty where it is not known."""
    host = request.headers.get("Host", "")
    return request.server.advertised or (f"{request.server.scheme}://{host}" if host else "")


def _at(base: str) -> str:
    return f" ({base})" if base else ""


def drop(request: ControlRequest) -> Json:
    """Forget a world with everything in it; a later request for its key makes a new one."""
    key = request.place["key"]
    if not request.server.worlds.drop(key):
        raise BadControl(f"world {key[:80]!r} does not exist; {_known_keys(request.server)}")
    return {"dropped": key}


def fork(request: ControlRequest) -> Json:
    """Make another world that has been the same up to now."""
    _free(request, request.body["to"])
    twin = request.hosted.fork(request.body["to"])
    request.server.worlds.put(twin, forked_from=request.hosted)
    return world_json(twin, request.server)


def reset(request: ControlRequest) -> Json:
    """Begin the scenario anew, without faults, stubs and journal; snapshots, keys, breaks stay."""
    request.hosted.reset()
    return world_json(request.hosted, request.server)


def snapshots(request: ControlRequest) -> Json:
    """Return the names of the snapshots of a world, oldest first."""
    return {"snapshots": list(request.hosted.world.snapshots())}


def snapshot(request: ControlRequest) -> Json:
    """Keep a world as it is, clock, faults, stubs and breaks too, under a name."""
    return {"name": request.hosted.snapshot(request.body.get("name")), "now": _now(request.hosted)}


def revert(request: ControlRequest) -> Json:
    """Go back to a snapshot, which stays; the journal goes on."""
    request.hosted.revert(request.body["name"])
    return {"name": request.body["name"], "now": _now(request.hosted)}


def drop_snapshot(request: ControlRequest) -> Json:
    request.hosted.drop(request.place["name"])
    return snapshots(request)


def dump(request: ControlRequest) -> Iterator[bytes]:
    """Return everything that has happened in a world, to be loaded later."""
    keys = request.server.worlds.bound(request.hosted.key)
    return jsontext.pieces(request.hosted.dump_of_epoch(keys, jsontext.LazyArray))


def load(request: ControlRequest) -> Json:
    """Put the world of a dump in the place of this one, whose snapshots and journal are gone."""
    key, worlds = request.hosted.key, request.server.worlds
    # Who calls the service in its own process prepares nothing.
    world: HostedWorld = request.prepared or loaded(request.server, key, request.body)
    world.keys, world.token = request.hosted.keys, request.hosted.token
    worlds.bind(request.body["appKeys"], key)
    worlds.put(world)
    return world_json(world, request.server)


def loaded(server: ServerState, key: str, dump: Json) -> HostedWorld:
    """Return the world of a dump, which may have thousands of orders. Raises as `load` does."""
    return server.factory.load(key, dump)


def bind(request: ControlRequest) -> Json:
    """Send v1 requests with these app keys to this world."""
    worlds, key = request.server.worlds, request.hosted.key
    worlds.bind(request.body["appKeys"], key)
    return {"appKeys": worlds.bound(key)}


def bound(request: ControlRequest) -> Json:
    """Return the app keys whose requests go to this world."""
    return {"appKeys": request.server.worlds.bound(request.hosted.key)}


def unbind(request: ControlRequest) -> Json:
    """Send no app keys to this world any more."""
    return {"released": request.server.worlds.unbind(request.hosted.key)}


def world_json(hosted: HostedWorld, server: ServerState) -> dict[str, Json]:
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
        "requests": hosted.requests,
        "snapshots": list(world.snapshots()),
        "appKeys": server.worlds.bound(hosted.key),
        "breaks": hosted.breaks.names,
        "restarts": hosted.restarts,
    }


def _now(hosted: HostedWorld) -> str:
    return iso(hosted.world.now())


def _free(request: ControlRequest, key: str) -> None:
    if key in request.server.worlds:
        raise BadControl(f"world {key!r} exists already; drop it first, or choose another key")


def _known_keys(server: ServerState) -> str:
    keys = [hosted.key for hosted in server.worlds]
    more = f" and {len(keys) - 20} more" if len(keys) > 20 else ""
    return f"known: {', '.join(keys[:20])}{more}"
