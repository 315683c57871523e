"""Recorded exchanges as answers: which one's turn it is, and what of it is this client's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mockserver import jsontext
from mockserver.clock import ClockMode
from mockserver.engine.outages import Route
from mockserver.exchange import Response
from mockserver.recordings import RequestReading, read_request
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.replay.above import Simulating, disturbed, forbidden, route_of_exchange
from mockserver.responders.replay.played import Played
from mockserver.responders.replay.tape import Replay, Tape, Taped, header_names
from mockserver.responders.responder import Call

SOURCE_HEADER = "X-Mock-Source"
_FRAMING = frozenset(
    ("connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding")
)
"""Headers that say how an answer travelled, which is the server's to say anew."""
_MOST_CHOICES = 10_000


class Player:
    """Plays what was recorded, in a world that replays."""

    def __init__(self, simulation: Simulating) -> None:
        """Take the simulation, which knows what outages make of the lists."""
        self._simulation = simulation

    def played(self, call: Call, replay: Replay) -> Response | None:
        """Return the recorded answer to a call; None where its mode has none."""
        if not replay.mode.naked and (refused := self._forbidden(call, replay)):
            return refused
        found = _found(call, replay)
        if found is not None:
            return self._played(call, replay, found)
        if not replay.mode.strict:
            return None
        operation, tape = call.operation, replay.tape(call.hosted.contract)
        reading = next(_readings(call, replay, tape))
        reason = tape.miss(reading).sentence(operation.id)
        return call.hosted.refuser.refuse(operation.generation, "not-recorded", reason)

    def _forbidden(self, call: Call, replay: Replay) -> Response | None:
        return forbidden(call, replay.rules.of(call.operation.id))

    def _played(self, call: Call, replay: Replay, found: "_Found") -> Response:
        played, chosen = call.hosted.played, found.chosen
        played.began[chosen.number] = played.began.get(chosen.number) or call.hosted.world.now()
        _bind(played, chosen.reading, found.reading)
        answer = _sendable(chosen, played, f"{chosen.label}{found.near}")
        return answer if replay.mode.naked else disturbed(call, answer, self._simulation)


@dataclass(frozen=True, slots=True)
class _Found:
    """The exchange that answers a request; `near` tells for which amount where it is another."""

    chosen: Taped
    reading: RequestReading
    near: str = ""


def _readings(call: Call, replay: Replay, tape: Tape) -> Iterator[RequestReading]:
    """Yield a request as recordings of its operation would hold it."""
    operation, choices = call.operation, call.hosted.played.choices
    rule, headers = replay.rules.of(operation.id), header_names(operation)
    for redaction in tape.redactions(operation.id):
        request = redaction.of(call.request)
        yield read_request(operation.id, headers, request, rule, choices, redaction.removed)


def _found(call: Call, replay: Replay) -> _Found | None:
    tape = replay.tape(call.hosted.contract)
    readings = list(_readings(call, replay, tape))
    for reading in readings:
        found = tape.exact(reading)
        chosen = _chosen(call, replay, tape, found, reading) if found else None
        if chosen is not None:
            return _Found(chosen, reading)
    for reading in readings if replay.mode.strict else ():
        found = tape.near(reading, replay.rules)
        chosen = _chosen(call, replay, tape, found, reading) if found else None
        if chosen is not None:
            amounts = chosen.reading.amounts.items()
            told = "".join(f" {part[-1]}={amount:f}" for part, amount in amounts)
            return _Found(chosen, reading, f"; near{told}")
    return None


def _chosen(
    call: Call, replay: Replay, tape: Tape, found: Sequence[Taped], reading: RequestReading
) -> Taped | None:
    """Return which of the exchanges that answer a request is its turn; None where none fits."""
    played, form = call.hosted.played, found[0].reading.form
    candidates = _bindable(call, found, reading) if reading.bound else found
    if not candidates:
        return None
    timed = all(one.at_ms is not None for one in candidates)
    if len(candidates) == 1:
        reached = 0
    elif call.operation.writes or replay.mode.counted or not timed:
        reached = min(played.counts.get(form) or 0, len(candidates) - 1)
    else:
        reached = _paced(call, replay, tape, candidates)
    played.counts[form] = (played.counts.get(form) or 0) + 1
    played.reached[form] = reached + 1
    return candidates[reached]


def _paced(call: Call, replay: Replay, tape: Tape, found: Sequence[Taped]) -> int:
    """Return the place in a sequence that the world's clock has come to, never an earlier one.

    A clock that jumps to the next event where a poll would see no change does so here as well.
    """
    played, world = call.hosted.played, call.hosted.world
    form, now = found[0].reading.form, world.now()
    route, since, origin = _origin(call, replay, tape, found)
    calendar = world.outages.calendar
    due = [(one.at_ms or 0) - origin for one in found]
    made = now - since if route is None else calendar.progress(route, since, now)
    before = played.reached.get(form)
    reached = max((place for place, at in enumerate(due) if at <= made), default=0)
    reached = max(reached, (before or 1) - 1)
    jumping = world.time.clock.mode is ClockMode.AUTO and before == reached + 1
    if jumping and reached + 1 < len(found):
        ahead = due[reached + 1]
        when = since + ahead if route is None else calendar.when(route, since, ahead)
        if when is not None:
            world.time.set(max(now, when))
            reached += 1
    return reached


def _origin(
    call: Call, replay: Replay, tape: Tape, found: Sequence[Taped]
) -> tuple[Route | None, int, int]:
    """Return an order's route, and the moments of the world and the recording that are the same.

    These are those of the submission, or else those at which the sequence was asked for first.
    """
    played, world = call.hosted.played, call.hosted.world
    form, first = found[0].reading.form, found[0]
    begun = None if first.begin is None else played.began.get(first.begin)
    if first.begin is not None and begun is not None:
        write = tape.taped[first.begin]
        route = None if replay.mode.naked else route_of_exchange(call, replay.rules, write.exchange)
        return route, begun, write.at_ms or first.at_ms or 0
    asked = played.asked.get(form)
    if asked is None:
        asked = played.asked[form] = world.now()
    return None, asked, first.at_ms or 0


def _bindable(call: Call, found: Sequence[Taped], reading: RequestReading) -> Sequence[Taped]:
    """Return the exchanges with the same choices, else the successes that others may stand for."""
    same = [one for one in found if one.reading.bound == reading.bound]
    if same:
        return same
    return [one for one in found if _alike(one.reading, reading) and _succeeded(call, one)]


def _alike(recorded: RequestReading, reading: RequestReading) -> bool:
    """Whether choices have the form of the recorded ones: the same length, hexadecimal or not."""
    return set(recorded.bound) == set(reading.bound) and all(
        len(value) == len(reading.bound[part])
        and value.startswith("0x") == reading.bound[part].startswith("0x")
        for part, value in recorded.bound.items()
    )


def _succeeded(call: Call, one: Taped) -> bool:
    try:
        body = one.exchange.response_json()
    except jsontext.NotJson:
        return False
    success = call.operation.generation.success_code
    return isinstance(body, dict) and body.get("code") == success


def _bind(played: Played, recorded: RequestReading, reading: RequestReading) -> None:
    """Note which of this client's choices stand for those of the recorded one."""
    for part, value in recorded.bound.items():
        sent = reading.bound.get(part, value)
        if sent != value and len(played.choices) < _MOST_CHOICES:
            played.choices[sent.lower()] = value
            played.sent[value] = sent


def _sendable(chosen: Taped, played: Played, source: str) -> Response:
    """Return a recorded answer as this client gets it."""
    recorded = chosen.exchange.response
    headers = [pair for pair in recorded.headers if pair[0].lower() not in _FRAMING]
    headers = [pair for pair in headers if pair[0].lower() != SOURCE_HEADER.lower()]
    if recorded.body and recorded.header("Content-Type") is None:
        headers.append(JSON_TYPE)
    body = _translated(recorded.body, played.sent)
    return Response(recorded.status, (*headers, (SOURCE_HEADER, source)), body)


def _translated(body: bytes, sent: Mapping[str, str]) -> bytes:
    for recorded, now in sent.items():
        if recorded.encode() in body:
            body = body.replace(recorded.encode(), now.encode())
    return body
