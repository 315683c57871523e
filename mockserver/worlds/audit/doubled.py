"""Two payments for one intent."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Order
from mockserver.worlds.audit.expected import announced
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.audit.finding_texts import moves, name_of, of_orders, paid, row
from mockserver.worlds.audit.money_traffic import Evidence, Quote, Submission
from mockserver.worlds.journal import Entry

_LOST = (
    "the answer to the first submission showed the client no order, and it paid again in place of "
    "submitting the first deposit again"
)
_ONE_QUOTE = "it was quoted once and paid for again; a transfer that is meant twice is quoted twice"
_SLOW = (
    "the first was late, the client saw that it was still under way, and paid again; what is meant "
    "twice can be announced (POST /__mock/claims)"
)
_BACK = (Status.FAILED, Status.REFUNDED)


def doubled(evidence: Evidence) -> Iterator[Finding | None]:
    """Find orders of the same sender for the same recipient that have no intent of their own.

    Orders are the same intent where the same amount of a token is to arrive as the same token on
    the same chain, whichever way it takes. They are compared in the order of their payments.
    """
    meant = announced(evidence)
    equal: dict[object, list[Order]] = defaultdict(list)
    for order in sorted((view.order for view in evidence.views), key=evidence.moment):
        yield None
        # An order that no client has made, as one of a scenario, is nobody's intent.
        made = evidence.submissions_of(order) or evidence.payment_of(order)
        if order.amount and made and order.id not in meant:
            route = order.route
            # Addresses in any case: clients write their own in several ways.
            ends = order.sender.lower(), order.recipient.lower()
            target = route.source_token, route.target_chain, route.target_token
            equal[*ends, *target, paid(evidence, order).whole_tokens].append(order)
    for orders in equal.values():
        yield None
        if len(orders) > 1:
            unquoted = dict(_unquoted(evidence, orders))
            # Neighbours are enough: of three payments, each second one is found beside the one
            # before it.
            for before, after in pairwise(orders):
                yield from _same_intent(evidence, before, after, unquoted.get(after.id))


def _same_intent(
    evidence: Evidence, before: Order, after: Order, quoted_for: Order | None
) -> Iterator[Finding]:
    """Find out why two payments are one intent; `quoted_for` used the only quote of the second."""
    first, again = (evidence.submissions_of(order) for order in (before, after))
    known = evidence.known_status(before, again[0].entry.sequence if again else None)
    # The money came back, and the client knew: to pay again is then a new intent.
    if known in _BACK:
        return
    earlier = [
        submission
        for submission in first
        if again and submission.entry.sequence < again[0].entry.sequence
    ]
    why, entries = "", [submission.entry for submission in (*earlier, *again[:1])]
    if earlier and known is None and _is_in_doubt(evidence, earlier, first, after):
        why = _LOST
    # Only a lost answer weighs more: it explains why there was no second quote.
    elif quoted_for is not None and evidence.known_status(quoted_for, None) not in _BACK:
        why, before = _ONE_QUOTE, quoted_for
        entries = entries or [quote.entry for quote in evidence.quotes_of(after)]
    elif known is not None and evidence.arrives(before) and _is_late(evidence, before, after):
        why = _SLOW
    if why:
        yield _finding(evidence, (before, after), why, entries)


def _is_in_doubt(
    evidence: Evidence, earlier: Sequence[Submission], first: Sequence[Submission], after: Order
) -> bool:
    """Tell whether a client paid again without having heard what became of its first deposit."""
    # Whoever was refused knows that there is no order, and whoever submits the first deposit once
    # more has not given it up: with a quote of its own, the second submission is meant.
    if any(submission.taken for submission in earlier):
        return False
    if earlier[-1].was_refused:
        return False
    if len(first) == len(earlier):
        return True
    begun, repeated = earlier[0].entry.sequence, evidence.submissions_of(after)[0].entry.sequence
    quotes = (quote.entry.sequence for quote in evidence.quotes_of(after))
    return not any(begun < sequence < repeated for sequence in quotes)


def _is_late(evidence: Evidence, before: Order, after: Order) -> bool:
    """Tell whether an order was late when a client looked, before it paid again."""
    again = evidence.submissions_of(after)
    looks = [
        answer.entry
        for answer in evidence.answers_about(before)
        if again and answer.entry.sequence < again[0].entry.sequence
    ]
    status = evidence.known_status(before, again[0].entry.sequence if again else None)
    if not looks or status is None or status.resting:
        return False
    return looks[-1].at_ms - evidence.paid_ms(before) > evidence.quote_age_ms


def _unquoted(evidence: Evidence, orders: Sequence[Order]) -> Iterator[tuple[str, Order]]:
    """Yield orders whose only quotes others have used, with the last one that did."""
    # Each order uses the oldest quote before its payment that is left and not too old. An order on
    # an old quote, or without any, is another finding.
    used: dict[int, Order] = {}
    for order in orders:
        fresh = [quote for quote in evidence.quotes_of(order) if _serves(evidence, quote, order)]
        # Whoever quotes again after a revert pays on that, not on what an undone payment used.
        fresh = [quote for quote in fresh if quote.entry.sequence not in evidence.spent] or fresh
        free = next((quote for quote in fresh if quote.entry.sequence not in used), None)
        if free is not None:
            used[free.entry.sequence] = order
        elif fresh:
            yield order.id, used[fresh[-1].entry.sequence]


def _serves(evidence: Evidence, quote: Quote, order: Order) -> bool:
    tried = evidence.submissions_of(order)
    if tried and quote.entry.sequence > tried[0].entry.sequence:
        return False
    age = evidence.paid_ms(order) - quote.entry.at_ms
    return (age >= 0 or bool(tried)) and age <= evidence.quote_age_ms


def _finding(
    evidence: Evidence, orders: Sequence[Order], why: str, entries: Iterable[Entry]
) -> Finding:
    text = f"{moves(evidence, orders[0])} was paid for by {row(map(name_of, orders))}: {why}"
    costs = (paid(evidence, orders[-1]),)
    return of_orders("two-orders", text, evidence, orders, entries, costs=costs)
