"""Rules about requests in their published form: they are served, and taken as they are."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mockserver.conformance.calibration import SWAP_QUOTE
from mockserver.conformance.comparing import check_still_offered
from mockserver.conformance.exchange import Exchange, refusal_of
from mockserver.conformance.known import LAST_LOOK
from mockserver.conformance.probes.contrasts import CONTRASTS, Contrast, contrasts_of
from mockserver.conformance.probes.protocol import UNKNOWN_PATH, is_beneath
from mockserver.conformance.probes.writes import AGGREGATE, NO_CHAIN, ORDER
from mockserver.conformance.rules.evidence import answered, is_its_own, said
from mockserver.conformance.rules.operations import EVERY, USUAL
from mockserver.conformance.usual import quoted_try
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Vacuous,
    documented,
    rule,
)
from mockserver.contract import Operation

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

_NOWHERE = f"v2.getChain/{UNKNOWN_PATH}"
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501
_FEWEST = 2


def documented_operations_are_served(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An operation is served with its method and on its path."""
    plain = [one for one in answered(seen, operation) if not is_beneath(one)]
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
            yield from _refused_for_nothing(seen, operation, plain)
        return
    nowhere = seen.maybe(_NOWHERE)
    told = {refusal_of(one) for one in plain}
    as_nowhere = nowhere is not None and nowhere.answer.status == _NOT_FOUND
    if len(told) == 1 and as_nowhere and nowhere is not None and refusal_of(nowhere) in told:
        yield Finding(
            f"{operation.path} is answered like a path that is not there: {said(plain[0])}",
            (nowhere, plain[0]),
            cause="path not found",
        )


def _refused_for_nothing(
    seen: "Seen", operation: Operation, plain: Sequence[Exchange]
) -> Iterator[Finding]:
    """Yield a finding where a request that has nothing to be refused for is, each time."""
    others = [one for one in seen.exchanges if one.operation.generation is operation.generation]
    first, last = plain[0].number, plain[-1].number
    if not any(one.succeeded and first < one.number < last for one in others):
        raise Inconclusive(f"the service refuses everything: {said(plain[0])}")
    yield Finding(
        f"{operation.path} takes no input, and is refused each time: {said(plain[0])}",
        (plain[0], plain[-1]),
        cause="refused without input",
    )


def published_forms_are_taken(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A request in its published form is not refused where another form of it is taken."""
    refused = ""
    judged, found = False, False
    for of in dict.fromkeys(one.of for one in contrasts_of(operation.id)):
        exchange = seen.maybe(of)
        if exchange is None:
            continue
        judged = judged or exchange.succeeded
        if exchange.refused and is_its_own(exchange):
            refused = refused or said(exchange)
            for finding in _taken_otherwise(seen, exchange):
                found = True
                yield finding
    if not judged and not refused:
        seen.success(f"{operation.id}/usual")
    if refused and not judged and not found:
        raise Vacuous(f"the published form is refused, and so are the others: {refused}")


def _taken_otherwise(seen: "Seen", exchange: Exchange) -> Iterator[Finding]:
    for one in contrasts_of(exchange.operation.id):
        other = seen.maybe(one.probe)
        if one.of != exchange.probe or other is None or not other.succeeded:
            continue
        again = seen.maybe(one.once_more)
        if again is None or not again.refused or not is_its_own(again):
            raise Inconclusive(f"{one.of} was refused at first only, or not asked again")
        yield Finding(
            f"the published form is refused ({said(exchange)}), and taken with {one.told}",
            (exchange, other, again),
            one.place,
            one.basis,
            cause=one.words,
        )


def orders_need_no_target_chain(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A swap on one chain is ordered without the optional target chain."""
    exchange, usual = seen.exchange(f"{ORDER}/{NO_CHAIN}"), seen.exchange(f"{ORDER}/{AGGREGATE}")
    if exchange.succeeded:
        return
    if not exchange.refused or not is_its_own(exchange):
        raise Inconclusive(f"{exchange.probe} was not answered: {said(exchange)}")
    if not usual.succeeded:
        raise Vacuous("the same order with its target chain was not accepted either")
    check_still_offered(seen, quoted_try(seen).route.source.chain)
    yield Finding(
        f"an order is refused without toChain ({said(exchange)}), and accepted with it",
        (usual, exchange),
        "body.toChain",
    )


def aggregate_orders_are_a_type(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An order of type 2, aggregate, is not refused as one of a type that there is not."""
    exchange = seen.exchange(f"{ORDER}/{AGGREGATE}")
    if exchange.succeeded:
        return
    if not exchange.refused or not is_its_own(exchange):
        raise Inconclusive(f"{exchange.probe} was not answered: {said(exchange)}")
    unknown = seen.exchange(f"{ORDER}/orderType unknown")
    others = [seen.maybe(f"{ORDER}/{name}") for name in ("sourceCerts no hex", "toIndex unlisted")]
    told = [refusal_of(one) for one in others if one is not None and one.refused]
    alike = unknown.refused and refusal_of(unknown) == refusal_of(exchange)
    if not alike or not told or refusal_of(exchange) in told:
        raise Vacuous(f"the order is refused for a reason of its own: {said(exchange)}")
    yield Finding(
        f"orderType '2' is refused like '3', which there is not: {said(exchange)}",
        (unknown, exchange),
        "body.orderType",
    )


def _probes(contrasts: tuple[Contrast, ...]) -> tuple[str, ...]:
    names = [name for one in contrasts for name in (one.of, one.probe, one.once_more)]
    return (*dict.fromkeys(names), f"{SWAP_QUOTE}/usual")


_CHAINS = (f"v2.getChain/{LAST_LOOK}", f"v1.getSupportChains/{LAST_LOOK}")
_CONTRASTED = tuple(dict.fromkeys(one.operation_id for one in CONTRASTS))

TAKEN: tuple[Rule, ...] = (
    rule(
        documented_operations_are_served,
        Severity.CRITICAL,
        documented("4", "the method and the path of each operation"),
        layer=Layer.PROTOCOL,
        operations=EVERY,
        probes=USUAL,
        every_exchange=True,
    ),
    rule(
        published_forms_are_taken,
        Severity.MAJOR,
        documented("4", "the names, types and units of inputs"),
        layer=Layer.EXCHANGE,
        operations=_CONTRASTED,
        probes=_probes(CONTRASTS),
    ),
    rule(
        orders_need_no_target_chain,
        Severity.MAJOR,
        documented("4.2", "toChain of an order is not required"),
        layer=Layer.EXCHANGE,
        operations=(ORDER,),
        probes=(*(f"{ORDER}/{name}" for name in (AGGREGATE, NO_CHAIN)), *_CHAINS),
    ),
    rule(
        aggregate_orders_are_a_type,
        Severity.MAJOR,
        documented("4.2", "orderType is 1 for cross-chain, 2 for aggregate"),
        layer=Layer.EXCHANGE,
        operations=(ORDER,),
        probes=tuple(
            f"{ORDER}/{name}"
            for name in (AGGREGATE, "orderType unknown", "sourceCerts no hex", "toIndex unlisted")
        ),
    ),
)
"""The rules of requests in their published form."""
