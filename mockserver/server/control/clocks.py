"""Control of a world's clock: read, advanced, set, run to an event, and let pass otherwise."""

from collections.abc import Mapping
from decimal import Decimal

from mockserver.clock import ClockMode
from mockserver.engine.order_statuses import Status
from mockserver.engine.refusal import NothingDue
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, duration_ms, instant_ms
from mockserver.server.control.orders import order_id
from mockserver.server.control.route import ControlRequest
from mockserver.times_and_durations import iso

_WAYS = ("advance", "wait", "set", "mode", "next", "runUntil")


def show(request: ControlRequest) -> Json:
    clock, now = request.hosted.world.time.clock, request.hosted.world.now()
    return {
        "now": iso(now),
        "ms": now,
        "mode": clock.mode.value,
        "rate": clock.rate,
    }


def move(request: ControlRequest) -> Json:
    """Move the clock forward, or change how time passes."""
    body, world = request.body, request.hosted.world
    ways = [name for name in _WAYS if name in body]
    if len(ways) != 1:
        raise BadControl(
            "body: give one of 'advance' or 'wait' (a duration), 'set' (a time), 'mode', 'next' or "
            "'runUntil'"
        )
    if ("rate" in body) != (body.get("mode") == ClockMode.SCALED):
        raise BadControl("body field 'rate': goes with mode 'scaled', and only with it")
    match ways[0]:
        case "advance":
            world.time.advance(duration_ms(body["advance"]))
        case "wait":
            by, due = duration_ms(body["wait"]), request.hosted.next_due()
            # Without a late answer nothing is waited for: another answer is merely on its way.
            world.time.advance(0 if due is None else max(0, min(by, due - world.now())))
        case "set":
            world.time.set(instant_ms(body["set"]))
        case "mode":
            world.time.switch(ClockMode(body["mode"]), Decimal(body.get("rate", 1)))
        case "next":
            world.time.next()
        case _:
            _run(world, body["runUntil"])
    return show(request)


def _run(world: World, until: Mapping[str, Json]) -> None:
    if "terminal" in until and "status" in until:
        raise BadControl("body field 'runUntil': give 'terminal' or 'status', not both")
    order = order_id(world, until["order"])
    if "status" not in until:
        world.time.run_until_final(order)
        return
    status = Status(until["status"])
    events = world.orders.events(order)
    event = next((event for event in events if event.status is status), None)
    if event is None:
        ahead = ", ".join(event.status.value for event in events)
        raise NothingDue(
            f"order {order!r} does not come to {status.value!r} by itself; it has {ahead}"
        )
    world.time.set(max(event.at_ms, world.now()))
