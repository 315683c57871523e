"""HTTP and JSON: statuses, redirects, headers, and bodies as bytes."""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.utils import parsedate
from hashlib import md5, sha256, sha512
from itertools import filterfalse

from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import (
    GATEWAY_STATUSES,
    answered,
    check_answered,
    in_words,
    is_redirect,
    request_key,
    require_answer,
    sent,
)
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import CHAINS_LOOKED_AT_TWICE, EVERY, probe, probes
from mockserver.conformance.discovery.service_clock import seconds_between
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.requests.unusual_http import is_hostile, is_outside_the_contract
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.verdict import Inconclusive, Verdict
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.jsontext import Json, kind_of, texts_in
from mockserver.validation import excerpt

# A letter of more than one byte, or an escape of one, which every text that was encoded twice has.
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]|\\u00[89a-fA-F]|\\u[1-9a-fA-F]")
# What takes each byte of UTF-8 for a letter of its own.
_SINGLE_BYTES = ("latin-1", "cp1252")
# text/json and application/problem+json are JSON as well.
_JSON = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json", re.ASCII)
_DIGITS = re.compile("[0-9]+")
# How the digests of a body are written (RFC 9530; RFC 3230; RFC 1864), and what makes them.
_DIGESTS = {
    "Content-Digest": re.compile("(sha-256|sha-512)=:([^:]*):"),
    "Repr-Digest": re.compile("(sha-256|sha-512)=:([^:]*):"),
    "Digest": re.compile("(sha-256|sha-512|md5)=([^,;]+)", re.IGNORECASE),
    "Content-MD5": re.compile(r"()\s*(\S+)"),
}
_HASHES = {"sha-256": sha256, "sha-512": sha512, "md5": md5, "": md5}
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/", re.ASCII)
# As far as two clocks of one service may be apart.
_CLOCKS_APART_S = 60
# Headers that differ between two requests which mean the same.
_STAMPS = ("timestamp", "signature")
# A service that is busy answers so, at most to each so many requests.
_BUSY, _SELDOM = 503, 50
_BROKEN_ANSWERS = (NoAnswer.CUT, NoAnswer.BROKEN_HTTP, NoAnswer.TOO_LARGE)
_JSON_FAULTS = (
    ("UTF-8", "the body is not UTF-8"),
    ("given twice", "a member is there twice"),
    ("is not a JSON number", "a number is none"),
    ("extra data", "something follows the JSON"),
    ("unterminated", "the body ends too early"),
)

_PACK = RulePack(Layer.PROTOCOL, operations=EVERY, needs=(PLAIN,))


@_PACK.major("envelope", every_exchange=True)
@each(answered, once=True)
def body_is_strict_json(_: RunContext, exchange: Exchange) -> Findings:
    """Every body is strict JSON in UTF-8, encoded once: no NaN, no repeated member, nothing before
    or after it.
    """
    spoilt = _spoilt_text(exchange)
    if spoilt:
        message, cause = f"{spoilt}, so that its letters are others", "text encoded twice"
        yield Finding(message, basis=fact_basis("http.utf-8"), cause=cause)
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


def _spoilt_text(exchange: Exchange) -> str:
    """Return what is wrong with the letters of a text; empty where nothing is.

    A refusal may repeat whatever was sent, and is not judged.
    """
    if not exchange.succeeded or not _BEYOND_ASCII.search(exchange.answer.body):
        return ""
    for text in texts_in(exchange.body):
        if text.isascii():
            continue
        for charset in _SINGLE_BYTES:
            with suppress(UnicodeError):
                once = text.encode(charset).decode()
                return f"{excerpt(text)} is {excerpt(once)} in UTF-8, encoded twice"
    return ""


@_PACK.minor("http.json", every_exchange=True)
@each(answered, once=True)
def media_type_is_json(_: RunContext, exchange: Exchange) -> Findings:
    """Answers with JSON say in Content-Type that they are JSON."""
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


@_PACK.minor("http.plain-bodies", every_exchange=True)
@each(answered, once=True)
def no_unasked_compression(_: RunContext, exchange: Exchange) -> Findings:
    """Bodies are compressed only for a client that accepts it."""
    coding = (exchange.answer.header("Content-Encoding") or "identity").strip().lower()
    if coding != "identity":
        message = f"the body is compressed ({excerpt(coding)}), which was not requested"
        yield Finding(message, cause=coding[:20])


def _that_came(context: RunContext, operation: Operation) -> list[Exchange]:
    every = sent(context, operation)
    check_answered(every)
    return [exchange for exchange in every if exchange.has_answer]


@_PACK.minor("http.headers", every_exchange=True)
@each(_that_came, "HTTP headers", once=True)
def headers_of_answers_hold(_: RunContext, exchange: Exchange) -> Findings:
    """Retry-After is a date, or a whole number of seconds that is not negative; nothing was
    modified after it was sent; and a digest is that of its body, a range and a coding as they say.
    """
    basis = fact_basis("http.headers")
    for message, cause in wrong_headers(exchange):
        yield Finding(message, (exchange,), "HTTP headers", basis, cause=cause)


def wrong_headers(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yield what contradicts HTTP in the status and the headers of an answer, and its cause."""
    header, method = exchange.answer.header, exchange.request.method
    wait = header("Retry-After")
    if wait is not None and not _DIGITS.fullmatch(wait.strip()) and parsedate(wait) is None:
        yield f"Retry-After is {excerpt(wait)}", "Retry-After"
    ahead_s = seconds_between(header("Date"), header("Last-Modified"))
    if ahead_s is not None and ahead_s > _CLOCKS_APART_S:
        when = header("Last-Modified")
        yield f"Last-Modified is {ahead_s:.0f} s later than Date: {when}", "Last-Modified"
    for name in _wrong_digests(exchange):
        yield f"{name} is {excerpt(header(name))}, which is not that of the body", name
    part, came = _RANGE.match(header("Content-Range") or ""), len(exchange.answer.body)
    is_part = exchange.answer.status == 206 and method != "HEAD"
    if is_part and part and int(part[2]) - int(part[1]) + 1 != came:
        yield f"Content-Range is {part[0]}, and the body has {came} bytes", "Content-Range"
    if exchange.answer.status == 304 and method not in ("GET", "HEAD"):
        yield f"HTTP 304 (not modified) to {method}", "not modified"
    if exchange.has_answer and exchange.answer.reason:
        yield exchange.answer.reason, exchange.answer.reason


def _wrong_digests(exchange: Exchange) -> Iterator[str]:
    """Yield the headers with another digest than that of the body, as far as it is known here."""
    answer, coding = exchange.answer, exchange.answer.header("Content-Encoding") or "identity"
    # Others are of what is not in the body, or was not kept: of more, and of what is compressed.
    if answer.status != 200 or exchange.request.method == "HEAD" or coding.lower() != "identity":
        return
    for name, pattern in _DIGESTS.items():
        for algorithm, digest in pattern.findall(answer.header(name) or ""):
            made = _HASHES[algorithm.lower()](answer.body, usedforsecurity=False).digest()
            if b64encode(made).decode() != digest.strip():
                yield name


@_PACK.minor("http.success", every_exchange=True)
@each(answered, once=True)
def success_is_http_200(_: RunContext, exchange: Exchange) -> Findings:
    """A success comes with HTTP 200."""
    status = exchange.answer.status
    if exchange.succeeded and status != 200:
        yield Finding(f"the success comes with HTTP {status}", cause=str(status))


@_PACK.major("refusals.no-breakdown", every_exchange=True)
def no_server_error(context: RunContext, operation: Operation) -> Findings:
    """No request, however odd, is answered with a 5xx."""
    every = sent(context, operation)
    plain = filterfalse(is_hostile, every)
    exchanges = [exchange for exchange in plain if exchange.answer.status >= 500]
    if not exchanges:
        answered(context, operation)
    own = [exchange for exchange in exchanges if exchange.answer.status not in GATEWAY_STATUSES]
    if exchanges and not own and not any(exchange.succeeded for exchange in every):
        raise Inconclusive(f"the service seems to be down: {in_words(exchanges[0])}")
    if exchanges and _is_busy_now_and_then(context, exchanges):
        raise Inconclusive(f"the service seems to be busy now and then: {in_words(exchanges[0])}")
    for status in dict.fromkeys(exchange.answer.status for exchange in own or exchanges):
        cases = [exchange for exchange in exchanges if exchange.answer.status == status]
        message = f"{in_words(cases[0])} to {len(cases)} of {len(every)} requests"
        yield Finding(message, tuple(cases[:3]), cause=str(status))


def _is_busy_now_and_then(context: RunContext, unanswered: Sequence[Exchange]) -> bool:
    """Tell whether HTTP 503 says, in an orderly way, that a request came at a bad time: seldom in
    the run, never twice to one request, and not to requests of a single operation alone.
    """
    every = [exchange for exchange in context.exchanges if exchange.answer.status == _BUSY]
    asked = [(each.operation.id, request_key(each)) for each in every]
    asks_to_wait = all(each.answer.header("Retry-After") for each in every)
    return (
        all(each.answer.status == _BUSY for each in unanswered)
        and all(each.answer.header("Retry-After") or each.code is not None for each in unanswered)
        and len(every) * _SELDOM <= len(context.exchanges)
        and len(set(asked)) == len(asked)
        and (asks_to_wait or len({operation_id for operation_id, _ in asked}) > 1)
    )


@_PACK.major("interface.operations", every_exchange=True)
def no_redirect(context: RunContext, operation: Operation) -> Findings:
    """An operation answers at its own address, and redirects nowhere."""
    redirects = filter(is_redirect, answered(context, operation))
    exchanges = list(filterfalse(is_outside_the_contract, redirects))
    if not exchanges:
        return
    every, generation = context.exchanges, operation.generation.id
    others = [exchange for exchange in every if exchange.operation.generation.id == generation]
    where = excerpt(exchanges[0].answer.header("Location") or "nowhere")
    if len({exchange.operation.id for exchange in others}) > 1 and all(map(is_redirect, others)):
        raise Inconclusive(f"everything is redirected, for example to {where}")
    message = f"HTTP {exchanges[0].answer.status} redirects to {where}"
    yield Finding(message, tuple(exchanges[:3]), cause="3xx")


@_PACK.major("interface.envelopes", every_exchange=True)
def answers_are_whole(context: RunContext, operation: Operation) -> Findings:
    """An answer arrives complete, in well-formed HTTP."""
    plain = filterfalse(is_hostile, sent(context, operation))
    every = list(filterfalse(is_outside_the_contract, plain))
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


def is_no_success(context: RunContext, operation: Operation, words: str) -> Findings:
    exchange = require_answer(context, probe(operation, words))
    if exchange.succeeded:
        what = f"{exchange.request.method} {exchange.request.path} is answered with success"
        yield Finding(what, (exchange,), verdict=Verdict.EXTRA, cause="success")


@_PACK.minor(
    "requests.equal",
    ids.V1_CHAINS,
    ids.V1_TOKENS,
    ids.V1_QUOTE,
    ids.CHAINS,
    ids.ASSETS,
    ids.OF_CHAIN,
    ids.BRIDGE,
    needs=(
        *probes(ids.V1_CHAINS, "usual", "last look"),
        *probes(ids.V1_TOKENS, "usual", "last look"),
        *probes(ids.V1_QUOTE, "usual", "again"),
        *CHAINS_LOOKED_AT_TWICE,
        *probes(ids.ASSETS, "usual", "last look"),
        *probes(ids.OF_CHAIN, "usual", "last look"),
        *probes(ids.BRIDGE, "usual", "again"),
    ),
    every_exchange=True,
)
@counting(vacuous="no request was sent twice and succeeded twice")
def equal_requests_are_answered_alike(context: RunContext, operation: Operation) -> Judgements:
    """Two equal requests that succeed get answers of the same form."""
    first: dict[tuple[object, ...], Exchange] = {}
    for exchange in answered(context, operation):
        if not exchange.succeeded:
            continue
        request = exchange.request
        # Requests that differ in the time of their stamp alone mean the same.
        every = request.headers.items_sent
        headers = tuple(header for header in every if header[0].lower() not in _STAMPS)
        key = (request.method, request.path, request.query, headers, request.body)
        before = first.setdefault(key, exchange)
        if before is exchange:
            continue
        yield JUDGED
        place = _difference(before, exchange)
        if place:
            message = f"{place} differs between two answers to equal requests"
            yield Finding(message, (before, exchange), place, cause="unlike")
            return


@_PACK.minor("http.unknown-path", ids.CHAINS, each=("unknown path",))
def unknown_path_is_no_success(context: RunContext, operation: Operation) -> Findings:
    """A path without an operation is not answered with success."""
    return is_no_success(context, operation, "unknown path")


@_PACK.minor("http.wrong-method", ids.V1_QUOTE, each=("wrong method",))
def wrong_method_is_no_success(context: RunContext, operation: Operation) -> Findings:
    """A method that an operation does not have is not answered with success."""
    return is_no_success(context, operation, "wrong method")


@_PACK.major(
    "refusals.no-breakdown",
    ids.V1_RAW,
    ids.BRIDGE,
    ids.CHECK,
    ids.CHECK_TICKET,
    each=("hostile text",),
)
def survives_hostile_text(context: RunContext, operation: Operation) -> Findings:
    """Long, unusual or hostile texts neither break nor stop the service."""
    exchange = context.require(probe(operation, "hostile text"))
    answer = exchange.answer
    if answer.status >= 500 and answer.status not in GATEWAY_STATUSES:
        yield Finding(f"the answer is HTTP {answer.status}", (exchange,), cause="5xx")
    if answer.trouble is None:
        return
    if not any(exchange.has_answer for exchange in sent(context, operation)):
        raise Inconclusive(f"no request was answered: {in_words(exchange)}")
    yield Finding(f"there is no whole answer: {in_words(exchange)}", (exchange,), cause="no answer")


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
