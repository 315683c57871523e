"""Parses requests that resemble earlier ones: clients send nearly the same headers each time.

aiohttp's parser has read a request with the same field names in the same order. Each line of this
one either came just so before, or differs in its value alone, where that is plain printable text
and says nothing of how the request travels. Then what the parser would make of it leaves no doubt:
a method, a target and a version in their usual form, and a body that is there to its last byte.
Everything else is the parser's.
"""

import re
from collections import deque
from functools import lru_cache
from typing import Any, NamedTuple

from mockserver.exchange import Headers, Request
from mockserver.values import keep

# Bytes that are looked at here: less than every bound that the parser has.
_MOST_LINE, _MOST_FIELDS, _MOST_BODY = 4_096, 4_096, 65_536

# Bounded, since clients choose the headers.
_MOST_CACHED = 256
_MOST_CACHED_SHAPES = 8
_LINE = re.compile(r'(GET|POST) (/(?!/)[!"$->@-~]*)(?:\?([!"$-~]*))? HTTP/1\.1')
_VALUE = "([!-~][ -~]*(?<! ))"
_END = b"\r\n\r\n"
# Fields about the transport, each with the value that changes nothing, if there is one.
_HOW_IT_TRAVELS = {
    **dict.fromkeys(
        [
            "content-encoding",
            "expect",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ]
    ),
    "connection": "((?i:keep-alive))",
}


class _Shape(NamedTuple):
    """The names of header fields in their order, as sent and in lower case, and their values."""

    names: tuple[str, ...]
    lowered: tuple[str, ...]
    pattern: re.Pattern[str]


class Repeated:
    """Recent header fields, shared by all connections of a server."""

    __slots__ = ("_blocks", "_lines", "_shapes")

    def __init__(self) -> None:
        # Request lines without a query: method, path and the empty query.
        self._lines: dict[bytes, tuple[str, ...]] = {}
        # Whole sets of fields with the end of the head, of requests without a body.
        self._blocks: dict[bytes, Headers] = {}
        # Shapes of requests whose values may differ, the last used first.
        self._shapes: deque[_Shape] = deque(maxlen=_MOST_CACHED_SHAPES)

    def request(self, data: bytes) -> Request | None:
        """Return the request that these bytes are, if it is like one that came before."""
        line, _, rest = data.partition(b"\r\n")
        parts = self._lines.get(line) or self._parts(line)
        if parts is None:
            return None
        method, path, query = parts
        body = b""
        headers = self._blocks.get(rest) if method == "GET" else None
        if headers is None:
            fields, end, body = rest.partition(_END)
            if not end or len(fields) > _MOST_FIELDS or len(body) > _MOST_BODY:
                return None
            length = str(len(body)) if body or method != "GET" else None
            headers = self._alike(fields.decode("latin-1"), length)
            if headers is None:
                return None
        # Field by field: the constructor of a value takes twice as long.
        request: Any = Request.__new__(Request)
        request.method, request.path, request.query = method, path, query
        request.headers, request.body, request.raw = headers, body, data
        plain: Request = request
        return plain

    def _parts(self, line: bytes) -> tuple[str, ...] | None:
        if len(line) > _MOST_LINE:
            return None
        matched = _LINE.fullmatch(line.decode("latin-1"))
        if matched is None:
            return None
        parts = matched.groups("")
        return parts if parts[2] else keep(self._lines, line, parts, _MOST_CACHED)

    def remember(self, data: bytes, headers: Headers) -> None:
        """Keep what the parser made of the fields of a usual request that came alone."""
        head, _, body = data.partition(_END)
        line, _, fields = head.decode("latin-1").partition("\r\n")
        if len(fields) > _MOST_FIELDS or fields != _written(headers):
            return
        plain = Headers(headers.items_sent)
        if line.startswith("GET ") and not body and "content-length" not in plain:
            keep(self._blocks, fields.encode("latin-1") + _END, plain, _MOST_CACHED)
        shape = None if plain.repeats() else _shape(tuple(name for name, _ in plain.items_sent))
        if shape is not None and shape.pattern.fullmatch(fields) and shape not in self._shapes:
            self._shapes.appendleft(shape)

    def _alike(self, fields: str, length: str | None) -> Headers | None:
        """Return fields that differ from earlier ones only in their values; None where in doubt.

        `length` is the content-length that the fields must have; None where they must have none.
        """
        for shape in self._shapes:
            names, lowered, pattern = shape
            match = pattern.fullmatch(fields)
            if match is not None:
                if shape is not self._shapes[0]:
                    # It is tried first the next time.
                    self._shapes.remove(shape)
                    self._shapes.appendleft(shape)
                first = dict(zip(lowered, match.groups(), strict=True))
                if first.get("content-length") != length:
                    return None
                # Two bytes stand between name and value (`: `), and two between lines.
                return Headers.of(names, first, len(fields) - 4 * len(names) + 2)
        return None


@lru_cache(maxsize=_MOST_CACHED)
def _shape(names: tuple[str, ...]) -> _Shape | None:
    """Return the shape of fields; None where one alters the transport whatever its value."""
    lowered = tuple(map(str.lower, names))
    values = [_HOW_IT_TRAVELS.get(name, _VALUE) for name in lowered]
    if None in values:
        return None
    lines = [f"{re.escape(name)}: {value}" for name, value in zip(names, values, strict=True)]
    return _Shape(names, lowered, re.compile("\r\n".join(lines)))


def _written(headers: Headers) -> str | None:
    """Return fields as most clients write them; None where they have other characters."""
    text = "\r\n".join([f"{name}: {value}" for name, value in headers.items_sent])
    return text if text.isascii() else None
