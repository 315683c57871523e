"""Quotes, and what was paid and submitted on them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mockserver.engine.orders import Order, OrderGeneration
from mockserver.operations.money_traces import TracedTransfer
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.audit.finding_texts import length, money, of_order, row
from mockserver.worlds.audit.money_traffic import Evidence, Quote, Submission

# How many of the newest quotes are compared with an order, to find the nearest one.
_NEAREST = 50
_NEVER = "it was paid without a quote; request one before, which says what arrives"


def misquoted(evidence: Evidence) -> Iterator[Finding]:
    """Find orders without a quote, on a quote that was old when it was paid, or on another one."""
    for order in (view.order for view in evidence.views):
        submission = making(order, evidence.submissions_of(order))
        if not order.amount or (submission is None and evidence.payment_of(order) is None):
            continue
        why, last, cause = _wrong(evidence, order, submission)
        if why:
            entries = [] if last is None else [last.entry]
            entries += [] if submission is None else [submission.entry]
            yield of_order("other-quote", why, evidence, order, entries, cause=cause)


def _wrong(
    evidence: Evidence, order: Order, submission: Submission | None
) -> tuple[str, Quote | None, str]:
    paid_ms, wanted = evidence.paid_ms(order), _wanted(order, submission)
    fitting = fitting_quotes(evidence, order, submission)
    if fitting:
        # Whoever quotes between payment and submission has a newer quote than it paid on.
        paid_on = [quote for quote in fitting if quote.entry.at_ms <= paid_ms] or fitting
        age = paid_ms - paid_on[-1].entry.at_ms
        if age > evidence.quote_age_ms:
            why = f"it was paid on a quote that was {length(age)} old; request a new one before"
            return why, paid_on[-1], "old"
        return _promised(evidence, order, submission, fitting), fitting[-1], "amount"
    if evidence.may_have_quoted(paid_ms):
        return "", None, ""
    earlier = _before(evidence.quotes, order, submission)
    if not earlier:
        return _NEVER, None, "none"
    last, why = _nearest(evidence, wanted, earlier[-_NEAREST:])
    return why, last, "transfer"


def fitting_quotes(evidence: Evidence, order: Order, submission: Submission | None) -> list[Quote]:
    """Return the quotes for what an order moves, of its fee, before the submission that made it."""
    wanted = _wanted(order, submission)
    same = _before(evidence.quotes_of(order), order, submission)
    return [quote for quote in same if _alike(quote.quoted.transfer, wanted)]


def making(order: Order, tried: Sequence[Submission]) -> Submission | None:
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
    counted, newest = money(expected, target), money(net, target)
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
    return quote, f"it was never quoted; the nearest quote was {row(differences)}"


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
        texts.append(f"for {money(transfer.amount, paid)}")
    texts += [f"{word} {theirs}" for ours, theirs, word in ends if ours != theirs]
    if None not in (wanted.fee, transfer.fee) and wanted.fee != transfer.fee:
        texts.append(f"with a fee of {transfer.fee} in place of {wanted.fee}")
    if not texts and wanted.kind is not transfer.kind:
        texts.append(f"for a {transfer.kind.name.lower()} order")
    return texts or ["for the same with another fee"]
