"""What triggers do: each action, checked when it is set, and done when its call comes."""

import signal
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from mockserver.engine.outages import Direction
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.responders.answer_delivery import Gate
from mockserver.responders.breaks import breaks_named
from mockserver.responders.control_forms import BadControl, check, duration_ms, form
from mockserver.responders.faults.registry import fault_of, form_of_faults, operation_id
from mockserver.responders.request_subjects import named_by
from mockserver.responders.responder import Call
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.outage_windows import window_of
from mockserver.worlds.triggers import Trigger

SIGNALS = ("KILL", "TERM", "INT", "HUP", "STOP", "CONT")
"""The signals that a trigger sends to the client's process."""
_MOST_HELD = "10s"


@dataclass(frozen=True, slots=True)
class Moment:
    """A call that triggers are due at: its world, the call, and the number of orders before it."""

    hosted: HostedWorld
    call: Call | None
    orders: int

    def order(self) -> str:
        """Return the order that the call has made, or that it names. Raises `BadControl`."""
        orders = self.hosted.world.orders
        if orders.count() > self.orders:
            return next(orders.each(newest=True)).id
        call = self.call
        named = named_by(call.operation, call.request, self.hosted.world).order if call else None
        if named is None:
            raise BadControl("the call neither made nor named an order")
        return named


def add_trigger(hosted: HostedWorld, definition: Mapping[str, Json]) -> Trigger:
    """Set a trigger as a request describes it. Raises `BadControl`, and nothing is changed."""
    check(form("trigger-given"), definition, "body")
    return hosted.triggers.put(definition, lambda name: _trigger_of(name, definition, hosted))


def heal(hosted: HostedWorld) -> None:
    """End what goes wrong with the answers; ids and lists, which are the service's own, stay."""
    hosted.faults.clear()
    hosted.triggers.clear()
    # Answers that are held are late by a trigger, and go now.
    hosted.release(lambda held: True)
    for window in hosted.world.outages.active():
        hosted.world.outages.restore(window.chain, window.token, window.direction)


def load_triggers(hosted: HostedWorld, dumped: list[Json]) -> None:
    """Set the triggers of a dump with their counts. Raises `BadControl`."""
    for item in dumped:
        hosted.triggers.take(add_trigger(hosted, item["told"]), item)


def fire(trigger: Trigger, moment: Moment) -> Gate | None:
    """Do what a trigger says; return what holds the answer back, if anything."""
    # What cannot be done is kept with the trigger, since there is nobody to tell at this moment.
    try:
        return ACTIONS[trigger.action].act(moment, trigger.definition[trigger.action])
    except (CrosschainMockError, Refusal) as error:
        text = error.reason if isinstance(error, Refusal) else str(error)
        moment.hosted.triggers.note(trigger, text)
        return None


def _trigger_of(name: str, definition: Mapping[str, Json], hosted: HostedWorld) -> Trigger:
    named = [action for action in ACTIONS if action in definition]
    if len(named) != 1:
        raise BadControl(f"body: give one of {', '.join(ACTIONS)}, and say with it what happens")
    action, operation = named[0], definition.get("operation")
    makes_order = definition.get("counts") == "orders"
    if makes_order and (operation is not None or definition.get("phase") == "before"):
        raise BadControl(
            "body field 'counts': orders are made by any operation, and known after it; "
            "leave out 'operation' and 'phase'"
        )
    ACTIONS[action].validate(hosted, definition[action])
    after = makes_order or definition.get("phase", "after") == "after"
    if action == "hold" and not after:
        raise BadControl("body field 'phase': an answer is held after its call; leave it out")
    called = None if operation is None else operation_id(operation, hosted.contract)
    return Trigger(
        name, called, definition.get("nth", 1), after, makes_order, action, dict(definition)
    )


# Actions


def _check_fault(hosted: HostedWorld, value: Json) -> None:
    check(form_of_faults(), value, "body field 'fault':")
    fault_of("trigger", value, hosted.contract, hosted.world.scenario)


def _fault(moment: Moment, value: Json) -> None:
    hosted = moment.hosted
    hosted.faults.add(value, hosted.contract, hosted.world.scenario)


def _check_outage(hosted: HostedWorld, value: Json) -> None:
    # On a copy, so that windows are checked against the outages there are.
    hosted.world.undisturbed().outages.suspend(window_of(value, hosted.world.now()))


def _outage(moment: Moment, value: Json) -> None:
    moment.hosted.world.outages.suspend(window_of(value, moment.hosted.world.now()))


def _check_restore(hosted: HostedWorld, value: Json) -> None:
    if not ({"chain", "token"} & value.keys()):
        raise BadControl("body field 'restore': name the 'chain' or the 'token' to restore")


def _restore(moment: Moment, value: Json) -> None:
    side = Direction(value["direction"]) if "direction" in value else None
    moment.hosted.world.outages.restore(value.get("chain"), value.get("token"), side)


def _check_course(hosted: HostedWorld, value: Json) -> None:
    courses = hosted.world.scenario.courses
    if value not in courses:
        raise BadControl(f"body field 'steer': {value!r} is no course; there are {_row(courses)}")


def _steer(moment: Moment, value: Json) -> None:
    moment.hosted.world.orders.steer(moment.order(), value, None)


def _check_price(hosted: HostedWorld, value: Json) -> None:
    new_price(hosted, value)


def new_price(hosted: HostedWorld, value: Mapping[str, Json]) -> tuple[str, Decimal]:
    """Return a token's symbol and its new USD price, given as `usd` or `percent` of change.

    Raises `BadControl` for a price that is not above 0, and `Refusal` for an unknown token.
    """
    if ("usd" in value) == ("percent" in value):
        raise BadControl("body: give 'usd', the new price, or 'percent', by how much it changes")
    world = hosted.world
    symbol = world.scenario.catalog.token(value["token"]).symbol
    if "usd" in value:
        return symbol, Decimal(str(value["usd"]))
    before = world.scenario.prices.usd_of(symbol, world.now())
    price = before + before * Decimal(str(value["percent"])) / 100
    if price <= 0:
        raise BadControl("body field 'percent': the price would be 0 or less")
    return symbol, price


def _price(moment: Moment, value: Json) -> None:
    moment.hosted.world.move_price(*new_price(moment.hosted, value))


def _clock(moment: Moment, value: Json) -> None:
    moment.hosted.world.time.advance(duration_ms(value))
    moment.hosted.release_due()


def _check_breaks(hosted: HostedWorld, value: Json) -> None:
    breaks_named(value)


def _breaks(moment: Moment, value: Json) -> None:
    hosted = moment.hosted
    hosted.breaks.set(
        [*hosted.breaks.names, *(name for name in value if name not in hosted.breaks.names)]
    )


def _check_hold(hosted: HostedWorld, value: Json) -> None:
    if "until" in value:
        operation_id(value["until"], hosted.contract)


def _hold(moment: Moment, value: Json) -> Gate:
    until = value.get("until")
    operation = None if until is None else operation_id(until, moment.hosted.contract)
    longest = duration_ms(value.get("most", _MOST_HELD))
    return moment.hosted.held_answer(value.get("name", ""), operation, longest)


def _signal(moment: Moment, value: Json) -> None:
    send = moment.hosted.send_signal
    if send is None:
        raise BadControl("no process of a client is known here; `run` and `survive` start one")
    # By name: numbers differ between systems.
    send(getattr(signal, f"SIG{value}"))


def _always(hosted: HostedWorld, value: Json) -> None:
    """Accept what the form has checked already."""


def _row(names: Mapping[str, object]) -> str:
    return ", ".join(map(str, names))


@dataclass(frozen=True, slots=True)
class TriggerAction:
    """What a trigger may do: `validate` raises `BadControl` when it is set, `act` does it."""

    summary: str
    act: Callable[[Moment, Json], Gate | None]
    validate: Callable[[HostedWorld, Json], None] = _always


ACTIONS: Mapping[str, TriggerAction] = MappingProxyType(
    {
        "fault": TriggerAction("set a fault", _fault, _check_fault),
        "outage": TriggerAction("suspend a chain or a token", _outage, _check_outage),
        "restore": TriggerAction("end an outage", _restore, _check_restore),
        "steer": TriggerAction(
            "send the order of the call along another course", _steer, _check_course
        ),
        "price": TriggerAction("move the price of a token", _price, _check_price),
        "clock": TriggerAction("move the clock forward", _clock),
        "breaks": TriggerAction(
            "change answers from then on: lists, ids, statuses", _breaks, _check_breaks
        ),
        "hold": TriggerAction("hold the answer back", _hold, _check_hold),
        "signal": TriggerAction("send a signal to the client's process", _signal),
    }
)
"""What a trigger may do, by name."""
