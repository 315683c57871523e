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

from mockserver.fast_dataclass import keep
from mockserver.http_messages import Headers, Request

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

    def headers(self, first: dict[str, str], size: int) -> Headers:
        """Return fields of this shape with values by name in lower case; `size` is as sent."""
        # Two bytes stand between name and value (`: `), and two between lines.
        return Headers.of(self.names, first, size - 4 * len(self.names) + 2)


class Repeated:
    """Recent header fields, shared by all connections of a server."""

    __slots__ = ("_blocks", "_frames", "_last", "_lines", "_mark", "_shapes")

    def __init__(self) -> None:
        # Request lines without a query: method, path and the empty query.
        self._lines: dict[bytes, tuple[str, ...]] = {}
        # Whole sets of fields, of requests without a body.
        self._blocks: dict[bytes, Headers] = {}
        # Shapes of requests whose values may differ, the last used first.
        self._shapes: deque[_Shape] = deque(maxlen=_MOST_CACHED_SHAPES)
        # What stands before the one value that is new each time, and by the bytes before that and
        # behind the value: its name, and the shape and the values of all.
        self._mark = b"\r\n"
        self._frames: dict[tuple[bytes, bytes], tuple[str, _Shape, dict[str, str]]] = {}
        # The values that a shape was last read with.
        self._last: dict[str, str] = {}

    def request(self, data: bytes) -> Request | None:
        """Return the request that these bytes are, if it is like one that came before."""
        head, end, body = data.partition(_END)
        if not end:
            return None
        line, _, fields = head.partition(b"\r\n")
        parts = self._lines.get(line)
        if parts is None:
            matched = _LINE.fullmatch(line.decode("latin-1")) if len(line) <= _MOST_LINE else None
            if matched is None:
                return None
            parts = matched.groups("")
            if not parts[2]:
                keep(self._lines, line, parts, _MOST_CACHED)
        method, path, query = parts
        headers = self._blocks.get(fields) if method == "GET" and not body else None
        if headers is None:
            if len(fields) > _MOST_FIELDS or len(body) > _MOST_BODY:
                return None
            length = str(len(body)) if body or method != "GET" else None
            headers = self._framed(fields, length)
            if headers is None:
                headers = self._alike(fields, length)
            if headers is None:
                return None
        # Field by field: the constructor of a value takes twice as long.
        request: Any = Request.__new__(Request)
        request.method, request.path, request.query = method, path, query
        request.headers, request.body, request.raw = headers, body, data
        request.version, request.is_absolute, request.prepared = "1.1", False, None
        plain: Request = request
        return plain

    def remember(self, data: bytes, headers: Headers) -> None:
        """Keep what the parser made of the fields of a usual request that came alone."""
        head, _, body = data.partition(_END)
        line, _, fields = head.decode("latin-1").partition("\r\n")
        if len(fields) > _MOST_FIELDS or fields != _written(headers):
            return
        plain = Headers(headers.items_sent)
        if line.startswith("GET ") and not body and "content-length" not in plain:
            keep(self._blocks, fields.encode("latin-1"), plain, _MOST_CACHED)
        shape = None if plain.repeats() else _shape(tuple(name for name, _ in plain.items_sent))
        if shape is not None and shape.pattern.fullmatch(fields) and shape not in self._shapes:
            self._shapes.appendleft(shape)

    def _framed(self, raw: bytes, length: str | None) -> Headers | None:
        """Return fields that differ from earlier ones in a single value of letters and digits."""
        head, _, rest = raw.partition(self._mark)
        value, _, rest = rest.partition(b"\r\n")
        known = self._frames.get((head, rest))
        if known is None or not value.isalnum():
            return None
        name, shape, others = known
        if others.get("content-length") != length:
            return None
        first = others.copy()
        first[name] = value.decode()
        return shape.headers(first, len(raw))

    def _alike(self, raw: bytes, length: str | None) -> Headers | None:
        """Return fields that differ from earlier ones only in their values; None where in doubt.

        `length` is the content-length that the fields must have; None where they must have none.
        """
        fields = raw.decode("latin-1")
        for shape in self._shapes:
            match = shape.pattern.fullmatch(fields)
            if match is not None:
                if shape is not self._shapes[0]:
                    # It is tried first the next time.
                    self._shapes.remove(shape)
                    self._shapes.appendleft(shape)
                first = dict(zip(shape.lowered, match.groups(), strict=True))
                if first.get("content-length") != length:
                    return None
                # Lengths come again, so that each is part of what stands around.
                known = {*self._last.items(), ("content-length", length)}
                fresh = [name for name, value in first.items() if (name, value) not in known]
                if len(fresh) == 1:
                    self._frame(raw, fresh[0], shape, first)
                self._last = first
                return shape.headers(first, len(fields))
        return None

    def _frame(self, raw: bytes, name: str, shape: _Shape, first: dict[str, str]) -> None:
        """Note what stands around the one value that was new."""
        mark = f"\r\n{shape.names[shape.lowered.index(name)]}: ".encode("latin-1")
        head, found, rest = raw.partition(mark)
        _, _, rest = rest.partition(b"\r\n")
        # Not before the first field, and no value that says how the request travels.
        if not found or name in _HOW_IT_TRAVELS:
            return
        if mark != self._mark:
            self._frames.clear()
            self._mark = mark
        keep(self._frames, (head, rest), (name, shape, first), _MOST_CACHED)


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
