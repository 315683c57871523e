"""What triggers do: each action, checked when it is set, and done when its call comes."""

import signal
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from mockserver.engine.outages import Direction
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.responders.breaks import breaks_named
from mockserver.responders.delivery import Gate
from mockserver.responders.faults.registry import fault_of, form_of_faults, operation_id
from mockserver.responders.forms import BadControl, check, duration_ms, form
from mockserver.responders.named import named_by
from mockserver.responders.responder import Call
from mockserver.values import dataclass
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.triggers import Trigger
from mockserver.worlds.windows import window_of

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
            return list(orders.stored())[-1].id
        call = self.call
        named = named_by(call.operation, call.request, self.hosted.world).order if call else None
        if named is None:
            raise BadControl("the call neither made nor named an order")
        return named


def add_trigger(hosted: HostedWorld, definition: Mapping[str, Json]) -> Trigger:
    """Set a trigger as a request describes it. Raises `BadControl`, and nothing is changed."""
    check(form("trigger-given"), definition, "body")
    return hosted.triggers.put(definition, lambda name: _trigger_of(name, definition, hosted))


def load_triggers(hosted: HostedWorld, dumped: list[Json]) -> None:
    """Set the triggers of a dump with their counts. Raises `BadControl`."""
    for item in dumped:
        hosted.triggers.take(add_trigger(hosted, item["told"]), item)


def fire(trigger: Trigger, moment: Moment) -> Gate | None:
    """Do what a trigger says; return what holds the answer back, if anything.

    What cannot be done is kept with the trigger, since there is nobody to tell at this moment.
    """
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
    found = None if operation is None else operation_id(operation, hosted.contract)
    return Trigger(
        name, found, definition.get("nth", 1), after, makes_order, action, dict(definition)
    )


# Actions


def _check_fault(hosted: HostedWorld, given: Json) -> None:
    check(form_of_faults(), given, "body field 'fault':")
    fault_of("trigger", given, hosted.contract, hosted.world.scenario)


def _fault(moment: Moment, given: Json) -> None:
    hosted = moment.hosted
    hosted.faults.add(given, hosted.contract, hosted.world.scenario)


def _check_outage(hosted: HostedWorld, given: Json) -> None:
    # On a copy, so that windows are checked against the outages there are.
    hosted.world.undisturbed().outages.suspend(window_of(given, hosted.world.now()))


def _outage(moment: Moment, given: Json) -> None:
    moment.hosted.world.outages.suspend(window_of(given, moment.hosted.world.now()))


def _check_restore(hosted: HostedWorld, given: Json) -> None:
    if not ({"chain", "token"} & given.keys()):
        raise BadControl("body field 'restore': name the 'chain' or the 'token' to restore")


def _restore(moment: Moment, given: Json) -> None:
    side = Direction(given["direction"]) if "direction" in given else None
    moment.hosted.world.outages.restore(given.get("chain"), given.get("token"), side)


def _check_course(hosted: HostedWorld, given: Json) -> None:
    courses = hosted.world.scenario.courses
    if given not in courses:
        raise BadControl(f"body field 'steer': {given!r} is no course; there are {_row(courses)}")


def _steer(moment: Moment, given: Json) -> None:
    moment.hosted.world.orders.steer(moment.order(), given, None)


def _check_price(hosted: HostedWorld, given: Json) -> None:
    new_price(hosted, given)


def new_price(hosted: HostedWorld, given: Mapping[str, Json]) -> tuple[str, Decimal]:
    """Return a token's symbol and its new USD price, given as `usd` or `percent` of change.

    Raises `BadControl` for a price that is not above 0, and `Refusal` for an unknown token.
    """
    if ("usd" in given) == ("percent" in given):
        raise BadControl("body: give 'usd', the new price, or 'percent', by how much it changes")
    world = hosted.world
    symbol = world.scenario.catalog.token(given["token"]).symbol
    if "usd" in given:
        return symbol, Decimal(str(given["usd"]))
    before = world.scenario.prices.usd_of(symbol, world.now())
    price = before + before * Decimal(str(given["percent"])) / 100
    if price <= 0:
        raise BadControl("body field 'percent': the price would be 0 or less")
    return symbol, price


def _price(moment: Moment, given: Json) -> None:
    moment.hosted.world.move_price(*new_price(moment.hosted, given))


def _clock(moment: Moment, given: Json) -> None:
    moment.hosted.world.time.advance(duration_ms(given))
    moment.hosted.release_due()


def _check_breaks(hosted: HostedWorld, given: Json) -> None:
    breaks_named(given)


def _breaks(moment: Moment, given: Json) -> None:
    hosted = moment.hosted
    hosted.breaks.set(
        [*hosted.breaks.names, *(name for name in given if name not in hosted.breaks.names)]
    )


def _check_hold(hosted: HostedWorld, given: Json) -> None:
    if "until" in given:
        operation_id(given["until"], hosted.contract)


def _hold(moment: Moment, given: Json) -> Gate:
    until = given.get("until")
    operation = None if until is None else operation_id(until, moment.hosted.contract)
    longest = duration_ms(given.get("most", _MOST_HELD))
    return moment.hosted.held_answer(given.get("name", ""), operation, longest)


def _signal(moment: Moment, given: Json) -> None:
    send = moment.hosted.send_signal
    if send is None:
        raise BadControl("no process of a client is known here; `run` and `survive` start one")
    send(getattr(signal, f"SIG{given}"))


def _always(hosted: HostedWorld, given: Json) -> None:
    """Accept what the form has checked already."""


def _row(names: Mapping[str, object]) -> str:
    return ", ".join(map(str, names))


@dataclass(frozen=True, slots=True)
class Action:
    """What a trigger may do: `validate` raises `BadControl` when it is set, `act` does it."""

    summary: str
    act: Callable[[Moment, Json], Gate | None]
    validate: Callable[[HostedWorld, Json], None] = _always


ACTIONS: Mapping[str, Action] = MappingProxyType(
    {
        "fault": Action("set a fault", _fault, _check_fault),
        "outage": Action("suspend a chain or a token", _outage, _check_outage),
        "restore": Action("end an outage", _restore, _check_restore),
        "steer": Action("send the order of the call along another course", _steer, _check_course),
        "price": Action("move the price of a token", _price, _check_price),
        "clock": Action("move the clock forward", _clock),
        "breaks": Action(
            "change answers from then on: lists, ids, statuses", _breaks, _check_breaks
        ),
        "hold": Action("hold the answer back", _hold, _check_hold),
        "signal": Action("send a signal to the client's process", _signal),
    }
)
"""What a trigger may do, by name."""
