"""Plays recorded exchanges: chooses the next one, and puts this client's own values in."""

from collections.abc import Iterator, Mapping, Sequence

from mockserver import content_codings, jsontext
from mockserver.clock import ClockMode
from mockserver.engine.orders import Event, at, struck
from mockserver.engine.outages import OrderRoute
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.mock_headers import EPOCH_HEADER, SOURCE_HEADER, WORLD_HEADER
from mockserver.recordings import RequestReading, read_request
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.responders.replay.index import ExchangeIndex, Playable, Replay
from mockserver.responders.replay.playback_state import PlaybackState
from mockserver.responders.replay.replayed_outages import (
    Simulate,
    after_event,
    disturbed,
    forbidden,
    on_its_way,
    route_of_exchange,
)
from mockserver.responders.responder import Call
from mockserver.responders.stubs import FRAMING

# Of a recorded mock: the world that answers now names itself.
_OWN_HEADERS = FRAMING | {name.lower() for name in (SOURCE_HEADER, WORLD_HEADER, EPOCH_HEADER)}
# Clients choose new values without end; the state is part of dumps.
_MOST_CHOICES = 10_000


def played(call: Call, replay: Replay, simulate: Simulate) -> Response | None:
    """Return the recorded answer to a call; None where its mode has none.

    In strict mode everything else is refused, naming the nearest recording. Outages of the world
    are applied to recordings; `simulate` shows their effect on the lists.
    """
    operation, naked = call.operation, replay.mode.naked
    # Before any recording: a chain that is out of service answers nothing, recorded or not.
    if not naked and (refused := forbidden(call, replay.rules.of(operation.id))):
        return refused
    index = replay.index(call.hosted.contract)
    readings = list(_readings(call, replay, index))
    for reading in readings:
        answer = _answer(call, replay, index, index.exact(reading), reading)
        if answer is not None:
            return answer if naked else disturbed(call, answer, simulate)
    if not replay.mode.strict:
        return None
    for reading in readings:
        # Only when nothing fits exactly in any reading: a near amount is a guess.
        near = index.near(reading, replay.rules)
        answer = _answer(call, replay, index, near, reading, near=True)
        if answer is not None:
            return answer if naked else disturbed(call, answer, simulate)
    reason = index.why_missed(readings[0])
    return call.hosted.refuser.refuse(operation.generation, "not-recorded", reason)


def _readings(call: Call, replay: Replay, index: ExchangeIndex) -> Iterator[RequestReading]:
    """Yield a request as recordings of its operation would hold it."""
    operation, choices = call.operation, call.hosted.played.choices
    rule, headers = replay.rules.of(operation.id), operation.header_names
    for redaction in index.redactions(operation.id):
        request = redaction.of(call.request)
        yield read_request(operation.id, headers, request, rule, choices, redaction.removed)


def _answer(
    call: Call,
    replay: Replay,
    index: ExchangeIndex,
    playables: Sequence[Playable],
    reading: RequestReading,
    *,
    near: bool = False,
) -> Response | None:
    """Return the answer of the exchange whose turn it is; None where none of them fits.

    With `near`, its amounts are not those of the request, and a header says so.
    """
    candidates = _bindable(call, playables, reading)
    if not candidates:
        return None
    state, form = call.hosted.played, playables[0].reading.form
    if replay.mode.once and (state.counts.get(form) or 0) >= len(candidates):
        return None
    place, event = _turn(call, replay, index, candidates)
    chosen = candidates[place]
    state.counts[form] = (state.counts.get(form) or 0) + 1
    state.reached[form] = place + 1
    began = state.began.get(chosen.label)
    state.began[chosen.label] = call.hosted.world.now() if began is None else began
    _bind(state, chosen.reading, reading)
    source = chosen.label
    if near:
        amounts = chosen.reading.amounts.items()
        source += "; near" + "".join(f" {part[-1]}={amount:f}" for part, amount in amounts)
    answer = _sendable(call.request, chosen, state, source)
    return answer if event is None else after_event(call.operation.id, answer, event)


def _bindable(
    call: Call, playables: Sequence[Playable], reading: RequestReading
) -> Sequence[Playable]:
    """Return the exchanges with the same choices, else the success that others may stand for.

    That is the first one whose choices nothing stands for yet; where all are taken, the last.
    """
    same = [playable for playable in playables if playable.reading.bound == reading.bound]
    if same:
        return same
    began = call.hosted.played.began
    taken = [playable.reading.bound for playable in playables if playable.label in began]
    fit = [
        playable
        for playable in playables
        if _alike(playable.reading, reading) and _succeeded(call, playable)
    ]
    return ([playable for playable in fit if playable.reading.bound not in taken] or fit[-1:])[:1]


def _alike(recorded: RequestReading, reading: RequestReading) -> bool:
    """Whether choices have the form of the recorded ones: the same length, hexadecimal or not."""
    return set(recorded.bound) == set(reading.bound) and all(
        len(value) == len(reading.bound[part])
        and value.startswith("0x") == reading.bound[part].startswith("0x")
        for part, value in recorded.bound.items()
    )


def _succeeded(call: Call, playable: Playable) -> bool:
    body = jsontext.decode_or(playable.exchange.response.body)
    return call.operation.generation.succeeded(body)


def _bind(state: PlaybackState, recorded: RequestReading, reading: RequestReading) -> None:
    for part, value in recorded.bound.items():
        sent = reading.bound.get(part, value)
        if sent != value and len(state.choices) < _MOST_CHOICES:
            # In lower case: clients write an address of their own in several ways.
            state.choices[sent.lower()] = value
            state.sent[value] = sent


def _sendable(request: Request, chosen: Playable, state: PlaybackState, source: str) -> Response:
    recorded = chosen.exchange.response
    headers = [pair for pair in recorded.headers if pair[0].lower() not in _OWN_HEADERS]
    if recorded.body and recorded.header("Content-Type") is None:
        headers.append(JSON_TYPE)
    body = _translated(recorded.body, state.sent)
    # Packed bytes hold the recorded values, so that they go where one of these was replaced.
    coded = recorded.coded if body == recorded.body else None
    # A service that packs unasked does so for every client.
    if coded is not None and not coded.unasked:
        accepted = request.headers.get("Accept-Encoding")
        coded = coded if content_codings.accepts(accepted, coded.coding) else None
    return Response(recorded.status, (*headers, (SOURCE_HEADER, source)), body, coded)


def _translated(body: bytes, sent: Mapping[str, str]) -> bytes:
    for recorded, now in sent.items():
        body = body.replace(recorded.encode(), now.encode())
    return body


# The next answer of a sequence, by the clock and the calendar of the world


@dataclass(frozen=True, slots=True)
class _Origin:
    """The moments of the world and of the recording that are the same, in milliseconds.

    For an order these are the moments of its submission, and `route` is its route; for any other
    sequence they are the moments of its first request.
    """

    route: OrderRoute | None
    since_ms: int
    recorded_ms: int

    def due(self, playable: Playable) -> int:
        """Return how long after the origin an exchange was recorded."""
        return (playable.at_ms or 0) - self.recorded_ms


def _turn(
    call: Call, replay: Replay, index: ExchangeIndex, playables: Sequence[Playable]
) -> tuple[int, Event | None]:
    """Return the place of the next exchange that answers a request, and the event of an outage.

    That is the event by which an outage has changed the order of the sequence, or None.
    """
    first = playables[0]
    if len(playables) == 1 and first.begin is None:
        return 0, None
    timed = all(playable.at_ms is not None for playable in playables)
    if call.operation.writes or not timed:
        return _counted(call, playables), None
    origin = _origin(call, replay, index, first)
    if replay.mode.counted:
        place = _counted(call, playables)
        events = _events(call, origin, playables, max(place - 1, 0))
        if _is_held(call, origin):
            place = max(place - 1, 0)
        return place, _latest_event(call, playables, events) if events else None
    events = _events(call, origin, playables)
    place = _place(call, origin, playables, events[0].at_ms if events else None)
    return place, _latest_event(call, playables, events) if events else None


def _counted(call: Call, playables: Sequence[Playable]) -> int:
    """Return the place of the nth answer for the nth request; the last answer is repeated."""
    count = call.hosted.played.counts.get(playables[0].reading.form) or 0
    return min(count, len(playables) - 1)


def _is_held(call: Call, origin: _Origin) -> bool:
    """Tell whether an outage holds a recorded order now: its progress stands still."""
    if origin.route is None:
        return False
    calendar, now = call.hosted.world.outages.calendar, call.hosted.world.now()
    # A millisecond on: what an outage holds makes no progress in it.
    first, second = (calendar.progress(origin.route, origin.since_ms, at) for at in (now, now + 1))
    return first == second


def _origin(call: Call, replay: Replay, index: ExchangeIndex, first: Playable) -> _Origin:
    state, form = call.hosted.played, first.reading.form
    write = None if first.begin is None else index.exchanges[first.begin]
    begun = None if write is None else state.began.get(write.label)
    if write is not None and begun is not None:
        route = None if replay.mode.naked else route_of_exchange(call, replay.rules, write.exchange)
        return _Origin(route, begun, write.at_ms or first.at_ms or 0)
    began = state.asked.get(form)
    if began is None:
        began = state.asked[form] = call.hosted.world.now()
    return _Origin(None, began, first.at_ms or 0)


def _events(
    call: Call, origin: _Origin, playables: Sequence[Playable], reached: int | None = None
) -> tuple[Event, ...]:
    """Return the events of a recorded order that an outage strikes on its way.

    `reached` is the place of the answer that stood then; None where the clock tells it.
    """
    world, route = call.hosted.world, origin.route
    strike = None if route is None else world.outages.calendar.strike(route, origin.since_ms)
    if strike is None:
        return ()
    moment, window = strike
    place = _place_at(call, origin, playables, moment) if reached is None else reached
    if not on_its_way(call.operation.id, playables[place].exchange.response):
        return ()
    return tuple(struck(window, moment, world.scenario.refund_ms))


def _place(
    call: Call, origin: _Origin, playables: Sequence[Playable], struck_ms: int | None
) -> int:
    """Return the place in a sequence that the world's clock has come to, never an earlier one.

    A clock that jumps to the next event where a poll would see no change does so here as well.
    Answers that other sequences made it jump over are not skipped: each request gets the next one.
    """
    state, world, route = call.hosted.played, call.hosted.world, origin.route
    form, now = playables[0].reading.form, world.now()
    before = state.reached.get(form)
    reached = max(_place_at(call, origin, playables, now), (before or 1) - 1)
    if world.time.clock.mode is not ClockMode.AUTO:
        return reached
    if before != reached + 1:
        return min(reached, before or 0)
    when = None
    if reached + 1 < len(playables):
        ahead, since = origin.due(playables[reached + 1]), origin.since_ms
        calendar = world.outages.calendar
        when = since + ahead if route is None else calendar.when(route, since, ahead)
    if struck_ms is not None and struck_ms > now and (when is None or struck_ms < when):
        world.time.set(struck_ms)
    elif when is not None and (struck_ms is None or struck_ms > now):
        world.time.set(max(now, when))
        reached += 1
    return reached


def _place_at(call: Call, origin: _Origin, playables: Sequence[Playable], now_ms: int) -> int:
    route, since = origin.route, origin.since_ms
    calendar = call.hosted.world.outages.calendar
    made = now_ms - since if route is None else calendar.progress(route, since, now_ms)
    return max(
        (place for place, playable in enumerate(playables) if origin.due(playable) <= made),
        default=0,
    )


def _latest_event(
    call: Call, playables: Sequence[Playable], events: tuple[Event, ...]
) -> Event | None:
    """Return the last event that has happened; a clock that jumps comes to the next one."""
    world, struck, form = call.hosted.world, call.hosted.played.struck, playables[0].reading.form
    now = world.now()
    if now < events[0].at_ms:
        return None
    event = at(events, now)
    if world.time.clock.mode is ClockMode.AUTO and struck.get(form) == event.at_ms:
        ahead = next((event for event in events if event.at_ms > now), None)
        if ahead is not None:
            world.time.set(ahead.at_ms)
            event = ahead
    struck[form] = event.at_ms
    return event
