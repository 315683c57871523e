"""What an audit finds, in words of people who write wallets."""

from collections.abc import Iterable, Sequence

from mockserver.clock import iso
from mockserver.engine import amounts
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.orders import Order
from mockserver.jsontext import Json, plain
from mockserver.values import dataclass
from mockserver.worlds.journal import Entry
from mockserver.worlds.seen import SeenTransaction

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with money: its kind, a sentence, the orders and the exchanges.

    `transactions` are those sent to a chain, which the journal does not have.
    """

    kind: str
    told: str
    orders: Sequence[str] = ()
    entries: Sequence[Entry] = ()
    transactions: Sequence[SeenTransaction] = ()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.told}"]
        lines += [f"  {one.sequence}. {one.asked} -> {one.outcome}" for one in self.entries]
        lines += [f"  transaction {one.hash} on {one.chain}" for one in self.transactions]
        return "\n".join(lines)

    def render(self) -> dict[str, Json]:
        """Return the finding as JSON for the control API."""
        return {
            "kind": self.kind,
            "told": self.told,
            "orders": list(self.orders),
            "requests": [
                {
                    "sequence": one.sequence,
                    "at": iso(one.at_ms),
                    "request": one.asked,
                    "outcome": one.outcome,
                }
                for one in self.entries
            ],
            "transactions": [{"chain": one.chain, "hash": one.hash} for one in self.transactions],
        }


def money(units: int, placed: Placed) -> str:
    """Return an amount as people say it: `10 USDT`."""
    return f"{plain(amounts.whole_tokens(units, placed.decimals))} {placed.symbol}"


def moved(order: Order, catalog: Catalog) -> str:
    """Return what an order moves: `10 USDT from ARB to BNB`, `1 ETH on ARB into USDT`."""
    route = order.route
    if not order.amount:
        return f"a deposit that cannot be read, to {route.target_chain}"
    source = catalog.token_on(route.source_chain, route.source_token)
    return f"{money(order.amount, source)} {way(order)}"


def way(order: Order) -> str:
    """Return where an order goes."""
    route = order.route
    into = "" if route.source_token == route.target_token else f" into {route.target_token}"
    if route.source_chain == route.target_chain:
        return f"on {route.source_chain}{into}"
    return f"from {route.source_chain} to {route.target_chain}{into}"


def named(order: Order) -> str:
    """Return an order as clients call it."""
    return f"order {order.sn or order.id}"


def length(ms: int) -> str:
    """Return a duration to about a second: `2h5m`, `40s`."""
    parts, rest = [], max(ms, _SECOND)
    for unit, word in ((24 * _HOUR, "d"), (_HOUR, "h"), (_MINUTE, "m"), (_SECOND, "s")):
        count, rest = divmod(rest, unit)
        if count:
            parts.append(f"{count}{word}")
    return "".join(parts[:2])


def listed(words: Iterable[str]) -> str:
    """Return words in a row: `a`, `a and b`, `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
