"""Two orders for one intent: the same transfer paid for again, without a reason to."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mockserver.engine.orders import Order
from mockserver.worlds.audit.evidence import Books, Submission
from mockserver.worlds.audit.findings import Finding, listed, moved, named
from mockserver.worlds.journal import Entry

_LOST = (
    "the answer to the first submission told the client of no order, and it paid again in place of "
    "submitting the first deposit again"
)
_ONE_QUOTE = "it was quoted once and paid for again; a transfer that is meant twice is quoted twice"


def doubled(books: Books) -> Iterator[Finding]:
    """Find equal orders of the same sender of which the later one has no intent of its own."""
    equal: dict[object, list[Order]] = defaultdict(list)
    for view in books.views:
        order = view.order
        if order.amount:
            ends = order.sender.lower(), order.recipient.lower()
            equal[order.kind, order.route, order.amount, *ends].append(order)
    for orders in equal.values():
        if len(orders) > 1:
            yield from _submitted(books, orders)
            yield from _called(books, orders)


def _submitted(books: Books, orders: Sequence[Order]) -> Iterator[Finding]:
    """Find the pairs whose submissions the journal has, in their order."""
    for before, after in pairwise(orders):
        first, again = (books.evidence.submissions_of(one) for one in (before, after))
        if not first or not again:
            continue
        why = _reason(books, (before, after), first, again[0])
        if why:
            earlier = [one for one in first if one.entry.sequence < again[0].entry.sequence]
            entries = tuple(one.entry for one in (*earlier, again[0]))
            yield _finding(books, (before, after), why, entries)


def _reason(
    books: Books, orders: tuple[Order, Order], first: Sequence[Submission], again: Submission
) -> str | None:
    begun, repeated = first[0].entry.sequence, again.entry.sequence
    told = any(one.taken for one in first if one.entry.sequence < repeated)
    before, after = orders
    looks = books.evidence.looks.get(before.id, ())
    if not told and not any(look.entry.sequence < repeated for look in looks):
        return _LOST
    quotes = [quote.entry for quote in books.quotes_of(before)]
    used = [quote for quote in quotes if quote.sequence < begun]
    anew = any(begun < quote.sequence < repeated for quote in quotes)
    if not used or anew or after.submitted_ms - used[-1].at_ms > books.quote_age_ms:
        # On an old quote the second order is told of as such.
        return None
    return _ONE_QUOTE


def _called(books: Books, orders: Sequence[Order]) -> Iterator[Finding]:
    """Find orders that came as contract calls: of these only how many there are is known."""
    calls = [order for order in orders if books.evidence.payment_of(order) is not None]
    if len(calls) < 2 or len(calls) < len(orders):
        return
    quotes = books.quotes_of(orders[0])
    if 1 <= len(quotes) < len(calls):
        yield _finding(books, calls, _ONE_QUOTE, tuple(quote.entry for quote in quotes))


def _finding(
    books: Books, orders: Sequence[Order], why: str, entries: tuple[Entry, ...]
) -> Finding:
    what = moved(orders[0], books.world.scenario.catalog)
    calls = (books.evidence.payment_of(order) for order in orders)
    return Finding(
        "two-orders",
        f"{what} was paid for by {listed(map(named, orders))}: {why}",
        tuple(order.id for order in orders),
        entries,
        tuple(call for call in calls if call is not None),
    )
