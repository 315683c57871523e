"""Content codings of request bodies: unpacked up to a bound, and only where they are true."""

import zlib

READ = ("gzip", "deflate", "identity")
"""The codings that are read."""

_ALIASES = {"x-gzip": "gzip"}
_MOST_CODINGS = 3


class UnknownCoding(ValueError):
    """A coding that is not read here."""


class BadCoding(ValueError):
    """A body that is not in the coding its header names."""


class TooLong(ValueError):
    """A body that unpacks to more than may be."""


def decoded(body: bytes, header: str, most: int) -> bytes:
    """Return a body without the codings of its `Content-Encoding`, `most` bytes of it.

    Raises `UnknownCoding`, `BadCoding` and `TooLong`.
    """
    names = [name.strip().lower() for name in header.split(",")]
    codings = [_ALIASES.get(name, name) for name in names if name not in ("", "identity")]
    odd = next((name for name in codings if name not in READ), None)
    if odd is not None or len(codings) > _MOST_CODINGS:
        raise UnknownCoding(
            f"header 'Content-Encoding': {header[:80]!a} is not read here; "
            f"use one of {', '.join(READ)}"
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
    raise BadCoding(f"header 'Content-Encoding': the body is not {coding}, or is damaged")
