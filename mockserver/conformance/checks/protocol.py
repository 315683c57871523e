"""Rules about HTTP and JSON: statuses, connections, bodies as bytes, and how long answers take."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import pairwise

from mockserver.conformance.checks.evidence import (
    GATEWAY_STATUSES,
    answered,
    any_successes,
    check_answered,
    in_words,
    is_redirect,
    require_answer,
    sent,
)
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.requests.http_cases import is_hostile, is_outside_the_contract
from mockserver.conformance.requests.late_answers import again, is_far_slower
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.session.names import ProbeName
from mockserver.conformance.verdict import Inconclusive, Verdict
from mockserver.contract import Operation, fact_basis
from mockserver.jsontext import Json, kind_of
from mockserver.validation import excerpt

_JSON = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json", re.ASCII)
_STAMPS = ("timestamp", "signature")
_BROKEN_ANSWERS = (NoAnswer.CUT, NoAnswer.BROKEN_HTTP, NoAnswer.TOO_LARGE)
_JSON_FAULTS = (
    ("UTF-8", "the body is not UTF-8"),
    ("given twice", "a member is there twice"),
    ("is not a JSON number", "a number is none"),
    ("extra data", "something follows the JSON"),
    ("unterminated", "the body ends too early"),
)


def body_is_strict_json(exchange: Exchange) -> Findings:
    refused = exchange.answer.status >= 400
    # What HTTP itself refuses is below the interface, and nothing is published about it.
    of_http = refused and is_outside_the_contract(exchange)
    if is_redirect(exchange) or not exchange.unreadable or of_http:
        return
    body = exchange.answer.body
    if not body.strip():
        fault = "the body is empty"
    elif body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        fault = "the body begins with a byte order mark"
    elif body.lstrip()[:1] == b"<":
        fault = "the body is a page of HTML or XML"
    else:
        faults = (fault for words, fault in _JSON_FAULTS if words in exchange.unreadable)
        fault = next(faults, "the body is not JSON")
    begins = body[:200].decode("utf-8", "replace")
    text = f"; the body begins with {excerpt(begins)}" if begins else ""
    basis = fact_basis("errors.envelope") if refused else None
    yield Finding(f"{fault}: {exchange.unreadable}{text}", basis=basis, cause=fault)


def media_type_is_json(exchange: Exchange) -> Findings:
    if exchange.unreadable or is_redirect(exchange):
        return
    media_type = exchange.answer.header("Content-Type")
    if media_type is None:
        basis = fact_basis("http.media-type")
        yield Finding("there is no Content-Type", basis=basis, cause="none")
        return
    media, _rest, rest = media_type.partition(";")
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", rest, re.IGNORECASE)
    if not _JSON.fullmatch(media.strip().lower()):
        yield Finding(f"Content-Type is {excerpt(media_type)}", cause="other")
    elif charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        basis = fact_basis("http.utf-8")
        yield Finding(f"Content-Type is {excerpt(media_type)}", basis=basis, cause="charset")


def no_unasked_compression(exchange: Exchange) -> Findings:
    coding = (exchange.answer.header("Content-Encoding") or "identity").strip().lower()
    if coding != "identity":
        message = f"the body is compressed ({excerpt(coding)}), which was not requested"
        yield Finding(message, verdict=Verdict.EXTRA, cause=coding[:20])


def success_is_http_200(exchange: Exchange) -> Findings:
    status = exchange.answer.status
    if exchange.succeeded and status != 200:
        yield Finding(f"the success comes with HTTP {status}", cause=str(status))


def no_server_error(context: RunContext, operation: Operation) -> Findings:
    every = sent(context, operation)
    exchanges = [exchange for exchange in _not_hostile(every) if exchange.answer.status >= 500]
    if not exchanges:
        answered(context, operation)
    own = [exchange for exchange in exchanges if exchange.answer.status not in GATEWAY_STATUSES]
    if exchanges and not own and not any(exchange.succeeded for exchange in every):
        raise Inconclusive(f"the service seems to be down: {in_words(exchanges[0])}")
    for status in dict.fromkeys(exchange.answer.status for exchange in own or exchanges):
        cases = [exchange for exchange in exchanges if exchange.answer.status == status]
        message = f"{in_words(cases[0])} to {len(cases)} of {len(every)} requests"
        yield Finding(message, tuple(cases[:3]), cause=str(status))


def no_redirect(context: RunContext, operation: Operation) -> Findings:
    exchanges = [
        exchange
        for exchange in answered(context, operation)
        if is_redirect(exchange) and not is_outside_the_contract(exchange)
    ]
    if not exchanges:
        return
    generation = operation.generation.id
    others = [
        exchange for exchange in context.exchanges if exchange.operation.generation.id == generation
    ]
    where = excerpt(exchanges[0].answer.header("Location") or "nowhere")
    if len({exchange.operation.id for exchange in others}) > 1 and all(map(is_redirect, others)):
        raise Inconclusive(f"everything is redirected, for example to {where}")
    message = f"HTTP {exchanges[0].answer.status} redirects to {where}"
    yield Finding(message, tuple(exchanges[:3]), cause="3xx")


def answers_are_whole(context: RunContext, operation: Operation) -> Findings:
    every = [
        exchange
        for exchange in _not_hostile(sent(context, operation))
        if not is_outside_the_contract(exchange)
    ]
    exchanges_by_trouble: dict[str, list[Exchange]] = {}
    for exchange in every:
        trouble, began = exchange.answer.trouble, exchange.answer.status != 0
        # Only an answer that began can be cut; one that never came is for other rules.
        if trouble in _BROKEN_ANSWERS or (trouble is NoAnswer.TIMED_OUT and began):
            exchanges_by_trouble.setdefault(str(trouble), []).append(exchange)
    for cause, cases in exchanges_by_trouble.items():
        often = f" ({len(cases)} times)" if len(cases) > 1 else ""
        yield Finding(f"{in_words(cases[0])}{often}", tuple(cases[:3]), cause=cause)
    if not exchanges_by_trouble:
        check_answered(every)


def _not_hostile(every: Iterable[Exchange]) -> list[Exchange]:
    return [exchange for exchange in every if not is_hostile(exchange)]


def survives_hostile_text(
    context: RunContext, operation: Operation, hostile: ProbeName
) -> Findings:
    exchange = context.require(hostile)
    answer = exchange.answer
    if answer.status >= 500 and answer.status not in GATEWAY_STATUSES:
        yield Finding(f"the answer is HTTP {answer.status}", (exchange,), cause="5xx")
    if answer.trouble is None:
        return
    if not any(exchange.has_answer for exchange in sent(context, operation)):
        raise Inconclusive(f"no request was answered: {in_words(exchange)}")
    yield Finding(f"there is no whole answer: {in_words(exchange)}", (exchange,), cause="no answer")


def is_no_success(context: RunContext, odd: ProbeName) -> Findings:
    exchange = require_answer(context, odd)
    if exchange.succeeded:
        what = f"{exchange.request.method} {exchange.request.path} is answered with success"
        yield Finding(what, (exchange,), verdict=Verdict.EXTRA, cause="success")


def equal_requests_are_answered_alike(context: RunContext, operation: Operation) -> Judgements:
    first: dict[tuple[object, ...], Exchange] = {}
    for exchange in answered(context, operation):
        if not exchange.succeeded:
            continue
        request = exchange.request
        # Requests that differ in the time of their stamp alone mean the same.
        headers = [
            header for header in request.headers.items_sent if header[0].lower() not in _STAMPS
        ]
        key = (request.method, request.path, request.query, tuple(headers), request.body)
        before = first.setdefault(key, exchange)
        if before is exchange:
            continue
        yield JUDGED
        place = _difference(before, exchange)
        if place:
            message = f"{place} differs between two answers to equal requests"
            yield Finding(message, (before, exchange), place, cause="unlike")
            return


def _difference(first: Exchange, second: Exchange) -> str:
    """Return the first place whose JSON type differs between two answers; else empty."""
    if first.answer.status != second.answer.status:
        return "HTTP status"
    forms, others = _forms(first.body), _forms(second.body)
    return next((place for place, form in forms.items() if others.get(place, form) != form), "")


def _forms(body: Json) -> dict[str, str]:
    kinds: dict[str, str] = {}
    if isinstance(body, dict):
        kinds |= {str(name): kind_of(value) for name, value in body.items()}
        data = body.get("data")
        if isinstance(data, dict) and len(data) < 200:
            kinds |= {f"data.{name}": kind_of(value) for name, value in data.items()}
    return kinds


# Fewer late answers may be an accident.
_FEWEST_LATE_ANSWERS = 3
GRACE_MS = 150
"""What the network may take on top of the request's own time-out, in milliseconds."""


def keeps_expire_time(context: RunContext, operation: Operation) -> Findings:
    every = [exchange for exchange in sent(context, operation) if _expires_ms(exchange) is not None]
    if not every:
        raise Inconclusive("no request with an expireTime was sent")
    late = [exchange for exchange in every if is_late(exchange)]
    if len(late) == 1:
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"one of {len(every)} answers came late, and no other")
    if late:
        worst = max(late, key=_taken_ms)
        message = f"the answer took {_taken_ms(worst)} ms, expireTime is {_expires_ms(worst)} ms"
        yield Finding(message, (worst,), "headers.expireTime", cause="late")
    else:
        check_answered(every)


def _taken_ms(exchange: Exchange) -> int:
    return exchange.answer.elapsed_ms


def is_late(exchange: Exchange) -> bool:
    """Tell whether an answer took longer than the `expireTime` of its request allows."""
    expires_ms = _expires_ms(exchange)
    return expires_ms is not None and exchange.takes_longer_than(expires_ms + GRACE_MS)


def _expires_ms(exchange: Exchange) -> int | None:
    text = exchange.request.headers.get("expireTime", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def answers_in_time(context: RunContext, operation: Operation) -> Findings:
    every = sent(context, operation)
    slow = [exchange for exchange in every if exchange.takes_longer_than(context.slow_ms)]
    if not slow:
        check_answered(every)
        return
    worst = max(slow, key=_taken_ms)
    many = f"{len(slow)} of {len(every)} answers took more than {context.slow_ms} ms"
    times = f"{many}, the longest {_taken_ms(worst)} ms"
    if not _is_confirmed(slow, every):
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"{times}, and not each time that the same was requested")
    yield Finding(times, (worst,), cause="slow")


def _is_confirmed(slow: list[Exchange], every: tuple[Exchange, ...]) -> bool:
    """Tell whether half of an operation's answers came late, or all to one and the same request.

    Two in a row that never came are enough: the run sends no more of them.
    """
    hung = [exchange.answer.trouble is NoAnswer.TIMED_OUT for exchange in every]
    if any(first and second for first, second in pairwise(hung)):
        return True
    if len(slow) >= _FEWEST_LATE_ANSWERS and len(slow) * 2 >= len(every):
        return True
    counts, late = Counter(map(_request_key, every)), Counter(map(_request_key, slow))
    return any(counts[request] == times >= _FEWEST_LATE_ANSWERS for request, times in late.items())


def _request_key(exchange: Exchange) -> Hashable:
    request = exchange.request
    return request.method, request.path, request.query, request.body


def answers_as_soon_as_its_kind(context: RunContext, operation: Operation) -> Judgements:
    if any_successes(context, operation):
        yield JUDGED
    for looks, typical_ms in again(context, operation.id):
        yield JUDGED
        if is_far_slower(looks, typical_ms):
            times = ", ".join(str(_taken_ms(exchange)) for exchange in looks)
            message = f"answers took {times} ms, while others of its kind took {typical_ms:.0f} ms"
            yield Finding(message, (looks[-1],), cause="slower than its kind")
            return
