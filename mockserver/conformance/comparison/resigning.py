"""Secrets that a journal has masked, put back by the caller that compares."""

from collections.abc import Callable
from dataclasses import replace

from mockserver.conformance.runs.journal import MASK
from mockserver.conformance.session.caller import SECRET_HEADERS, Caller
from mockserver.exchange import Headers, Request
from mockserver.jsontext import NotJson
from mockserver.signing import developer

_SECRET = frozenset(name.lower() for name in SECRET_HEADERS)


def is_masked(request: Request) -> bool:
    """Tell whether a request lacks its secrets."""
    return any(
        name.lower() in _SECRET and value and not value.strip(MASK)
        for name, value in request.headers.items_sent
    )


def resigned(request: Request, caller: Caller) -> Request:
    """Return a request with the secrets of a caller, signed over what it carries."""
    headers = request.headers
    key = "" if "appKey" not in headers else caller.app_key
    named = developer.DeveloperHeaders(
        key, headers.get("expireTime", ""), headers.get("timestamp", "")
    )

    def v1_signature() -> str:
        try:
            text = developer.signed_text(request.body, named)
        except NotJson:
            text = named.text()
        return developer.signature(text, caller.app_secret)

    is_v1 = "timestamp" in headers or "appKey" in headers or request.path.startswith("/open/")
    makers: dict[str, Callable[[], str]] = {
        "appkey": lambda: caller.app_key,
        "signature": v1_signature
        if is_v1
        else lambda: caller.wallet_signed(request.body, headers.get("EvmAddress", "")),
    }
    items = [
        (name, makers[name.lower()]() if name.lower() in makers else value)
        for name, value in headers.items_sent
    ]
    return replace(request, headers=Headers(items))


def is_signed_by(request: Request, caller: Caller) -> bool:
    """Tell whether a v1 request carries the signature that the caller makes for it."""
    return "timestamp" in request.headers and resigned(request, caller) == request


def stamped(request: Request, caller: Caller, now_ms: int) -> Request:
    """Return a v1 request at another time, signed again."""
    items = [
        (name, str(now_ms) if name.lower() == "timestamp" else value)
        for name, value in request.headers.items_sent
    ]
    return resigned(replace(request, headers=Headers(items)), caller)
