"""Between Schemathesis and our session: its cases become drafts, our answers its responses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import requests
from schemathesis import Case
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response

from mockserver import jsontext
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import JSON_TYPE, Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation

_OF_THE_CLIENT = (
    "user-agent",
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "x-schemathesis-testcaseid",
)
"""Headers that the transport decides, or that would make equal requests unequal."""

_SIGNED = ("appKey", "expireTime", "timestamp", "signature")


def prepared(case: Case[Any]) -> requests.PreparedRequest:
    """Return the request that Schemathesis would send. Raises `ValueError` for one that is none."""
    parts = case.as_transport_kwargs()
    known = ("method", "url", "headers", "params", "data", "json", "files")
    return requests.Request(**{name: parts[name] for name in known if name in parts}).prepare()


def draft_of_case(
    case: Case[Any], request: requests.PreparedRequest, operation: Operation, context: RunContext
) -> Draft | None:
    """Return a case as a draft, byte for byte; None for another operation's method or path.

    A v1 request is signed as the caller unless it is the headers that the case breaks.
    """
    parts = urlsplit(request.url or "")
    if request.method != operation.method or parts.path != operation.path:
        return None
    body = request.body.encode() if isinstance(request.body, str) else request.body
    raw = body if isinstance(body, bytes) else b""
    headers = {
        name: value.decode("latin-1") if isinstance(value, bytes) else value
        for name, value in request.headers.items()
        if name.lower() not in _OF_THE_CLIENT
    }
    draft = Draft(
        headers=headers,
        raw_query=parts.query,
        raw_body=raw,
        content_type=str(request.headers.get("Content-Type", JSON_TYPE)),
    )
    if operation.auth == "developer-key" and not _breaks_headers(case):
        return _signed(draft, context)
    return draft


def lifted(exchange: Exchange, request: requests.PreparedRequest) -> Response:
    """Return an answer as Schemathesis sees it: a refusal is HTTP 400, as in its document."""
    headers: dict[str, list[str]] = {}
    for name, value in exchange.answer.headers:
        headers.setdefault(name.lower(), []).append(value)
    return Response(
        status_code=400 if exchange.refused else exchange.answer.status,
        headers=headers,
        content=exchange.answer.body,
        request=request,
        elapsed=exchange.answer.elapsed_ms / 1000,
        verify=False,
    )


def _breaks_headers(case: Case[Any]) -> bool:
    meta = case.meta
    if meta is None:
        return False
    part = meta.components.get(ParameterLocation.HEADER)
    return part is not None and part.mode.is_negative


def _signed(draft: Draft, context: RunContext) -> Draft:
    # A signature covers members; a body that is no object has none.
    found = jsontext.decode_or(draft.raw_body or b"")
    members = found if isinstance(found, Mapping) else None
    from_caller = context.caller.sign_v1(Draft(body=members))
    kept = {name: value for name, value in draft.headers.items() if name not in _SIGNED}
    stamps = {name: from_caller.headers[name] for name in _SIGNED}
    return replace(draft, headers={**kept, **stamps})
