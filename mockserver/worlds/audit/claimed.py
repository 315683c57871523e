"""What was claimed of orders, held against what has become of them."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from mockserver.engine.catalog import Placed
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderView
from mockserver.jsontext import plain
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.finding_texts import of_order, paid
from mockserver.worlds.audit.money_traffic import Evidence
from mockserver.worlds.claims_and_expectations import Claim, State

_KIND = "not-as-claimed"


def not_as_claimed(evidence: Evidence) -> Iterator[Finding]:
    """Find orders of which somebody believes what is not so."""
    yield from held_against(evidence, evidence.beliefs.claims)


def all_arrived(evidence: Evidence) -> Iterator[Finding]:
    """Find orders that did not arrive, where a client says by its exit code that all did."""
    claimed = {claim.order for claim in evidence.beliefs.claims}
    orders = [view.order.id for view in evidence.views if view.order.id not in claimed]
    yield from held_against(evidence, [Claim(order, State.ARRIVED) for order in orders])


def held_against(evidence: Evidence, claims: Iterable[Claim]) -> Iterator[Finding]:
    """Yield the claims that are not so."""
    known = (*evidence.inherited, *evidence.ends)
    ends = {end.order.id: end for end in known}
    by_number = {end.order.sn: end for end in known if end.order.sn}
    for claim in claims:
        end = ends.get(claim.order) or by_number.get(claim.order)
        if end is None:
            text = f"order {claim.order} is believed to be {claim.state}, and does not exist here"
            yield Finding(_KIND, text, (claim.order,), cause="unknown")
        else:
            yield from _judged(evidence, claim, end)


def _judged(evidence: Evidence, claim: Claim, end: OrderView) -> Iterator[Finding]:
    order, target = end.order, evidence.target_of(end.order)
    entries, real = evidence.requests_of(order.id), state_of(end)
    out = Money.of(end.amount_out, target)
    if real is not claim.state:
        costs = (paid(evidence, order),) if claim.state is State.ARRIVED else ()
        why = f"it is believed to have {_WORDS[claim.state]}, and {_WORDS_NOW[real]}"
        if real is State.PARTLY:
            why = f"{why}: {out}"
        yield of_order(_KIND, why, evidence, order, entries, costs=costs, cause="state")
        return
    believed = _whole_tokens(claim, target)
    if believed is not None and believed != out.whole_tokens:
        why = f"{plain(believed)} {out.token} are believed to have arrived, and {out} did"
        yield of_order(_KIND, why, evidence, order, entries, cause="amount")


def _whole_tokens(claim: Claim, placed: Placed) -> Decimal | None:
    """Return the amount of a claim in whole tokens, exactly, whichever unit it was named in."""
    if claim.amount is None or not claim.in_units:
        return claim.amount
    # By digits: no context of Decimal may round those of a large amount.
    sign, digits, exponent = claim.amount.as_tuple()
    return Decimal((sign, digits, int(exponent) - placed.decimals))


_WORDS = {
    State.ARRIVED: "arrived",
    State.PARTLY: "arrived in part",
    State.RETURNED: "come back",
    State.LOST: "been lost",
}
_WORDS_NOW = {
    State.ARRIVED: "it arrived",
    State.PARTLY: "only a part arrived",
    State.RETURNED: "its deposit came back",
    State.LOST: "it neither arrives nor comes back",
}


def state_of(end: OrderView) -> State:
    if end.status is Status.SUCCEEDED:
        return State.PARTLY if end.back_amount else State.ARRIVED
    return State.RETURNED if end.back_amount else State.LOST
