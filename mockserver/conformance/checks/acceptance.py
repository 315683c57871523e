"""Rules about requests that are as good as the usual one, or in their published form: served, and
taken as they are.
"""

from collections.abc import Sequence

from mockserver.conformance.checks.comparing import wrongly_refused
from mockserver.conformance.checks.evidence import answered, is_its_own, said, was_refused
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.discovery import amounts
from mockserver.conformance.requests.alternative_forms import CONTRASTS, contrasts_of
from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.requests.odd_http import UNKNOWN_PATH, is_beneath
from mockserver.conformance.requests.words import AGGREGATE, NO_CHAIN, ORDER, is_odd_target
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Operation, shipped_facts
from mockserver.exchange import query_pairs

_SEVERAL = 2
_NOWHERE = f"v2.getChain/{UNKNOWN_PATH}"
_NOT_FOUND, _NOT_ALLOWED, _NOT_IMPLEMENTED = 404, 405, 501


def is_taken(context: RunContext, operation: Operation, *, probe: str, how: str) -> Findings:
    exchange = context.require(f"{operation.id}/{probe}")
    before = [
        one
        for one in context.of(operation)
        if one.succeeded
        and one.number < exchange.number
        and not is_negative(one)
        # Bounds are not shown: another amount that was taken says nothing of this one.
        and _amounts_of(one) == _amounts_of(exchange)
    ]
    if not before:
        raise Vacuous("the usual request did not succeed either, nor one for the same amount")
    if was_refused(exchange):
        what = f"the request is refused {how}"
        yield wrongly_refused(context, exchange, what, before[-1], cause=how)


def _amounts_of(exchange: Exchange) -> list[str]:
    """Return the amounts that a request without a body names."""
    wanted = exchange.operation.amount.name if exchange.operation.amount else None
    return [value for name, value in query_pairs(exchange.request.query) if name == wanted]


def asks_for_no_key(_: RunContext, exchange: Exchange) -> Findings:
    message = exchange.member("msg")
    text = message.lower()[:2000] if isinstance(message, str) else ""
    of_keys = any(word in text for word in shipped_facts().names["words"]["keys"])
    if exchange.refused and (exchange.answer.status in (401, 403, 407) or of_keys):
        yield Finding(f"the request is refused for want of a key: {said(exchange)}", cause="key")


def takes_both_values_of_a_boolean(context: RunContext, operation: Operation) -> Sayings:
    every = [
        one for one in context.of(operation) if is_its_own(one) and not is_odd_target(one.probe)
    ]
    for field in operation.fields:
        if "boolean" not in field.types:
            continue
        for value in ("true", "false"):
            asked = [one for one in every if one.parameters.get(field.name, "") == value]
            others = [one for one in every if one.parameters.get(field.name, "") not in (value, "")]
            taken = [one for one in others if one.succeeded]
            if len(asked) < _SEVERAL or not taken:
                continue
            yield JUDGED
            if all(one.refused for one in asked):
                what = f"{field.name}={value} is refused each of {len(asked)} times"
                place = f"{field.location}.{field.name}"
                yield wrongly_refused(context, asked[0], what, taken[0], place=place, cause=value)


def documented_operations_are_served(context: RunContext, operation: Operation) -> Findings:
    plain = [one for one in answered(context, operation) if not is_beneath(one)]
    for one in plain:
        status = one.answer.status
        if status in (_NOT_ALLOWED, _NOT_IMPLEMENTED):
            message = f"{operation.method} {operation.path} is answered with HTTP {status}"
            yield Finding(message, (one,), cause="method refused")
            return
    if len(plain) < _SEVERAL:
        return
    if any(one.answer.status != _NOT_FOUND for one in plain):
        if not operation.fields and all(one.refused for one in plain):
            yield _refused_for_nothing(context, operation, plain)
        return
    told = {refusal_of(one) for one in plain}
    for nowhere in context.sent(_NOWHERE):
        if nowhere.answer.status == _NOT_FOUND and told == {refusal_of(nowhere)}:
            what = "is answered like a path that is not there"
            message, seen = f"{operation.path} {what}: {said(plain[0])}", (nowhere, plain[0])
            yield Finding(message, seen, cause="path not found")


def _refused_for_nothing(
    context: RunContext, operation: Operation, plain: Sequence[Exchange]
) -> Finding:
    """Return that a request that has nothing to be refused for is refused, each time."""
    others = [one for one in context.exchanges if one.operation.generation is operation.generation]
    first, last = plain[0], plain[-1]
    if not any(one.succeeded and first.number < one.number < last.number for one in others):
        raise Inconclusive(f"the service refuses everything: {said(first)}")
    message = f"{operation.path} takes no input, and is refused each time: {said(first)}"
    return Finding(message, (first, last), cause="refused without input")


def published_forms_are_taken(context: RunContext, operation: Operation) -> Findings:
    forms = dict.fromkeys(one.of for one in contrasts_of(operation.id))
    asked = context.sent(*forms)
    refused = [one for one in asked if one.refused and is_its_own(one)]
    found = [finding for one in refused for finding in _taken_otherwise(context, one)]
    yield from found
    if found or any(one.succeeded for one in asked):
        return
    if not refused:
        context.require_success(f"{operation.id}/usual")
        return
    told = said(refused[0])
    raise Vacuous(f"the published form is refused, and so are the others: {told}")


def _taken_otherwise(context: RunContext, exchange: Exchange) -> Findings:
    for one in contrasts_of(exchange.operation.id):
        other = context.get(one.probe)
        if one.of != exchange.probe or other is None or not other.succeeded:
            continue
        again = context.get(one.once_more)
        if again is None or not again.refused or not is_its_own(again):
            raise Inconclusive(f"{one.of} was refused at first only, or not asked again")
        if not _within_taken(context, exchange, other, one.place):
            raise Inconclusive("a bound may lie between the two amounts, and bounds are not shown")
        message = f"the published form is refused ({said(exchange)}), and taken with {one.told}"
        yield Finding(message, (exchange, other, again), one.place, one.basis, cause=one.words)


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


def orders_need_no_target_chain(context: RunContext, _: Operation) -> Findings:
    exchange, usual = map(context.require, (f"{ORDER}/{NO_CHAIN}", f"{ORDER}/{AGGREGATE}"))
    if not was_refused(exchange):
        return
    if not usual.succeeded:
        raise Vacuous("the same order with its target chain was not accepted either")
    what = "an order is refused without toChain, and accepted with it"
    yield wrongly_refused(context, exchange, what, usual, place="body.toChain")


def aggregate_orders_are_a_type(context: RunContext, _: Operation) -> Findings:
    exchange = context.require(f"{ORDER}/{AGGREGATE}")
    if not was_refused(exchange):
        return
    unknown = context.require(f"{ORDER}/orderType unknown")
    others = context.sent(f"{ORDER}/sourceCerts no hex", f"{ORDER}/toIndex unlisted")
    told = [refusal_of(one) for one in others if one.refused]
    alike = unknown.refused and refusal_of(unknown) == refusal_of(exchange)
    if not alike or not told or refusal_of(exchange) in told:
        raise Vacuous(f"the order is refused for a reason of its own: {said(exchange)}")
    message = f"orderType '2' is refused like '3', which there is not: {said(exchange)}"
    yield Finding(message, (unknown, exchange), "body.orderType")


PROBES = tuple(
    dict.fromkeys(name for one in CONTRASTS for name in (one.of, one.probe, one.once_more))
)
"""The requests of which one form is held against another."""
