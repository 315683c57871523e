"""Serialises answers; answers with the same headers share one serialised head."""

from email.utils import formatdate

from aiohttp.http import SERVER_SOFTWARE

from mockserver.clock import wall_ms
from mockserver.fast_dataclass import keep
from mockserver.http_messages import PHRASES, Response

# Bounded, since clients and stubs choose headers.
_MOST_CACHED = 1_024
_BODILESS = (204, 304)
_ADDED = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})


class Heads:
    """Writes answers to HTTP/1.1 requests on connections that stay open, as aiohttp does.

    Everything else is left to aiohttp: answers without a body or a media type, and those that
    bring a header which aiohttp sets itself.
    """

    def __init__(self) -> None:
        self._ready: dict[tuple[int, tuple[tuple[str, str], ...]], bytes] = {}
        # Headers, status and head of the last answer: the next one usually has the same.
        self._last: tuple[object, int, bytes] = (None, 0, b"")
        self._end, self._until_s = b"", 0.0

    def written(self, response: Response, now_s: float) -> bytes | None:
        """Return a whole answer, or None where aiohttp is to write it.

        `now_s` is the time of the loop.
        """
        if response.coded is not None:
            response = response.on_the_wire()
        body = response.body
        headers, status, head = self._last
        if response.headers is not headers or response.status != status:
            head = self._ready.get((response.status, response.headers)) or self._made(response)
            self._last = response.headers, response.status, head
        if not head or not body:
            return None
        if now_s >= self._until_s:
            second, ms = divmod(wall_ms(), 1000)
            date = formatdate(second, usegmt=True)
            self._end = f"\r\nDate: {date}\r\nServer: {SERVER_SOFTWARE}\r\n\r\n".encode()
            self._until_s = now_s + 1 - ms / 1000
        return b"%b%d%b%b" % (head, len(body), self._end, body)

    def _made(self, response: Response) -> bytes:
        head = _head(response) if _plain(response) else b""
        return keep(self._ready, (response.status, response.headers), head, _MOST_CACHED)


def _plain(response: Response) -> bool:
    names = {name.lower() for name, _ in response.headers}
    texts = "".join(f"{name}{value}" for name, value in response.headers)
    printable = texts.isascii() and texts.isprintable()
    is_ordinary = "content-type" in names and not names & _ADDED
    return printable and is_ordinary and response.status >= 200 and response.status not in _BODILESS


def _head(response: Response) -> bytes:
    lines = [f"HTTP/1.1 {response.status} {PHRASES.get(response.status, '')}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    return "\r\n".join([*lines, "Content-Length: "]).encode("ascii")


def cut_head(response: Response) -> bytes:
    """Return the head of an answer that is not sent whole."""
    return b"%b%d\r\n\r\n" % (_head(response), len(response.body))
