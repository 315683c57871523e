"""The control API under `/__mock/`: what a test or a person does to a world, and never a client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from mockserver import __version__, jsontext
from mockserver.clock import ClockMode, iso, parse_duration, parse_instant
from mockserver.engine.outages import Direction, InFlight, Mode, Window
from mockserver.engine.reserved import RESERVED
from mockserver.errors import CrosschainMockError
from mockserver.exchange import BadEncoding, Request, Response, query_pairs
from mockserver.jsontext import Json
from mockserver.responders.hosted import HostedWorld, Worlds
from mockserver.responders.refusing import JSON_TYPE


class ControlRefused(CrosschainMockError):
    """A control request that cannot be carried out; nothing has changed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A control request: the world, the parameters of the query and the members of the body."""

    hosted: HostedWorld
    query: Mapping[str, str]
    body: Mapping[str, Json]


Action = Callable[[Asked], Json]


class Control:
    """Answers control requests; each is one row of a table."""

    def __init__(self, worlds: Worlds) -> None:
        """Work on the worlds of a server."""
        self._worlds = worlds
        self.ready = False
        self._actions: Mapping[tuple[str, str], Action] = MappingProxyType(
            {
                ("GET", "/ready"): self._ready,
                ("GET", "/live"): _live,
                ("GET", "/version"): _version,
                ("GET", "/clock"): _clock,
                ("POST", "/clock"): _move_clock,
                ("GET", "/outages"): _outages,
                ("POST", "/outages"): _suspend,
                ("DELETE", "/outages"): _restore,
                ("GET", "/journal"): _journal,
                ("DELETE", "/journal"): _forget,
                ("POST", "/reset"): _reset,
                ("GET", "/reserved"): _reserved,
                ("GET", "/assumptions"): _assumptions,
            }
        )

    def answer(self, hosted: HostedWorld, path: str, request: Request) -> Response:
        """Return the answer to a request for a path below `/__mock`."""
        path = path.rstrip("/")
        action = self._actions.get((request.method, path))
        if action is None:
            return self._lost(path, request.method)
        try:
            asked = Asked(hosted, _query(request), _body(request))
            found = action(asked)
        except CrosschainMockError as error:
            return _json(400, {"error": str(error)})
        status = 503 if path == "/ready" and not self.ready else 200
        return _json(status, found)

    def _ready(self, asked: Asked) -> Json:
        return {"ready": self.ready}

    def _lost(self, path: str, method: str) -> Response:
        methods = sorted({known for known, place in self._actions if place == path})
        if methods:
            told = f"{method} /__mock{path} is not answered; use {' or '.join(methods)}"
            return _json(405, {"error": told}).with_headers(("Allow", ", ".join(methods)))
        places = ", ".join(sorted({f"/__mock{place}" for _, place in self._actions}))
        return _json(404, {"error": f"nothing is at '/__mock{path[:100]}'; there are {places}"})


def _live(asked: Asked) -> Json:
    return {"live": True}


def _version(asked: Asked) -> Json:
    return {
        "version": __version__,
        "dialect": asked.hosted.contract.dialect.name,
        "scenario": asked.hosted.world.scenario.name,
        "world": asked.hosted.key,
    }


def _clock(asked: Asked) -> Json:
    clock, now = asked.hosted.world.time.clock, asked.hosted.world.now()
    return {"now": iso(now), "ms": now, "mode": clock.mode.value, "rate": clock.rate}


def _move_clock(asked: Asked) -> Json:
    """Advance by a duration, set a time, or change how time passes."""
    told = _known(asked.body, "advance", "set", "mode", "rate")
    if len(told.keys() & {"advance", "set", "mode"}) != 1:
        raise ControlRefused("give one of 'advance' (a duration), 'set' (a time) or 'mode'")
    time = asked.hosted.world.time
    if "advance" in told:
        time.advance(parse_duration(_text(told, "advance")))
    elif "set" in told:
        time.set(parse_instant(_text(told, "set")))
    else:
        mode = _choice(told, "mode", ClockMode)
        rate = _rate(told) if mode is ClockMode.SCALED else Decimal(1)
        time.switch(mode, rate)
    return _clock(asked)


def _outages(asked: Asked) -> Json:
    outages, now = asked.hosted.world.outages, asked.hosted.world.now()
    return {
        "now": iso(now),
        "outages": [_window(window, active=window.covers(now)) for window in outages.all()],
    }


def _suspend(asked: Asked) -> Json:
    """Suspend a chain or a token, from now on or from a time, until restored or until a time."""
    told = _known(
        asked.body,
        *("chain", "token", "mode", "direction", "from", "until", "for", "inFlight", "reason"),
        *("lead", "lag", "period", "downPercent"),
    )
    now = asked.hosted.world.now()
    begin = parse_instant(_text(told, "from")) if "from" in told else now
    if "until" in told and "for" in told:
        raise ControlRefused("give 'until' (a time) or 'for' (a duration), not both")
    end = parse_instant(_text(told, "until")) if "until" in told else None
    end = begin + parse_duration(_text(told, "for")) if "for" in told else end
    window = Window(
        chain=_optional(told, "chain"),
        token=_optional(told, "token"),
        from_ms=begin,
        until_ms=end,
        mode=_choice(told, "mode", Mode, Mode.LISTED_DEAD),
        direction=_choice(told, "direction", Direction, Direction.BOTH),
        in_flight=_choice(told, "inFlight", InFlight, InFlight.STALL),
        reason=_optional(told, "reason") or "",
        lead_ms=_duration(told, "lead"),
        lag=_whole(told, "lag", 1),
        period_ms=_duration(told, "period"),
        down_percent=_whole(told, "downPercent", 50),
    )
    return _window(asked.hosted.world.outages.suspend(window), active=begin <= now)


def _restore(asked: Asked) -> Json:
    """End the active outages of a chain, a token, or a token on a chain."""
    told = _known({**asked.query, **asked.body}, "chain", "token", "direction")
    if not told.keys() & {"chain", "token"}:
        raise ControlRefused("name the 'chain' or the 'token' to restore")
    direction = _choice(told, "direction", Direction) if "direction" in told else None
    ended = asked.hosted.world.outages.restore(
        _optional(told, "chain"), _optional(told, "token"), direction
    )
    return {"restored": [_window(window, active=False) for window in ended]}


def _journal(asked: Asked) -> Json:
    told = _known(asked.query, "since", "operation")
    journal = asked.hosted.journal
    since = _whole(told, "since", 0)
    entries = [
        entry.render()
        for entry in journal.since(since)
        if told.get("operation") in (None, entry.operation)
    ]
    return {"last": journal.last_sequence, "dropped": journal.dropped, "entries": entries}


def _forget(asked: Asked) -> Json:
    asked.hosted.journal.clear()
    return {"last": asked.hosted.journal.last_sequence}


def _reset(asked: Asked) -> Json:
    """Begin the scenario anew and forget the journal."""
    asked.hosted.world.reset()
    asked.hosted.journal.clear()
    asked.hosted.played.clear()
    return _version(asked)


def _reserved(asked: Asked) -> Json:
    return {
        "reserved": [
            {
                "code": one.code,
                "effect": one.effect.value,
                "name": one.name,
                "meaning": one.meaning,
                "generations": list(one.generations),
                "amount": str(one.amount),
                "address": one.address,
                "hash": one.hash,
            }
            for one in RESERVED
        ]
    }


def _assumptions(asked: Asked) -> Json:
    return {
        "assumptions": [
            {"id": one.id, "title": one.title, "chosen": one.chosen, "reason": one.reason}
            for one in asked.hosted.contract.assumptions
        ]
    }


def _window(window: Window, *, active: bool) -> Json:
    return {
        "subject": window.subject,
        "chain": window.chain,
        "token": window.token,
        "mode": window.mode.value,
        "direction": window.direction.value,
        "inFlight": window.in_flight.value,
        "from": iso(window.from_ms),
        "until": None if window.until_ms is None else iso(window.until_ms),
        "active": active,
        "reason": window.reason,
    }


def _query(request: Request) -> dict[str, str]:
    try:
        return dict(query_pairs(request.query))
    except BadEncoding as error:
        raise ControlRefused(f"query: {error}") from None


def _body(request: Request) -> Mapping[str, Json]:
    if not request.body:
        return {}
    try:
        value = jsontext.decode(request.body)
    except jsontext.NotJson as error:
        raise ControlRefused(f"body: {error}; expected a JSON object") from None
    if not isinstance(value, Mapping):
        raise ControlRefused("body: expected a JSON object")
    return value


def _known(told: Mapping[str, Json], *names: str) -> Mapping[str, Json]:
    odd = [name for name in told if name not in names]
    if odd:
        raise ControlRefused(f"unknown member {odd[0][:60]!r}; there are {', '.join(names)}")
    return told


def _text(told: Mapping[str, Json], name: str) -> str:
    value = told[name]
    if not isinstance(value, str):
        raise ControlRefused(f"{name!r}: expected text, got {ascii(value)[:60]}")
    return value


def _optional(told: Mapping[str, Json], name: str) -> str | None:
    return _text(told, name) if told.get(name) is not None else None


def _duration(told: Mapping[str, Json], name: str) -> int:
    return parse_duration(_text(told, name)) if name in told else 0


def _whole(told: Mapping[str, Json], name: str, default: int) -> int:
    value = told.get(name, default)
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ControlRefused(f"{name!r}: expected a whole number, got {ascii(value)[:60]}")


def _rate(told: Mapping[str, Json]) -> Decimal:
    value = told.get("rate")
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 < value <= 1_000_000:
        return Decimal(value)
    raise ControlRefused("'rate': expected a number above 0 and up to 1000000")


def _choice(told: Mapping[str, Json], name: str, kind: Any, default: Any = None) -> Any:
    if name not in told and default is not None:
        return default
    try:
        return kind(told.get(name))
    except ValueError:
        allowed = ", ".join(one.value for one in kind)
        raise ControlRefused(
            f"{name!r}: expected one of {allowed}, got {ascii(told.get(name))[:60]}"
        ) from None


def _json(status: int, value: Json) -> Response:
    return Response(status, (JSON_TYPE,), jsontext.encode(value))
