"""The orders of a world, as a test looks at them and steers them."""

from collections.abc import Iterator

from mockserver.engine.courses import Policy, Status
from mockserver.engine.orders import Event, OrderView
from mockserver.testing.sight import Sight


class MockOrders:
    """The orders of one world, oldest first; looking at one counts as no poll."""

    def __init__(self, sight: Sight) -> None:
        """Look at one world."""
        self._sight = sight

    def __iter__(self) -> Iterator[OrderView]:
        with self._sight.hosted() as hosted:
            return iter(tuple(hosted.world.orders.all()))

    def __repr__(self) -> str:
        return f"<MockOrders {[view.order.id for view in self]}>"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, order_id: str) -> OrderView:
        """Return an order as it stands. Raises `KeyError` for one that does not exist."""
        for view in self:
            if view.order.id == order_id:
                return view
        raise KeyError(order_id)

    @property
    def last(self) -> OrderView:
        """The newest order. Raises `LookupError` before the first."""
        found = tuple(self)
        if not found:
            raise LookupError("no order has been submitted to this world")
        return found[-1]

    def events(self, order_id: str) -> tuple[Event, ...]:
        """Return an order's statuses with their times, past and to come."""
        with self._sight.hosted() as hosted:
            return hosted.world.orders.events(order_id)

    def steer(self, order_id: str, course: str, policy: str | None = None) -> OrderView:
        """Send an order along another course (`success`, `fail`, `refund`, …) from now on.

        Raises `CannotSteer` for a final order or an unknown course.
        """
        chosen = None if policy is None else Policy(policy)
        with self._sight.hosted() as hosted:
            return hosted.world.orders.steer(order_id, course, chosen)

    def step(self, order_id: str) -> OrderView:
        """Move an order to the next status of its course. Raises `CannotSteer`."""
        with self._sight.hosted() as hosted:
            return hosted.world.orders.step(order_id)

    def force(self, order_id: str, status: str, reason: str = "") -> OrderView:
        """Set the status of an order, where it stays. Raises `CannotSteer` for a final one."""
        with self._sight.hosted() as hosted:
            return hosted.world.orders.force(order_id, Status(status), reason)
