"""Whose turn it is in a sequence of recorded answers, by the clock and calendar of the world."""

from collections.abc import Sequence

from mockserver.clock import ClockMode
from mockserver.engine.orders import Event, at, struck
from mockserver.engine.outages import Route
from mockserver.responders.replay.above import on_its_way, route_of_exchange
from mockserver.responders.replay.tape import Replay, Tape, Taped
from mockserver.responders.responder import Call
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """The place in a sequence; `event` is what an outage made of the order that it is about."""

    place: int
    event: Event | None = None


@dataclass(frozen=True, slots=True)
class _Origin:
    """The moments of the world and of the recording that are the same, in milliseconds.

    They are those of an order's submission, and then `route` is the order's; or else those at which
    the sequence was asked for first.
    """

    route: Route | None
    since_ms: int
    recorded_ms: int


def turn_of(call: Call, replay: Replay, tape: Tape, found: Sequence[Taped]) -> Turn:
    """Return whose turn it is among the exchanges that answer a request."""
    first = found[0]
    if len(found) == 1 and first.begin is None:
        return Turn(0)
    timed = all(one.at_ms is not None for one in found)
    if call.operation.writes or replay.mode.counted or not timed:
        count = call.hosted.played.counts.get(first.reading.form) or 0
        return Turn(min(count, len(found) - 1))
    origin = _origin(call, replay, tape, found)
    strike = _strike(call, origin, found)
    place = _paced(call, origin, found, None if strike is None else strike[0].at_ms)
    return Turn(place, None if strike is None else _event(call, found, strike))


def _paced(call: Call, origin: _Origin, found: Sequence[Taped], struck_ms: int | None) -> int:
    """Return the place in a sequence that the world's clock has come to, never an earlier one.

    A clock that jumps to the next event where a poll would see no change does so here as well.
    """
    played, world, route = call.hosted.played, call.hosted.world, origin.route
    form, now = found[0].reading.form, world.now()
    before = played.reached.get(form)
    reached = max(_place_at(call, origin, found, now), (before or 1) - 1)
    if world.time.clock.mode is not ClockMode.AUTO or before != reached + 1:
        return reached
    when = None
    if reached + 1 < len(found):
        ahead, since = _due(origin, found[reached + 1]), origin.since_ms
        calendar = world.outages.calendar
        when = since + ahead if route is None else calendar.when(route, since, ahead)
    if struck_ms is not None and struck_ms > now and (when is None or struck_ms < when):
        world.time.set(struck_ms)
    elif when is not None and (struck_ms is None or struck_ms > now):
        world.time.set(max(now, when))
        reached += 1
    return reached


def _place_at(call: Call, origin: _Origin, found: Sequence[Taped], now_ms: int) -> int:
    route, since = origin.route, origin.since_ms
    calendar = call.hosted.world.outages.calendar
    made = now_ms - since if route is None else calendar.progress(route, since, now_ms)
    return max((place for place, one in enumerate(found) if _due(origin, one) <= made), default=0)


def _due(origin: _Origin, one: Taped) -> int:
    return (one.at_ms or 0) - origin.recorded_ms


def _strike(call: Call, origin: _Origin, found: Sequence[Taped]) -> list[Event] | None:
    """Return what an outage makes of a recorded order, if it is on its way when that happens."""
    world, route = call.hosted.world, origin.route
    if route is None:
        return None
    strike = world.outages.calendar.strike(route, origin.since_ms)
    if strike is None:
        return None
    moment, window = strike
    standing = found[_place_at(call, origin, found, moment)].exchange
    if not on_its_way(call.operation.id, standing.response):
        return None
    return list(struck(window, moment, world.scenario.refund_ms))


def _event(call: Call, found: Sequence[Taped], events: list[Event]) -> Event | None:
    """Return the last event that has happened; a clock that jumps comes to the next one."""
    world, shown, form = call.hosted.world, call.hosted.played.struck, found[0].reading.form
    now = world.now()
    if now < events[0].at_ms:
        return None
    event = at(tuple(events), now)
    if world.time.clock.mode is ClockMode.AUTO and shown.get(form) == event.at_ms:
        ahead = next((one for one in events if one.at_ms > now), None)
        if ahead is not None:
            world.time.set(ahead.at_ms)
            event = ahead
    shown[form] = event.at_ms
    return event


def _origin(call: Call, replay: Replay, tape: Tape, found: Sequence[Taped]) -> _Origin:
    played, world = call.hosted.played, call.hosted.world
    form, first = found[0].reading.form, found[0]
    write = None if first.begin is None else tape.taped[first.begin]
    begun = None if write is None else played.began.get(write.label)
    if write is not None and begun is not None:
        route = None if replay.mode.naked else route_of_exchange(call, replay.rules, write.exchange)
        return _Origin(route, begun, write.at_ms or first.at_ms or 0)
    asked = played.asked.get(form)
    if asked is None:
        asked = played.asked[form] = world.now()
    return _Origin(None, asked, first.at_ms or 0)
