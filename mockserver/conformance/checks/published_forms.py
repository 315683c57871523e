"""Rules about requests in their published form: they are served, and taken as they are."""

from collections.abc import Iterator, Sequence

from mockserver.conformance.checks.comparing import check_is_there
from mockserver.conformance.checks.evidence import answered, is_its_own, said, was_refused
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import SWAP_QUOTE, usual_attempt
from mockserver.conformance.requests.alternative_forms import (
    CONTRASTS,
    contrasts_of,
)
from mockserver.conformance.requests.protocol import UNKNOWN_PATH, is_beneath
from mockserver.conformance.requests.words import AGGREGATE, NO_CHAIN, ORDER
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Operation

_NOWHERE = f"v2.getChain/{UNKNOWN_PATH}"
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
_FEWEST = 2


def documented_operations_are_served(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    plain = [one for one in answered(context, operation) if not is_beneath(one)]
    for one in plain:
        if one.answer.status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
            yield Finding(
                f"{operation.method} {operation.path} is answered with HTTP {one.answer.status}",
                (one,),
                cause="method refused",
            )
            return
    if len(plain) < _FEWEST:
        return
    if any(one.answer.status != _NOT_FOUND for one in plain):
        if not operation.fields and all(one.refused for one in plain):
            yield from _refused_for_nothing(context, operation, plain)
        return
    nowhere = context.get(_NOWHERE)
    told = {refusal_of(one) for one in plain}
    as_nowhere = nowhere is not None and nowhere.answer.status == _NOT_FOUND
    if len(told) == 1 and as_nowhere and nowhere is not None and refusal_of(nowhere) in told:
        yield Finding(
            f"{operation.path} is answered like a path that is not there: {said(plain[0])}",
            (nowhere, plain[0]),
            cause="path not found",
        )


def _refused_for_nothing(
    context: RunContext, operation: Operation, plain: Sequence[Exchange]
) -> Iterator[Finding]:
    """Yield a finding where a request that has nothing to be refused for is, each time."""
    others = [one for one in context.exchanges if one.operation.generation is operation.generation]
    first, last = plain[0].number, plain[-1].number
    if not any(one.succeeded and first < one.number < last for one in others):
        raise Inconclusive(f"the service refuses everything: {said(plain[0])}")
    yield Finding(
        f"{operation.path} takes no input, and is refused each time: {said(plain[0])}",
        (plain[0], plain[-1]),
        cause="refused without input",
    )


def published_forms_are_taken(context: RunContext, operation: Operation) -> Iterator[Finding]:
    refused = ""
    judged, found = False, False
    for of in dict.fromkeys(one.of for one in contrasts_of(operation.id)):
        exchange = context.get(of)
        if exchange is None:
            continue
        judged = judged or exchange.succeeded
        if exchange.refused and is_its_own(exchange):
            refused = refused or said(exchange)
            for finding in _taken_otherwise(context, exchange):
                found = True
                yield finding
    if not judged and not refused:
        context.require_success(f"{operation.id}/usual")
    if refused and not judged and not found:
        raise Vacuous(f"the published form is refused, and so are the others: {refused}")


def _taken_otherwise(context: RunContext, exchange: Exchange) -> Iterator[Finding]:
    for one in contrasts_of(exchange.operation.id):
        other = context.get(one.probe)
        if one.of != exchange.probe or other is None or not other.succeeded:
            continue
        again = context.get(one.once_more)
        if again is None or not again.refused or not is_its_own(again):
            raise Inconclusive(f"{one.of} was refused at first only, or not asked again")
        if not _within_taken(context, exchange, other, one.place):
            raise Inconclusive("a bound may lie between the two amounts, and bounds are not shown")
        yield Finding(
            f"the published form is refused ({said(exchange)}), and taken with {one.told}",
            (exchange, other, again),
            one.place,
            one.basis,
            cause=one.words,
        )


def _within_taken(context: RunContext, refused: Exchange, taken: Exchange, place: str) -> bool:
    """Tell whether less and more than an amount that was refused was taken, if that is near it."""
    name = place.rpartition(".")[2]
    amount, other = (amounts.number(one.members.get(name)) for one in (refused, taken))
    if amount is None or other is None or not 0 < abs(amount - other) < 1:
        return True
    rest = {**refused.members, name: None}
    found = [
        number
        for one in context.exchanges
        if one.operation is refused.operation and one.succeeded
        if {**one.members, name: None} == rest
        if (number := amounts.number(one.members.get(name))) is not None
    ]
    return min(found, default=amount) < amount < max(found, default=amount)


def orders_need_no_target_chain(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange, usual = map(context.require, (f"{ORDER}/{NO_CHAIN}", f"{ORDER}/{AGGREGATE}"))
    if not was_refused(exchange):
        return
    if not usual.succeeded:
        raise Vacuous("the same order with its target chain was not accepted either")
    check_is_there(context, exchange, usual_attempt(context, SWAP_QUOTE).route.source.chain)
    yield Finding(
        f"an order is refused without toChain ({said(exchange)}), and accepted with it",
        (usual, exchange),
        "body.toChain",
    )


def aggregate_orders_are_a_type(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require(f"{ORDER}/{AGGREGATE}")
    if not was_refused(exchange):
        return
    unknown = context.require(f"{ORDER}/orderType unknown")
    others = context.sent(f"{ORDER}/sourceCerts no hex", f"{ORDER}/toIndex unlisted")
    told = [refusal_of(one) for one in others if one.refused]
    alike = unknown.refused and refusal_of(unknown) == refusal_of(exchange)
    if not alike or not told or refusal_of(exchange) in told:
        raise Vacuous(f"the order is refused for a reason of its own: {said(exchange)}")
    yield Finding(
        f"orderType '2' is refused like '3', which there is not: {said(exchange)}",
        (unknown, exchange),
        "body.orderType",
    )


PROBES = tuple(
    dict.fromkeys(name for one in CONTRASTS for name in (one.of, one.probe, one.once_more))
)
"""The requests of which one form is held against another."""
