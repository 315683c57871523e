"""What orders have paid out, in the order of its time: what a node shows of them."""

from collections.abc import Iterator

from mockserver.engine.core import View
from mockserver.engine.courses import Status
from mockserver.engine.orders import Order, exec_hash_of, history
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Payout:
    """A transaction that delivers an order; `at_ms` is when it did."""

    at_ms: int
    order: Order
    hash: str


class Payouts(View):
    """The deliveries of a world's orders on chains of EVM."""

    __slots__ = ()

    def passed(self, until_ms: int) -> Iterator[Payout]:
        """Yield what was paid out up to a moment, oldest first, each a single time."""
        state, seed = self._core.state, self._core.scenario.seed
        for order_id in state.payouts().passed(until_ms, state.calendar, self._due_ms):
            at_ms, order = self._due_ms(order_id), state.orders[order_id]
            if at_ms is not None:
                yield Payout(at_ms, order, exec_hash_of(order, seed))

    def _due_ms(self, order_id: str) -> int | None:
        core = self._core
        order = core.state.orders[order_id]
        if not order.delivered.net or not core.scenario.catalog.chain(order.route.target_chain).evm:
            return None
        events = history(order, core.state.calendar)
        return next((event.at_ms for event in events if event.status is Status.SUCCEEDED), None)
