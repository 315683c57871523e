"""Recorded exchanges as answers: which one's turn it is, and what of it is this client's own."""

from collections.abc import Iterator, Mapping, Sequence

from mockserver import jsontext
from mockserver.engine.orders import Event
from mockserver.exchange import Response
from mockserver.recordings import RequestReading, read_request
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.replay.above import Simulating, as_struck, disturbed, forbidden
from mockserver.responders.replay.pace import turn_of
from mockserver.responders.replay.played import Played
from mockserver.responders.replay.tape import Replay, Tape, Taped
from mockserver.responders.responder import Call
from mockserver.responders.stubs import FRAMING
from mockserver.values import dataclass

SOURCE_HEADER = "X-Mock-Source"
_MOST_CHOICES = 10_000


def played(call: Call, replay: Replay, simulation: Simulating) -> Response | None:
    """Return the recorded answer to a call; None where its mode has none.

    The simulation knows what outages make of the lists.
    """
    operation, naked = call.operation, replay.mode.naked
    if not naked and (refused := forbidden(call, replay.rules.of(operation.id))):
        return refused
    found = _found(call, replay)
    if found is not None:
        answer = _answer(call, found)
        return answer if naked else disturbed(call, answer, simulation)
    if not replay.mode.strict:
        return None
    tape = replay.tape(call.hosted.contract)
    reason = tape.miss(next(_readings(call, replay, tape))).sentence(operation.id)
    return call.hosted.refuser.refuse(operation.generation, "not-recorded", reason)


def _answer(call: Call, found: "_Found") -> Response:
    remembered, chosen = call.hosted.played, found.chosen
    began = remembered.began.get(chosen.label)
    remembered.began[chosen.label] = call.hosted.world.now() if began is None else began
    _bind(remembered, chosen.reading, found.reading)
    answer = _sendable(chosen, remembered, f"{chosen.label}{found.near}")
    return answer if found.event is None else as_struck(call.operation.id, answer, found.event)


@dataclass(frozen=True, slots=True)
class _Found:
    """The exchange that answers a request; `near` tells for which amount where it is another.

    `event` is what an outage made of the order that it is about.
    """

    chosen: Taped
    reading: RequestReading
    near: str = ""
    event: Event | None = None


def _readings(call: Call, replay: Replay, tape: Tape) -> Iterator[RequestReading]:
    """Yield a request as recordings of its operation would hold it."""
    operation, choices = call.operation, call.hosted.played.choices
    rule, headers = replay.rules.of(operation.id), operation.header_names
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
            return _Found(chosen[0], reading, event=chosen[1])
    for reading in readings if replay.mode.strict else ():
        found = tape.near(reading, replay.rules)
        chosen = _chosen(call, replay, tape, found, reading) if found else None
        if chosen is not None:
            amounts = chosen[0].reading.amounts.items()
            told = "".join(f" {part[-1]}={amount:f}" for part, amount in amounts)
            return _Found(chosen[0], reading, f"; near{told}")
    return None


def _chosen(
    call: Call, replay: Replay, tape: Tape, found: Sequence[Taped], reading: RequestReading
) -> tuple[Taped, Event | None] | None:
    """Return which of the exchanges that answer a request is its turn, and how an outage ended it.

    None where none fits.
    """
    played, form = call.hosted.played, found[0].reading.form
    candidates = _bindable(call, found, reading) if reading.bound else found
    if not candidates:
        return None
    turn = turn_of(call, replay, tape, candidates)
    played.counts[form] = (played.counts.get(form) or 0) + 1
    played.reached[form] = turn.place + 1
    return candidates[turn.place], turn.event


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
    body = jsontext.decode_or(one.exchange.response.body)
    return call.operation.generation.succeeded(body)


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
    headers = [pair for pair in recorded.headers if pair[0].lower() not in FRAMING]
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
