"""Content codings of bodies: unpacked up to a bound, and only where they are true."""

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mockserver import limits

if TYPE_CHECKING:
    from mockserver.recordings import RecordedExchange

READ = ("gzip", "deflate", "identity")
"""The codings that are read."""

_ALIASES = {"x-gzip": "gzip"}
_MOST_CODINGS = 3


class Undecodable(ValueError):
    """A body that cannot be unpacked; `name` is that of the refusal."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


class TooLong(ValueError):
    """A body that unpacks to more than may be."""


def decoded(body: bytes, header: str, most: int) -> bytes:
    """Return a body without the codings of its `Content-Encoding`, `most` bytes of it.

    Raises `Undecodable` and `TooLong`.
    """
    names = [name.strip().lower() for name in header.split(",")]
    codings = [_ALIASES.get(name, name) for name in names if name not in ("", "identity")]
    odd = next((name for name in codings if name not in READ), None)
    if odd is not None or len(codings) > _MOST_CODINGS:
        raise Undecodable(
            "unknown-coding",
            f"header 'Content-Encoding': {header[:80]!a} is not read here; "
            f"use one of {', '.join(READ)}",
        )
    for coding in reversed(codings):
        body = _unpacked(body, coding, most)
    return body


def _unpacked(body: bytes, coding: str, most: int) -> bytes:
    forms = (31,) if coding == "gzip" else (15, -15)
    for form in forms:
        # What is called deflate comes with and without the wrapping of zlib.
        unpacker = zlib.decompressobj(form)
        try:
            found = unpacker.decompress(body, most + 1)
        except zlib.error:
            continue
        if len(found) > most:
            raise TooLong
        if unpacker.eof and not unpacker.unused_data:
            return found
    reason = f"header 'Content-Encoding': the body is not {coding}, or is damaged"
    raise Undecodable("bad-coding", reason)


def unpacked(exchange: "RecordedExchange") -> "RecordedExchange":
    """Return an exchange whose bodies can be read and searched, or are left out with the reason."""
    request, response = exchange.request, exchange.response
    request_body, request_omitted = _shown(request.body, request.headers.get("Content-Encoding"))
    body, omitted = _shown(response.body, response.header("Content-Encoding"))
    return replace(
        exchange,
        request=replace(request, body=request_body),
        response=replace(response, body=body),
        request_omitted=request_omitted,
        response_omitted=exchange.response_omitted or omitted,
    )


def _shown(body: bytes, coding: str | None) -> tuple[bytes, str]:
    """Return a body that can be read and searched, or none and why."""
    if coding is None or not body:
        return body, ""
    # What cannot be searched for secrets is not kept.
    try:
        return decoded(body, coding, limits.RECORDED_BODY.most), ""
    except TooLong:
        return b"", f"it unpacks to more than {limits.RECORDED_BODY}"
    except Undecodable as error:
        return b"", str(error)
