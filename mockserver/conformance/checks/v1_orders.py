"""Orders of v1 over time; the form of their `data` is observed, so it is read by role."""

from collections.abc import Iterator

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.comparing import body_of
from mockserver.conformance.checks.judging import JUDGED, Said, judging
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.checks.timeline import Property, Timeline, breaking
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.v1_data import holds, scalar
from mockserver.conformance.requests.named import LOOKS, NAMED, OF_ANOTHER
from mockserver.conformance.requests.valid import fresh_hash
from mockserver.conformance.requests.writes import (
    ANOTHER,
    DETAIL,
    END,
    END_AGAIN,
    FEW_POLLS,
    OTHER_CHAIN,
    V1_ORDER,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable
from mockserver.contract import Operation

_LOOKS = {
    "usual": ("usual", *FEW_POLLS, END, END_AGAIN),
    "second": ("second", f"second {END}"),
}
_TOLD = {**_LOOKS, **{name: tuple(f"{name}{look}" for look in LOOKS) for name in NAMED}}
"""The same, with the looks at orders that the user has named."""
PROBES = (
    *(f"{V1_ORDER}/{name}" for name in (*_LOOKS, "same again")),
    *(f"{DETAIL}/{name}" for names in _TOLD.values() for name in names),
    f"{DETAIL}/{OF_ANOTHER}",
    f"{DETAIL}/{ANOTHER}",
    f"{DETAIL}/{OTHER_CHAIN}",
    f"{V1_QUOTE}/{END}",
)
_ECHOED = {
    "fromChain": "fromChain",
    "toChain": "toChain",
    "fromToken": "fromToken",
    "hash": "certHash",
}


@judging(
    "no order was accepted and looked at",
    first=lambda context: context.require_each(f"{V1_ORDER}/usual", f"{DETAIL}/usual"),
)
def accepted_v1_orders_are_found(context: RunContext, operation: Operation) -> Iterator[Said]:
    for submission, looks in _LOOKS.items():
        made = context.get(f"{V1_ORDER}/{submission}")
        if made is None or not made.succeeded:
            continue
        for name in looks:
            look = context.get(f"{DETAIL}/{name}")
            if look is None or not (look.succeeded or look.refused):
                continue
            yield JUDGED
            if look.refused:
                _check_stamps(context, name)
                yield Finding(
                    "an accepted order is not found by its transaction and its user",
                    (made, look),
                    "query.hash",
                    cause="order not found",
                )
                return


def v1_orders_are_their_users(context: RunContext, operation: Operation) -> Iterator[Finding]:
    message = "an order is shown to an evmAddress that is not its user's"
    if context.get(f"{V1_ORDER}/usual") is None and context.get(f"{DETAIL}/{OF_ANOTHER}"):
        own = context.require_success(f"{DETAIL}/{NAMED[0]}")
        other = context.require(f"{DETAIL}/{OF_ANOTHER}")
        transaction = context.caller.hashes[0].partition(":")[2]
        yield from _shown(own, other, transaction, "query.evmAddress", message)
        return
    yield from _shown_at(context, ANOTHER, "query.evmAddress", message)


def v1_orders_are_of_their_chain(context: RunContext, operation: Operation) -> Iterator[Finding]:
    message = "an order is found under a chain that is not its source"
    yield from _shown_at(context, OTHER_CHAIN, "query.chain", message)


def _shown_at(context: RunContext, look: str, place: str, message: str) -> Iterator[Finding]:
    """Yield a finding if the usual order is shown to a look that is not for it."""
    context.require_success(f"{V1_ORDER}/usual")
    own = context.require_success(f"{DETAIL}/usual")
    other = context.require(f"{DETAIL}/{look}")
    if not other.whole:
        raise Inconclusive(f"the look {look!r} was not answered: {other.answer.reason}")
    yield from _shown(own, other, fresh_hash(context, "usual v1 order"), place, message)


def _shown(
    own: Exchange, other: Exchange, transaction: str, place: str, message: str
) -> Iterator[Finding]:
    if not other.succeeded:
        return
    number = text(scalar(own.member("data"), "number"))
    shown = holds(other.member("data"), transaction)
    if shown or (number and holds(other.member("data"), number)):
        yield Finding(message, (own, other), place)


@judging(
    "the order shows nothing of its submission under names that are known",
    first=lambda context: context.require_success(f"{DETAIL}/usual"),
    raising=NotApplicable,
)
def v1_order_tells_what_was_submitted(context: RunContext, operation: Operation) -> Iterator[Said]:
    for submission in _LOOKS:
        made, look = context.get(f"{V1_ORDER}/{submission}"), context.get(f"{DETAIL}/{submission}")
        if made is None or look is None or not made.succeeded or not look.succeeded:
            continue
        body, data = body_of(made), look.member("data")
        for role, name in _ECHOED.items():
            told, sent = scalar(data, role), body.get(name)
            if not isinstance(told, str) or not isinstance(sent, str):
                continue
            yield JUDGED
            if told.lower() != sent.lower():
                message = f"{name} is {told[:80]!r}, submitted was {sent!r}"
                yield Finding(message, (made, look), f"data.order.{name}")
        told_amount = amounts.number(scalar(data, "fromAmount"))
        sent_amount = amounts.number(body.get("fromAmount"))
        if told_amount is not None and sent_amount is not None:
            yield JUDGED
            if told_amount != sent_amount:
                message = f"fromAmount is {told_amount}, submitted was {sent_amount}"
                yield Finding(message, (made, look), "data.order.fromAmount")


@judging(
    "no order came to its end while it was looked at (--patience)",
    first=lambda context: context.require_success(f"{DETAIL}/usual"),
)
def final_v1_statuses_stay(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _TOLD.values():
        line = Timeline(submitted.V1_ORDER)
        for name in looks:
            look = context.get(f"{DETAIL}/{name}")
            if look is None or not look.succeeded:
                continue
            change = breaking(line, look, Property.ENDS_ONCE)
            if change is not None:
                yield Finding(
                    f"the order had status {change.was}, and has {change.now or 'none'} later",
                    change.looks,
                    "data.order.status",
                )
                return
            if submitted.V1_ORDER.is_over(look):
                yield JUDGED


def v1_order_numbers_are_unique(context: RunContext, operation: Operation) -> Iterator[Finding]:
    made = [context.require_success(f"{V1_ORDER}/{name}") for name in _LOOKS]
    numbers = list(map(submitted.V1_ORDER.number, made))
    if not all(numbers):
        raise NotApplicable("the answer to a submission shows no number of the order")
    if numbers[0] == numbers[1]:
        yield Finding(f"two orders have the number {numbers[0]!r}", tuple(made), "data.sn")


def same_v1_deposit_is_one_order(context: RunContext, operation: Operation) -> Iterator[Finding]:
    return submitted.V1_ORDER.twice(context)


def _check_stamps(context: RunContext, look: str) -> None:
    """Raise `Inconclusive` where a later refusal may be about the age of the request's stamp."""
    control = context.get(f"{V1_QUOTE}/{END}")
    at_once = look in _LOOKS
    if not at_once and (control is None or not control.succeeded):
        raise Inconclusive("v1 no longer takes requests with these stamps, a quote neither")
