"""Breaks of HTTP and JSON: what a client meets before it reads a field."""

import gzip
from collections.abc import Callable
from dataclasses import replace

from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import (
    answering,
    encoded,
    headed,
    refused,
    refusing,
    rewritten,
    statused,
    succeeded,
    success,
    with_body,
)
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    CHAINS,
    CHECK_ORDER,
    CHECK_TICKET,
    PRICE,
    SWAP,
    TICKETS,
    V1_CHAINS,
    V1_DETAIL,
    V1_QUOTE,
    V1_RAW,
    V1_TOKENS,
)
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Cut, Delivery

HTML = ("Content-Type", "text/html; charset=utf-8")
_PAGE = b"<!DOCTYPE html><html><body><h1>It works!</h1></body></html>"
_TROUBLE = b"<html><head><title>500</title></head><body>Internal Server Error</body></html>"


def of_type(media_type: str) -> Act:
    """Say another media type."""
    return headed(
        lambda headers: tuple(
            (name, media_type if name.lower() == "content-type" else value)
            for name, value in headers
        )
    )


def _page(status: int, body: bytes, headers: tuple[tuple[str, str], ...] = (HTML,)) -> Response:
    return Response(status, headers, body)


def _success_becomes(response: Response) -> Act:
    """Send something else in place of every success."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        if succeeded(turn, sent.response) is None:
            return sent
        return replace(sent, response=response)

    return answering(changed)


def _refusal_becomes(how: Callable[[Turn], Response]) -> Act:
    """Send something else in place of every refusal."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        return replace(sent, response=how(turn)) if refused(sent.response) else sent

    return answering(changed)


def _member_twice(body: bytes) -> bytes:
    return body.replace(b'{"code":', b'{"code":1,"code":', 1)


def _not_a_number(field: bytes) -> Act:
    """Put NaN where a field's value begins."""

    def changed(body: bytes) -> bytes:
        head, name, rest = body.partition(b'"' + field + b'":"')
        if not name:
            return body
        return head + b'"' + field + b'":NaN' + rest.partition(b'"')[2]

    return rewritten(changed)


def _infinite(body: bytes) -> bytes:
    head, name, rest = body.partition(b'"amountOut":')
    if not name:
        return body
    end = min(place for place in (rest.find(b","), rest.find(b"}")) if place >= 0)
    return head + name + b"Infinity" + rest[end:]


def _packed(sent: Response) -> Response:
    packed = gzip.compress(sent.body, mtime=0)
    return Response(sent.status, (*sent.headers, ("Content-Encoding", "gzip")), packed)


def _gzip_unasked(turn: Turn, sent: Delivery) -> Delivery:
    """Compress for clients that say they take nothing of the kind."""
    accepted = turn.call.request.headers.get("Accept-Encoding", "")
    if "gzip" in accepted or not sent.response.body:
        return sent
    return replace(sent, response=_packed(sent.response))


def _cut_short(turn: Turn, sent: Delivery) -> Delivery:
    return replace(sent, cut=Cut.TRUNCATED)


def _code_zero(turn: Turn, body: dict[str, Json]) -> Json:
    return {**body, "code": turn.call.operation.generation.success_code}


def _all_well(turn: Turn) -> Response:
    return success(turn, {})


def _null_data(turn: Turn, sent: Delivery) -> Delivery:
    body = succeeded(turn, sent.response)
    return sent if body is None else with_body(sent, encoded({**body, "data": None}))


def _bare(turn: Turn, body: dict[str, Json]) -> Json:
    return {"error": str(body.get("msg", ""))[:200]}


def _text_code(turn: Turn, body: dict[str, Json]) -> Json:
    return {**body, "code": str(body.get("code", ""))}


def _code_missing(turn: Turn, body: dict[str, Json]) -> Json:
    return {name: value for name, value in body.items() if name != "code"}


def _trouble_on_odd_input(turn: Turn, sent: Delivery) -> Delivery:
    """Answer requests that break the contract with HTTP 500 and a page."""
    reading = turn.call.operation.read(turn.call.request)
    if not (reading.refusal or reading.violations):
        return sent
    return replace(sent, response=_page(500, _TROUBLE))


def _any_method(turn: Turn) -> Delivery:
    operation, request = turn.call.operation, turn.call.request
    if request.method == operation.method:
        return turn.answer()
    return turn.answer(replace(request, method=operation.method))


def _latin(body: bytes) -> bytes:
    return body.replace(b'"msg":"success"', '"msg":"succès"'.encode("latin-1"), 1)


def _sixteen(body: bytes) -> bytes:
    return body.decode("ascii", "replace").encode("utf-16")


def _garbled(body: bytes) -> bytes:
    return body + b"\n<!-- 12 ms -->" if body else body


def _ended_early(body: bytes) -> bytes:
    return body[: max(len(body) - 2, 0)]


_LAYER, _VIOLATION = Layer.PROTOCOL, Verdict.VIOLATION

BREAKS: tuple[Break, ...] = (
    Break(
        "html-content-type",
        _LAYER,
        "answers say they are text/html",
        "A-216",
        Verdict.ASSUMED,
        (BRIDGE_QUOTE, PRICE, V1_QUOTE),
        of_type("text/html; charset=utf-8"),
    ),
    Break(
        "binary-content-type",
        _LAYER,
        "answers say they are application/octet-stream",
        "A-216",
        Verdict.ASSUMED,
        (ASSETS, V1_TOKENS),
        of_type("application/octet-stream"),
    ),
    Break(
        "html-page-for-success",
        _LAYER,
        "an HTML page with HTTP 200 stands for an answer",
        "2.1",
        _VIOLATION,
        (BALANCE,),
        _success_becomes(_page(200, _PAGE)),
    ),
    Break(
        "html-page-for-refusal",
        _LAYER,
        "refusals are HTML pages with HTTP 400",
        "7",
        _VIOLATION,
        (ASSETS_BY_CHAIN, PRICE, V1_TOKENS),
        _refusal_becomes(lambda turn: _page(400, _TROUBLE)),
    ),
    Break(
        "trouble-on-odd-input",
        _LAYER,
        "requests that break the contract are answered by an HTTP 500 page",
        "7",
        _VIOLATION,
        (BRIDGE_QUOTE, AGGREGATE_QUOTE, SWAP),
        answering(_trouble_on_odd_input),
    ),
    Break(
        "v1-trouble-on-odd-input",
        _LAYER,
        "v1 requests that break the contract are answered by an HTTP 500 page",
        "7",
        _VIOLATION,
        (V1_QUOTE, V1_RAW, V1_DETAIL),
        answering(_trouble_on_odd_input),
    ),
    Break(
        "success-as-500",
        _LAYER,
        "successes come with HTTP 500",
        "7",
        _VIOLATION,
        (TICKETS,),
        statused(500),
    ),
    Break(
        "success-as-partial",
        _LAYER,
        "successes come with HTTP 206",
        "SDK2",
        Verdict.OBSERVED,
        (CHAINS,),
        statused(206),
    ),
    Break(
        "no-content",
        _LAYER,
        "successes come with HTTP 204 and no body",
        "2.1",
        _VIOLATION,
        (V1_CHAINS,),
        _success_becomes(_page(204, b"", ())),
    ),
    Break(
        "empty-body",
        _LAYER,
        "successes have HTTP 200 and no body",
        "2.1",
        _VIOLATION,
        (SWAP,),
        _success_becomes(_page(200, b"", ())),
    ),
    Break(
        "redirected",
        _LAYER,
        "a list is answered by a redirect to another path",
        "4.2 row 2",
        _VIOLATION,
        (ASSETS,),
        _success_becomes(_page(302, b"", (("Location", "/v2/getAssets"),))),
    ),
    Break(
        "not-a-number",
        _LAYER,
        "the USD value of a quote is NaN",
        "2.1",
        _VIOLATION,
        (BRIDGE_QUOTE, AGGREGATE_QUOTE),
        _not_a_number(b"outAmountUsd"),
    ),
    Break(
        "v1-infinity",
        _LAYER,
        "amountOut of the v1 quote is Infinity",
        "2.1",
        _VIOLATION,
        (V1_QUOTE,),
        rewritten(_infinite),
    ),
    Break(
        "member-twice",
        _LAYER,
        "the envelope has two codes, 1 before 0",
        "2.1",
        _VIOLATION,
        (PRICE, V1_TOKENS),
        rewritten(_member_twice),
    ),
    Break(
        "byte-order-mark",
        _LAYER,
        "bodies begin with a byte order mark",
        "2.1",
        _VIOLATION,
        (CHAINS, V1_CHAINS),
        rewritten(lambda body: b"\xef\xbb\xbf" + body if body else body),
    ),
    Break(
        "latin-one",
        _LAYER,
        "msg has a letter in Latin-1",
        "2.1",
        _VIOLATION,
        (BALANCE,),
        rewritten(_latin),
    ),
    Break(
        "sixteen-bits",
        _LAYER,
        "bodies are UTF-16",
        "2.1",
        _VIOLATION,
        (PRICE,),
        rewritten(_sixteen),
    ),
    Break(
        "body-cut-off",
        _LAYER,
        "the last two characters of a list are missing",
        "2.1",
        _VIOLATION,
        (ASSETS,),
        rewritten(_ended_early),
    ),
    Break(
        "length-too-long",
        _LAYER,
        "Content-Length promises more than comes",
        "2.1",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        answering(_cut_short),
    ),
    Break(
        "comment-behind",
        _LAYER,
        "a comment follows the JSON",
        "2.1",
        _VIOLATION,
        (ASSETS_BY_CHAIN, V1_TOKENS),
        rewritten(_garbled),
    ),
    Break(
        "wrapped-in-a-call",
        _LAYER,
        "the JSON stands inside a call, callback(...)",
        "2.1",
        _VIOLATION,
        (CHAINS,),
        rewritten(lambda body: b"callback(" + body + b");"),
    ),
    Break(
        "guarded-prefix",
        _LAYER,
        "the JSON stands behind )]}',",
        "2.1",
        _VIOLATION,
        (BALANCE,),
        rewritten(lambda body: b")]}',\n" + body),
    ),
    Break(
        "gzip-in-name-only",
        _LAYER,
        "Content-Encoding says gzip and the body is plain",
        "2.1",
        _VIOLATION,
        (TICKETS, V1_CHAINS),
        headed(lambda headers: (*headers, ("Content-Encoding", "gzip"))),
    ),
    Break(
        "gzip-unasked",
        _LAYER,
        "bodies are compressed although the client takes no gzip",
        "4",
        Verdict.EXTRA,
        (ASSETS,),
        answering(_gzip_unasked),
    ),
    Break(
        "refusal-with-code-zero",
        _LAYER,
        "refusals have code 0",
        "7",
        _VIOLATION,
        (BRIDGE_QUOTE, PRICE, V1_QUOTE),
        refusing(_code_zero),
    ),
    Break(
        "refusal-as-empty-success",
        _LAYER,
        "refusals are successes with empty data",
        "7",
        _VIOLATION,
        (CHECK_ORDER, CHECK_TICKET, BALANCE),
        _refusal_becomes(_all_well),
    ),
    Break(
        "refusal-without-envelope",
        _LAYER,
        "refusals are an object with an error in it",
        "7",
        _VIOLATION,
        (AGGREGATE_QUOTE, V1_RAW),
        refusing(_bare),
    ),
    Break(
        "refusal-code-as-text",
        _LAYER,
        "code of a refusal is a text",
        "2.1",
        _VIOLATION,
        (ASSETS_BY_CHAIN, V1_TOKENS),
        refusing(_text_code),
    ),
    Break(
        "refusal-code-missing",
        _LAYER,
        "refusals have no code",
        "2.1",
        _VIOLATION,
        (CHECK_ORDER, V1_DETAIL),
        refusing(_code_missing),
    ),
    Break(
        "success-with-null-data",
        _LAYER,
        "code is 0 and data is null",
        "2.1",
        _VIOLATION,
        (PRICE, V1_QUOTE),
        answering(_null_data),
    ),
    Break(
        "any-method",
        _LAYER,
        "operations are answered to other methods as well: reads to POST, the v1 quote to GET",
        "4.2",
        Verdict.EXTRA,
        (CHAINS, PRICE, V1_CHAINS, V1_QUOTE),
        _any_method,
        methods=("GET", "POST", "PUT", "DELETE"),
    ),
)
"""Protocol breaks."""
