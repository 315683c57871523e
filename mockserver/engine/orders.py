"""An order: facts fixed at submission, and the events that follow from them, calendar and clock."""

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum, StrEnum

from mockserver.engine.hashes import derived_hash
from mockserver.engine.order_courses import OrderCourse, Policy
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import InFlight, OrderRoute, Window
from mockserver.fast_dataclass import value_class
from mockserver.times_and_durations import iso


class OrderGeneration(StrEnum):
    """The generation of the interface an order came through."""

    V1 = "v1"
    V2 = "v2"


class OrderKind(IntEnum):
    """What an order does, by the number both generations give it."""

    BRIDGE = 1
    AGGREGATE = 2


@value_class(frozen=True, slots=True)
class Ticket:
    """A problem report about a transaction, as it was sent."""

    id: int
    address: str
    chain: str
    hash: str
    submitted_ms: int


REFUND_MS = 40_000
"""How long a refund takes where a scenario does not say so."""
# Looking up a member of an enumeration takes longer than a global name.
_SUCCEEDED = Status.SUCCEEDED
_RETURNED = (Status.FAILED, Status.REFUNDED)
CLOSING = (_SUCCEEDED, *_RETURNED)
"""The statuses that move something: the delivery, or the deposit on its way back."""
_IMMEDIATE = Policy.IMMEDIATE
_TIMED = (Policy.TIME, _IMMEDIATE)


@value_class(frozen=True, slots=True)
class Event:
    """A status an order has from a moment on (ms since 1970)."""

    at_ms: int
    status: Status
    reason: str = ""


@value_class(frozen=True, slots=True)
class Order:
    """Everything that is stored of an order. Amounts are in smallest units of their own chain.

    `gross`, `service_fee`, `channel_fee` and `gas_fee` are in the token out; `topup` is what the
    faucet lent the sender; `dust` is what rescaling cut off the deposit. `exposed_ms` is the first
    moment at which an outage may strike, where that is not the start of the order: it orders events
    of one instant. `exec_hash` and `back_hash` are those that are given; empty ones follow from the
    id (`exec_hash_of`, `back_hash_of`). `sent` is the submission as JSON text, where templates take
    it as it is and nothing here reads its amounts.
    """

    id: str
    sn: str | None
    generation: OrderGeneration
    kind: OrderKind
    route: OrderRoute
    submitted_ms: int
    started_ms: int
    amount: int
    gross: int
    service_fee: int
    channel_fee: int
    gas_fee: int
    dust: int
    topup: int
    sender: str
    recipient: str
    evm_address: str
    cert_hash: str
    exec_hash: str
    back_hash: str
    course: OrderCourse
    policy: Policy
    polls_needed: int = 1
    refund_ms: int = REFUND_MS
    channel: str = ""
    fee_level: int | None = None
    ticks: tuple[int, ...] = ()
    past: tuple[Event, ...] = ()
    ticket_ms: int | None = None
    resolve_ms: int = 0
    seen_ms: int | None = None
    exposed_ms: int | None = None
    sent: str = ""

    def __repr__(self) -> str:
        route, name = self.route, f"{self.sn}, v1" if self.sn else self.id
        ends = (
            f"{route.source_token} on {route.source_chain}",
            f"{route.target_token} on {route.target_chain}",
        )
        return f"<Order {name}: {self.amount} units of {' to '.join(ends)}>"

    def name_in(self, generation: OrderGeneration) -> str:
        """Return what an interface calls it: v1 by its number, where it has one, 2.0 by its id."""
        return self.sn if generation is OrderGeneration.V1 and self.sn else self.id

    @property
    def net(self) -> int:
        """What arrives when all of it is delivered, in smallest units."""
        return self.gross - self.service_fee - self.channel_fee - self.gas_fee

    @property
    def delivered(self) -> "OrderDelivery":
        """What a success delivers, takes and gives back: all or, of a partial one, a share."""
        share = self.course.delivered_percent
        parts = (self.gross, self.service_fee, self.channel_fee, self.gas_fee)
        gross, service, channel, gas = (part * share // 100 for part in parts)
        used = self.amount * share // 100
        # Of the rounded parts, so that they add up: a share of the net may be a unit off.
        net = gross - service - channel - gas
        return OrderDelivery(net, service, channel, gas, used, self.amount - used)


@value_class(frozen=True, slots=True)
class OrderDelivery:
    """The amounts of a success: out and fees in the token out, used and back in the token in."""

    net: int
    service_fee: int
    channel_fee: int
    gas_fee: int
    used: int
    back: int


@value_class(frozen=True, slots=True)
class OrderView:
    """An order as it stands at a moment. `amount_out` and `back_amount` are 0 until booked."""

    order: Order
    status: Status
    since_ms: int
    reason: str
    amount_out: int
    back_amount: int
    exec_hash: str
    back_hash: str

    def __repr__(self) -> str:
        return f"<OrderView {self.status.value} of {self.order!r}>"

    @property
    def v1_status(self) -> V1Status:
        """The status in v1's numbers (ESS1): what rests without success has failed."""
        if self.status is Status.SUCCEEDED:
            share = self.order.course.delivered_percent
            return V1Status.COMPLETED if share == 100 else V1Status.PARTIAL
        return V1Status.FAILED if self.status.resting else V1Status.ONGOING


def history(order: Order, calendar: Calendar) -> tuple[Event, ...]:
    """Return all events of an order, past and to come, as the calendar stands."""
    if _is_undisturbed(order, calendar):
        return _planned(order)
    events = [*order.past]
    for event in _interrupted(order, calendar):
        # What was forced may be what comes next by itself: a status is not entered twice.
        if not events or events[-1].status is not event.status:
            events.append(event)
    if order.ticket_ms is not None and events[-1].status is Status.DROPPED:
        # A ticket may come before the order is dropped: then its time counts from there.
        resolved = max(order.ticket_ms, events[-1].at_ms) + order.resolve_ms
        events.append(Event(resolved, Status.REFUNDED, "refunded after a ticket"))
    return tuple(events)


def exec_hash_of(order: Order, seed: int) -> str:
    """Return the transaction that delivers an order, in a world of a seed."""
    return order.exec_hash or derived_hash(seed, "exec", order.id)


def back_hash_of(order: Order, seed: int) -> str:
    """Return the transaction that gives an order back, in a world of a seed."""
    return order.back_hash or derived_hash(seed, "back", order.id)


def view(order: Order, calendar: Calendar, now_ms: int, seed: int) -> OrderView:
    """Return an order as it stands at a moment, in a world of a seed. Nothing is changed."""
    since_ms, status, reason = _reached(order, calendar, now_ms)
    # Nothing of an outcome is shown before it happened, though all of it is known already.
    out, back, exec_hash = 0, 0, ""
    if status is _SUCCEEDED:
        delivery = order.delivered
        out, back, exec_hash = delivery.net, delivery.back, exec_hash_of(order, seed)
    elif status in _RETURNED:
        back = order.amount
    back_hash = back_hash_of(order, seed) if back else ""
    return OrderView(order, status, since_ms, reason, out, back, exec_hash, back_hash)


def standing(order: Order, calendar: Calendar, now_ms: int) -> Event:
    """Return the last event of an order that has happened by a moment."""
    return Event(*_reached(order, calendar, now_ms))


def _reached(order: Order, calendar: Calendar, now_ms: int) -> tuple[int, Status, str]:
    """Return the values of the last event of an order that has happened by a moment."""
    if not _is_undisturbed(order, calendar):
        event = at(history(order, calendar), now_ms)
        return event.at_ms, event.status, event.reason
    # Without disturbance the course alone decides, and only the last event is made.
    age = now_ms - order.started_ms
    reached, *later = order.course.steps
    after_ms = 0
    for step in later:
        if step.after_ms > age:
            break
        if step.status is not reached.status:
            reached, after_ms = step, max(0, step.after_ms)
    return order.started_ms + after_ms, reached.status, reached.reason


def _is_undisturbed(order: Order, calendar: Calendar) -> bool:
    """Tell whether only the course of an order decides: no outage, and nobody forced it."""
    # An outage that begins after the end of an order does not count.
    if order.past or order.ticket_ms is not None or order.policy not in _TIMED:
        return False
    if not calendar.windows:
        return True
    steps, started = order.course.steps, order.started_ms
    end = started + max([step.after_ms for step in steps])
    return steps[-1].status.resting and calendar.quiet(order.route, started, end)


def _planned(order: Order) -> tuple[Event, ...]:
    reached, *later = order.course.steps
    started = order.started_ms
    events = [Event(started, reached.status, reached.reason)]
    for step in later:
        if step.status is not reached.status:
            events.append(Event(started + max(0, step.after_ms), step.status, step.reason))
            reached = step
    return tuple(events)


def at(events: tuple[Event, ...], now_ms: int) -> Event:
    """Return the last event that has happened by a moment."""
    # Before its first event an order stands as it will begin.
    return next((event for event in reversed(events) if event.at_ms <= now_ms), events[0])


def steered(
    order: Order, course: OrderCourse, policy: Policy, calendar: Calendar, now: int
) -> Order:
    """Return an order that goes on along another course from now; what has happened stays."""
    happened = tuple(event for event in history(order, calendar) if event.at_ms <= now)
    ahead = planned(course.since(happened[-1].status), policy, order.route, calendar, now)
    return restarted(replace(order, course=ahead, policy=policy, past=happened), calendar, now)


def restarted(order: Order, calendar: Calendar, now: int) -> Order:
    """Return an order that goes along its course from now; the strikes of this instant are past."""
    struck = calendar.strike(order.route, now)
    # What strikes in this very instant has struck already: it would strike the order that was just
    # freed from it once more.
    exposed = now + 1 if struck is not None and struck[0] == now else None
    return replace(order, started_ms=now, ticks=(), exposed_ms=exposed)


def planned(
    course: OrderCourse, policy: Policy, route: OrderRoute, calendar: Calendar, now: int
) -> OrderCourse:
    """Return the course an order takes under a policy: an immediate one waits only for a halt."""
    if policy is not _IMMEDIATE:
        return course
    return course.collapsed(1 if calendar.speed(route, now) == 0 else 0)


def _interrupted(order: Order, calendar: Calendar) -> Iterator[Event]:
    events = list(_undisturbed(order, calendar))
    exposed = order.started_ms if order.exposed_ms is None else order.exposed_ms
    strike = calendar.strike(order.route, exposed)
    if strike is None:
        yield from events
        return
    moment, window = strike
    before = [event for event in events if event.at_ms <= moment]
    # An order that was at its end, or on its way back, has nothing left that an outage could stop.
    if before[-1].status.resting or before[-1].status is Status.REFUNDING:
        yield from events
        return
    yield from before
    yield from struck(window, moment, order.refund_ms)


def struck(window: Window, moment: int, refund_ms: int) -> Iterator[Event]:
    """Yield the events of an order on its way that an outage strikes at a moment."""
    reason = f"{window.subject} suspended at {iso(moment)}"
    if window.in_flight is InFlight.FAIL:
        yield Event(moment, Status.FAILED, reason)
        return
    yield Event(moment, Status.REFUNDING, reason)
    yield Event(moment + refund_ms, Status.REFUNDED, reason)


def _undisturbed(order: Order, calendar: Calendar) -> Iterator[Event]:
    first, *later = order.course.steps
    yield Event(order.started_ms, first.status, first.reason)
    for number, step in enumerate(later, start=1):
        moment: int | None
        if order.policy in _TIMED:
            moment = calendar.when(order.route, order.started_ms, step.after_ms)
        else:
            moment = _ticked(order, number, len(later))
        if moment is None:
            return
        yield Event(moment, step.status, step.reason)


def _ticked(order: Order, number: int, last: int) -> int | None:
    needed = number
    if order.policy is Policy.POLLS:
        # Rounded up, so that the last step comes with the last of the polls that are needed.
        needed = -(-order.polls_needed * number // last)
    return order.ticks[needed - 1] if len(order.ticks) >= needed else None
