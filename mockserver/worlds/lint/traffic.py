"""What the clients of a world sent and read, as the rules of lint look at it."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field

from mockserver import jsontext
from mockserver.clock import STANDING, ClockMode
from mockserver.contract import Contract, Inputs, Operation, ids
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.orders import OrderKind
from mockserver.engine.outages import OrderRoute
from mockserver.engine.world import World
from mockserver.engine.world_state import HashKey, hash_key
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.operations import money_traces
from mockserver.operations.deposits_and_order_rules import OrderRules
from mockserver.operations.money_traces import NamedDeposit, QuotedTransfer, TracedTransfer
from mockserver.sliced_work import Steps
from mockserver.worlds.audit.money_traffic import successful_data
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.transaction_store import ChainTransaction
from mockserver.worlds.verification import announced_in

CHAIN_LISTS = (ids.CHAINS, ids.V1_CHAINS)
# How many of the newest quotes of a route are compared with a payment.
_MOST_QUOTES = 200
LOOK_UPS = (ids.CHECK, *ids.V1_DETAILS, ids.CHECK_TICKET)
"""The operations that clients poll: each asks for the state of one thing."""


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A request of a client; `data` is that of a success that reached it, else None."""

    entry: Entry
    operation: Operation
    inputs: Inputs
    data: Json

    @property
    def at_ms(self) -> int:
        return self.entry.at_ms

    @property
    def sequence(self) -> int:
        return self.entry.sequence

    @property
    def failed(self) -> bool:
        """Whether the client got a refusal, an HTTP error, or no answer at all."""
        return self.data is None

    @property
    def same(self) -> tuple[object, ...]:
        """What two calls share that ask for the same."""
        request = self.entry.request
        # v1 lists the tokens of a chain that a header names.
        return self.operation.id, request.query, request.body, request.headers.get("chain")

    def text(self, role: str) -> str:
        """Return an input as text; empty where it was left out or is no text or number."""
        return (self.inputs.optional(role) or "") if self.inputs.has(role) else ""


@dataclass(frozen=True, slots=True)
class QuoteCall:
    """A quote that a client got, and for what."""

    call: ClientCall
    quoted: QuotedTransfer

    @property
    def transfer(self) -> TracedTransfer:
        return self.quoted.transfer


@dataclass(frozen=True, slots=True)
class SubmitCall:
    """A submission: its deposit, what it wants to move, and its rules, as far as readable.

    Of an order that a contract call has made, `call` is the client's last one before it.
    """

    call: ClientCall
    paid: NamedDeposit
    transfer: TracedTransfer | None
    rules: OrderRules | None
    by_contract: bool = False

    @property
    def before(self) -> int:
        """The number that all requests are below which came before the money moved."""
        return self.call.sequence + self.by_contract


@dataclass(slots=True)
class Traffic:
    """The requests of a world's clients in their order; `lost` counts those no longer kept.

    `timed` tells whether the world's clock goes on by itself, so that times between requests say
    how fast a client is.
    """

    world: World
    contract: Contract
    timed: bool
    lost: int
    inherited: bool
    calls: list[ClientCall] = field(default_factory=list)
    quotes: list[QuoteCall] = field(default_factory=list)
    submissions: list[SubmitCall] = field(default_factory=list)
    orders: dict[str, ClientCall] = field(default_factory=dict)
    """The submission whose answer had each id or number of an order."""
    payments: dict[HashKey, ChainTransaction] = field(default_factory=dict)
    first_submissions: dict[HashKey, SubmitCall] = field(default_factory=dict)
    """The first submission of each deposit, and the orders of contract calls."""
    _by_route: dict[tuple[OrderKind, OrderRoute], list[QuoteCall]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @property
    def catalog(self) -> Catalog:
        return self.world.scenario.catalog

    def of(self, operations: Iterable[str]) -> Iterator[ClientCall]:
        wanted = frozenset(operations)
        return (call for call in self.calls if call.operation.id in wanted)

    def paid_ms(self, submission: SubmitCall) -> int:
        """Return when a deposit was paid: by its transaction, else by its first submission."""
        payment = self.payments.get(submission.paid.key)
        return submission.call.at_ms if payment is None else payment.at_ms

    def placed(self, chain: str, token: str) -> Placed:
        """Return a token on a chain by their 2.0 names."""
        return self.catalog.token_on(chain, token)

    def ends(self, route: OrderRoute) -> tuple[Placed, Placed]:
        """Return the tokens of a route that this world knows."""
        source = self.placed(route.source_chain, route.source_token)
        return source, self.placed(route.target_chain, route.target_token)

    def quotes_on(self, transfer: TracedTransfer, before: int) -> list[QuoteCall]:
        """Return the newest quotes for a route before a request, whatever their amount and fee."""
        quotes = self._by_route.get((transfer.kind, transfer.route), [])
        place = bisect_left(quotes, before, key=lambda quote: quote.call.sequence)
        return quotes[max(0, place - _MOST_QUOTES) : place]

    def note_contract_call(self, tx: ChainTransaction) -> None:
        """Note the order that a transaction has made by itself."""
        if tx.order_id is None:
            return
        calls = [call for call in self.calls if call.at_ms <= tx.at_ms]
        if not calls:
            return
        order = self.world.orders.peek(tx.order_id).order
        transfer = TracedTransfer(order.kind, order.route, order.amount)
        key, (source, _) = hash_key(tx.chain, tx.hash), self.ends(order.route)
        paid = NamedDeposit(key, tx.hash, source, order.amount, tx.sender)
        self.first_submissions.setdefault(
            key, SubmitCall(calls[-1], paid, transfer, None, by_contract=True)
        )

    def note(self, call: ClientCall) -> None:
        """Note a call, and the quote, the deposit or the order in it."""
        self.calls.append(call)
        operation, inputs, data = call.operation, call.inputs, call.data
        if data is not None:
            quoted = money_traces.quoted(self.world, operation.id, inputs, data)
            if quoted is not None:
                quote = QuoteCall(call, quoted)
                self.quotes.append(quote)
                self._by_route[quote.transfer.kind, quote.transfer.route].append(quote)
        if operation.id in ids.SUBMITTED_ORDERS:
            paid = money_traces.paid(self.world, inputs)
            if paid is not None:
                transfer = money_traces.submitted(self.world, inputs)
                rules = money_traces.requested_rules(inputs)
                submission = SubmitCall(call, paid, transfer, rules)
                self.submissions.append(submission)
                self.first_submissions.setdefault(paid.key, submission)
            for name in ("id", "sn"):
                if isinstance(data, dict) and isinstance(data.get(name), str):
                    self.orders[data[name]] = call


def traffic_of(hosted: HostedWorld, without: Collection[int] = ()) -> Steps[Traffic]:
    """Return the requests of a world since its journal began, without those of some numbers.

    Refusals that were announced are left out as well: a test that sends something wrong on purpose
    is no client that does.
    """
    clock = hosted.world.time.clock
    horizon = hosted.horizon
    traffic = Traffic(
        world=hosted.world,
        contract=hosted.contract,
        # Under `client` a sleeping client moves the clock, so that it tells the client's pace.
        timed=clock.mode not in STANDING or clock.mode is ClockMode.CLIENT,
        lost=hosted.dropped,
        inherited=horizon.inherited_ms is not None,
    )
    for tx in hosted.transactions.values():
        if tx.number > horizon.transactions:
            traffic.payments[hash_key(tx.chain, tx.hash)] = tx
    announced = announced_in(hosted)
    for entry in hosted.journal:
        yield
        operation = hosted.contract.get(entry.operation)
        # A test that sends something wrong on purpose is no client that does.
        if entry.sequence in without or announced(entry):
            continue
        if operation is not None and entry.request.method != "OPTIONS":
            inputs = operation.read(entry.request)
            traffic.note(ClientCall(entry, operation, inputs, successful_data(operation, entry)))
    for tx in traffic.payments.values():
        yield
        traffic.note_contract_call(tx)
    return traffic


def certificate_of(call: ClientCall) -> Mapping[str, Json]:
    """Return the members of the deposit in a call; none where it has none that can be read."""
    try:
        deposit = jsontext.decode(bytes.fromhex(call.text("sourceCerts").removeprefix("0x")))
    except (jsontext.NotJson, ValueError):
        return {}
    return deposit if isinstance(deposit, dict) else {}
