"""Bodies as breaks write them, by the names that the table of breaks calls them: bytes to bytes."""

import re
from collections.abc import Mapping, Sequence

from mockserver import jsontext
from mockserver.jsontext import Json


def around(body: bytes, texts: Sequence[str]) -> bytes:
    """Put a text before a body and another one behind it."""
    front, back = texts
    return front.encode() + body + back.encode()


def short_by(body: bytes, count: int) -> bytes:
    """Leave the last bytes out."""
    return body[: max(len(body) - count, 0)]


def code_twice(body: bytes) -> bytes:
    """Give an envelope two codes."""
    return body.replace(b'{"code":', b'{"code":1,"code":', 1)


def not_a_number(body: bytes, name: str) -> bytes:
    """Put NaN in place of a text."""
    head, found, rest = body.partition(f'"{name}":"'.encode())
    return head + found[:-1] + b"NaN" + rest.partition(b'"')[2] if found else body


def infinite(body: bytes, name: str) -> bytes:
    """Put Infinity in place of a number."""
    return re.sub(rf'("{name}":)[^,}}]*'.encode(), rb"\1Infinity", body, count=1)


def latin_one(body: bytes) -> bytes:
    """Write a letter of `msg` in Latin-1."""
    return body.replace(b'"msg":"success"', '"msg":"succès"'.encode("latin-1"), 1)


def sixteen_bits(body: bytes) -> bytes:
    """Write a body in UTF-16."""
    return body.decode("ascii", "replace").encode("utf-16")


def version_with_a_point(body: bytes) -> bytes:
    """Write a version as languages without integers do: 1.0."""
    return re.sub(rb'("version":[0-9]+)(?=[,}])', rb"\1.0", body, count=1)


def escaped(body: bytes) -> bytes:
    """Write a letter of two texts as an escape, which is the same text."""
    body = body.replace(b'"success"', b'"\\u0073uccess"')
    return body.replace(b'"USDT"', b'"\\u0055SDT"').replace(b"https://", b"https:\\/\\/")


def indented(body: bytes) -> bytes:
    """Write JSON over many lines."""
    value = jsontext.decode_or(body)
    return body if value is None else jsontext.pretty(value).encode("ascii") + b"\n"


def members_reversed(body: bytes) -> bytes:
    """Write the members of all objects in the reverse order."""
    value = jsontext.decode_or(body)
    return body if value is None else jsontext.encode(_reversed(value))


def _reversed(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _reversed(value[key]) for key in reversed(list(value))}
    return [_reversed(item) for item in value] if isinstance(value, list) else value
