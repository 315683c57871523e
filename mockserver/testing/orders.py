"""The orders of a world, as a test names them, looks at them and steers them."""

from collections.abc import Iterator

from mockserver.engine.order_courses import Policy
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Event, Order, OrderView
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.errors import CrosschainMockError
from mockserver.server.control import orders
from mockserver.testing.locked_access import WorldHandle, public_api
from mockserver.testing.options import Course, OrderRef, OrderStatus, Pace, word
from mockserver.worlds.trigger_actions import add_trigger
from mockserver.worlds.triggers import Trigger


class UnknownOrder(CrosschainMockError, KeyError):
    """An order that this world does not have."""

    def __str__(self) -> str:
        """Return the sentence; a `KeyError` would quote it."""
        return str(self.args[0])


def order_id(world: World, named: OrderRef) -> str:
    """Return the id of an order. Raises `UnknownOrder` for one that the world does not have."""
    if isinstance(named, OrderView):
        named = named.order
    name = named.id if isinstance(named, Order) else str(named)
    try:
        return orders.order_id(world, name)
    except Refusal:
        # The last few: a world of many orders would fill the screen.
        there = [order.sn or order.id for order in world.orders.stored()]
        known = f"; there are {', '.join(there[-5:])}" if there else "; none was submitted"
        raise UnknownOrder(f"order {name[:80]!r} does not exist in this world{known}") from None


def order_id_or_text(world: World, named: OrderRef) -> str:
    """Return the id of an order, or a text as it is: it may name an order that is yet to come.

    Raises `UnknownOrder` for what is no text.
    """
    try:
        return order_id(world, named)
    except UnknownOrder:
        if isinstance(named, str):
            return named
        raise


@public_api
class MockOrders:
    """The orders of one world, oldest first; looking at one counts as no poll."""

    def __init__(self, handle: WorldHandle) -> None:
        self._handle, self._lock = handle, handle.lock

    def __iter__(self) -> Iterator[OrderView]:
        return iter(tuple(self._handle.hosted.world.orders.all()))

    def __repr__(self) -> str:
        return f"<MockOrders {[view.order.id for view in self]}>"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, order: OrderRef) -> OrderView:
        """Return an order as it stands, by its id, its v1 number, or as it was looked at before.

        Raises `UnknownOrder`, which is a `KeyError`, for one that does not exist.
        """
        hosted = self._handle.hosted
        return hosted.world.orders.peek(order_id(hosted.world, order))

    @property
    def last(self) -> OrderView:
        """The newest order. Raises `UnknownOrder`, which is a `LookupError`, before the first."""
        order_views = tuple(self)
        if not order_views:
            raise UnknownOrder("no order has been submitted to this world")
        return order_views[-1]

    def events(self, order: OrderRef) -> tuple[Event, ...]:
        """Return an order's statuses with their times, past and to come. Raises `UnknownOrder`."""
        hosted = self._handle.hosted
        return hosted.world.orders.events(order_id(hosted.world, order))

    def steer(self, order: OrderRef, course: Course | str, policy: Pace | None = None) -> OrderView:
        """Send an order along another course (`success`, `fail`, `refund`, …) from now on.

        Raises `CannotSteer` for a final order or an unknown course, `UnknownOrder`, `WrongWord`.
        """
        chosen = None if policy is None else word("policy", Policy, policy)
        hosted = self._handle.hosted
        return hosted.world.orders.steer(order_id(hosted.world, order), course, chosen)

    def next(self, course: Course | str) -> Trigger:
        """Send the next order that is made along a course, by whatever call it is made.

        An order that never comes fails the test. Raises `BadControl` for an unknown course.
        """
        return add_trigger(self._handle.hosted, {"counts": "orders", "steer": course})

    def step(self, order: OrderRef) -> OrderView:
        """Move an order to the next status of its course. Raises `CannotSteer`, `UnknownOrder`."""
        hosted = self._handle.hosted
        return hosted.world.orders.step(order_id(hosted.world, order))

    def force(self, order: OrderRef, status: OrderStatus | Status, reason: str = "") -> OrderView:
        """Set the status of an order, where it stays.

        Raises `CannotSteer` for a final one, `UnknownOrder`, and `WrongWord` for another status.
        """
        chosen = word("status", Status, status)
        hosted = self._handle.hosted
        return hosted.world.orders.force(order_id(hosted.world, order), chosen, reason)
