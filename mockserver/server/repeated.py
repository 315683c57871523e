"""Requests that are like others before: a client sends nearly the same header fields each time.

aiohttp's parser has read a request with the same field names in the same order. Each line of this
one either came just so before, or differs in its value alone, where that is plain printable text
and says nothing of how the request travels. Then what the parser would make of it leaves no doubt:
a method, a target and a version in their usual form, and a body that is there to its last byte.
Everything else is the parser's.
"""

import re

from mockserver.exchange import Headers, Request
from mockserver.values import keep

_MOST_HEAD, _MOST_BODY = 4_096, 65_536
"""Bytes that are looked at here: less than every bound that the parser has."""

_KEPT = 256
_LINE = re.compile(r'(GET|POST) (/(?!/)[!"$->@-~]*)(?:\?([!"$-~]*))? HTTP/1\.1')
_VALUE = re.compile(rb"[!-~](?:[ -~]*[!-~])?")
_END = b"\r\n\r\n"
_HOW_IT_TRAVELS = frozenset(
    [
        "connection",
        "content-encoding",
        "expect",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
_AS_EVER = b"connection: keep-alive"


class Repeated:
    """The header fields of late, shared by all connections of a server."""

    __slots__ = ("_blocks", "_free", "_lines", "_shapes")

    def __init__(self) -> None:
        """Begin with none."""
        self._blocks: dict[bytes, Headers] = {}
        """Whole sets of fields, with the blank line behind them, of requests without a body."""
        self._shapes: dict[tuple[str, ...], bool] = {}
        """Names in lower case, of requests whose values may differ."""
        self._lines: dict[bytes, tuple[str, tuple[str, str]]] = {}
        """Lines that came, with the name in lower case and the field."""
        self._free: dict[bytes, tuple[str, str]] = {}
        """Names as sent, and in lower case, of fields that may have other values."""

    def request(self, data: bytes) -> Request | None:
        """Return the request that these bytes are, if it is like one that came before."""
        line, _, fields = data.partition(b"\r\n")
        asked = _LINE.fullmatch(line.decode("latin-1"))
        if asked is None or len(line) > _MOST_HEAD:
            return None
        method, path, query = asked.groups("")
        headers, body = self._blocks.get(fields), b""
        if headers is None or method != "GET":
            head, end, body = fields.partition(_END)
            headers = self._alike(method, head, body) if end else None
            if headers is None:
                return None
        return Request(method, path, query, headers, body)

    def remember(self, data: bytes, headers: Headers) -> None:
        """Keep what the parser made of the fields of a usual request that came alone."""
        line, _, fields = data.partition(b"\r\n")
        head, _, body = fields.partition(_END)
        if len(head) > _MOST_HEAD or head != _written(headers):
            return
        plain = Headers(headers.items_sent)
        names = tuple(plain)
        if line.startswith(b"GET ") and not body and "content-length" not in names:
            keep(self._blocks, fields, plain, _KEPT)
        lines = head.split(b"\r\n")
        if plain.repeats or not all(map(_may_differ, names, lines)):
            return
        keep(self._shapes, names, True, _KEPT)
        for raw, name, item in zip(lines, names, plain.items_sent, strict=True):
            keep(self._lines, raw, (name, item), _KEPT)
            if name not in _HOW_IT_TRAVELS:
                keep(self._free, item[0].encode(), (item[0], name), _KEPT)

    def _alike(self, method: str, head: bytes, body: bytes) -> Headers | None:
        """Return fields that differ from those before in values alone; None where in doubt."""
        if len(head) > _MOST_HEAD or len(body) > _MOST_BODY:
            return None
        items, first = [], {}
        for line in head.split(b"\r\n"):
            known = self._lines.get(line)
            if known is None:
                before, _, value = line.partition(b": ")
                names = self._free.get(before)
                if names is None or _VALUE.fullmatch(value) is None:
                    return None
                known = names[1], (names[0], value.decode())
            name, item = known
            first[name] = item[1]
            items.append(item)
        length = None if method == "GET" and not body else str(len(body))
        if tuple(first) not in self._shapes or len(first) < len(items):
            return None
        if first.get("content-length") != length:
            return None
        # Between a name and its value stand two bytes, and two between a line and the next.
        return Headers.of(items, first, len(head) - 4 * len(items) + 2)


def _written(headers: Headers) -> bytes:
    """Return fields as most clients write them; nothing where they have other characters."""
    text = "\r\n".join([f"{name}: {value}" for name, value in headers.items_sent])
    return text.encode() if text.isascii() else b""


def _may_differ(name: str, line: bytes) -> bool:
    """Tell whether requests with such a line travel alike, whatever its value is."""
    return name not in _HOW_IT_TRAVELS or line.lower() == _AS_EVER
