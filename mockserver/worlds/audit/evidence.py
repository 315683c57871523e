"""What the traffic of a world shows of money, read once from its journal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field

from mockserver import jsontext, limits
from mockserver.contract import Operation
from mockserver.engine.catalog import Placed
from mockserver.engine.core import hash_key
from mockserver.engine.courses import Status
from mockserver.engine.orders import Kind, Order, OrderView
from mockserver.engine.outages import Route
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.operations import traces
from mockserver.operations.rules import OrderRules
from mockserver.operations.traces import Paid, Quoted, Standing
from mockserver.responders.delivery import Cut
from mockserver.responders.replay.playback import Playback
from mockserver.responders.responder import GeneratedAnswers
from mockserver.responders.stubs import StubResponder
from mockserver.values import dataclass
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.seen import SeenTransaction

_MADE_UP = (StubResponder.name, Playback.name, GeneratedAnswers.name)
"""Who answers without a world behind it: what they say of an order is no order."""

HashKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that a client got."""

    entry: Entry
    quoted: Quoted


@dataclass(frozen=True, slots=True)
class Submission:
    """A request to make an order of a deposit; `taken` where its client was told that it is one."""

    entry: Entry
    paid: Paid
    rules: OrderRules | None
    taken: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What a client was told of an order."""

    entry: Entry
    standing: Standing


@dataclass(slots=True)
class Evidence:
    """What is known of a world's money from outside, in the order in which it came.

    `lost` are the requests that the journal has let go, up to `lost_ms` of the world's time.
    """

    quotes: list[Quote] = field(default_factory=list)
    submissions: dict[HashKey, list[Submission]] = field(default_factory=dict)
    looks: dict[str, list[Look]] = field(default_factory=lambda: defaultdict(list))
    payments: dict[HashKey, SeenTransaction] = field(default_factory=dict)
    lost: int = 0
    lost_ms: int = 0

    def submissions_of(self, order: Order) -> Sequence[Submission]:
        """Return the requests that named an order's deposit, oldest first."""
        return self.submissions.get(_key(order), ())

    def payment_of(self, order: Order) -> SeenTransaction | None:
        """Return the transaction that made an order by itself."""
        return self.payments.get(_key(order))

    def saw(self, view: OrderView) -> bool:
        """Tell whether a client was told how an order stands."""
        return any(_tells(look.standing, view) for look in self.looks.get(view.order.id, ()))

    def missed(self, moment: int) -> bool:
        """Tell whether a request of a moment, or after it, may have been let go."""
        return self.lost > 0 and moment <= self.lost_ms


@dataclass(frozen=True, slots=True)
class Books:
    """What an audit works on: the orders as they stand, and what clients have done and heard.

    `older` counts the orders beyond those that are looked at; a quote is old after `quote_age_ms`;
    `halted` tells whether any outage is on.
    """

    world: World
    evidence: Evidence
    views: Sequence[OrderView]
    older: int
    now: int
    quote_age_ms: int
    halted: bool
    _quotes: Mapping[tuple[Kind, Route, int], Sequence[Quote]]

    def unknown(self, view: OrderView) -> bool:
        """Tell whether nobody can say if a client has heard how an order stands."""
        return self.evidence.missed(view.since_ms) and not self.evidence.saw(view)

    def quotes_of(self, order: Order) -> Sequence[Quote]:
        """Return the quotes for what an order moves, whatever their fee."""
        return self._quotes.get((order.kind, order.route, order.amount), ())

    def source_of(self, order: Order) -> Placed:
        """Return the token that an order is paid in."""
        route = order.route
        return self.world.scenario.catalog.token_on(route.source_chain, route.source_token)

    def target_of(self, order: Order) -> Placed:
        """Return the token that an order delivers."""
        route = order.route
        return self.world.scenario.catalog.token_on(route.target_chain, route.target_token)


def books_of(hosted: HostedWorld, quote_age_ms: int) -> Books:
    """Return the books of a world since its journal began; of very many orders the newest."""
    world, evidence = hosted.world, evidence_of(hosted)
    orders, now = world.orders.stored()[hosted.horizon.orders :], world.now()
    newest = orders[-limits.AUDITED.most :]
    quotes: dict[tuple[Kind, Route, int], list[Quote]] = defaultdict(list)
    for quote in evidence.quotes:
        transfer = quote.quoted.transfer
        quotes[transfer.kind, transfer.route, transfer.amount].append(quote)
    return Books(
        world=world,
        evidence=evidence,
        views=[world.orders.look(order.id) for order in newest],
        older=len(orders) - len(newest),
        now=now,
        quote_age_ms=quote_age_ms,
        halted=any(window.covers(now) for window in world.outages.all()),
        _quotes=quotes,
    )


def evidence_of(hosted: HostedWorld) -> Evidence:
    """Read a world's journal, without what a revert has undone, and its transactions."""
    found, horizon, journal = Evidence(), hosted.horizon, hosted.journal
    for entry in journal:
        operation = hosted.contract.get(entry.operation)
        if operation is not None and not horizon.undid(entry.sequence):
            _note(found, hosted, operation, entry)
    found.lost = max(0, journal.dropped - horizon.sequence)
    found.lost_ms = next((entry.at_ms for entry in journal), hosted.world.now())
    for seen in hosted.transactions.values():
        if seen.number > horizon.transactions:
            found.payments[hash_key(seen.chain, seen.hash)] = seen
    return found


def _note(found: Evidence, hosted: HostedWorld, operation: Operation, entry: Entry) -> None:
    inputs, world = operation.read(entry.request), hosted.world
    data = _told(operation, entry)
    if traces.is_submission(operation.id) and entry.responder not in _MADE_UP:
        paid = traces.paid(world, inputs)
        if paid is not None:
            taken = Submission(entry, paid, traces.wishes(inputs), data is not None)
            found.submissions.setdefault(paid.key, []).append(taken)
    if data is None:
        return
    quoted = traces.quoted(world, operation.id, inputs, data)
    if quoted is not None:
        found.quotes.append(Quote(entry, quoted))
    for order_id, standing in traces.told_of(world, operation.id, inputs, data):
        found.looks[order_id].append(Look(entry, standing))


def _told(operation: Operation, entry: Entry) -> Json:
    """Return the data of a success that reached its client; None for everything else."""
    cut = any(one.value in entry.fault for one in Cut)
    if cut or entry.refusal or entry.response.status != 200:
        return None
    body = jsontext.decode_or(entry.response.body)
    if not operation.enveloped:
        return body
    return body.get("data") if operation.generation.succeeded(body) else None


def _tells(standing: Standing, view: OrderView) -> bool:
    if standing.status in ("refund", "completed"):
        done = view.status is Status.SUCCEEDED
        return view.status.final and (standing.status == "completed") == done
    if isinstance(standing.status, int):
        told = (standing.status, standing.back)
        return told == (int(view.v1_status), view.back_amount > 0)
    return standing.status == view.status.value


def _key(order: Order) -> HashKey:
    return hash_key(order.route.source_chain, order.cert_hash)
