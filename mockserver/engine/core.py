"""What the services of a world share: its scenario, its state and the way to tell its time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from mockserver.clock import Clock
from mockserver.engine.calendar import Calendar
from mockserver.engine.catalog import Placed
from mockserver.engine.ledger import AccountKey, Purse, purse_after, touched
from mockserver.engine.orders import Order
from mockserver.engine.outages import Route
from mockserver.engine.refusal import Refusal
from mockserver.engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Ticket:
    """A problem report about a transaction, as it was sent."""

    id: int
    address: str
    chain: str
    hash: str
    submitted_ms: int


@dataclass(slots=True)
class State:
    """Everything that changes in a world. The look-ups beside orders and tickets follow from them.

    The values are immutable, so that a copy of the mappings is a copy of the world.
    """

    clock: Clock
    calendar: Calendar
    orders: dict[str, Order] = field(default_factory=dict)
    tickets: dict[int, Ticket] = field(default_factory=dict)
    by_hash: dict[tuple[str, str], str] = field(default_factory=dict)
    by_sn: dict[str, str] = field(default_factory=dict)
    purses: dict[AccountKey, Purse] = field(default_factory=dict)

    def copy(self) -> "State":
        """Return a state that shares no mapping with this one."""
        return replace(
            self,
            orders=dict(self.orders),
            tickets=dict(self.tickets),
            by_hash=dict(self.by_hash),
            by_sn=dict(self.by_sn),
            purses=dict(self.purses),
        )

    def add(self, order: Order) -> None:
        """Store a new order with its look-ups."""
        self.orders[order.id] = order
        self.by_hash[hash_key(order.route.source_chain, order.cert_hash)] = order.id
        if order.sn is not None:
            self.by_sn[order.sn] = order.id
        for key, change in touched(order):
            self.purses[key] = purse_after(self.purses.get(key), order.id, change)


class Core:
    """A world's scenario, state and clock, handed to each of its services."""

    __slots__ = ("scenario", "state", "wall")

    def __init__(self, scenario: Scenario, state: State, wall: Callable[[], int]) -> None:
        """Keep the parts; `wall` returns the wall clock's time in milliseconds."""
        self.scenario = scenario
        self.state = state
        self.wall = wall

    def now(self) -> int:
        """Return the world's time, in milliseconds since 1970."""
        return self.state.clock.now(self.wall())

    def jump(self, to_ms: int) -> None:
        """Move the clock forward to a moment; one that has passed already changes nothing."""
        wall = self.wall()
        if to_ms > self.state.clock.now(wall):
            self.state.clock = self.state.clock.set(to_ms, wall)

    def order(self, order_id: str) -> Order:
        """Return a stored order. Raises `Refusal` where there is none."""
        found = self.state.orders.get(order_id)
        if found is None:
            raise no_order(f"order {order_id[:80]!r} does not exist here", "order")
        return found


def hash_key(chain: str, tx_hash: str) -> tuple[str, str]:
    """Return the key of a transaction: hexadecimal hashes match in any case."""
    return chain, tx_hash.lower() if tx_hash[:2].lower() == "0x" else tx_hash


def route_of(source: Placed, target: Placed) -> Route:
    """Return the route from one token on a chain to another."""
    return Route(source.chain.nickname, source.symbol, target.chain.nickname, target.symbol)


def no_order(what: str, about: str, nearest: Sequence[str] = ()) -> Refusal:
    """Return the refusal of an order that does not exist."""
    return Refusal(
        "unknown-order",
        f"{what}; ask for one that was submitted to this world",
        about=about,
        nearest=nearest,
    )
