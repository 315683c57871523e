"""Money: double-entry bookings of what orders move, and what they have moved on a user's account.

The entries of a posting sum to zero per asset. An account costs the same
with one order or a million.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush

from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Event, Order
from mockserver.engine.outage_calendar import Calendar
from mockserver.fast_dataclass import dataclass, value_class

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
class LedgerEntry:
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
    entries: tuple[LedgerEntry, ...]


def user(address_key: str) -> str:
    return f"user:{address_key}"


def account_address(address: str) -> str:
    """Return an address as accounts carry it: hexadecimal ones in lower case."""
    if address[:2] not in ("0x", "0X"):
        return address
    lowered = address.lower()
    # `lower` makes a copy even of lower-case text: keep one object for both.
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
    return order.route.source_chain, order.route.source_token, account_address(order.sender)


def receiver_of(order: Order) -> AccountKey:
    return order.route.target_chain, order.route.target_token, account_address(order.recipient)


def gained(posting: Posting | None, key: AccountKey) -> int:
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
    # What the pool gives is added up from its parts, so that the posting sums to zero whatever was
    # rounded.
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
    entries = [
        LedgerEntry(name, route.source_chain, route.source_token, n) for name, n in source if n
    ]
    entries += [
        LedgerEntry(name, route.target_chain, route.target_token, n)
        for name, n in target or []
        if n
    ]
    return Posting(at_ms, what, order.id, tuple(entries))


DueTime = Callable[[str], int | None]
"""When an order is due next, in ms since 1970; None where nothing lies ahead of it."""


class Agenda:
    """The moments at which orders are due, by the calendar they were worked out for.

    An order is computed again only when it has changed, or when the calendar has, with all others
    that are not finished.
    """

    __slots__ = ("_calendar", "_changed", "_due", "_heap")

    def __init__(self) -> None:
        """Begin without orders."""
        self._calendar: Calendar | None = None
        self._changed: set[str] = set()
        self._due: dict[str, int | None] = {}
        self._heap: list[tuple[int, str]] = []

    def touch(self, order_id: str) -> None:
        self._changed.add(order_id)

    def copy(self) -> "Agenda":
        """Return an independent copy."""
        twin = Agenda()
        twin._calendar, twin._changed = self._calendar, set(self._changed)
        twin._due, twin._heap = dict(self._due), list(self._heap)
        return twin

    def passed(self, now_ms: int, calendar: Calendar, due_time: DueTime) -> Iterator[str]:
        self.prepare(calendar, due_time)
        while self._heap and self._heap[0][0] <= now_ms:
            moment, order_id = heappop(self._heap)
            # Stale entries stay in the heap until they come up: taking one out would cost a search.
            if self._due.get(order_id) == moment:
                del self._due[order_id]
                yield order_id

    def next(self) -> int | None:
        """Return when the next order is due, as worked out by `passed`."""
        while self._heap:
            moment, order_id = self._heap[0]
            if self._due.get(order_id) == moment:
                return moment
            heappop(self._heap)
        return None

    def prepare(self, calendar: Calendar, due_time: DueTime, most: int | None = None) -> bool:
        """Work out the orders that have changed, at most so many; tell whether more are left."""
        if calendar is not self._calendar:
            # Another calendar moves every order that is not finished.
            # Those that were passed are not in `_due` any more.
            self._changed.update(self._due)
            self._calendar, self._heap = calendar, []
        count = len(self._changed) if most is None else min(most, len(self._changed))
        # Of many, to build the heap anew is linear; pushing each would cost a logarithm more.
        many = count > len(self._heap)
        for _ in range(count):
            order_id = self._changed.pop()
            moment = self._due[order_id] = due_time(order_id)
            if moment is None:
                continue
            if many:
                self._heap.append((moment, order_id))
            else:
                heappush(self._heap, (moment, order_id))
        if many:
            heapify(self._heap)
        return bool(self._changed)


Closing = Callable[[str], int | None]
"""When an order is paid out or given back, in ms since 1970; None where it never is."""
Gain = Callable[[str], int]
"""What the account gains by the outcome of an order, in smallest units."""


class StateOwner:
    """Who may change an account; a copied state and its copy have a new one each."""

    __slots__ = ()


@dataclass(slots=True)
class Account:
    """An account's orders in the order of submission, and what it has gained since its opening.

    `sent` counts the transactions of orders that it has paid for; `moved` is what submissions have
    changed. `paid` is what the first `done` orders have brought, all of which have come to an end.
    The agenda of the others is made when a balance is requested; `gained` is what all of them have
    brought by then.
    """

    owner: StateOwner
    orders: list[str]
    sent: int = 0
    moved: int = 0
    paid: int = 0
    done: int = 0
    gained: int = 0
    agenda: Agenda | None = None

    def copied(self, owner: StateOwner) -> "Account":
        agenda = None if self.agenda is None else self.agenda.copy()
        return replace(self, owner=owner, orders=list(self.orders), agenda=agenda)

    def add(self, order_id: str, change: int) -> None:
        self.orders.append(order_id)
        self.moved += change
        if self.agenda is not None:
            self.agenda.touch(order_id)

    def touch(self, order_id: str) -> None:
        """Note that an order which has not come to its end has changed."""
        if self.agenda is not None:
            self.agenda.touch(order_id)

    def total(self, now_ms: int, calendar: Calendar, closing: Closing, gain: Gain) -> int:
        if self.agenda is None:
            # From what `certain` has settled on, so that the ends in a row are not worked out
            # again.
            self.agenda, self.gained = Agenda(), self.paid
            for order_id in self.orders[self.done :]:
                self.agenda.touch(order_id)
        for order_id in self.agenda.passed(now_ms, calendar, closing):
            self.gained += gain(order_id)
        return self.moved + self.gained

    def certain(self, now_ms: int, closing: Closing, gain: Gain) -> int:
        """Return what the account has surely gained: by submissions, and by all ends in a row.

        An order that has ended after one that has not is left out, so that a submission costs the
        same in a world of any size.
        """
        while self.done < len(self.orders):
            order_id = self.orders[self.done]
            moment = closing(order_id)
            # Stops at the first that is open, since `paid` counts a prefix.
            if moment is None or moment > now_ms:
                break
            self.paid += gain(order_id)
            self.done += 1
        return self.moved + self.paid
