"""Rules about requests that are as good as the usual one, and so have to be taken like it."""

from collections.abc import Iterator

from mockserver.conformance.checks.comparing import check_is_there
from mockserver.conformance.checks.evidence import (
    answered,
    is_its_own,
    said,
    was_refused,
)
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.requests.negative_cases import is_negative
from mockserver.conformance.requests.protocol import (
    is_beneath,
)
from mockserver.conformance.requests.words import is_odd_target
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotRun, Vacuous
from mockserver.contract import Operation, shipped_facts
from mockserver.exchange import query_pairs

_SEVERAL = 2


def is_taken(
    context: RunContext, operation: Operation, *, probe: str, how: str
) -> Iterator[Finding]:
    exchange = context.require(f"{operation.id}/{probe}")
    before = [
        one
        for one in context.of(operation)
        if one.succeeded
        and one.number < exchange.number
        and not is_negative(one)
        # Bounds are not shown: another amount that was taken says nothing of this one.
        and _amounts_of(operation, one) == _amounts_of(operation, exchange)
    ]
    if not before:
        raise Vacuous("the usual request did not succeed either, nor one for the same amount")
    if not was_refused(exchange):
        return
    check_is_there(context, exchange, *_chains_of(exchange))
    yield Finding(
        f"the request is refused {how}: {said(exchange)}", (before[-1], exchange), cause=how
    )


def _amounts_of(operation: Operation, exchange: Exchange) -> list[str]:
    """Return the amounts that a request without a body names."""
    wanted = operation.amount.name if operation.amount else None
    return [value for name, value in query_pairs(exchange.request.query) if name == wanted]


def _chains_of(exchange: Exchange) -> tuple[str, ...]:
    """Return the chains that a request without a body names."""
    inputs = [
        *query_pairs(exchange.request.query),
        *exchange.request.headers.items_sent,
    ]
    return tuple(value for name, value in inputs if name.lower().endswith("chain"))


def asks_for_no_key(context: RunContext, operation: Operation) -> Iterator[Finding]:
    usual = [
        one for one in answered(context, operation) if not is_negative(one) and not is_beneath(one)
    ]
    if not usual:
        raise NotRun("no plain request was sent")
    for exchange in usual:
        if exchange.refused and _speaks_of_keys(exchange):
            yield Finding(
                f"the request is refused for want of a key: {said(exchange)}",
                (exchange,),
                cause="key",
            )
            return


def _speaks_of_keys(exchange: Exchange) -> bool:
    if exchange.answer.status in (401, 403, 407):
        return True
    message = exchange.member("msg")
    text = message.lower()[:2000] if isinstance(message, str) else ""
    return any(word in text for word in shipped_facts().names["words"]["keys"])


def takes_both_values_of_a_boolean(context: RunContext, operation: Operation) -> Iterator[Said]:
    every = [
        one for one in context.of(operation) if is_its_own(one) and not is_odd_target(one.probe)
    ]
    for field in operation.fields:
        if "boolean" not in field.types:
            continue
        for value in ("true", "false"):
            asked = [one for one in every if one.parameters.get(field.name, "") == value]
            others = [one for one in every if one.parameters.get(field.name, "") not in (value, "")]
            if len(asked) < _SEVERAL or not any(one.succeeded for one in others):
                continue
            yield JUDGED
            if all(one.refused for one in asked):
                check_is_there(context, asked[0], *_chains_of(asked[0]))
                taken = next(one for one in others if one.succeeded)
                yield Finding(
                    f"{field.name}={value} is refused each of {len(asked)} times: {said(asked[0])}",
                    (taken, asked[0]),
                    f"{field.location}.{field.name}",
                    cause=value,
                )
