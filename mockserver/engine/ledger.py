"""Double-entry bookings: what an order moves, as postings whose entries sum to zero per asset."""

from mockserver.engine.courses import Status
from mockserver.engine.orders import Event, Order
from mockserver.values import value_class

CUSTODY = "custody"
"""Deposits of orders in flight."""
POOL = "pool"
"""The service's own liquidity."""
FEE_SERVICE, FEE_CHANNEL, GAS = "fee:service", "fee:channel", "gas"
DUST = "dust"
"""What rescaling between decimals cuts off."""
FAUCET = "faucet"
"""Where opening balances and missing deposits come from."""

AccountKey = tuple[str, str, str]
"""Nickname, symbol and address key of a user's account."""


@value_class(frozen=True, slots=True)
class Entry:
    """An amount, in smallest units, that an account gains (or, negative, loses) of an asset."""

    account: str
    chain: str
    token: str
    units: int


@value_class(frozen=True, slots=True)
class Posting:
    """Entries of one event; they sum to zero for each token on each chain."""

    at_ms: int
    what: str
    order_id: str | None
    entries: tuple[Entry, ...]


def user(address_key: str) -> str:
    """Return the name of a user's account."""
    return f"user:{address_key}"


def account_address(address: str) -> str:
    """Return an address as accounts carry it: hexadecimal ones in lower case."""
    if address[:2] not in ("0x", "0X"):
        return address
    lowered = address.lower()
    # An address that is in lower case already is kept once, and not as its own copy.
    return address if lowered == address else lowered


def deposit(order: Order) -> Posting:
    """Return the booking of a submission: the faucet lends what the sender lacks."""
    sender = user(account_address(order.sender))
    entries = [(sender, -order.amount), (CUSTODY, order.amount)]
    if order.topup:
        entries = [(FAUCET, -order.topup), (sender, order.topup), *entries]
    return _posting(order, order.submitted_ms, "deposit", source=entries)


def outcome(order: Order, event: Event) -> Posting | None:
    """Return the booking of an event: a delivery, a return of the deposit, or none."""
    if event.status is Status.SUCCEEDED:
        return _delivery(order, event.at_ms)
    if event.status in (Status.FAILED, Status.REFUNDED):
        sender = user(account_address(order.sender))
        entries = [(CUSTODY, -order.amount), (sender, order.amount)]
        return _posting(order, event.at_ms, "refund", source=entries)
    return None


def payer_of(order: Order) -> AccountKey:
    """Return the account that an order is paid from."""
    return order.route.source_chain, order.route.source_token, account_address(order.sender)


def receiver_of(order: Order) -> AccountKey:
    """Return the account that an order is paid out to."""
    return order.route.target_chain, order.route.target_token, account_address(order.recipient)


def gained(posting: Posting | None, key: AccountKey) -> int:
    """Return what an account gains by a posting."""
    if posting is None:
        return 0
    chain, token, address = key
    return sum(
        entry.units
        for entry in posting.entries
        if (entry.account, entry.chain, entry.token) == (user(address), chain, token)
    )


def _delivery(order: Order, at_ms: int) -> Posting:
    out = order.delivered
    gross = out.net + out.service_fee + out.channel_fee + out.gas_fee
    return _posting(
        order,
        at_ms,
        "delivery",
        source=[
            (CUSTODY, -order.amount),
            (POOL, out.used - order.dust),
            (DUST, order.dust),
            (user(account_address(order.sender)), out.back),
        ],
        target=[
            (POOL, -gross),
            (user(account_address(order.recipient)), out.net),
            (FEE_SERVICE, out.service_fee),
            (FEE_CHANNEL, out.channel_fee),
            (GAS, out.gas_fee),
        ],
    )


def _posting(
    order: Order,
    at_ms: int,
    what: str,
    *,
    source: list[tuple[str, int]],
    target: list[tuple[str, int]] | None = None,
) -> Posting:
    route = order.route
    entries = [Entry(name, route.source_chain, route.source_token, n) for name, n in source if n]
    entries += [
        Entry(name, route.target_chain, route.target_token, n) for name, n in target or [] if n
    ]
    return Posting(at_ms, what, order.id, tuple(entries))
