"""Orders of v1 over time; the form of their `data` is observed, so it is read by role."""

from collections.abc import Iterator
from functools import partial

from mockserver.conformance import amounts
from mockserver.conformance.calibration import V1_QUOTE
from mockserver.conformance.comparing import body_of
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.listing import text
from mockserver.conformance.probes.writes import (
    ANOTHER,
    DETAIL,
    END,
    END_AGAIN,
    FEW_POLLS,
    OTHER_CHAIN,
    V1_ORDER,
)
from mockserver.conformance.seen import Seen
from mockserver.conformance.settling import V1_FINAL
from mockserver.conformance.usual import seen_hash
from mockserver.conformance.v1data import holds, scalar
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Vacuous,
    assumed,
    documented,
    observed,
    rule,
)
from mockserver.contract import Operation

_LOOKS = {
    "usual": ("usual", *FEW_POLLS, END, END_AGAIN),
    "second": ("second", f"second {END}"),
}
_PROBES = (
    *(f"{V1_ORDER}/{name}" for name in (*_LOOKS, "same again")),
    *(f"{DETAIL}/{name}" for names in _LOOKS.values() for name in names),
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
FOUND = documented("4.1 row 6", "an order is looked up by its hash and its user")


def accepted_v1_orders_are_found(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 order that was accepted is found by its transaction and its user."""
    judged = False
    for submission, looks in _LOOKS.items():
        made = seen.maybe(f"{V1_ORDER}/{submission}")
        if made is None or not made.succeeded:
            continue
        for name in looks:
            look = seen.maybe(f"{DETAIL}/{name}")
            if look is None or not (look.succeeded or look.refused):
                continue
            judged = True
            if look.refused:
                _check_stamps(seen, name)
                yield Finding(
                    "an accepted order is not found by its transaction and its user",
                    (made, look),
                    "query.hash",
                    cause="order not found",
                )
                return
    if not judged:
        seen.success(f"{V1_ORDER}/usual")
        seen.success(f"{DETAIL}/usual")


def v1_orders_are_their_users(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 order is not shown to the address of somebody else."""
    message = "an order is shown to an evmAddress that is not its user's"
    yield from _shown_at(seen, ANOTHER, "query.evmAddress", message)


def v1_orders_are_of_their_chain(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 order is found under the chain that it comes from, and under no other."""
    message = "an order is found under a chain that is not its source"
    yield from _shown_at(seen, OTHER_CHAIN, "query.chain", message)


def _shown_at(seen: Seen, look: str, place: str, message: str) -> Iterator[Finding]:
    """Yield a finding if the usual order is shown to a look that is not for it."""
    seen.success(f"{V1_ORDER}/usual")
    own = seen.success(f"{DETAIL}/usual")
    other = seen.exchange(f"{DETAIL}/{look}")
    if not other.whole:
        raise Inconclusive(f"the look {look!r} was not answered: {other.answer.reason}")
    if not other.succeeded:
        return
    number = text(scalar(own.member("data"), "number"))
    transaction = seen_hash(seen, "usual v1 order")
    shown = holds(other.member("data"), transaction)
    if shown or (number and holds(other.member("data"), number)):
        yield Finding(message, (own, other), place)


def v1_order_tells_what_was_submitted(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 order has the amount, the chains, the token and the transaction of its submission."""
    judged = False
    for submission in _LOOKS:
        made, look = seen.maybe(f"{V1_ORDER}/{submission}"), seen.maybe(f"{DETAIL}/{submission}")
        if made is None or look is None or not made.succeeded or not look.succeeded:
            continue
        body, data = body_of(made), look.member("data")
        for role, name in _ECHOED.items():
            told, sent = scalar(data, role), body.get(name)
            if not isinstance(told, str) or not isinstance(sent, str):
                continue
            judged = True
            if told.lower() != sent.lower():
                message = f"{name} is {told[:80]!r}, submitted was {sent!r}"
                yield Finding(message, (made, look), f"data.order.{name}")
        told_amount = amounts.number(scalar(data, "fromAmount"))
        sent_amount = amounts.number(body.get("fromAmount"))
        if told_amount is not None and sent_amount is not None:
            judged = True
            if told_amount != sent_amount:
                message = f"fromAmount is {told_amount}, submitted was {sent_amount}"
                yield Finding(message, (made, look), "data.order.fromAmount")
    if not judged:
        seen.success(f"{DETAIL}/usual")
        raise Vacuous("the order shows nothing of its submission under names that are known")


def final_v1_statuses_stay(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A v1 order that has come to its end keeps its status."""
    settled = False
    for looks in _LOOKS.values():
        last: Exchange | None = None
        for name in looks:
            look = seen.maybe(f"{DETAIL}/{name}")
            if look is None or not look.succeeded:
                continue
            status = _status(look)
            if last is not None and status != _status(last):
                yield Finding(
                    f"the order had status {_status(last)}, and has {status or 'none'} later",
                    (last, look),
                    "data.order.status",
                )
                return
            if status in V1_FINAL:
                settled, last = True, look
    if not settled:
        seen.success(f"{DETAIL}/usual")
        raise Vacuous("no order came to its end while it was looked at")


def v1_order_numbers_are_unique(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Two v1 orders have different numbers."""
    made = [seen.success(f"{V1_ORDER}/{name}") for name in _LOOKS]
    numbers = [text(scalar(one.member("data"), "number")) for one in made]
    if not all(numbers):
        raise Vacuous("the answer to a submission shows no number of the order")
    if numbers[0] == numbers[1]:
        yield Finding(f"two orders have the number {numbers[0]!r}", tuple(made), "data.sn")


def same_v1_deposit_is_one_order(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The same v1 deposit, submitted twice, does not make a second order."""
    one, again = seen.success(f"{V1_ORDER}/usual"), seen.exchange(f"{V1_ORDER}/same again")
    if not again.whole:
        raise Inconclusive(f"the second submission was not answered: {again.answer.reason}")
    numbers = [text(scalar(each.member("data"), "number")) for each in (one, again)]
    if again.succeeded and all(numbers) and numbers[0] != numbers[1]:
        yield Finding(
            f"one deposit makes the orders {numbers[0]!r} and {numbers[1]!r}",
            (one, again),
            "data.sn",
        )


def _check_stamps(seen: Seen, look: str) -> None:
    """Raise `Inconclusive` where a later refusal may be about the age of the request's stamp."""
    control = seen.maybe(f"{V1_QUOTE}/{END}")
    at_once = look in _LOOKS
    if not at_once and (control is None or not control.succeeded):
        raise Inconclusive("v1 no longer takes requests with these stamps, a quote neither")


def _status(look: Exchange) -> str:
    return text(scalar(look.member("data"), "status"))


_rule = partial(rule, layer=Layer.STATEFUL, operations=(DETAIL,), probes=_PROBES)


V1_ORDERS: tuple[Rule, ...] = (
    _rule(accepted_v1_orders_are_found, Severity.CRITICAL, FOUND),
    _rule(v1_orders_are_their_users, Severity.MAJOR, FOUND),
    _rule(
        v1_orders_are_of_their_chain,
        Severity.MINOR,
        documented("2.2", "chain of an order's look-up is the source chain"),
    ),
    _rule(
        v1_order_tells_what_was_submitted,
        Severity.CRITICAL,
        observed("ESS1", "an order shows its amount, chains, token and transaction"),
    ),
    _rule(
        final_v1_statuses_stay,
        Severity.CRITICAL,
        observed("ESS1", "2 completed, 3 failed and 6 partially completed are final"),
    ),
    _rule(
        v1_order_numbers_are_unique,
        Severity.CRITICAL,
        observed("OAE", "sn is the number of the order"),
        operations=(V1_ORDER,),
    ),
    _rule(
        same_v1_deposit_is_one_order,
        Severity.CRITICAL,
        assumed("A-152", "the same deposit does not make a second order"),
        operations=(V1_ORDER,),
    ),
)
"""The rules of orders of v1."""
