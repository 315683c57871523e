"""The fast lane: a request that has come whole is answered where its bytes arrive.

aiohttp's own parser reads every request that is not like others before
(`repeated_request_parsing.py`), and the same service answers. What is saved is the way through a
task and two turns of the loop for a request that nothing waits for. Everything else (a body still
on its way, pipelining, HTTP/1.0, `Connection: close`, broken HTTP, a delay, a fault, a client that
does not read) goes down the ordinary road (aiohttp's), as if nothing had been read before.

The lane may be left out: `HttpServer(answering, lane=False)`.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp.http import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler

from mockserver import limits
from mockserver.http_messages import Request, Response
from mockserver.responders.answer_delivery import Commit, Delivery, delivery_of
from mockserver.server.aiohttp_requests import RawAnswering, WireHeaders, request_of
from mockserver.server.connection import Connection, is_ordinary
from mockserver.server.repeated_request_parsing import Repeated
from mockserver.server.response_heads import Heads

if TYPE_CHECKING:
    from mockserver.server.group_commit import Commits

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

    __slots__ = (
        *("_answering", "_commits", "_heads", "_keeps_s", "_later", "_owing"),
        "_repeated",
    )

    def __init__(
        self,
        *args: Any,
        answering: RawAnswering,
        heads: Heads,
        repeated: Repeated,
        commits: "Commits | None",
        **options: Any,
    ) -> None:
        """Serve what `answering` says; `heads` and `repeated` are shared by all connections.

        `commits` writes what answers wait for.
        """
        super().__init__(*args, **options)
        self._answering = answering
        self._commits = commits
        self._heads = heads
        self._repeated = repeated
        self._keeps_s = self.keepalive_timeout
        # Set while the answer to a request waits for the disk; done once it is sent.
        self._owing: asyncio.Future[None] | None = None
        # What the client has sent meanwhile.
        self._later = b""

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self._owing is None and super().idle

    def data_received(self, data: bytes) -> None:
        """Take bytes; a whole request on an idle connection is answered now."""
        if self._owing is not None:
            # A client that does not wait for its answer is read no further until it has it.
            self._later += data
            if data and self.transport is not None:
                self.transport.pause_reading()
            return
        waiter = self._waiter
        if not data and self._between:
            # After a body was read, aiohttp calls this without bytes, to go on parsing.
            return
        # Not for a client that does not read, or a connection that ends.
        busy = self._paused or self._upgraded or self._close or self._force_close
        # Idle: the ordinary road waits, or has not begun, since uvloop reads before it runs a task.
        idle = not self._request_count if waiter is None else not waiter.done()
        if not idle or self._messages or busy:
            super().data_received(data)
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
        answered = len(self._messages) == 1 and self._answered(data)
        if self._messages and not answered and waiter is not None:
            waiter.set_result(None)

    def _answered(self, data: bytes) -> bool:
        """Answer the one request in the queue, unless the ordinary road has to."""
        message, payload = self._messages[0]
        if not isinstance(message, RawRequestMessage) or not is_ordinary(message, payload):
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
        now_s = self._loop.time()
        if isinstance(answer, Response):
            raw = self._heads.written(answer, now_s)
        elif answer.commit is not None and self._owes(answer, answer.commit):
            return True
        else:
            raw = self._heads.written(answer.response, now_s) if answer.at_once else None
        if raw is None or self.transport is None or self._manager is None:
            self.made = delivery_of(answer)
            return False
        self._manager.requests_count += 1
        self._body = None
        self.transport.write(raw)
        self._next_keepalive_close_time = now_s + self._keeps_s
        return True

    def _owes(self, delivery: Delivery, commit: Commit) -> bool:
        """Have an answer sent once its commit is on the disk, if it waits for nothing else."""
        server, commits = self._manager, self._commits
        if server is None or commits is None or self.transport is None or not delivery.once_kept:
            return False
        raw = self._heads.written(delivery.response, self._loop.time())
        if raw is None:
            return False
        owing = self._owing = self._loop.create_future()

        def told(error: BaseException | None) -> None:
            self._owing = None
            if not owing.done():
                owing.set_result(None)
            if self.transport is None:
                # The client is gone.
                return
            now_s = self._loop.time()
            sent = raw if error is None else self._heads.written(commit.refused(str(error)), now_s)
            if sent is None:
                # Nothing is told rather than what is not kept.
                self.transport.abort()
                return
            server.requests_count += 1
            self._body = None
            self.transport.write(sent)
            self._next_keepalive_close_time = now_s + self._keeps_s
            self._go_on()

        commits.call(commit.number, told)
        return True

    def _go_on(self) -> None:
        """End what had to wait for the answer: the connection, or what came meanwhile."""
        if self._close:
            super().close()
            return
        later, self._later = self._later, b""
        if later and self.transport is not None:
            self._resume_transport_reading()
            # Not that of a class below, which has seen these bytes.
            LaneConnection.data_received(self, later)
        finished = self.ended and self._owing is None and not super().eof_received()
        if finished and self.transport is not None:
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks, aiohttp does not
        """Close, but first give a client its answer that has ended its own side meanwhile."""
        if self._owing is None:
            return super().eof_received()
        self.ended = True
        return not (self.transport and self.transport.get_extra_info("sslcontext"))

    def close(self) -> None:
        """Close the connection, once the answer that it waits for is sent."""
        if self._owing is None:
            super().close()
        self._close = True

    async def shutdown(self, timeout: float | None = 15.0) -> None:  # noqa: ASYNC109 (aiohttp's)
        """Let an answer that waits for the disk leave within so many seconds, then close."""
        if self._owing is not None:
            await asyncio.wait([self._owing], timeout=timeout)
        await super().shutdown(timeout)
