"""Content codings of bodies: unpacked up to a bound, and only where they are true."""

import contextlib
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from mockserver import limits

if TYPE_CHECKING:
    from mockserver.recordings import RecordedExchange

READ = ("gzip", "deflate", "identity")
"""The codings that are read."""

_ALIASES = {"x-gzip": "gzip"}
# More layers are only used to hide a decompression bomb.
_MOST_CODINGS = 3
# The `wbits` of zlib for the largest window with a gzip header.
_GZIP = 31
# Bytes to unpack at once. zlib copies the rest after each gzip member, which may be tiny.
_PART = 4096


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
    names = [_plain(name) for name in header.split(",")]
    codings = [name for name in names if name not in ("", "identity")]
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


def is_read(name: str) -> bool:
    return _plain(name) in READ


def _plain(name: str) -> str:
    plain = name.strip().lower()
    return _ALIASES.get(plain, plain)


def _unpacked(body: bytes, coding: str, most: int) -> bytes:
    # Clients send `deflate` with and without the zlib wrapper.
    for form in (_GZIP,) if coding == "gzip" else (15, -15):
        with contextlib.suppress(zlib.error):
            return _members(memoryview(body), form, most)
    reason = f"header 'Content-Encoding': the body is not {coding}, or is damaged"
    raise Undecodable("bad-coding", reason)


def _members(body: memoryview, form: int, most: int) -> bytes:
    """Return what is in a body; gzip may be several, one behind the other (RFC 1952).

    Raises `zlib.error` where one is damaged or cut off, and `TooLong`.
    """
    unpacked, at = bytearray(), 0
    while True:
        unpacker = zlib.decompressobj(form)
        while not unpacker.eof and at < len(body):
            part = body[at : at + _PART]
            unpacked += unpacker.decompress(part, most + 1 - len(unpacked))
            if len(unpacked) > most:
                raise TooLong
            at += len(part) - len(unpacker.unused_data)
        if unpacker.eof and at == len(body):
            return bytes(unpacked)
        if not unpacker.eof or form != _GZIP:
            raise zlib.error


def unpacked(exchange: "RecordedExchange") -> "RecordedExchange":
    """Return an exchange whose bodies can be read and searched, or are left out with the reason."""
    request, response = exchange.request, exchange.response
    request_body, request_omitted = _readable(request.body, request.headers.get("Content-Encoding"))
    body, omitted = _readable(response.body, response.header("Content-Encoding"))
    return replace(
        exchange,
        request=replace(request, body=request_body),
        response=replace(response, body=body),
        request_omitted=request_omitted,
        response_omitted=exchange.response_omitted or omitted,
    )


def _readable(body: bytes, coding: str | None) -> tuple[bytes, str]:
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
