"""Content codings of bodies: unpacked up to a bound, and only where they are true."""

import contextlib
import zlib

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


def accepts(accept_encoding: str | None, codings: str) -> bool:
    """Tell whether a client accepts a `Content-Encoding`, by its `Accept-Encoding`.

    A client that says nothing accepts anything (RFC 9110, 12.5.3); but most of those can unpack
    nothing, and services send them bodies as they are.
    """
    weights: dict[str, bool] = {}
    for item in (accept_encoding or "").split(","):
        name, *parameters = item.split(";")
        weights[_plain(name)] = not any(map(_refuses, parameters))
    rest = weights.get("*", False)
    names = filter(None, map(_plain, codings.split(",")))
    return all(name == "identity" or weights.get(name, rest) for name in names)


def _refuses(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name.strip().lower() == "q" and not value.strip().strip("0.")


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
