"""The orders of a world: submitted, looked up, polled and steered."""

from collections.abc import Iterator
from dataclasses import replace

from mockserver.clock import ClockMode
from mockserver.engine.catalog import Chain
from mockserver.engine.hashes import known_hash
from mockserver.engine.ledger import account_address
from mockserver.engine.order_courses import OrderCourse, Policy, Step
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import (
    Event,
    Order,
    OrderKind,
    OrderView,
    at,
    back_hash_of,
    exec_hash_of,
    history,
    restarted,
    steered,
    view,
)
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.quote_service import QuoteService
from mockserver.engine.refusal import CannotSteer, nearest_names
from mockserver.engine.submission import (
    OpaqueOrderRequest,
    OrderRequest,
    SentOrder,
    placed_opaque,
    placed_order,
    promised,
)
from mockserver.engine.world_state import (
    Core,
    HashKey,
    View,
    check_forced,
    check_order,
    hash_key,
    no_order,
)
from mockserver.fast_dataclass import value_class


@value_class(frozen=True, slots=True)
class OrderStates:
    """How orders stand at a moment, whatever happens to their world afterwards."""

    calendar: Calendar
    now_ms: int
    seed: int

    def view(self, order: Order) -> OrderView:
        return view(order, self.calendar, self.now_ms, self.seed)

    def hashes(self, order: Order) -> tuple[str, str]:
        """Return the transactions that deliver an order or give it back, also those to come."""
        return exec_hash_of(order, self.seed), back_hash_of(order, self.seed)

    def events(self, order: Order) -> tuple[Event, ...]:
        """Return an order's events, past and to come."""
        return history(order, self.calendar)


# Looking up a member of an enumeration takes longer than a global name.
_AUTO, _POLLS = ClockMode.AUTO, Policy.POLLS


class OrderBook(View):
    """The orders of a world."""

    __slots__ = ("_quotes",)

    def __init__(self, core: Core, quotes: QuoteService) -> None:
        """Work on a world's core; orders are priced by its quotes."""
        super().__init__(core)
        self._quotes = quotes

    def submit(self, request: OrderRequest) -> OrderView:
        """Accept an order, whatever its transaction pays (A-470).

        Raises `Refusal`, and then nothing is changed.
        """
        return self._view(self.accept(request))

    def accept(self, request: OrderRequest) -> Order:
        """Accept an order as `submit` does, without computing its status."""
        return placed_order(self._core, self._quotes, request)

    def promised(self, request: OrderRequest) -> int:
        """Return what a 2.0 order would deliver, in smallest units. Raises `Refusal`."""
        return promised(self._core, self._quotes, request)

    def submit_opaque(self, request: OpaqueOrderRequest) -> OrderView:
        """Accept a 2.0 order of a deposit that cannot be read; it delivers 0 (A-421).

        Raises `Refusal`, and nothing is changed.
        """
        return self._view(placed_opaque(self._core, self._quotes, request))

    def submit_sent(self, sent: SentOrder) -> OrderView:
        """Accept an order of a template; the same deposit again is the same order.

        Raises `Refusal` where the world is full, and nothing is changed.
        """
        core, state = self._core, self._core.state
        known = state.order_of(hash_key(sent.route.source_chain, sent.cert_hash))
        if known is None:
            # With its whole text, which is kept as it came.
            check_order(
                state.orders.count, (sent.sender, sent.recipient, sent.cert_hash, sent.sent)
            )
            known = sent.stored(core.now(), core.scenario.refund_ms)
            state.add(known)
        return self._view(known)

    def has(self, order_id: str) -> bool:
        return self._core.state.orders.get(order_id) is not None

    def sent_with(self, chain: str, tx_hash: str) -> str | None:
        """Return the id of the order of a transaction, whatever form it has; None for none."""
        order = self._core.state.order_of(hash_key(chain, tx_hash))
        return None if order is None else order.id

    def poll(self, order_id: str) -> OrderView:
        """Return an order to a client that looks it up, and count that.

        An order that moves by polls moves; an `auto` clock that would show no change jumps to the
        order's next event. Raises `Refusal` for an unknown order.
        """
        core = self._core
        order = core.order(order_id)
        # The look-up is counted first: where that moves the order, the clock need not jump as well.
        if order.policy is _POLLS:
            order = self._ticked(order)
        if core.state.clock.mode is _AUTO:
            order = self._jumped(order)
        return view(order, core.state.calendar, core.now(), core.scenario.seed)

    def peek(self, order_id: str) -> OrderView:
        """Return an order without counting a look-up. Raises `Refusal` for an unknown one."""
        return self._view(self._core.order(order_id))

    def id_of_sn(self, number: str) -> str:
        """Return the id of a v1 order number. Raises `Refusal` for an unknown one.

        The number of an order of 2.0 is its id (A-420).
        """
        state = self._core.state
        order_id = state.by_sn.get(number)
        if order_id is None:
            order = state.orders.get(number)
            # An order of 2.0 has no number: v1 calls it by its id.
            if order is not None and order.sn is None:
                return order.id
            raise no_order(f"order number {number[:80]!r} does not exist here", "order number")
        return order_id

    def id_of_hash(self, chain: str, tx_hash: str) -> str:
        """Return the id of the order a transaction on a nickname pays for. Raises `Refusal`."""
        known = self._core.scenario.catalog.chain(chain)
        return self._by_hash(known, tx_hash).id

    def id_of_v1_hash(self, chain: str, tx_hash: str, evm_address: str) -> str:
        """Return the id of a user's order by v1 source chain and transaction. Raises `Refusal`."""
        known = self._core.scenario.catalog.chain_v1(chain, "source chain")
        order = self._by_hash(known, tx_hash)
        if order.evm_address.lower() != evm_address.lower():
            raise no_order(
                f"transaction {tx_hash[:80]!r} is not an order of {evm_address[:80]!r}",
                "user address",
            )
        return order.id

    def paid_by(self, key: HashKey) -> str | None:
        return self._core.state.by_hash.get(key)

    def stored(self) -> tuple[Order, ...]:
        """Return the facts of every order in the order of submission, not how each stands."""
        return tuple(self._core.state.orders.values())

    def each(self, *, newest: bool = False) -> Iterator[Order]:
        """Return the facts of every order of now, in the order of submission or newest first.

        Orders may be submitted and changed before the last one was taken.
        """
        return self._core.state.orders.each(newest=newest)

    def states(self) -> OrderStates:
        core = self._core
        return OrderStates(core.state.calendar, core.now(), core.scenario.seed)

    def page(self, offset: int, limit: int, *, newest: bool = False) -> list[Order]:
        """Return the facts of some orders in the order of submission, or the newest first."""
        return self._core.state.orders.page(offset, limit, newest=newest)

    def all(self) -> Iterator[OrderView]:
        """Yield every order in the order of submission."""
        yield from map(self._view, tuple(self._core.state.orders.values()))

    def count(self) -> int:
        return len(self._core.state.orders)

    def sent_from(self, chain: str, address: str) -> int:
        """Return how many transactions an address, hexadecimal in any case, has sent on a chain."""
        symbols = [token.symbol for token in self._core.scenario.catalog.tokens]
        return self._core.state.sent_by(chain, account_address(address), symbols)

    def take_back(self, chain: str, address: str, tx_hash: str) -> None:
        """Have a transaction of an address, and what it moved, not be on its chain any more."""
        self._core.state.take_back(hash_key(chain, tx_hash), address)

    def count_sent(self, chain: str, address: str, tx_hash: str) -> None:
        """Count a transaction on a chain; that of an order is counted with the order."""
        self._core.state.count_sent(hash_key(chain, tx_hash), address)

    def events(self, order_id: str) -> tuple[Event, ...]:
        """Return an order's events, past and to come. Raises `Refusal` for an unknown order."""
        return history(self._core.order(order_id), self._core.state.calendar)

    def step(self, order_id: str) -> OrderView:
        """Move an order to the next status of its course by hand.

        Raises `Refusal` for an unknown order, `CannotSteer` where there is nowhere to go.
        """
        order = self._movable(order_id)
        status = self._view(order).status
        ahead = order.course.since(status).steps[1:]
        if not ahead:
            raise CannotSteer(
                f"order {order_id!r} is at the end of its course {order.course.name!r}; "
                "set another course, or force a status"
            )
        if order.policy is Policy.MANUAL:
            return self._store(replace(order, ticks=(*order.ticks, self._core.now())))
        # Not by a tick: only `manual` counts them as steps.
        return self.force(order_id, ahead[0].status, ahead[0].reason, order.policy)

    def force(
        self, order_id: str, status: Status, reason: str = "", policy: Policy = Policy.MANUAL
    ) -> OrderView:
        """Set an order's status now; by default it stays there until it is stepped or steered.

        Raises `Refusal` for an unknown order, `CannotSteer` for a final one.
        """
        order, calendar, now = self._movable(order_id), self._core.state.calendar, self._core.now()
        check_forced(self._core.state, reason)
        # The past by what was shown until now: the new course must not rewrite it.
        happened = tuple(event for event in history(order, calendar) if event.at_ms <= now)
        rest = order.course.since(status).steps[1:] if not status.resting else ()
        # The course begins anew with this status, so the time that has passed is taken off each
        # later step: what was to come keeps its moment.
        reached = order.started_ms
        shifted = (
            Step(step.status, max(0, step.after_ms - (now - reached)), step.reason) for step in rest
        )
        course = OrderCourse(
            order.course.name,
            (Step(status, 0, reason), *shifted),
            order.course.delivered_percent,
        )
        past = (*happened, Event(now, status, reason))
        forced = replace(order, course=course, policy=policy, past=past)
        return self._store(restarted(forced, calendar, now))

    def steer(self, order_id: str, course: str, policy: Policy | None = None) -> OrderView:
        """Send an order along another course from now on; what has happened stays.

        Raises `Refusal` for an unknown order, `CannotSteer` for a final one, an unknown course and
        one that the order cannot take.
        """
        order, courses = self._movable(order_id), self._core.scenario.courses
        if course not in courses:
            known, near = ", ".join(map(repr, courses)), nearest_names(str(course), courses)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise CannotSteer(f"course {course!r} is not known; {hint}there are {known}")
        if order.kind is OrderKind.BRIDGE and courses[course].delivered_percent != 100:
            raise CannotSteer(
                f"order {order_id!r} is a transfer, which is never filled in part; course "
                f"{course!r} is for swaps"
            )
        check_forced(self._core.state, "")
        calendar, now = self._core.state.calendar, self._core.now()
        chosen = policy or order.policy
        return self._store(steered(order, courses[course], chosen, calendar, now))

    def _by_hash(self, chain: Chain, tx_hash: str) -> Order:
        key = hash_key(chain.nickname, known_hash(chain, tx_hash))
        order_id = self._core.state.by_hash.get(key)
        if order_id is None:
            raise no_order(
                lambda named: (
                    f"no order was paid for by {tx_hash[:80]!r} on {named(chain.nickname)!r}"
                ),
                "transaction hash",
            )
        return self._core.state.orders[order_id]

    def _view(self, order: Order) -> OrderView:
        core = self._core
        return view(order, core.state.calendar, core.now(), core.scenario.seed)

    def _store(self, order: Order) -> OrderView:
        self._core.state.change(order)
        return self._view(order)

    def _movable(self, order_id: str) -> Order:
        order = self._core.order(order_id)
        status = self._view(order).status
        if status.final:
            raise CannotSteer(
                f"order {order_id!r} is {status.value!r}, which is final; "
                "revert to a snapshot, or submit another order"
            )
        if status.resting:
            raise CannotSteer(
                f"order {order_id!r} is {status.value!r}, which only a ticket lifts; submit one "
                f"for {order.cert_hash!r} on {order.route.source_chain!r}"
            )
        return order

    def _ticked(self, order: Order) -> Order:
        if len(order.ticks) >= order.polls_needed:
            return order
        now, calendar = self._core.now(), self._core.state.calendar
        status = at(history(order, calendar), now).status
        # A refund goes on by time: polls only move what is on its way to the target.
        moving = not status.resting and status is not Status.REFUNDING
        if not moving or calendar.speed(order.route, now) == 0:
            return order
        order = replace(order, ticks=(*order.ticks, now))
        self._core.state.change(order)
        return order

    def _jumped(self, order: Order) -> Order:
        now = self._core.now()
        events = history(order, self._core.state.calendar)
        current = at(events, now)
        # A client is to see each status once: the clock stays until the present one was shown.
        if order.seen_ms is not None and order.seen_ms >= current.at_ms:
            due = next((event for event in events if event.at_ms > now), None)
            if due is not None:
                self._core.jump(due.at_ms)
        order = replace(order, seen_ms=self._core.now())
        # Without `change`: that it was seen moves no event.
        self._core.state.orders[order.id] = order
        return order
