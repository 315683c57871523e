"""What orders have paid out and given back, in the order of its time: what a node shows of them."""

from collections.abc import Iterator

from mockserver.engine.catalog import Placed
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import CLOSING, Event, Order, back_hash_of, exec_hash_of, history
from mockserver.engine.world_state import View
from mockserver.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Payout:
    """A transaction of the service: it delivers an order, or gives a deposit `back`.

    `at_ms` is when it did, and `units` is what it moves, in smallest units.
    """

    at_ms: int
    order: Order
    hash: str
    units: int
    back: bool = False

    @property
    def chain(self) -> str:
        route = self.order.route
        return route.source_chain if self.back else route.target_chain

    @property
    def token(self) -> str:
        """The symbol of the token that it pays."""
        route = self.order.route
        return route.source_token if self.back else route.target_token

    @property
    def recipient(self) -> str:
        return self.order.sender if self.back else self.order.recipient


class Payouts(View):
    """What the service pays on chains whose nodes show it."""

    __slots__ = ()

    def passed(self, until_ms: int) -> Iterator[tuple[Payout, ...]]:
        """Yield what each order that ended by a moment was paid, oldest first, a single time."""
        state = self._core.state
        for order_id in state.payouts().passed(until_ms, state.calendar, self._due_ms):
            yield self._of(state.orders[order_id])

    def prepare(self, most: int) -> bool:
        """Work out when some orders end, at most so many; tell whether more are left."""
        state = self._core.state
        return state.payouts().prepare(state.calendar, self._due_ms, most)

    def owed(self, placed: Placed) -> int:
        """Return what orders that are underway will be paid of a token on a chain."""
        state, now = self._core.state, self._core.now()
        place = placed.chain.nickname, placed.symbol
        orders = [
            order
            for order in state.orders.values()
            if (order.route.target_chain, order.route.target_token) == place
        ]
        payouts = [payout for order in orders for payout in self._of(order) if not payout.back]
        # What is due by now is paid already, though no node may have shown it yet.
        return sum([payout.units for payout in payouts if payout.at_ms > now])

    def _due_ms(self, order_id: str) -> int | None:
        paid = self._of(self._core.state.orders[order_id])
        return paid[0].at_ms if paid else None

    def _of(self, order: Order) -> tuple[Payout, ...]:
        events = history(order, self._core.state.calendar)
        end = next((event for event in events if event.status in CLOSING), None)
        if end is None:
            return ()
        catalog = self._core.scenario.catalog
        paid = self._paid(order, end)
        return tuple([each for each in paid if catalog.chain(each.chain).has_node])

    def _paid(self, order: Order, end: Event) -> Iterator[Payout]:
        seed, delivery = self._core.scenario.seed, order.delivered
        succeeded = end.status is Status.SUCCEEDED
        back = delivery.back if succeeded else order.amount
        if succeeded and delivery.net:
            yield Payout(end.at_ms, order, exec_hash_of(order, seed), delivery.net)
        if back:
            yield Payout(end.at_ms, order, back_hash_of(order, seed), back, back=True)
