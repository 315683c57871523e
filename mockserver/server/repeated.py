"""Header fields that repeat: a client sends the same ones with each of its GET requests.

aiohttp's parser has read every byte of them before. Where the same bytes follow another request
line, what it made of them is taken again, and the line alone is looked at: a method, a target and
a version that leave no doubt. Everything else is the parser's.
"""

from mockserver.exchange import Request
from mockserver.server.wire import WireHeaders, request_of

_MOST_BYTES = 4_096
"""Bytes of a request that is looked at here: less than every bound that the parser has."""

_KEPT = 256
_GET, _VERSION, _END = b"GET /", b" HTTP/1.1", b"\r\n\r\n"


class Repeated:
    """The header fields of late, shared by all connections of a server."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        """Begin with none."""
        self._known: dict[bytes, WireHeaders] = {}

    def request(self, data: bytes) -> Request | None:
        """Return the request that these bytes are, if it is a GET whose fields have come before."""
        line, _, fields = data.partition(b"\r\n")
        headers = self._known.get(fields)
        if headers is None or len(data) > _MOST_BYTES:
            return None
        if not (line.startswith(_GET) and line.endswith(_VERSION) and line.isascii()):
            return None
        target = line[4:-9].decode()
        if not target.isprintable() or " " in target or "#" in target or target[:2] == "//":
            return None
        return request_of("GET", target, headers)

    def remember(self, data: bytes, headers: WireHeaders) -> None:
        """Keep what the parser made of the fields of a usual request without a body."""
        line, _, fields = data.partition(b"\r\n")
        if line.startswith(_GET) and fields.find(_END) == len(fields) - len(_END):
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[fields] = headers
