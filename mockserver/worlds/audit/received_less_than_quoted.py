"""What arrived, held against what was quoted."""

from collections.abc import Iterator
from contextlib import suppress

from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import Order, OrderView
from mockserver.engine.refusal import Refusal
from mockserver.operations.deposit_transactions import Reverted, order_in
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.finding_texts import of_order
from mockserver.worlds.audit.money_traffic import Evidence, Submission
from mockserver.worlds.audit.uses_of_quotes import fitting_quotes, making
from mockserver.worlds.claims_and_expectations import State

# How much less than quoted may arrive before it counts: rounding and small moves of prices.
_LESS_PERCENT = 1


def short(evidence: Evidence) -> Iterator[Finding | None]:
    """Find orders that delivered less than they had to, or to where nobody has it.

    A part that was filled is enough where the client named a minimum that it reaches, reported the
    order, or claims to know. Of an order that is filled wholly, only what its own rule of an
    expected amount takes away counts: prices move, which no client can help.
    """
    known = {claim.order for claim in evidence.beliefs.claims if claim.state is State.PARTLY}
    for end in evidence.ends:
        yield None
        order = end.order
        if end.status is not Status.SUCCEEDED or not order.amount or order.id in known:
            continue
        submission = making(order, evidence.submissions_of(order))
        if submission is not None and (gone := _gone(evidence, end)) is not None:
            yield gone
            continue
        finding = (
            _partly(evidence, end, submission)
            if end.back_amount
            else _cut(evidence, end, submission)
        )
        if finding is not None:
            yield finding


def _gone(evidence: Evidence, end: OrderView) -> Finding | None:
    order, catalog = end.order, evidence.world.scenario.catalog
    chain = catalog.chain(order.route.target_chain)
    why = catalog.no_account(chain, order.recipient)
    if not why:
        return None
    sent = Money.of(end.amount_out, evidence.target_of(order))
    text = f"{sent} went to {order.recipient} on {chain.nickname}, which {why}"
    entries = evidence.requests_of(order.id)
    return of_order("short", text, evidence, order, entries, costs=(sent,), cause="recipient")


def _partly(evidence: Evidence, end: OrderView, submission: Submission | None) -> Finding | None:
    order = end.order
    _, minimum = _rules(evidence, order, submission)
    enough = minimum is not None and end.amount_out >= minimum
    # What a submission that the journal has dropped named as its minimum, nobody can tell.
    dropped = submission is None and evidence.lost > 0 and order.submitted_ms <= evidence.lost_ms
    if enough or dropped or order.ticket_ms is not None:
        return None
    target = evidence.target_of(order)
    back = Money.of(end.back_amount, evidence.source_of(order))
    why = (
        f"received {Money.of(end.amount_out, target)} of {Money.of(order.net, target)}, and {back} "
        "came back; a minimum (rule 4) says how little is enough"
    )
    entries = evidence.requests_of(order.id)
    return of_order("short", why, evidence, order, entries, costs=(back,), cause="partial")


def _cut(evidence: Evidence, end: OrderView, submission: Submission | None) -> Finding | None:
    order = end.order
    expected, _ = _rules(evidence, order, submission)
    if expected is None or expected != order.net:
        return None
    nets = [quote.quoted.net for quote in fitting_quotes(evidence, order, submission)]
    quoted = next((net for net in reversed(nets) if net is not None), None)
    if quoted is None or end.amount_out * 100 >= quoted * (100 - _LESS_PERCENT):
        return None
    target = evidence.target_of(order)
    missing = Money.of(quoted - end.amount_out, target)
    arrived, promised = Money.of(end.amount_out, target), Money.of(quoted, target)
    why = f"received {arrived} of {promised} that were quoted, since rule 1 expects no more"
    entries = evidence.requests_of(order.id)
    return of_order("short", why, evidence, order, entries, costs=(missing,), cause="expected")


def _rules(
    evidence: Evidence, order: Order, submission: Submission | None
) -> tuple[int | None, int | None]:
    """Return the expected amount and the minimum of an order, in units of the token out."""
    if submission is not None and submission.rules is not None:
        return submission.rules.expected, submission.rules.minimum
    payment = evidence.payment_of(order)
    if payment is not None and payment.order_id is not None:
        with suppress(Refusal, Reverted):
            request = order_in(evidence.world, payment)
            if request is not None:
                return request.expected, request.minimum
    return None, None
