"""The story of an order by time: quotes, payment, requests, statuses, bookings and outages."""

from collections.abc import Iterator
from itertools import groupby

from mockserver.engine.catalog import Placed
from mockserver.engine.ledger import LedgerEntry
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Order
from mockserver.engine.outages import Direction, Window
from mockserver.fast_dataclass import dataclass
from mockserver.sliced_work import Steps
from mockserver.worlds.audit import QUOTE_AGE_MS, Money
from mockserver.worlds.audit.money_traffic import Evidence, StatusAnswer, evidence_of
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry

# How many quotes before the payment are shown: clients ask again while a person types.
_QUOTES = 3
# What happens in the same moment, in the order in which one leads to the other.
_RANK = {"outage": 0, "quote": 1, "payment": 2, "request": 3, "status": 4, "booking": 5}


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One dated line: its kind, a sentence, and the request or transaction that it is about.

    `kind` is quote, payment, request, status, booking or outage. `times` counts answers that said
    the same one after the other. `past` is false for what is still to come.
    """

    at_ms: int
    kind: str
    text: str
    past: bool = True
    sequence: int | None = None
    hash: str = ""
    chain: str = ""
    times: int = 1
    disturbed: str = ""


def story_of(hosted: HostedWorld, order_id: str) -> Steps[list[StoryLine]]:
    """Return what is known of an order, oldest first. Raises `Refusal` where there is none.

    Requests that the journal has let go of are missing; what the world itself knows is not.
    """
    evidence = yield from evidence_of(hosted, QUOTE_AGE_MS, as_is=True)
    order = hosted.world.orders.peek(order_id).order
    lines = [
        *_quotes(evidence, order),
        *_payment(evidence, order),
        *_requests(evidence, order),
        *_states(hosted, order),
        *_bookings(hosted, order),
        *_outages(hosted, order),
    ]
    return sorted(lines, key=lambda line: (line.at_ms, _RANK[line.kind], line.sequence or 0))


def _quotes(evidence: Evidence, order: Order) -> Iterator[StoryLine]:
    paid_ms = evidence.paid_ms(order)
    before = [quote for quote in evidence.quotes_of(order) if quote.entry.at_ms <= paid_ms]
    for quote in before[-_QUOTES:]:
        net = quote.quoted.net
        promised = "" if net is None else f", {Money.of(net, evidence.target_of(order))} to arrive"
        yield _asked(quote.entry, "quote", f"quoted{promised}")


def _payment(evidence: Evidence, order: Order) -> Iterator[StoryLine]:
    tx = evidence.payment_of(order)
    chain, amount = order.route.source_chain, Money.of(order.amount, evidence.source_of(order))
    if tx is not None:
        text = f"the transaction that pays is on {chain}: {tx.method or 'a plain transfer'}"
        yield StoryLine(tx.at_ms, "payment", text, hash=tx.hash, chain=tx.chain)
    else:
        # The mock has not seen it: the first submission says that it is there.
        text = f"{amount} paid on {chain}, as the submission says"
        at_ms = evidence.paid_ms(order)
        yield StoryLine(at_ms, "payment", text, hash=order.cert_hash, chain=chain)


def _requests(evidence: Evidence, order: Order) -> Iterator[StoryLine]:
    for submission in evidence.submissions_of(order):
        yield _asked(submission.entry, "request", f"submitted: {submission.entry.outcome}")
    for said, answers in groupby(evidence.answers_about(order), key=_said):
        first, *more = answers
        yield _asked(first.entry, "request", f"asked, and told {said}", 1 + len(more))


def _said(answer: StatusAnswer) -> str:
    return str(answer.standing.status)


def _asked(entry: Entry, kind: str, text: str, times: int = 1) -> StoryLine:
    return StoryLine(
        entry.at_ms, kind, text, sequence=entry.sequence, times=times, disturbed=entry.fault
    )


def _states(hosted: HostedWorld, order: Order) -> Iterator[StoryLine]:
    now = hosted.world.now()
    end = hosted.world.orders.states()
    for event in hosted.world.orders.events(order.id):
        reason = f": {event.reason}" if event.reason else ""
        past = event.at_ms <= now
        succeeded = event.status is Status.SUCCEEDED
        hashes = [name for name in end.hashes(order) if name] if past and succeeded else []
        yield StoryLine(
            event.at_ms,
            "status",
            f"{event.status.value}{reason}",
            past=past,
            hash=hashes[0] if hashes else "",
            chain=order.route.target_chain if hashes else "",
        )


def _bookings(hosted: HostedWorld, order: Order) -> Iterator[StoryLine]:
    now, placed = hosted.world.now(), hosted.world.scenario.catalog.token_on
    for posting in hosted.world.balances.postings_of(order.id):
        gained = [entry for entry in posting.entries if entry.units > 0]
        text = ", ".join(_gain(entry, placed(entry.chain, entry.token)) for entry in gained)
        yield StoryLine(
            posting.at_ms, "booking", f"{posting.what}: {text}", past=posting.at_ms <= now
        )


def _gain(entry: LedgerEntry, placed: Placed) -> str:
    return f"{Money.of(entry.units, placed)} to {entry.account} on {entry.chain}"


def _outages(hosted: HostedWorld, order: Order) -> Iterator[StoryLine]:
    """Yield the beginning and the end of outages that fall into the time of an order."""
    now, events = hosted.world.now(), hosted.world.orders.events(order.id)
    first, last = order.submitted_ms, max([now, *(event.at_ms for event in events)])
    for window in hosted.world.outages.all():
        if not _touches(window, order):
            continue
        if window.from_ms <= last and (window.until_ms is None or window.until_ms >= first):
            text = f"{window.subject} is out, {window.mode.value}"
            yield StoryLine(window.from_ms, "outage", text, past=window.from_ms <= now)
        if window.until_ms is not None and first <= window.until_ms <= last:
            text = f"{window.subject} is back"
            yield StoryLine(window.until_ms, "outage", text, past=window.until_ms <= now)


def _touches(window: Window, order: Order) -> bool:
    route = order.route
    return window.concerns(
        route.source_chain, route.source_token, Direction.SOURCE
    ) or window.concerns(route.target_chain, route.target_token, Direction.TARGET)
