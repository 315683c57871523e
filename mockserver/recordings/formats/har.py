"""HAR 1.2, as browsers and proxies write it (http://www.softwareishard.com/blog/har-12-spec/)."""

import base64
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mockserver import __version__, jsontext
from mockserver.http_messages import PHRASES, Response, pairs_or
from mockserver.jsontext import Json
from mockserver.recordings.formats.messages import (
    NoExchange,
    Pairs,
    address,
    converted,
    from_base64,
    raw,
    request_to,
)
from mockserver.recordings.recording import RecordedExchange
from mockserver.times_and_durations import iso, parse_instant

# Headers of a compressed body, which a HAR holds unpacked.
_OF_PACKED_BODIES = ("content-encoding", "content-length")


def har_exchange(entry: Mapping[str, Any], file: Path) -> RecordedExchange:
    """Return an entry of a HAR as an exchange. Raises `NoExchange`, `Unreadable`."""
    request, response = entry["request"], entry["response"]
    if response["status"] == 0:
        raise NoExchange("it has no answer: its status is 0")
    parts = converted(entry, "request", "url", by=address)
    if parts.scheme not in ("http", "https"):
        raise NoExchange(f"its address is none of HTTP: {parts.scheme}")
    posted = _body(entry, "request", "postData")
    body, size = _body(entry, "response", "content"), (response.get("content") or {}).get("size")
    missing = body is None and isinstance(size, int | Decimal) and size > 0
    # They would be wrong beside a body that is unpacked.
    headers = tuple(pair for pair in _headers(response) if pair[0].lower() not in _OF_PACKED_BODIES)
    dated, took = entry.get("startedDateTime") is not None, entry.get("time")
    timed = isinstance(took, int | Decimal) and not isinstance(took, bool) and took >= 0
    return RecordedExchange.unnamed(
        request_to(parts, request["method"], _headers(request), posted or b""),
        Response(response["status"], headers, body or b""),
        converted(entry, "startedDateTime", by=parse_instant) if dated else None,
        int(took) if timed and took is not None else None,
        "the HAR does not hold it" if missing else "",
    )


def _headers(message: Mapping[str, Any]) -> Pairs:
    # Headers of HTTP/2 such as `:path` are none of HTTP/1. Of a field that was sent twice, Chromium
    # makes one value of two lines.
    return tuple(
        (header["name"], value)
        for header in message.get("headers") or ()
        for value in header["value"].split("\n")
        if not header["name"].startswith(":")
    )


def _body(entry: Mapping[str, Any], message: str, part: str) -> bytes | None:
    content = entry[message].get(part) or {}
    if content.get("text") is None:
        # A form may stand there as its parameters alone.
        fields = [(row["name"], row.get("value") or "") for row in content.get("params") or ()]
        return urlencode(fields).encode() if fields else None
    coded = content.get("encoding") == "base64"
    return converted(entry, message, part, "text", by=from_base64 if coded else raw)


def har_text(exchanges: Iterable[RecordedExchange], base: str) -> str:
    """Return exchanges as a HAR; `base` is the address that their paths are put behind."""
    log: Json = {
        "version": "1.2",
        "creator": {"name": "crosschain-mock", "version": __version__},
        "entries": [_exported(exchange, base) for exchange in exchanges],
    }
    return jsontext.pretty({"log": log}) + "\n"


def _exported(exchange: RecordedExchange, base: str) -> Json:
    request, took = exchange.request, exchange.duration_ms or 0
    return {
        "startedDateTime": iso(exchange.time_ms or 0),
        "time": took,
        "request": {
            "method": request.method,
            "url": base + request.target,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(request.headers.items_sent),
            "queryString": _named(pairs_or(request.query)),
            "headersSize": -1,
            "bodySize": len(request.body),
            **_post_data(request.body, request.headers.get("Content-Type", "application/json")),
        },
        "response": _answer(exchange.response),
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
        "comment": exchange.note or exchange.operation,
    }


def _answer(response: Response) -> Json:
    mime = response.header("Content-Type") or ("application/json" if response.body else "x-unknown")
    return {
        "status": response.status,
        "statusText": PHRASES.get(response.status, ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(response.headers),
        "content": {"size": len(response.body), "mimeType": mime, **_written(response.body)},
        "redirectURL": response.header("Location") or "",
        "headersSize": -1,
        "bodySize": len(response.body),
    }


def _post_data(body: bytes, mime: str) -> dict[str, Json]:
    return {"postData": {"mimeType": mime, **_written(body)}} if body else {}


def _written(body: bytes) -> dict[str, Json]:
    try:
        return {"text": body.decode("utf-8")} if body else {}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def _named(pairs: Iterable[tuple[str, str]]) -> Json:
    return [{"name": name, "value": value} for name, value in pairs]
