"""The words in which findings speak of money, orders and times."""

from collections.abc import Iterable, Sequence

from mockserver.engine.catalog import Placed
from mockserver.engine.orders import Order
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.money_traffic import Evidence
from mockserver.worlds.journal import Entry


def of_orders(  # noqa: PLR0913 - a finding has as many parts
    kind: str,
    text: str,
    evidence: Evidence,
    orders: Sequence[Order],
    entries: Iterable[Entry],
    *,
    costs: Sequence[Money] = (),
    cause: str = "",
) -> Finding:
    """Return a finding about some orders, with the transactions that paid for them."""
    payments = [evidence.payment_of(order) for order in orders]
    chain_transactions = tuple(payment for payment in payments if payment is not None)
    numbers = tuple(order.id for order in orders)
    once = {entry.sequence: entry for entry in entries}
    return Finding(kind, text, numbers, tuple(once.values()), chain_transactions, costs, cause)


def of_order(  # noqa: PLR0913 - as above
    kind: str,
    why: str,
    evidence: Evidence,
    order: Order,
    entries: Iterable[Entry],
    *,
    costs: Sequence[Money] = (),
    cause: str = "",
) -> Finding:
    """Return a finding about an order: its name, what it moves, and why."""
    text = f"{name_of(order)}, {moves(evidence, order)}: {why}"
    return of_orders(kind, text, evidence, (order,), entries, costs=costs, cause=cause)


def money(units: int, placed: Placed) -> str:
    """Return an amount as people say it: `10 USDT`."""
    return str(Money.of(units, placed))


def paid(evidence: Evidence, order: Order) -> Money:
    return Money.of(order.amount, evidence.source_of(order))


def moves(evidence: Evidence, order: Order) -> str:
    """Return what an order moves: `10 USDT from ARB to BNB`, `1 ETH on ARB into USDT`."""
    route = order.route
    if not order.amount:
        return f"a deposit that cannot be read, to {route.target_chain}"
    amount = paid(evidence, order)
    into = "" if route.source_token == route.target_token else f" into {route.target_token}"
    if route.source_chain == route.target_chain:
        return f"{amount} on {route.source_chain}{into}"
    return f"{amount} from {route.source_chain} to {route.target_chain}{into}"


def name_of(order: Order) -> str:
    """Return what people call an order by."""
    return f"order {order.sn or order.id}"


def length(ms: int) -> str:
    """Return a duration to about a second: `2h5m`, `40s`."""
    parts, rest = [], max(1, ms // 1000)
    for unit, word in ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")):
        count, rest = divmod(rest, unit)
        if count:
            parts.append(f"{count}{word}")
    return "".join(parts[:2])


def row(words: Iterable[str]) -> str:
    """Return words in a row: `a`, `a and b`, `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
