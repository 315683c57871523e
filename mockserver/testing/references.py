"""How a test names an order: by its id, by its v1 number, or as it was looked at."""

from mockserver.engine.orders import Order, OrderView
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.errors import CrosschainMockError
from mockserver.server.control import orders

OrderRef = str | int | Order | OrderView
"""An order: its 2.0 id, its v1 number (`orderSn`), or what `orders` gave."""


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
        there = [order.sn or order.id for order in world.orders.stored()]
        known = f"; there are {', '.join(there[-5:])}" if there else "; none was submitted"
        raise UnknownOrder(f"order {name[:80]!r} does not exist in this world{known}") from None
