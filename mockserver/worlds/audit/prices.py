"""Quotes, and what was submitted on them: another transfer, an old quote, another amount."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mockserver.engine.orders import Generation, Order
from mockserver.operations.traces import Transfer
from mockserver.worlds.audit.evidence import Books, Quote, Submission
from mockserver.worlds.audit.findings import Finding, length, listed, money, moved, named
from mockserver.worlds.journal import Entry

_NEAREST = 50
"""Among how many quotes, the newest, the nearest to an order is looked for."""


def misquoted(books: Books) -> Iterator[Finding]:
    """Find orders that were submitted on a quote that was old, or was for something else.

    Where a client has asked for no quote before, nothing is known of what it went by.
    """
    for view in books.views:
        order = view.order
        submission = _making(order, books.evidence.submissions_of(order))
        call = books.evidence.payment_of(order)
        if not order.amount or (submission is None and call is None):
            continue
        earlier = _before(books.evidence.quotes, order, submission)
        if not earlier:
            continue
        wanted = _wanted(order, submission)
        same = _before(books.quotes_of(order), order, submission)
        fitting = [quote for quote in same if _alike(quote.quoted.transfer, wanted)]
        if fitting:
            why = _old(books, order, fitting[-1]) or _promised(books, order, submission, fitting)
            last = fitting[-1]
        else:
            last, why = _nearest(books, wanted, earlier[-_NEAREST:])
        if why:
            made: tuple[Entry, ...] = () if submission is None else (submission.entry,)
            yield Finding(
                "other-quote",
                f"{named(order)}, {moved(order, books.world.scenario.catalog)}: {why}",
                (order.id,),
                (last.entry, *made),
                () if call is None else (call,),
            )


def _making(order: Order, tried: Sequence[Submission]) -> Submission | None:
    """Return the submission that made an order, of several for the same deposit."""
    exact = (one for one in tried if one.entry.at_ms == order.submitted_ms)
    return next((one for one in exact if one.entry.refusal is None), tried[-1] if tried else None)


def _before(quotes: Sequence[Quote], order: Order, made: Submission | None) -> list[Quote]:
    if made is None:
        return [quote for quote in quotes if quote.entry.at_ms <= order.submitted_ms]
    return [quote for quote in quotes if quote.entry.sequence < made.entry.sequence]


def _wanted(order: Order, made: Submission | None) -> Transfer:
    fee = order.fee_level
    if order.generation is Generation.V2:
        fee = None if made is None or made.rules is None else made.rules.channel_bps
    return Transfer(order.kind, order.route, order.amount, fee)


def _alike(one: Transfer, other: Transfer) -> bool:
    if None in (one.fee, other.fee):
        one, other = replace(one, fee=None), replace(other, fee=None)
    return one == other


def _old(books: Books, order: Order, quote: Quote) -> str | None:
    age = order.submitted_ms - quote.entry.at_ms
    if age <= books.quote_age_ms:
        return None
    return f"it was submitted on a quote that was {length(age)} old; ask for a new one before"


def _promised(
    books: Books, order: Order, made: Submission | None, quotes: Sequence[Quote]
) -> str | None:
    """Return what is wrong with the amount that a submission counts on, the first rule."""
    expected = None if made is None or made.rules is None else made.rules.expected
    net = quotes[-1].quoted.net
    if expected is None or net is None or abs(expected - net) <= 1:
        return None
    target = books.target_of(order)
    said = (
        f"it counts on {money(expected, target)}, while the newest quote said {money(net, target)}"
    )
    older = [quote for quote in quotes[:-1] if quote.quoted.net is not None]
    if any(abs(expected - (quote.quoted.net or 0)) <= 1 for quote in older):
        return f"{said}: an older quote was submitted"
    return f"{said}: no quote was for that"


def _nearest(books: Books, wanted: Transfer, quotes: Sequence[Quote]) -> tuple[Quote, str]:
    told = [(_differences(books, wanted, quote.quoted.transfer), quote) for quote in quotes]
    differences, quote = min(reversed(told), key=lambda one: len(one[0]))
    return quote, f"it was never quoted; the nearest quote was {listed(differences)}"


def _differences(books: Books, wanted: Transfer, found: Transfer) -> list[str]:
    catalog, route, other = books.world.scenario.catalog, wanted.route, found.route
    ends = (
        (route.source_chain, other.source_chain, "from"),
        (route.target_chain, other.target_chain, "to"),
        (route.target_token, other.target_token, "into"),
    )
    told = []
    if (wanted.amount, route.source_token) != (found.amount, other.source_token):
        paid = catalog.token_on(other.source_chain, other.source_token)
        told.append(f"for {money(found.amount, paid)}")
    told += [f"{word} {theirs}" for ours, theirs, word in ends if ours != theirs]
    if None not in (wanted.fee, found.fee) and wanted.fee != found.fee:
        told.append(f"with a fee of {found.fee} in place of {wanted.fee}")
    if not told and wanted.kind is not found.kind:
        told.append(f"for a {found.kind.name.lower()} order")
    return told or ["for the same with another fee"]
