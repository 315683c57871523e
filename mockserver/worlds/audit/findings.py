"""What an audit finds: doubled, lost and forgotten money, in the words of wallet developers.

Each kind is a function that yields the findings of some evidence.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from mockserver.clock import iso
from mockserver.engine import amounts
from mockserver.engine.catalog import NATIVE, Placed
from mockserver.engine.core import HashKey
from mockserver.engine.courses import Policy, Status
from mockserver.engine.orders import Order, OrderGeneration, OrderView
from mockserver.engine.refusal import REFUSALS, Refusal
from mockserver.jsontext import plain
from mockserver.operations.traces import TracedTransfer
from mockserver.operations.transactions import moved_by
from mockserver.values import dataclass
from mockserver.worlds.audit.evidence import Evidence, Quote, Submission
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.journal import Entry
from mockserver.worlds.transactions import ChainTransaction


def _of_orders(
    kind: str, text: str, evidence: Evidence, orders: Sequence[Order], entries: Iterable[Entry]
) -> Finding:
    calls = (evidence.payment_of(order) for order in orders)
    chain_transactions = tuple(call for call in calls if call is not None)
    return Finding(
        kind, text, tuple(order.id for order in orders), tuple(entries), chain_transactions
    )


def _of_order(
    kind: str, why: str, evidence: Evidence, order: Order, entries: Iterable[Entry]
) -> Finding:
    text = f"{_name(order)}, {_moved(evidence, order)}: {why}"
    return _of_orders(kind, text, evidence, (order,), entries)


# Two orders for one intent

_LOST = (
    "the answer to the first submission showed the client no order, and it paid again in place of "
    "submitting the first deposit again"
)
_ONE_QUOTE = "it was quoted once and paid for again; a transfer that is meant twice is quoted twice"


def doubled(evidence: Evidence) -> Iterator[Finding]:
    """Find equal orders of the same sender of which the later one has no intent of its own."""
    equal: dict[object, list[Order]] = defaultdict(list)
    for order in (view.order for view in evidence.views):
        if order.amount:
            ends = order.sender.lower(), order.recipient.lower()
            equal[order.kind, order.route, order.amount, *ends].append(order)
    for orders in equal.values():
        for before, after in pairwise(orders):
            yield from _submitted_twice(evidence, before, after)
        calls = [order for order in orders if evidence.payment_of(order) is not None]
        quotes = evidence.quotes_of(orders[0])
        # Orders by contract calls name no quote, so they are only counted against the quotes.
        if len(calls) == len(orders) and 1 <= len(quotes) < len(calls):
            yield _doubled(evidence, calls, _ONE_QUOTE, [quote.entry for quote in quotes])


def _submitted_twice(evidence: Evidence, before: Order, after: Order) -> Iterator[Finding]:
    first, again = (evidence.submissions_of(order) for order in (before, after))
    if not first or not again:
        return
    begun, repeated = first[0].entry.sequence, again[0].entry.sequence
    earlier = [submission for submission in first if submission.entry.sequence < repeated]
    heard = any(
        status_answer.entry.sequence < repeated for status_answer in evidence.answers_about(before)
    )
    quotes = [quote.entry for quote in evidence.quotes_of(before)]
    used = [quote for quote in quotes if quote.sequence < begun]
    anew = any(begun < quote.sequence < repeated for quote in quotes)
    why = ""
    if not heard and not any(submission.taken for submission in earlier):
        why = _LOST
    elif used and not anew and after.submitted_ms - used[-1].at_ms <= evidence.quote_age_ms:
        # An order on an old quote is another finding.
        why = _ONE_QUOTE
    if why:
        entries = [submission.entry for submission in (*earlier, again[0])]
        yield _doubled(evidence, (before, after), why, entries)


def _doubled(
    evidence: Evidence, orders: Sequence[Order], why: str, entries: Iterable[Entry]
) -> Finding:
    text = f"{_moved(evidence, orders[0])} was paid for by {_row(map(_name, orders))}: {why}"
    return _of_orders("two-orders", text, evidence, orders, entries)


# Deposits without an order


def lost_deposits(evidence: Evidence) -> Iterator[Finding]:
    """Find deposits that clients submitted, or that are on a chain, without order or ticket."""
    world = evidence.world
    paying = [key for key, tx in evidence.payments.items() if _pays(evidence, tx)]
    for key in dict.fromkeys((*evidence.submissions, *paying)):
        if not world.orders.paid_by(key) and not world.tickets.reported(key):
            yield _lost_deposit(evidence, key)


def _lost_deposit(evidence: Evidence, key: HashKey) -> Finding:
    tx, tried = evidence.payments.get(key), evidence.submissions.get(key, ())
    what = f"{_payment(evidence, tx)} on {key[0]}, {key[1]}"
    if tried:
        paid = tried[-1].paid
        what = f"{_money(paid.amount, paid.placed)} of {paid.sender} on {key[0]}, {paid.hash}"
    right = "submit the same deposit again, or report it with a ticket"
    return Finding(
        "deposit-without-order",
        f"{what}: {_why_lost(tried, tx)}, and no order was made of it; {right}",
        (),
        tuple(submission.entry for submission in tried),
        () if tx is None else (tx,),
    )


def _why_lost(tried: Sequence[Submission], tx: ChainTransaction | None) -> str:
    if not tried:
        refused = tx is not None and tx.reason.partition(":")[0] in REFUSALS
        return f"it was sent ({tx.reason})" if tx and refused else "it was never submitted"
    last = tried[-1].entry
    if tried[-1].taken:
        return "the service accepted it"
    if last.refusal is not None:
        return f"its submission was refused as {last.refusal.partition(':')[0]}"
    disturbed = f" ({last.fault})" if last.fault else ""
    return f"its submission came to nothing{disturbed}"


def _payment(evidence: Evidence, tx: ChainTransaction | None) -> str:
    """Return what a transaction paid, in a token or the chain's coin, where that is known."""
    if tx is None:
        return "a payment"
    catalog = evidence.world.scenario.catalog
    token, _, units = moved_by(tx) or (NATIVE, "", tx.value)
    with suppress(Refusal):
        if units:
            return _money(units, catalog.placed_at(catalog.chain(tx.chain), token))
    return "a payment"


def _pays(evidence: Evidence, tx: ChainTransaction) -> bool:
    """Tell whether a transaction paid the service without an order in it."""
    if tx.order_id is not None or tx.reverted:
        return False
    chain = evidence.world.scenario.catalog.chain(tx.chain)
    proxies = (chain.minter_proxy, chain.minter_proxy_v2, chain.swap_proxy)
    ours = {payee.lower() for payee in (chain.minter, *proxies, chain.vault) if payee}
    if tx.to.lower() in ours:
        return bool(tx.value or tx.data)
    moved = moved_by(tx)
    return moved is not None and moved[1].lower() in ours and moved[2] > 0


# Orders that nobody followed


def not_followed(evidence: Evidence) -> Iterator[Finding]:
    """Find orders in their last status for now, which no client has looked up since."""
    for view in evidence.views:
        why = "" if evidence.unknown(view) else _left(evidence, view)
        if why:
            yield _followed_badly("order-not-followed", why, evidence, view)


def not_noticed(evidence: Evidence) -> Iterator[Finding]:
    """Find refunds that no client has looked up."""
    for view in evidence.views:
        if view.back_amount and not evidence.client_knows(view) and not evidence.unknown(view):
            source, when = evidence.source_of(view.order), iso(view.since_ms)
            back = f"{_money(view.back_amount, source)} went back to {view.order.sender}"
            why = f"{back} on {source.chain.nickname} at {when}, {_heard(evidence, view)}"
            yield _followed_badly("refund-not-noticed", why, evidence, view)


def not_reported(evidence: Evidence) -> Iterator[Finding]:
    """Find dropped orders that a client knows of, but has filed no ticket for."""
    for view in evidence.views:
        dropped = view.status is Status.DROPPED and view.order.ticket_ms is None
        if dropped and evidence.client_knows(view):
            why = f"it was dropped at {iso(view.since_ms)}, and only a ticket brings the money back"
            yield _followed_badly("drop-not-reported", why, evidence, view)


def _left(evidence: Evidence, view: OrderView) -> str:
    """Return why an order counts as abandoned; empty where it does not."""
    order, known = view.order, evidence.client_knows(view)
    since = f"it is {view.status.value} since {iso(view.since_ms)}"
    if view.back_amount:
        return ""
    if view.status.resting:
        return "" if known else f"{since}, {_heard(evidence, view)}"
    if order.policy is Policy.POLLS and not evidence.halted:
        more = order.polls_needed - len(order.ticks)
        return f"{since} and waits for {more} more look-ups" if more else ""
    if known or view.since_ms <= order.submitted_ms:
        return ""
    ahead = any(event.at_ms > evidence.now for event in evidence.world.orders.events(order.id))
    if ahead and evidence.answers_about(order):
        return ""
    return f"{since}, {_heard(evidence, view)}"


def _heard(evidence: Evidence, view: OrderView) -> str:
    answers = evidence.answers_about(view.order)
    if not answers:
        return "and nobody has ever looked it up"
    return f"and nobody has looked it up since {iso(answers[-1].entry.at_ms)}"


def _followed_badly(kind: str, why: str, evidence: Evidence, view: OrderView) -> Finding:
    made = [submission.entry for submission in evidence.submissions_of(view.order)]
    answers = [status_answer.entry for status_answer in evidence.answers_about(view.order)]
    entries = {entry.sequence: entry for entry in (*made, *answers[-1:])}
    return _of_order(kind, why, evidence, view.order, entries.values())


# Quotes, and what was submitted on them

_NEAREST = 50
"""How many of the newest quotes are compared with an order, to find the nearest one."""


def misquoted(evidence: Evidence) -> Iterator[Finding]:
    """Find orders that were submitted on a quote that was old, or was for something else.

    Where a client has requested no quote before, the basis of its order is not known.
    """
    for order in (view.order for view in evidence.views):
        submission = _making(order, evidence.submissions_of(order))
        if not order.amount or (submission is None and evidence.payment_of(order) is None):
            continue
        earlier = _before(evidence.quotes, order, submission)
        if not earlier:
            continue
        wanted = _wanted(order, submission)
        same = _before(evidence.quotes_of(order), order, submission)
        fitting = [quote for quote in same if _alike(quote.quoted.transfer, wanted)]
        if fitting:
            last, age = fitting[-1], order.submitted_ms - fitting[-1].entry.at_ms
            why = _promised(evidence, order, submission, fitting)
            if age > evidence.quote_age_ms:
                old = _length(age)
                why = f"it was submitted on a quote that was {old} old; request a new one before"
        else:
            last, why = _nearest(evidence, wanted, earlier[-_NEAREST:])
        if why:
            entries = (last.entry, *(() if submission is None else (submission.entry,)))
            yield _of_order("other-quote", why, evidence, order, entries)


def _making(order: Order, tried: Sequence[Submission]) -> Submission | None:
    """Return the submission that made an order, of several for the same deposit."""
    exact = (submission for submission in tried if submission.entry.at_ms == order.submitted_ms)
    return next(
        (submission for submission in exact if submission.entry.refusal is None),
        tried[-1] if tried else None,
    )


def _before(quotes: Sequence[Quote], order: Order, made: Submission | None) -> list[Quote]:
    if made is None:
        return [quote for quote in quotes if quote.entry.at_ms <= order.submitted_ms]
    return [quote for quote in quotes if quote.entry.sequence < made.entry.sequence]


def _wanted(order: Order, made: Submission | None) -> TracedTransfer:
    fee = order.fee_level
    if order.generation is OrderGeneration.V2:
        fee = None if made is None or made.rules is None else made.rules.channel_bps
    return TracedTransfer(order.kind, order.route, order.amount, fee)


def _alike(first: TracedTransfer, second: TracedTransfer) -> bool:
    if None in (first.fee, second.fee):
        first, second = replace(first, fee=None), replace(second, fee=None)
    return first == second


def _promised(
    evidence: Evidence, order: Order, made: Submission | None, quotes: Sequence[Quote]
) -> str:
    """Return what is wrong with the amount that the first rule of a submission expects."""
    expected = None if made is None or made.rules is None else made.rules.expected
    net = quotes[-1].quoted.net
    if expected is None or net is None or abs(expected - net) <= 1:
        return ""
    target = evidence.target_of(order)
    counted, newest = _money(expected, target), _money(net, target)
    text = f"it counts on {counted}, while the newest quote has {newest}"
    older = [quote.quoted.net for quote in quotes[:-1] if quote.quoted.net is not None]
    if any(abs(expected - net) <= 1 for net in older):
        return f"{text}: an older quote was submitted"
    return f"{text}: no quote was for that"


def _nearest(
    evidence: Evidence, wanted: TracedTransfer, quotes: Sequence[Quote]
) -> tuple[Quote, str]:
    by_distance = [
        (_differences(evidence, wanted, quote.quoted.transfer), quote) for quote in quotes
    ]
    differences, quote = min(reversed(by_distance), key=lambda distance: len(distance[0]))
    return quote, f"it was never quoted; the nearest quote was {_row(differences)}"


def _differences(evidence: Evidence, wanted: TracedTransfer, transfer: TracedTransfer) -> list[str]:
    catalog, route, second_route = evidence.world.scenario.catalog, wanted.route, transfer.route
    ends = (
        (route.source_chain, second_route.source_chain, "from"),
        (route.target_chain, second_route.target_chain, "to"),
        (route.target_token, second_route.target_token, "into"),
    )
    texts = []
    if (wanted.amount, route.source_token) != (transfer.amount, second_route.source_token):
        paid = catalog.token_on(second_route.source_chain, second_route.source_token)
        texts.append(f"for {_money(transfer.amount, paid)}")
    texts += [f"{word} {theirs}" for ours, theirs, word in ends if ours != theirs]
    if None not in (wanted.fee, transfer.fee) and wanted.fee != transfer.fee:
        texts.append(f"with a fee of {transfer.fee} in place of {wanted.fee}")
    if not texts and wanted.kind is not transfer.kind:
        texts.append(f"for a {transfer.kind.name.lower()} order")
    return texts or ["for the same with another fee"]


# Words


def _money(units: int, placed: Placed) -> str:
    """Return an amount as people say it: `10 USDT`."""
    return f"{plain(amounts.whole_tokens(units, placed.decimals))} {placed.symbol}"


def _moved(evidence: Evidence, order: Order) -> str:
    """Return what an order moves: `10 USDT from ARB to BNB`, `1 ETH on ARB into USDT`."""
    route = order.route
    if not order.amount:
        return f"a deposit that cannot be read, to {route.target_chain}"
    amount = _money(order.amount, evidence.source_of(order))
    into = "" if route.source_token == route.target_token else f" into {route.target_token}"
    if route.source_chain == route.target_chain:
        return f"{amount} on {route.source_chain}{into}"
    return f"{amount} from {route.source_chain} to {route.target_chain}{into}"


def _name(order: Order) -> str:
    return f"order {order.sn or order.id}"


def _length(ms: int) -> str:
    """Return a duration to about a second: `2h5m`, `40s`."""
    parts, rest = [], max(1, ms // 1000)
    for unit, word in ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")):
        count, rest = divmod(rest, unit)
        if count:
            parts.append(f"{count}{word}")
    return "".join(parts[:2])


def _row(words: Iterable[str]) -> str:
    """Return words in a row: `a`, `a and b`, `a, b and c`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what it is, and how it is found."""

    summary: str
    find: Callable[[Evidence], Iterator[Finding]]


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "two-orders": Kind("two orders for one intent", doubled),
        "deposit-without-order": Kind("a deposit of which no order was made", lost_deposits),
        "order-not-followed": Kind("an order nobody looked at to its end", not_followed),
        "refund-not-noticed": Kind("a refund nobody noticed", not_noticed),
        "drop-not-reported": Kind("a dropped order without the ticket that lifts it", not_reported),
        "other-quote": Kind("a quote older or another than what was submitted", misquoted),
    }
)
"""The kinds of findings by name."""
