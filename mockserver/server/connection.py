"""A connection of a client, and the server that makes one for each."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from aiohttp.http import HttpRequestParser, HttpVersion11, RawRequestMessage
from aiohttp.http_exceptions import HttpProcessingError, InvalidURLError, LineTooLong
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler, RequestPayloadError
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response as WebResponse
from aiohttp.web_response import StreamResponse

from mockserver import limits
from mockserver.http_messages import Request, Response, printable
from mockserver.responders.answer_delivery import Delivery
from mockserver.server.aiohttp_requests import head_of
from mockserver.server.descriptor_exhaustion import without_files
from mockserver.server.listener import EndingServer
from mockserver.server.request_parsing import has_host

log = logging.getLogger("mockserver.server")

_TOO_MANY = "Too many headers received"
# What the parser says at the beginning of HTTP/2.
_PREFACE = "Pause on PRI/Upgrade"

# Bytes that are read at once. The C library has them at hand; for 256 KiB, which asyncio asks for,
# it goes to the system each time (docs/decisions/request-values.md).
_READ = 65_536


_BOUNDS = ("max_line_size", "max_field_size", "max_headers")
# Lines in which whole requests are sought before something unreadable.
_MOST_LINES = 1_000

_LINGERING_S = 2.0

Refuse = Callable[[Request, str, str], Response]
"""Returns the answer to a request that cannot be read, by the name of a refusal and the reason."""


class ConnectionServer(EndingServer):
    """A server whose connections keep HTTP, whatever its handler does."""

    def __init__(
        self, handler: Callable[[BaseRequest], Any], refuse: Refuse, **options: Any
    ) -> None:
        """Have `handler` answer what can be read, and `refuse` the rest."""
        super().__init__(
            handler,
            access_log=None,
            max_line_size=limits.HEAD.most,
            max_field_size=limits.HEAD.most,
            max_headers=limits.HEAD_FIELDS.most,
            # Connections have it from the socket that listens.
            tcp_keepalive=False,
            auto_decompress=False,
            keepalive_timeout=limits.IDLE.most,
            # What is still to come of a refused body is read for a moment, so that the client sees
            # the refusal; the library would wait for another ten seconds.
            lingering_time=_LINGERING_S,
            **options,
        )
        self._refuse = refuse

    @property
    def options(self) -> dict[str, Any]:
        return {**self._kwargs, "refuse": self._refuse, "loop": asyncio.get_running_loop()}

    def __call__(self) -> RequestHandler:
        return Connection(self, **self.options)


class Connection(RequestHandler):
    """One connection: broken HTTP is refused inside an envelope, and slow clients are cut off."""

    __slots__ = (
        "_between",
        "_body",
        "_refuse",
        "_stalled",
        "_switching",
        "client",
        "ended",
        "made",
    )

    def __init__(self, *args: Any, refuse: Refuse, **options: Any) -> None:
        """Serve; `refuse` makes the answer to what cannot be read."""
        super().__init__(*args, **options)
        self._refuse = refuse
        self._stalled: asyncio.TimerHandle | None = None
        self._switching: StreamReader | None = None
        # The body of the request that came last, until it is answered in the lane.
        self._body: StreamReader | None = None
        # Whether the parser surely stands between two requests and has no byte of the next.
        self._between = True
        self.client: socket.socket | None = None
        """The client's own socket, where another process has its TLS."""
        self.ended = False
        """Whether the client has ended its side of the connection."""
        self.made: Delivery | Exception | None = None
        """The answer to the first request of the queue, where that was answered already."""

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self._waiter is not None and not self._waiter.done()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The size of one read of asyncio's transport; uvloop has a buffer of its own.
        if hasattr(transport, "max_size"):
            transport.max_size = _READ
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and end the connection where some are lost."""
        # aiohttp's parser drops what lies behind a request that asks for another protocol
        # (`Upgrade: h2c`), so that a client which sends several requests at once would wait for
        # ever.
        body, waiting = self._switching, len(self._messages)
        had = 0 if body is None else body.total_bytes
        super().data_received(data)
        if len(self._messages) > waiting:
            if self._between and not isinstance(self._messages[-1][0], RawRequestMessage):
                self._restore(data)
            self._came()
        if data:
            self._between = self._between and self._came_alone(data, waiting)
        if body is not None:
            if body.is_eof():
                self._switching = None
                if body.total_bytes - had != len(data) and not self._upgraded:
                    self.close()
        elif len(self._messages) > waiting:
            self._switch(data)

    def _restore(self, data: bytes) -> None:
        """Put whole requests that came with something unreadable in front of its error.

        The parser forgets them, and their client would get one refusal for all of them.
        """
        options = cast(Any, self._manager).options
        bounds = {name: options[name] for name in _BOUNDS}
        parser = HttpRequestParser(self, self._loop, _READ, auto_decompress=False, **bounds)
        whole: list[Any] = []
        lines = data.splitlines(keepends=True)
        with suppress(HttpProcessingError):
            # By lines: what came before the one that cannot be read is there then.
            for line in lines if len(lines) <= _MOST_LINES else ():
                for item in parser.feed_data(line)[0]:
                    parser.message_consumed()
                    whole.append(item)
        if whole and not whole[-1][1].is_eof():
            whole.pop()
        error = self._messages.pop()
        self._messages += [*whole, error]
        self._request_count += len(whole)

    def _came_alone(self, data: bytes, waiting: int) -> bool:
        """Tell whether these bytes were one usual request, no less and no more."""
        if len(self._messages) != waiting + 1:
            return False
        message, payload = self._messages[-1]
        if not isinstance(message, RawRequestMessage) or not is_ordinary(message, payload):
            return False
        return data.find(b"\r\n\r\n") + 4 + payload.total_bytes == len(data)

    def _came(self) -> None:
        """Remember the body of the last request, and pass on an error within it."""
        # aiohttp would queue the error behind the request whose body it is, which waits in vain.
        message, payload = self._messages[-1]
        if isinstance(message, RawRequestMessage) or self._body is None or self._body.is_eof():
            self._body = payload
        else:
            self._messages.pop()
            self._body.set_exception(
                RequestPayloadError(parser_reason(message.exc, message.message))
            )
            self._body.feed_eof()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks, aiohttp does not
        """Close, but first answer a client that has sent a whole request and still listens."""
        self.ended = True
        if self.transport is not None and self.transport.get_extra_info("sslcontext"):
            # Both directions of TLS end together.
            return False
        if self._buffer_paused or self._reading_paused:
            # Not all that has come is parsed; uvloop tells of the end nevertheless. Once it is,
            # `_resume_transport_reading` comes back to here.
            return True
        if self.idle or self._stalled is not None or not self._ends_whole():
            return False
        if not self._messages:
            self._close = True
        # The refusal of what cannot be read ends the connection itself.
        elif isinstance(last := self._messages[-1][0], RawRequestMessage):
            self._messages[-1] = (last._replace(should_close=True), self._messages[-1][1])
        self._stalled = self._loop.call_later(limits.STALLED.most, self._give_up)
        return True

    def _ends_whole(self) -> bool:
        """Tell whether requests have come whole, and forget one of which the rest never comes."""
        if self._body is None or self._body.is_eof():
            return self._body is not None
        is_answering = self._waiter is None and self._request_count > len(self._messages)
        if len(self._messages) + is_answering < 2 or self._messages[-1][1] is not self._body:
            return False
        self._messages.pop()
        self._request_count -= 1
        return True

    def _resume_transport_reading(self) -> None:
        if not self.ended:
            super()._resume_transport_reading()
        elif self._stalled is None and self.transport is not None and not self.eof_received():
            self.transport.close()

    def _switch(self, data: bytes) -> None:
        """Look whether these bytes end in a request for another protocol that goes unheard."""
        message, payload = self._messages[-1]
        if not isinstance(message, RawRequestMessage) or not message.upgrade or self._upgraded:
            return
        if payload is not EMPTY_PAYLOAD and not payload.is_eof():
            self._switching = payload
        elif data.find(b"\r\n\r\n") + 4 + payload.total_bytes != len(data):
            self._messages[-1] = (message._replace(should_close=True), payload)

    def pause_writing(self) -> None:
        """Wait for a client that does not read, and not for ever."""
        super().pause_writing()
        self._reading_again()
        self._stalled = self._loop.call_later(limits.STALLED.most, self._give_up)

    def resume_writing(self) -> None:
        """Go on writing to a client that reads again."""
        super().resume_writing()
        self._reading_again()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._reading_again()
        self._body = None
        if self.client is not None:
            self.client.close()
        transport = self.transport
        super().connection_lost(exc)
        # asyncio's transport holds a method of its own, which nothing calls any more. Without the
        # circle it is gone at once, and the collector has nothing to look for.
        if transport is not None and hasattr(transport, "_read_ready_cb"):
            transport._read_ready_cb = None

    def _reading_again(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _give_up(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def handle_error(
        self,
        request: BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> StreamResponse:
        """Answer what aiohttp could not read as HTTP, or a handler that failed."""
        name = "internal-error" if status >= 500 else "bad-http"
        reason = parser_reason(exc, message)
        if isinstance(exc, LineTooLong) or reason == _TOO_MANY:
            name = "head-too-large"
        if full := without_files(exc):
            name, reason = "limit-reached", full
        elif status >= 500:
            log.error("error while answering %s", printable(request.path), exc_info=exc)
        refused = self._refuse(head_of(request), name, reason)
        response = http_response(refused)
        response.force_close()
        return response


def http_response(response: Response) -> WebResponse:
    sent = response.on_the_wire()
    return WebResponse(status=sent.status, headers=sent.headers, body=sent.body)


def parser_reason(error: BaseException | None, message: str | None) -> str:
    """Return the parser's error for people, without its pointers and Python's `b''`."""
    if isinstance(error, LineTooLong):
        return f"the request line or a header has more than {error.args[1]} bytes"
    text = message or str(error or "") or "unreadable request"
    what, colon, where = text.partition(":\n\n")
    if what == _PREFACE:
        return "HTTP/2 is not spoken here; use HTTP/1.1"
    if not colon and isinstance(error, InvalidURLError):
        return f"{text[:80]!a} is no target of this method"
    if not colon:
        return " ".join(text.split())
    line = where.strip().removesuffix("^").strip()
    bad_line = line.removeprefix("b") if line[1:2] in ("'", '"') else line
    return f"{' '.join(what.split())}: {bad_line}"


def is_ordinary(message: RawRequestMessage, payload: StreamReader) -> bool:
    """Tell whether a request has come whole and needs nothing but its answer."""
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
