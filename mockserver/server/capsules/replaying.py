"""Going through a capsule again: every answer byte for byte, or where it diverged."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath

from mockserver import jsontext
from mockserver.clock import iso
from mockserver.errors import CrosschainMockError
from mockserver.exchange import Headers, Request, Response
from mockserver.jsontext import Json, NotJson
from mockserver.recordings import RecordedExchange
from mockserver.recordings.redaction import Redactor
from mockserver.responders.refusing import REFUSAL_HEADER
from mockserver.server.assembly import Settings, build
from mockserver.server.capsules.capsule import BadCapsule, Capsule
from mockserver.server.resimulation import with_signature
from mockserver.server.service import Service
from mockserver.validation import dotted, shown
from mockserver.values import dataclass

_LATER_MS = 3
"""A clock that runs may show so much more when the answer is made than when the request came."""

_KEY = "default"
_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Divergence:
    """An answer that is not the one in the capsule, and how it differs."""

    number: int
    exchange: RecordedExchange
    reason: str

    def __str__(self) -> str:
        return f"{self.number} ({self.exchange.operation}, {self.exchange.name}): {self.reason}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What going through a capsule came to."""

    count: int
    divergences: tuple[Divergence, ...]

    def __str__(self) -> str:
        if not self.divergences:
            return f"{self.count} answers, byte for byte the same"
        lines = [f"{len(self.divergences)} of {self.count} answers diverge"]
        return "\n".join([*lines, *(f"  {one}" for one in self.divergences)])


def replay(capsule: Capsule) -> Replayed:
    """Go through a capsule and hold every answer against the one in it.

    Raises `BadCapsule` where its world cannot be begun.
    """
    with tempfile.TemporaryDirectory() as folder:
        service = _service(capsule, Path(folder))
    _begin(service, capsule)
    redactor = Redactor()
    found = []
    for number, exchange in enumerate(capsule.journal.exchanges, 1):
        reason = _differs(service, exchange, redactor)
        if reason:
            found.append(Divergence(number, exchange, reason))
    return Replayed(len(capsule.journal.exchanges), tuple(found))


def _service(capsule: Capsule, folder: Path) -> Service:
    scenario: str | Path = capsule.scenario
    if capsule.scenario_text:
        # A scenario is called as its file is.
        scenario = folder / f"{PurePath(capsule.scenario).name}.yaml"
        scenario.write_text(capsule.scenario_text, "utf-8")
    try:
        return build(Settings(scenario=scenario, refusal_status=capsule.refusal_status))
    except CrosschainMockError as error:
        raise BadCapsule(f"the scenario {capsule.scenario!r} cannot be loaded: {error}") from None


def _begin(service: Service, capsule: Capsule) -> None:
    headers = Headers((("Host", "127.0.0.1"), ("Content-Type", "application/json")))
    body = jsontext.encode(capsule.start)
    told = service.answer(Request("POST", "/__mock/load", "", headers, body)).response
    if told.status != 200:
        reason = jsontext.decode(told.body).get("error", told.status)
        raise BadCapsule(f"the world of this capsule cannot be begun: {reason}")


def _differs(service: Service, exchange: RecordedExchange, redactor: Redactor) -> str:
    """Return how the answer to an exchange differs now; empty where it does not."""
    world = service.worlds.get(_KEY)
    at_ms = exchange.time_ms or 0
    first_ms = max(at_ms, world.world.now())
    if first_ms - at_ms > _LATER_MS:
        return f"its time {iso(at_ms)} is before {iso(first_ms)}, as after a revert"
    world.snapshot(_BEFORE)
    reasons = []
    for now_ms in (*range(first_ms, at_ms + _LATER_MS + 1), first_ms):
        world.world.time.set(now_ms)
        came = service.answer(with_signature(world.contract, exchange)).response
        kept = redactor.exchange(replace(exchange, response=came)).response
        reason = _difference(exchange, kept)
        if not reason:
            return ""
        reasons.append(reason)
        if len(reasons) <= at_ms + _LATER_MS + 1 - first_ms:
            world.revert(_BEFORE)
    # The world goes on with the answer of the first attempt, which the last one repeated.
    return reasons[0]


def _difference(exchange: RecordedExchange, came: Response) -> str:
    recorded = exchange.response
    if came.status != recorded.status:
        return f"status {came.status}, in the capsule {recorded.status}"
    if came.header(REFUSAL_HEADER) != recorded.header(REFUSAL_HEADER):
        told = recorded.header(REFUSAL_HEADER)
        return f"refusal {came.header(REFUSAL_HEADER)!r}, in the capsule {told!r}"
    if came.body == recorded.body:
        return ""
    try:
        now, then = jsontext.decode(came.body), jsontext.decode(recorded.body)
    except NotJson:
        return f"other bytes: {len(came.body)} of them, in the capsule {len(recorded.body)}"
    places = ", ".join(_places(now, then, ()))
    return places or "the same JSON, written in another way"


def _places(now: Json, then: Json, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(now, dict) and isinstance(then, dict):
        for name in {**then, **now}:
            yield from _places(now.get(name), then.get(name), (*path, name))
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for index, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from _places(one, other, (*path, index))
    elif now != then:
        yield f"{dotted(path)} is {shown(now)}, in the capsule {shown(then)}"
