"""The traffic of a world that is about money, read once from its journal and transactions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace

from mockserver import jsontext, limits
from mockserver.contract import Inputs, Operation, ids
from mockserver.engine.catalog import Placed
from mockserver.engine.order_service import OrderStates
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.orders import Order, OrderKind, OrderView
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import OrderRoute
from mockserver.engine.tickets import COMPLETED, REFUND
from mockserver.engine.world import World
from mockserver.engine.world_state import HashKey, hash_key
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.operations import money_traces
from mockserver.operations.deposits_and_order_rules import OrderRules
from mockserver.operations.money_traces import (
    NamedDeposit,
    QuotedTransfer,
    ReportedStatus,
    TracedTransfer,
)
from mockserver.responders.answer_delivery import Cut
from mockserver.responders.responder import GENERATED, PLAYBACK, STUB, UPSTREAM
from mockserver.sliced_work import Steps
from mockserver.worlds import mempool
from mockserver.worlds.claims_and_expectations import Beliefs
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.transaction_store import ChainTransaction

# Responders that answer without a world: an order in their answers is none of the world.
_MADE_UP = (STUB, PLAYBACK, GENERATED, UPSTREAM)
_CUTS = frozenset(Cut)

# After ten years nothing happens any more that happens by itself.
_REST_MS = 3_650 * 86_400_000


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that a client got."""

    entry: Entry
    quoted: QuotedTransfer


@dataclass(frozen=True, slots=True)
class Submission:
    """A request to make an order of a deposit; `taken` where its client got a success."""

    entry: Entry
    paid: NamedDeposit
    rules: OrderRules | None
    taken: bool
    was_refused: bool = False
    """Whether its client got a refusal, so that it knows that there is no order."""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """An answer to a client about an order."""

    entry: Entry
    standing: ReportedStatus


@dataclass(slots=True)
class Evidence:
    """The present orders of a world, and the requests and answers of its clients, in their order.

    `views` are the newest orders, `ends` how they will have ended if nobody does anything more;
    `older` counts the others; a quote is old after `quote_age_ms`; `halted` tells whether any
    outage is on. `lost` are the requests that the journal has dropped, up to `lost_ms` of the
    world's time. `unread` are the numbers of requests whose client died before it read the answer.
    """

    world: World
    views: Sequence[OrderView]
    ends: Sequence[OrderView]
    older: int
    quote_age_ms: int
    now: int
    halted: bool
    at_rest: bool
    lost: int
    lost_ms: int
    unread: frozenset[int] = frozenset()
    inherited_ms: int | None = None
    """When the world was forked or loaded: until then its clients talked to another one."""
    beliefs: Beliefs = Beliefs()
    inherited: Sequence[OrderView] = ()
    """How orders of before the world was forked or loaded end, where somebody believes anything."""
    inherited_expects: int = 0
    """How many of the transfers that are to happen were announced before that."""
    quotes: list[Quote] = field(default_factory=list)
    submissions: dict[HashKey, list[Submission]] = field(default_factory=dict)
    misnamed: dict[HashKey, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    """The submissions of deposits whose token or amount cannot be read."""
    answers: dict[str, list[StatusAnswer]] = field(default_factory=lambda: defaultdict(list))
    payments: dict[HashKey, ChainTransaction] = field(default_factory=dict)
    """The transactions that are on their chains, also those of before the world was forked."""
    recent: list[HashKey] = field(default_factory=list)
    """The transactions that came to this world itself."""
    gone: dict[HashKey, ChainTransaction] = field(default_factory=dict)
    """The transactions that reorganisations have taken off their chains."""
    unmined: dict[HashKey, str] = field(default_factory=dict)
    """Why transactions that a node was sent are in no block, as a predicate."""
    tickets_read: set[str] = field(default_factory=set)
    """The orders about whose tickets a client got an answer."""
    unknown_ids: dict[str, Entry] = field(default_factory=dict)
    """The ids that clients looked up and that no order has, with the refusal."""
    spent: set[int] = field(default_factory=set)
    """The numbers of undone quotes on which a payment was made that was undone with them."""
    _arriving: frozenset[str] | None = None
    _by_transfer: dict[tuple[OrderKind, OrderRoute, int], list[Quote]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def submissions_of(self, order: Order) -> Sequence[Submission]:
        """Return the requests that named an order's deposit, oldest first."""
        return self.submissions.get(_key(order), ())

    def requests_of(self, order_id: str) -> tuple[Entry, ...]:
        """Return the requests that named an order's deposit, and the last answer about it."""
        made = [
            submission.entry
            for submission in self.submissions_of(self.world.orders.peek(order_id).order)
        ]
        heard = [submission.entry for submission in self.answers.get(order_id, ())[-1:]]
        return tuple({entry.sequence: entry for entry in (*made, *heard)}.values())

    def standings(self) -> Iterator[tuple[OrderView, OrderView]]:
        """Yield how orders stand and how they end, where the journal can show who knows of it."""
        for view, end in zip(self.views, self.ends, strict=True):
            if not self.unknown(view):
                yield view, end

    def arrives(self, order: Order) -> bool:
        if self._arriving is None:
            ended = (end for end in self.ends if end.status is Status.SUCCEEDED)
            self._arriving = frozenset(end.order.id for end in ended)
        return order.id in self._arriving

    def paid_ms(self, order: Order) -> int:
        """Return when an order was paid: by its transaction, else by its first submission."""
        payment, tried = self.payment_of(order), self.submissions_of(order)
        if payment is not None:
            return payment.at_ms
        return tried[0].entry.at_ms if tried else order.submitted_ms

    def moment(self, order: Order) -> tuple[int, int]:
        """Return where a payment stands among others: its time, then its first submission."""
        tried = self.submissions_of(order)
        return self.paid_ms(order), tried[0].entry.sequence if tried else 0

    def known_status(self, order: Order, before: int | None) -> Status | None:
        """Return the last status of an order that a client heard of before a request.

        That an order was taken is a status, too: it is on its way. None where nobody heard of it.
        """
        heard: Status | None = None
        latest = 0
        for submission in self.submissions_of(order):
            if submission.taken and (before is None or submission.entry.sequence < before):
                # Taken means on its way, also where the answer names no status.
                heard, latest = Status.PENDING, submission.entry.sequence
        for answer in self.answers_about(order):
            sequence = answer.entry.sequence
            if sequence > latest and (before is None or sequence < before):
                heard, latest = _status(answer.standing), sequence
        return heard

    def may_have_quoted(self, paid_ms: int) -> bool:
        """Tell whether a quote before a payment may have been dropped, or got in another world."""
        if self.lost > 0 and paid_ms - self.quote_age_ms <= self.lost_ms:
            return True
        return self.inherited_ms is not None and paid_ms - self.quote_age_ms <= self.inherited_ms

    def payment_of(self, order: Order) -> ChainTransaction | None:
        """Return the transaction that carried an order, or None."""
        return self.payments.get(_key(order))

    def answers_about(self, order: Order) -> Sequence[StatusAnswer]:
        """Return the answers to clients about an order, oldest first."""
        return self.answers.get(order.id, ())

    def client_knows(self, view: OrderView) -> bool:
        """Tell whether a client got an answer with the present status of an order."""
        return any(
            _tells(status_answer.standing, view) for status_answer in self.answers_about(view.order)
        )

    def unknown(self, view: OrderView) -> bool:
        """Tell whether the journal cannot show if a client knows the status of an order.

        It may have dropped a request of the moment of that status, or after it.
        """
        return self.lost > 0 and view.since_ms <= self.lost_ms and not self.client_knows(view)

    def quotes_of(self, order: Order) -> Sequence[Quote]:
        """Return the quotes for what an order moves, whatever their fee."""
        return self._by_transfer.get((order.kind, order.route, order.amount), ())

    def source_of(self, order: Order) -> Placed:
        """Return the token that an order is paid in."""
        route = order.route
        return self.world.scenario.catalog.token_on(route.source_chain, route.source_token)

    def target_of(self, order: Order) -> Placed:
        """Return the token that an order delivers."""
        route = order.route
        return self.world.scenario.catalog.token_on(route.target_chain, route.target_token)

    def note(self, operation: Operation, entry: Entry) -> None:
        """Note the quotes, deposits and orders of an exchange."""
        inputs, data = operation.read(entry.request), successful_data(operation, entry)
        # A client that died before it read an answer does not know what it says.
        if entry.sequence in self.unread:
            data = None
        if operation.id in ids.SUBMITTED_ORDERS and entry.responder not in _MADE_UP:
            paid = money_traces.paid(self.world, inputs)
            if paid is not None:
                refused = bool(entry.refusal) and not was_cut(entry)
                refused = refused and entry.sequence not in self.unread
                rules = money_traces.requested_rules(inputs)
                taken = Submission(entry, paid, rules, data is not None, refused)
                self.submissions.setdefault(paid.key, []).append(taken)
            elif (unread := money_traces.misnamed(inputs)) is not None:
                self.misnamed[hash_key(*unread)].append(entry)
        if data is None:
            if operation.id == ids.CHECK and (entry.refusal or "").startswith("unknown-order"):
                self.unknown_ids[inputs.text("id")] = entry
            return
        self.tickets_read.update(
            money_traces.orders_of_tickets(self.world, operation.id, inputs, data)
        )
        self._quoted(operation, entry, inputs, data)
        for order_id, standing in money_traces.reported_orders(
            self.world, operation.id, inputs, data
        ):
            self.answers[order_id].append(StatusAnswer(entry, standing))

    def note_quote(self, operation: Operation, entry: Entry) -> None:
        """Note only the quote of an exchange."""
        data = successful_data(operation, entry)
        if data is not None:
            self._quoted(operation, entry, operation.read(entry.request), data)

    def spend(
        self, payments: Iterable[tuple[int, TracedTransfer]], undone: Sequence[Quote]
    ) -> None:
        """Have payments, each with the number of its request, use up one undone quote each."""
        for sequence, paid in payments:
            for quote in undone:
                quoted, number = quote.quoted.transfer, quote.entry.sequence
                same = (quoted.kind, quoted.route, quoted.amount) == (
                    paid.kind,
                    paid.route,
                    paid.amount,
                )
                if same and number < sequence and number not in self.spent:
                    self.spent.add(number)
                    break

    def _quoted(self, operation: Operation, entry: Entry, inputs: Inputs, data: Json) -> None:
        quoted = money_traces.quoted(self.world, operation.id, inputs, data)
        if quoted is not None:
            quote, transfer = Quote(entry, quoted), quoted.transfer
            self.quotes.append(quote)
            self._by_transfer[transfer.kind, transfer.route, transfer.amount].append(quote)


def evidence_of(
    hosted: HostedWorld, quote_age_ms: int, *, as_is: bool = False, unread: Iterable[int] = ()
) -> Steps[Evidence]:
    """Return the evidence of a world since its journal began, without what a revert has undone.

    Of very many orders only the newest are read. `as_is` takes how orders stand now for how they
    end. The answers to the requests numbered in `unread` are taken as not read by their client.
    """
    world, horizon, journal = hosted.world, hosted.horizon, hosted.journal
    orders, now = world.orders.stored()[horizon.orders :], world.now()
    newest = orders[-hosted.bounds[limits.AUDITED].most :]
    views = yield from _each(lambda order: world.orders.peek(order.id), newest)
    rest = _rest(world)
    ends = views if as_is else (yield from _each(rest.view, newest))
    believed = hosted.beliefs.claims or horizon.expects
    before = world.orders.stored()[: horizon.orders] if believed else ()
    inherited = yield from _each(rest.view, before)
    entries = tuple(journal)
    evidence = Evidence(
        world=world,
        views=views,
        ends=ends,
        older=len(orders) - len(newest),
        quote_age_ms=quote_age_ms,
        now=now,
        halted=any(window.covers(now) for window in world.outages.all()),
        at_rest=not as_is,
        lost=hosted.dropped,
        lost_ms=next((entry.at_ms for entry in entries), now),
        unread=frozenset((*hosted.beliefs.unread, *unread)),
        inherited_ms=horizon.inherited_ms,
        beliefs=hosted.beliefs,
        inherited=inherited,
        inherited_expects=horizon.expects,
    )
    undone: dict[HashKey, tuple[int, TracedTransfer]] = {}
    for entry in entries:
        yield
        operation = hosted.contract.get(entry.operation)
        if operation is None:
            continue
        if horizon.has_undone(entry.sequence):
            # Its client has the quote all the same, and may pay on it after the revert.
            evidence.note_quote(operation, entry)
            if operation.id in ids.SUBMITTED_ORDERS:
                inputs = operation.read(entry.request)
                paid, transfer = (
                    money_traces.paid(world, inputs),
                    money_traces.submitted(world, inputs),
                )
                if paid is not None and transfer is not None:
                    undone.setdefault(paid.key, (entry.sequence, transfer))
        else:
            evidence.note(operation, entry)
    again = evidence.submissions.keys()
    quotes = [quote for quote in evidence.quotes if horizon.has_undone(quote.entry.sequence)]
    evidence.spend((payment for key, payment in undone.items() if key not in again), quotes)
    evidence.unmined.update(hosted.node.refused)
    for waiting in hosted.node.pool.values():
        evidence.unmined[waiting.chain, waiting.hash] = mempool.why_waiting(hosted, waiting)
    for tx in hosted.transactions.values():
        if tx.lost:
            evidence.gone[hash_key(tx.chain, tx.hash)] = tx
        else:
            key = hash_key(tx.chain, tx.hash)
            evidence.payments[key] = tx
            if tx.number > horizon.transactions:
                evidence.recent.append(key)
    return evidence


def _each(look: Callable[[Order], OrderView], orders: Iterable[Order]) -> Steps[list[OrderView]]:
    views = []
    for order in orders:
        yield
        views.append(look(order))
    return views


def _rest(world: World) -> OrderStates:
    """Return how orders stand once nothing moves them any more."""
    # An outage that nobody has ended is over by then: chains are suspended for hours or days, not
    # for good (section 1).
    states = world.orders.states()
    now = states.now_ms
    windows = [
        replace(window, until_ms=max(now, window.from_ms) + 1)
        if window.until_ms is None
        else window
        for window in states.calendar.windows
    ]
    return OrderStates(Calendar(windows), now + _REST_MS, states.seed)


def successful_data(operation: Operation, entry: Entry) -> Json:
    """Return the data of a success that reached its client; None for everything else."""
    if was_cut(entry) or entry.refusal or entry.response.status != 200:
        return None
    body = jsontext.decode_or(entry.response.body)
    if not operation.enveloped:
        return body
    return body.get("data") if operation.generation.succeeded(body) else None


def was_cut(entry: Entry) -> bool:
    """Tell whether the answer did not reach its client as it was."""
    return not _CUTS.isdisjoint(kind for kind, _ in entry.disturbances)


def _status(standing: ReportedStatus) -> Status:
    """Return the status that an answer tells, as far as a client has to know it."""
    if standing.status in (REFUND, COMPLETED):
        return Status.REFUNDED if standing.status == REFUND else Status.SUCCEEDED
    if isinstance(standing.status, int):
        done = {int(V1Status.COMPLETED): Status.SUCCEEDED, int(V1Status.PARTIAL): Status.SUCCEEDED}
        failed = Status.REFUNDED if standing.back else Status.FAILED
        ended = {**done, int(V1Status.FAILED): failed}
        return ended.get(standing.status, Status.PENDING)
    known = {status.value: status for status in Status}
    return known.get(str(standing.status), Status.UNKNOWN)


def _tells(standing: ReportedStatus, view: OrderView) -> bool:
    if standing.status in (REFUND, COMPLETED):
        done = view.status is Status.SUCCEEDED
        return view.status.final and (standing.status == COMPLETED) == done
    if isinstance(standing.status, int):
        return (standing.status, standing.back) == (int(view.v1_status), view.back_amount > 0)
    return standing.status == view.status.value


def _key(order: Order) -> HashKey:
    return hash_key(order.route.source_chain, order.cert_hash)
