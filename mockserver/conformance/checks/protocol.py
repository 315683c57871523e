"""Rules about HTTP and JSON beneath the body: statuses, media types, connections."""

from collections.abc import Iterator

from mockserver.conformance.checks.evidence import IN_BETWEEN, answered, is_redirect, said, sent
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.requests.protocol import (
    HOSTILE,
    is_beneath,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, Trouble
from mockserver.conformance.verdict import Inconclusive, Vacuous, Verdict
from mockserver.contract import Operation
from mockserver.jsontext import Json, kind_of
from mockserver.validation import shown

_STAMPS = ("timestamp", "signature")


def success_is_http_200(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for exchange in answered(context, operation):
        if exchange.succeeded and exchange.answer.status != 200:
            yield Finding(
                f"the success comes with HTTP {exchange.answer.status}",
                (exchange,),
                cause=str(exchange.answer.status),
            )
            return


def no_server_error(context: RunContext, operation: Operation) -> Iterator[Finding]:
    every = sent(context, operation)
    found = [
        one for one in every if one.answer.status >= 500 and not one.probe.endswith(f"/{HOSTILE}")
    ]
    if not found:
        answered(context, operation)
        return
    own = [one for one in found if one.answer.status not in IN_BETWEEN]
    if not own and not any(one.succeeded for one in every):
        raise Inconclusive(f"the service seems to be down: {said(found[0])}")
    for status in dict.fromkeys(one.answer.status for one in own or found):
        cases = [one for one in found if one.answer.status == status]
        yield Finding(
            f"{said(cases[0])} to {len(cases)} of {len(every)} requests",
            tuple(cases[:3]),
            cause=str(status),
        )


def no_redirect(context: RunContext, operation: Operation) -> Iterator[Finding]:
    found = [
        one for one in answered(context, operation) if is_redirect(one) and not is_beneath(one)
    ]
    if not found:
        return
    generation = operation.generation.id
    others = [one for one in context.exchanges if one.operation.generation.id == generation]
    where = found[0].answer.header("Location") or "nowhere"
    if len({one.operation.id for one in others}) > 1 and all(map(is_redirect, others)):
        raise Inconclusive(f"everything is redirected, for example to {shown(where)}")
    yield Finding(
        f"HTTP {found[0].answer.status} redirects to {shown(where)}", tuple(found[:3]), cause="3xx"
    )


def answers_are_whole(context: RunContext, operation: Operation) -> Iterator[Finding]:
    every = [
        one
        for one in sent(context, operation)
        if not one.probe.endswith(f"/{HOSTILE}") and not is_beneath(one)
    ]
    found: dict[Trouble, list[Exchange]] = {}
    for exchange in every:
        if _is_broken(exchange) and exchange.answer.trouble is not None:
            found.setdefault(exchange.answer.trouble, []).append(exchange)
    for trouble, cases in found.items():
        often = f" ({len(cases)} times)" if len(cases) > 1 else ""
        yield Finding(f"{said(cases[0])}{often}", tuple(cases[:3]), cause=str(trouble))
    if not found:
        away = [one for one in every if not one.whole]
        if every and len(away) == len(every):
            raise Inconclusive(f"no request was answered: {said(away[0])}")


def _is_broken(exchange: Exchange) -> bool:
    """Tell whether an answer began, or its connection was taken, and did not come to its end."""
    trouble = exchange.answer.trouble
    if trouble is Trouble.TIMED_OUT:
        return exchange.answer.status != 0
    return trouble in (Trouble.CUT, Trouble.BROKEN_HTTP, Trouble.TOO_LARGE)


def survives_hostile_text(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require(f"{operation.id}/{HOSTILE}")
    answer = exchange.answer
    if answer.status >= 500 and answer.status not in IN_BETWEEN:
        yield Finding(f"the answer is HTTP {answer.status}", (exchange,), cause="5xx")
    if answer.trouble is None:
        return
    if not any(one.whole for one in sent(context, operation)):
        raise Inconclusive(f"no request was answered: {said(exchange)}")
    yield Finding(f"there is no whole answer: {said(exchange)}", (exchange,), cause="no answer")


def is_no_success(context: RunContext, operation: Operation, *, probe: str) -> Iterator[Finding]:
    exchange = context.require(f"{operation.id}/{probe}")
    if not exchange.whole:
        raise Inconclusive(f"{exchange.probe} was not answered: {said(exchange)}")
    if exchange.succeeded:
        what = f"{exchange.request.method} {exchange.request.path}"
        yield Finding(
            f"{what} is answered with success", (exchange,), verdict=Verdict.EXTRA, cause="success"
        )


def equal_requests_are_answered_alike(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    pairs = 0
    first: dict[tuple[object, ...], Exchange] = {}
    for exchange in answered(context, operation):
        if not exchange.succeeded:
            continue
        request = exchange.request
        # Requests that differ in the time they are stamped with ask for the same.
        headers = [one for one in request.headers.items_sent if one[0].lower() not in _STAMPS]
        key = (request.method, request.path, request.query, tuple(headers), request.body)
        before = first.setdefault(key, exchange)
        if before is exchange:
            continue
        pairs += 1
        place = _difference(before, exchange)
        if place:
            yield Finding(
                f"{place} is not alike in two answers to equal requests",
                (before, exchange),
                place=place,
                cause="unlike",
            )
            return
    if not pairs:
        raise Vacuous("no request was sent twice and succeeded twice")


def _difference(one: Exchange, other: Exchange) -> str:
    """Return the first place whose JSON type is not the same in two answers; else empty."""
    if one.answer.status != other.answer.status:
        return "HTTP status"
    forms, others = _forms(one.body), _forms(other.body)
    return next((place for place, form in forms.items() if others.get(place, form) != form), "")


def _forms(body: Json) -> dict[str, str]:
    """Return the JSON type of each member of an envelope and of its data."""
    found: dict[str, str] = {}
    if isinstance(body, dict):
        found |= {str(name): kind_of(value) for name, value in body.items()}
        data = body.get("data")
        if isinstance(data, dict) and len(data) < 200:
            found |= {f"data.{name}": kind_of(value) for name, value in data.items()}
    return found
