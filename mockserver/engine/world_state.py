"""What the services of a world share: its scenario, its state and its clock."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from decimal import Decimal

from mockserver import limits
from mockserver.clock import Clock
from mockserver.engine.catalog import Placed
from mockserver.engine.ledger import (
    Account,
    AccountKey,
    Agenda,
    StateOwner,
    account_address,
    payer_of,
    receiver_of,
)
from mockserver.engine.orders import Order, Ticket
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import OrderRoute
from mockserver.engine.persistent_mapping import Layered
from mockserver.engine.refusal import CannotSteer, Naming, Refusal
from mockserver.engine.scenario import Scenario
from mockserver.fast_dataclass import dataclass, keep


@dataclass(frozen=True, slots=True)
class Reports:
    """Look-ups of tickets: the first about a transaction, and by whom, and an address's newest.

    `older` leads from a ticket to the one before it of the same address.
    """

    first: "Layered[HashKey, int]" = field(default_factory=Layered)
    same: "Layered[tuple[HashKey, str], int]" = field(default_factory=Layered)
    newest: Layered[str, int] = field(default_factory=Layered)
    older: Layered[int, int] = field(default_factory=Layered)

    def copy(self) -> "Reports":
        """Return an independent copy."""
        return Reports(self.first.copy(), self.same.copy(), self.newest.copy(), self.older.copy())

    def add(self, ticket: Ticket) -> None:
        key, address = hash_key(ticket.chain, ticket.hash), account_address(ticket.address)
        if key not in self.first:
            self.first[key] = ticket.id
        self.same[key, address] = ticket.id
        before = self.newest.get(address)
        if before is not None:
            self.older[ticket.id] = before
        self.newest[address] = ticket.id

    def of(self, address: str) -> list[int]:
        """Return the tickets of an address, oldest first."""
        numbers = []
        number = self.newest.get(account_address(address))
        while number is not None:
            numbers.append(number)
            number = self.older.get(number)
        return numbers[::-1]


HashKey = tuple[str, str]
"""A transaction: nickname of its chain, and hash as `hash_key` compares it."""


@dataclass(frozen=True, slots=True)
class ChainTransfer:
    """Smallest units of a token that a transaction moves from one account to another."""

    at_ms: int
    payer: AccountKey
    receiver: AccountKey
    units: int


@dataclass(slots=True)
class WorldState:
    """Everything that changes in a world. The look-ups beside orders and tickets follow from them.

    Copies share what they have in common, so that a fork or a snapshot costs the same at any size.
    `sn_runs` maps the first moment of a run of used order numbers to its end; `forced` counts the
    events that orders keep because they were forced or steered. `sent` counts the
    transactions of an address on a chain that are `announced`; an account counts those of its
    orders. An account with a single order is kept as the id of that order.
    """

    clock: Clock
    calendar: Calendar
    orders: Layered[str, Order] = field(default_factory=Layered)
    tickets: Layered[int, Ticket] = field(default_factory=Layered)
    by_hash: Layered[HashKey, str] = field(default_factory=Layered)
    by_sn: Layered[str, str] = field(default_factory=Layered)
    accounts: Layered[AccountKey, Account | str] = field(default_factory=Layered)
    sent: Layered[tuple[str, str], int] = field(default_factory=Layered)
    announced: Layered[HashKey, bool] = field(default_factory=Layered)
    transfers: Layered[HashKey, ChainTransfer] = field(default_factory=Layered)
    reports: Reports | None = None
    sn_runs: dict[str, tuple[int, int]] = field(default_factory=dict)
    forced: int = 0
    prices: Mapping[str, Decimal] = field(default_factory=dict)
    """USD prices that were moved by hand, by symbol; the others are the scenario's."""
    owner: StateOwner = field(default_factory=StateOwner)
    _agenda: Agenda | None = None
    _agenda_owner: StateOwner | None = None
    _payouts: Agenda | None = None
    _payouts_owner: StateOwner | None = None

    def copy(self) -> "WorldState":
        """Return an independent copy."""
        # The agendas are shared as they are: whoever changes one first copies it (`_own`).
        # Neither owns the shared accounts: each copies an account before it changes it.
        self.owner = StateOwner()
        return WorldState(
            clock=self.clock,
            calendar=self.calendar,
            orders=self.orders.copy(),
            tickets=self.tickets.copy(),
            by_hash=self.by_hash.copy(),
            by_sn=self.by_sn.copy(),
            accounts=self.accounts.copy(),
            sent=self.sent.copy(),
            announced=self.announced.copy(),
            transfers=self.transfers.copy(),
            reports=None if self.reports is None else self.reports.copy(),
            sn_runs=dict(self.sn_runs),
            forced=self.forced,
            prices=self.prices,
            _agenda=self._agenda,
            _agenda_owner=self._agenda_owner,
            _payouts=self._payouts,
            _payouts_owner=self._payouts_owner,
        )

    def add(
        self, order: Order, paid_by: HashKey | None = None, payer: AccountKey | None = None
    ) -> None:
        """Store a new order with its look-ups.

        `paid_by` is its transaction and `payer` its sender's account, where they are known.
        """
        order_id, accounts = order.id, self.accounts
        if order.past:
            self.forced += len(order.past)
        self.orders.put(order_id, order)
        paid_by = paid_by or hash_key(order.route.source_chain, order.cert_hash)
        self.by_hash.put(paid_by, order_id)
        if order.sn is not None:
            self.by_sn.put(order.sn, order_id)
        payer, receiver = payer or payer_of(order), receiver_of(order)
        if accounts.get(payer) is None:
            # Most accounts have a single order: its id takes less memory than an `Account`.
            accounts.put(payer, order_id)
        elif (paying := self.account(payer)) is not None:
            self._charge(paying, order, paid_by)
        # An order to oneself on one chain would be counted twice.
        if receiver != payer:
            if accounts.get(receiver) is None:
                accounts.put(receiver, order_id)
            elif (receiving := self.account(receiver)) is not None:
                receiving.add(order_id, 0)
        if self._agenda is not None:
            self.agenda().touch(order_id)
        if self._payouts is not None:
            self.payouts().touch(order_id)

    def change(self, order: Order) -> None:
        """Store an order whose events have changed, which a finished order's never do."""
        self.forced += len(order.past) - len(self.orders[order.id].past)
        self.orders[order.id] = order
        # A set: payer and receiver may be one account.
        for key in {payer_of(order), receiver_of(order)}:
            account = self.account(key)
            if account is not None:
                account.touch(order.id)
        if self._agenda is not None:
            self.agenda().touch(order.id)
        if self._payouts is not None:
            self.payouts().touch(order.id)

    def order_of(self, key: HashKey) -> Order | None:
        order_id = self.by_hash.get(key)
        return None if order_id is None else self.orders[order_id]

    def sent_by(self, chain: str, address: str, symbols: Iterable[str]) -> int:
        """Return how many transactions of tokens with these symbols an address has sent."""
        count = self.sent.get((chain, address)) or 0
        for symbol in symbols:
            account = self.account((chain, symbol, address))
            count += 0 if account is None else account.sent
        return count

    def count_sent(self, key: HashKey, address: str) -> None:
        """Count a transaction of an address, unless it was counted with its order or before."""
        counted = self.announced.get(key)
        # False is one that was taken back: it may be sent once more.
        if counted is False or (counted is None and key not in self.by_hash):
            self.announced[key] = True
            sender = key[0], account_address(address)
            self.sent[sender] = (self.sent.get(sender) or 0) + 1

    def take_back(self, key: HashKey, address: str) -> None:
        """Have a transaction of an address not be on its chain any more."""
        if self.announced.get(key):
            self.announced[key] = False
            sender = key[0], account_address(address)
            self.sent[sender] = (self.sent.get(sender) or 0) - 1
        if (moved := self.transfers.get(key)) is not None:
            self.move(key, replace(moved, units=-moved.units))
            # Kept with no units, not removed: entries of a `Layered` cannot be.
            self.transfers[key] = replace(moved, units=0)

    def move(self, key: HashKey, transfer: ChainTransfer) -> None:
        """Book a transfer that no order has made, by its transaction."""
        self.transfers[key] = transfer
        for account, change in (
            (transfer.payer, -transfer.units),
            (transfer.receiver, transfer.units),
        ):
            booked = self.account(account)
            if booked is None:
                booked = self.accounts[account] = Account(self.owner, [])
            booked.moved += change

    def account(self, key: AccountKey) -> Account | None:
        """Return the account of a user, to be read or changed; None without any booking."""
        account = self.accounts.get(key)
        if account is None:
            return None
        if isinstance(account, str):
            order = self.orders[account]
            account = self.accounts[key] = Account(self.owner, [])
            if payer_of(order) == key:
                self._charge(account, order, hash_key(key[0], order.cert_hash))
            else:
                account.add(order.id, 0)
        elif account.owner is not self.owner:
            account = self.accounts[key] = account.copied(self.owner)
        return account

    def _charge(self, account: Account, order: Order, paid_by: HashKey) -> None:
        """Book an order to the account that pays for it."""
        account.add(order.id, order.topup - order.amount)
        # An order of an unknown deposit has no amount, and its transaction is not known. What was
        # announced was so before there was the order, and is counted there.
        if order.amount and self.announced.get(paid_by) is None:
            account.sent += 1

    def agenda(self) -> Agenda:
        """Return when orders are due next, to be read or changed; made on first use."""
        self._agenda = self._own(self._agenda, self._agenda_owner)
        self._agenda_owner = self.owner
        return self._agenda

    def payouts(self) -> Agenda:
        """Return when orders are paid out that no node has shown yet; made on first use."""
        self._payouts = self._own(self._payouts, self._payouts_owner)
        self._payouts_owner = self.owner
        return self._payouts

    def _own(self, agenda: Agenda | None, owner: StateOwner | None) -> Agenda:
        """Return an agenda that this state alone may change: a copy of a shared one."""
        if agenda is None:
            agenda = Agenda()
            for order_id in self.orders:
                agenda.touch(order_id)
        return agenda if owner in (None, self.owner) else agenda.copy()

    def report(self, ticket: Ticket) -> None:
        self.tickets[ticket.id] = ticket
        self.reports = self.reports or Reports()
        self.reports.add(ticket)


STORED_BY_ROW = frozenset(
    """
    orders tickets by_hash by_sn accounts sent announced transfers reports sn_runs forced owner
    _agenda _agenda_owner _payouts _payouts_owner
    """.split()
)
"""The fields of a state that grow with its orders, tickets and transactions, or follow from them.

They are written to the disk row by row; every other field is small, and part of the head of a dump.
"""

# Bounded, since clients choose the routes.
_MOST_CACHED_ROUTES = 4_096


class Core:
    """A world's scenario, state and clock, handed to each of its services."""

    __slots__ = ("_held", "scenario", "state", "wall")

    def __init__(self, scenario: Scenario, state: WorldState, wall: Callable[[], int]) -> None:
        """Keep the parts; `wall` returns the wall clock's time in milliseconds."""
        self.scenario = scenario
        self.state = state
        self.wall = wall
        # A clock and the time held of it; once the clock was moved, the time is read again.
        self._held: tuple[Clock | None, int] = (None, 0)

    def now(self) -> int:
        """Return the world's time, in milliseconds since 1970."""
        clock, held = self._held
        return held if clock is self.state.clock else self.state.clock.now(self.wall())

    def hold(self) -> int:
        """Return the time, and keep returning it until `release` or a move of the clock."""
        clock = self.state.clock
        time = clock.now(self.wall())
        self._held = clock, time
        return time

    def release(self) -> None:
        """Read the clock again."""
        self._held = None, 0

    def jump(self, to_ms: int) -> None:
        """Move the clock forward to a moment; one that has passed already changes nothing."""
        wall = self.wall()
        if to_ms > self.state.clock.now(wall):
            self.state.clock = self.state.clock.set(to_ms, wall)

    def route(self, source: Placed, target: Placed) -> OrderRoute:
        """Return the route from one token on a chain to another, which its orders share."""
        routes = self.scenario.routes
        key = source.chain.nickname, source.symbol, target.chain.nickname, target.symbol
        route = routes.get(key)
        if route is None:
            route = keep(routes, key, OrderRoute(*key), _MOST_CACHED_ROUTES)
        return route

    def order(self, order_id: str) -> Order:
        """Return a stored order. Raises `Refusal` where there is none."""
        order = self.state.orders.get(order_id)
        if order is None:
            # Cut, since the number is a client's and may be of any length.
            raise no_order(f"order {order_id[:80]!r} does not exist here", "order")
        return order


def hash_key(chain: str, tx_hash: str) -> tuple[str, str]:
    """Return the key of a transaction: hexadecimal hashes match in any case."""
    if tx_hash[:2] not in ("0x", "0X"):
        return chain, tx_hash
    lowered = tx_hash.lower()
    # `lower` makes a copy even of lower-case text: keep one object for both.
    return chain, tx_hash if lowered == tx_hash else lowered


def route_of(source: Placed, target: Placed) -> OrderRoute:
    return OrderRoute(source.chain.nickname, source.symbol, target.chain.nickname, target.symbol)


def no_order(what: str | Callable[[Naming], str], about: str) -> Refusal:
    """Return the refusal of an order that does not exist."""
    return Refusal(
        "unknown-order",
        lambda named: (
            f"{what if isinstance(what, str) else what(named)}; "
            "ask for one that was submitted to this world"
        ),
        about=about,
    )


class View:
    """A part of a world without state of its own."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        self._core = core


# Bytes that a character takes at most.
_MOST_WIDTH = 4


def check_order(count: int, texts: tuple[str, ...]) -> None:
    """Raise `Refusal` where a world of so many orders takes no other one with these texts."""
    if count >= limits.ORDERS.most:
        raise _full(limits.ORDERS)
    # Counting characters is cheaper than encoding them, and nearly always enough.
    if _MOST_WIDTH * sum(map(len, texts)) > limits.ORDER_TEXT.most:
        _check_texts(texts)


def check_ticket(state: WorldState, *texts: str) -> None:
    """Raise `Refusal` where a world takes no further ticket, or none with texts so long."""
    if state.tickets.count >= limits.TICKETS.most:
        raise _full(limits.TICKETS)
    _check_texts(texts)


def check_forced(state: WorldState, reason: str) -> None:
    """Raise `CannotSteer` where as many statuses were forced as a world remembers."""
    if len(reason.encode("utf-8", "surrogatepass")) > limits.ORDER_TEXT.most:
        raise CannotSteer(f"the reason has {len(reason)} characters; {limits.ORDER_TEXT} are kept")
    if state.forced >= limits.FORCED.most:
        raise CannotSteer(
            f"the orders of this world were forced and steered too often; {limits.FORCED} are "
            "kept; reset the world, or take another one"
        )


def _full(limit: limits.Limit) -> Refusal:
    return Refusal(
        "limit-reached",
        f"this world has {limit} already and takes no more; reset it, or use another one",
    )


def _check_texts(texts: tuple[str, ...]) -> None:
    # `surrogatepass`: JSON may carry half a pair, which has no bytes in UTF-8 otherwise.
    size = sum([len(text.encode("utf-8", "surrogatepass")) for text in texts])
    if size > limits.ORDER_TEXT.most:
        raise Refusal(
            "limit-reached",
            f"the texts to be kept have {size} bytes together, expected at most "
            f"{limits.ORDER_TEXT.most}",
        )
