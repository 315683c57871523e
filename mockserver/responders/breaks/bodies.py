"""Bodies as breaks write them, by the words that the table of breaks calls them: bytes to bytes."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from mockserver import jsontext
from mockserver.jsontext import Json


def _sub(body: bytes, patterns: Mapping[str, str]) -> bytes:
    """Put texts, in Latin-1, in place of what regular expressions find."""
    for pattern, text in patterns.items():
        body = re.sub(pattern.encode(), text.encode("latin-1"), body)
    return body


def _around(body: bytes, texts: Sequence[str]) -> bytes:
    """Put a text before a body and another one behind it."""
    front, back = texts
    return front.encode() + body + back.encode()


def _written_anew(body: bytes, write: Callable[[Json], bytes]) -> bytes:
    """Write JSON in another way; what is none stays."""
    value = jsontext.decode_or(body)
    return body if value is None else write(value)


def _reversed(value: Json) -> Json:
    """Return a value with the members of all objects in the reverse order."""
    if isinstance(value, Mapping):
        return {key: _reversed(value[key]) for key in reversed(list(value))}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


WORDS: Mapping[str, Callable[..., bytes]] = MappingProxyType(
    {
        "sub": _sub,
        "around": _around,
        "short-by": lambda body, count: body[:-count],
        "sixteen-bits": lambda body: body.decode("ascii", "replace").encode("utf-16"),
        "indented": lambda body: _written_anew(
            body, lambda value: jsontext.pretty(value).encode("ascii") + b"\n"
        ),
        "members-reversed": lambda body: _written_anew(
            body, lambda value: jsontext.encode(_reversed(value))
        ),
    }
)
"""The ways by word."""
