"""The fast lane: a request that has come whole is answered where its bytes arrive.

aiohttp's own parser reads every byte, and the same service answers. What is saved is the way
through a task and two turns of the loop for a request that nothing waits for. Everything else (a
body still on its way, pipelining, HTTP/1.0, `Connection: close`, broken HTTP, a delay, a fault, a
client that does not read) goes down the ordinary road, which never learns that it was looked at.

The lane may be left out: `HttpServer(answering, lane=False)`.
"""

from aiohttp.http import HttpVersion11, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler

from mockserver import limits
from mockserver.server.connection import Connection
from mockserver.server.wire import WireHeaders, request_of

_NEEDED = (
    *("_manager", "_messages", "_next_keepalive_close_time", "_paused", "_parser", "_upgraded"),
    *("_waiter", "keepalive_timeout"),
)


_MOST_BODY = 65_536
"""Bytes of a body that is answered here: less than every bound, and than aiohttp lets pile up."""


def is_possible() -> bool:
    """Tell whether the aiohttp that is installed has what the lane stands on."""
    return all(hasattr(RequestHandler, name) for name in _NEEDED)


class LaneConnection(Connection):
    """A connection that answers at once what it can."""

    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        """Take bytes; a whole request on an idle connection is answered now."""
        waiter = self._waiter
        if waiter is None or waiter.done() or self._messages or self._paused or self._upgraded:
            super().data_received(data)
            return
        # The ordinary road sleeps until this future is set: it is hidden while the bytes are read.
        self._waiter = None
        try:
            super().data_received(data)
        finally:
            self._waiter = waiter
        if self._messages and not (len(self._messages) == 1 and self._answered()):
            waiter.set_result(None)

    def _answered(self) -> bool:
        """Answer the one request in the queue, unless the ordinary road has to."""
        message, payload = self._messages[0]
        if not isinstance(message, RawRequestMessage) or not _whole(message, payload):
            return False
        headers = WireHeaders(message.headers)
        if headers.size > limits.HEAD.most or payload.total_bytes > _MOST_BODY:
            return False
        body = b"" if payload is EMPTY_PAYLOAD else payload.read_nowait()
        request = request_of(message.method, message.path, headers, body)
        try:
            delivery = self._answering.answer(request)
        except Exception as error:  # noqa: BLE001 - told of on the ordinary road
            self.made = error
            return False
        raw = self.heads.written(delivery.response) if delivery.at_once else None
        transport, parser, manager = self.transport, self._parser, self._manager
        if raw is None or transport is None or parser is None or manager is None:
            self.made = delivery
            return False
        self._messages.popleft()
        parser.message_consumed()
        manager.requests_count += 1
        transport.write(raw)
        self._next_keepalive_close_time = self._loop.time() + self.keepalive_timeout
        return True


def _whole(message: RawRequestMessage, payload: StreamReader) -> bool:
    """Tell whether a request is complete and usual."""
    if message.should_close or message.upgrade or message.version != HttpVersion11:
        return False
    if message.method == "HEAD" or "Content-Encoding" in message.headers:
        return False
    return payload is EMPTY_PAYLOAD or (payload.is_eof() and payload.exception() is None)
