"""HAR 1.2, as browsers and proxies write it (http://www.softwareishard.com/blog/har-12-spec/)."""

import base64
from collections.abc import Iterable, Iterator
from decimal import Decimal
from http import HTTPStatus

from mockserver import __version__, jsontext
from mockserver.clock import iso
from mockserver.exchange import Request, Response, pairs_or
from mockserver.jsontext import Json
from mockserver.recordings.formats.foreign import (
    ForeignExchange,
    ForeignRecording,
    Node,
    Pairs,
    Skipped,
    request_of,
)
from mockserver.recordings.recording import RecordedExchange


def is_har(root: Node) -> bool:
    """Tell whether a file is a HAR."""
    return root.has("log") and root.at("log").has("entries")


def read_har(root: Node) -> ForeignRecording:
    """Return the exchanges of a HAR. Raises `InvalidFile`."""
    return ForeignRecording.of("HAR", map(_entry, root.at("log").at("entries").each()))


def _entry(entry: Node) -> ForeignExchange | Skipped:
    request, response = entry.at("request"), entry.at("response")
    if response.at("status").integer() == 0:
        return Skipped(entry.place, "it has no answer: its status is 0")
    parts = request.at("url").address()
    if parts.scheme not in ("http", "https"):
        return Skipped(entry.place, f"its address is none of HTTP: {parts.scheme}")
    body, omitted = _content(response)
    return ForeignExchange(
        entry.place,
        request_of(request, parts, _headers(request), _posted(request)),
        Response(response.at("status").status(), _of_plain_body(_headers(response)), body),
        entry.at("startedDateTime").instant() if entry.has("startedDateTime") else None,
        _duration(entry),
        omitted,
    )


def _headers(message: Node) -> Pairs:
    if not message.has("headers"):
        return ()
    pairs = (
        (one.at("name").text(), one.at("value").text()) for one in message.at("headers").each()
    )
    # Headers of HTTP/2 such as `:path` are none of HTTP/1.
    return tuple(pair for pair in pairs if not pair[0].startswith(":"))


def _of_plain_body(headers: Pairs) -> Pairs:
    """Return headers without those of a compressed body: a HAR holds what it was unpacked to."""
    packed = ("content-encoding", "content-length")
    return tuple(pair for pair in headers if pair[0].lower() not in packed)


def _posted(request: Node) -> bytes:
    if not request.has("postData") or not request.at("postData").has("text"):
        return b""
    posted = request.at("postData")
    if posted.has("encoding") and posted.at("encoding").value == "base64":
        return posted.at("text").from_base64()
    return posted.at("text").raw()


def _content(response: Node) -> tuple[bytes, str]:
    if not response.has("content"):
        return b"", ""
    content = response.at("content")
    if not content.has("text"):
        size = content.value.get("size")
        there = isinstance(size, int | Decimal) and size > 0
        return b"", "the HAR does not hold it" if there else ""
    if content.has("encoding") and content.at("encoding").value == "base64":
        return content.at("text").from_base64(), ""
    return content.at("text").raw(), ""


def _duration(entry: Node) -> int | None:
    took = entry.value.get("time")
    known = isinstance(took, int | Decimal) and not isinstance(took, bool) and took >= 0
    return int(took) if known else None


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
    row: dict[str, Json] = {
        "startedDateTime": iso(exchange.time_ms or 0),
        "time": took,
        "request": {
            "method": request.method,
            "url": base + request.target,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": list(_named(request.headers.items_sent)),
            "queryString": list(_named(pairs_or(request.query))),
            "headersSize": -1,
            "bodySize": len(request.body),
            **_post_data(request),
        },
        "response": _answer(exchange.response),
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
    }
    comment = exchange.note or exchange.operation
    return {**row, "comment": comment}


def _answer(response: Response) -> Json:
    mime = response.header("Content-Type") or ("application/json" if response.body else "x-unknown")
    return {
        "status": response.status,
        "statusText": {int(known): known.phrase for known in HTTPStatus}.get(response.status, ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": list(_named(response.headers)),
        "content": {"size": len(response.body), "mimeType": mime, **_written(response.body)},
        "redirectURL": response.header("Location") or "",
        "headersSize": -1,
        "bodySize": len(response.body),
    }


def _post_data(request: Request) -> dict[str, Json]:
    if not request.body:
        return {}
    mime = request.headers.get("Content-Type", "application/json")
    return {"postData": {"mimeType": mime, **_written(request.body)}}


def _written(body: bytes) -> dict[str, Json]:
    try:
        return {"text": body.decode("utf-8")} if body else {}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def _named(pairs: Iterable[tuple[str, str]]) -> Iterator[Json]:
    for name, value in pairs:
        yield {"name": name, "value": value}
