"""The fast lane: a request that has come whole is answered where its bytes arrive.

aiohttp's own parser reads every request that is not like others before (`repeated.py`), and the
same service answers. What is saved is the way through a task and two turns of the loop for a
request that nothing waits for. Everything else (a body still on its way, pipelining, HTTP/1.0,
`Connection: close`, broken HTTP, a delay, a fault, a client that does not read) goes down the
ordinary road (aiohttp's), as if nothing had been read before.

The lane may be left out: `HttpServer(answering, lane=False)`.
"""

from typing import Any

from aiohttp.http import HttpVersion11, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler

from mockserver import limits
from mockserver.exchange import Request, Response
from mockserver.responders.delivery import delivery_of
from mockserver.server.connection import Connection
from mockserver.server.heads import Heads
from mockserver.server.incoming import has_host
from mockserver.server.repeated import Repeated
from mockserver.server.wire import RawAnswering, WireHeaders, request_of

_NEEDED = (
    *("_close", "_force_close", "_manager", "_messages", "_next_keepalive_close_time", "_paused"),
    *("_parser", "_request_count", "_upgraded", "_waiter", "keepalive_timeout"),
)


# Bytes of a body that is answered here: less than every bound, and than aiohttp lets pile up.
_MOST_BODY = 65_536


def is_possible() -> bool:
    """Tell whether the installed aiohttp has the internals that the lane uses."""
    return all(hasattr(RequestHandler, name) for name in _NEEDED)


class LaneConnection(Connection):
    """A connection that answers at once what it can."""

    __slots__ = ("_answering", "_between", "_heads", "_keeps_s", "_repeated")

    def __init__(
        self, *args: Any, answering: RawAnswering, heads: Heads, repeated: Repeated, **options: Any
    ) -> None:
        """Serve what `answering` says; `heads` and `repeated` are shared by all connections."""
        super().__init__(*args, **options)
        self._answering = answering
        self._heads = heads
        self._repeated = repeated
        self._keeps_s = self.keepalive_timeout
        # Whether the parser surely stands between two requests and has no byte of the next.
        self._between = True

    def data_received(self, data: bytes) -> None:
        """Take bytes; a whole request on an idle connection is answered now."""
        waiter = self._waiter
        if not data and self._between:
            # After a body was read, aiohttp calls this without bytes, to go on parsing.
            return
        # Not for a client that does not read, or a connection that ends.
        busy = self._paused or self._upgraded or self._close or self._force_close
        # Idle: the ordinary road waits, or has not begun, since uvloop reads before it runs a task.
        idle = not self._request_count if waiter is None else not waiter.done()
        if not idle or self._messages or busy:
            waiting = len(self._messages)
            super().data_received(data)
            self._between = self._between and self._came_alone(data, waiting)
            return
        request = self._repeated.request(data) if self._between else None
        if request is not None:
            self._request_count += 1
            if not self._sent(request):
                self._request_count -= 1
                super().data_received(data)
            return
        # The ordinary road sleeps until this future is set: it is hidden while the bytes are read.
        self._waiter = None
        try:
            super().data_received(data)
        finally:
            self._waiter = waiter
        self._between = self._between and self._came_alone(data, 0)
        answered = len(self._messages) == 1 and self._answered(data)
        if self._messages and not answered and waiter is not None:
            waiter.set_result(None)

    def _came_alone(self, data: bytes, waiting: int) -> bool:
        """Tell whether these bytes were one usual request, no less and no more."""
        if len(self._messages) != waiting + 1:
            return False
        message, payload = self._messages[-1]
        if not isinstance(message, RawRequestMessage) or not _is_ordinary(message, payload):
            return False
        return data.find(b"\r\n\r\n") + 4 + payload.total_bytes == len(data)

    def _answered(self, data: bytes) -> bool:
        """Answer the one request in the queue, unless the ordinary road has to."""
        message, payload = self._messages[0]
        if not isinstance(message, RawRequestMessage) or not _is_ordinary(message, payload):
            return False
        headers = WireHeaders(message.headers)
        if headers.size > limits.HEAD.most or payload.total_bytes > _MOST_BODY:
            return False
        if message.path.count("&") >= limits.PARAMETERS.most:
            return False
        body = b"" if payload is EMPTY_PAYLOAD else payload.read_nowait()
        if not self._sent(request_of(message.method, message.path, headers, body)):
            return False
        self._messages.popleft()
        if self._parser is not None:
            self._parser.message_consumed()
        if self._between:
            self._repeated.remember(data, headers)
        return True

    def _sent(self, request: Request) -> bool:
        """Answer a request, or keep what was made of it for the ordinary road."""
        try:
            answer = self._answering.respond(request)
        except Exception as error:  # noqa: BLE001 - reported on the ordinary road
            self.made = error
            return False
        if isinstance(answer, Response):
            raw = self._heads.written(answer)
        else:
            raw = self._heads.written(answer.response) if answer.at_once else None
        if raw is None or self.transport is None or self._manager is None:
            self.made = delivery_of(answer)
            return False
        self._manager.requests_count += 1
        self._body = None
        self.transport.write(raw)
        self._next_keepalive_close_time = self._loop.time() + self._keeps_s
        return True


def _is_ordinary(message: RawRequestMessage, payload: StreamReader) -> bool:
    if message.should_close or message.upgrade or message.version != HttpVersion11:
        return False
    headers = message.headers
    if message.method == "HEAD" or "Content-Encoding" in headers:
        return False
    if not has_host(headers):
        return False
    if message.chunked and headers["Transfer-Encoding"].lower() != "chunked":
        return False
    return payload is EMPTY_PAYLOAD or (payload.is_eof() and payload.exception() is None)
