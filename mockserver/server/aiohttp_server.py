"""The aiohttp side: requests become plain values, answers become bytes, and nothing else."""

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from aiohttp.http import HttpVersion11
from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import StreamResponse

from mockserver import content_codings, limits
from mockserver.http_messages import Request, Response
from mockserver.responders.answer_delivery import (
    Cut,
    Delivery,
    Gate,
    Pending,
    Stream,
    delivery_of,
    joined,
)
from mockserver.server.aiohttp_requests import RawAnswering, head_of
from mockserver.server.connection import Connection, ConnectionServer, http_response
from mockserver.server.fast_lane import LaneConnection, is_possible
from mockserver.server.repeated_request_parsing import Repeated
from mockserver.server.request_parsing import UnreadableRequest, body_of, too_large, too_many_values
from mockserver.server.response_heads import Heads, cut_head
from mockserver.worlds.hosted import Elsewhere

if TYPE_CHECKING:
    from mockserver.server.group_commit import Commits

__all__ = ["HttpServer", "RawAnswering"]

# The interval at which a stream is polled for events, in seconds.
_PACE_S = 0.1


class HttpServer(ConnectionServer):
    """One handler for every path; broken HTTP is refused inside an envelope as well."""

    passes = False
    """Whether other processes have some of the worlds, so that connections are handed over."""

    def __init__(
        self, answering: RawAnswering, *, lane: bool = True, commits: "Commits | None" = None
    ) -> None:
        """Serve what `answering` says; without `lane` every request takes the ordinary road.

        `commits` writes what answers wait for.
        """
        self.commits = commits
        super().__init__(_handler(answering, self), answering.refuse, handler_cancellation=True)
        self._answering = answering
        self._open: set[RequestHandler] = set()
        self.watch(sys.maxsize, lambda: None)
        self.heads = Heads()
        self._lane = lane and is_possible()
        self._repeated = Repeated()

    def __call__(self) -> RequestHandler:
        if not self._lane:
            return super().__call__()
        return LaneConnection(self, **self.of_lane())

    def of_lane(self) -> dict[str, Any]:
        """What each connection of the lane is made with."""
        return {
            "answering": self._answering,
            "heads": self.heads,
            "repeated": self._repeated,
            "commits": self.commits,
            **self.options,
        }

    async def passed_on(
        self, http: BaseRequest, delivery: Delivery | Exception | None
    ) -> Delivery | Exception | None:
        """Hand a connection over to another process, if its request is for that one.

        Returns the delivery as it came where that is not so.
        """
        return delivery

    def watch(self, most: int, crowded: Callable[[], None]) -> None:
        """Allow so many open connections; call `crowded` for each one beyond."""
        self._most, self._crowded = most, crowded

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Count a connection, and tell where there are too many."""
        super().connection_made(handler, transport)
        self._open.add(handler)
        if len(self._open) >= self._most:
            self._crowded()
            if len(self._open) > self._most:
                # None is idle. Descriptors have to be left for files that are read while serving.
                self._open.discard(handler)
                transport.abort()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Count a connection no more."""
        super().connection_lost(handler, exc)
        self._open.discard(handler)

    def shed(self) -> int:
        """Close half of the idle connections, those first that came first; return how many."""
        idle = [
            request_handler
            for request_handler in self.connections
            if request_handler in self._open and _is_idle(request_handler)
        ]
        closed = idle[: -(-len(idle) // 2)]
        for request_handler in closed:
            request_handler.force_close()
            # asyncio reports its end later, but it frees a descriptor now.
            self._open.discard(request_handler)
        return len(closed)


def _is_idle(connection: RequestHandler) -> bool:
    return isinstance(connection, Connection) and connection.idle


class _Prepared:
    """An answer whose bytes are ready, in place of aiohttp's response object."""

    __slots__ = ("_http", "_raw")

    keep_alive = True

    def __init__(self, http: BaseRequest, raw: bytes) -> None:
        self._http = http
        self._raw = raw

    async def prepare(self, request: BaseRequest) -> None:
        """Do nothing: there is no head to be made."""

    async def write_eof(self) -> None:
        """Send the answer, and wait for a client that reads slowly."""
        if self._http.transport is None:
            raise ConnectionResetError("the client is gone")
        self._http.transport.write(self._raw)
        await self._http.writer.drain()


def _handler(answering: RawAnswering, server: HttpServer) -> Callable[[BaseRequest], Any]:
    async def handle(http: BaseRequest) -> StreamResponse:
        connection = cast(Connection, http.protocol)
        delivery, connection.made = connection.made, None
        if server.passes:
            delivery = await server.passed_on(http, delivery)
        if isinstance(delivery, Exception):
            raise delivery
        if delivery is None:
            request = head_of(http)
            try:
                request = await _read(http, request, answering)
            except UnreadableRequest as error:
                return _refused(answering, request, error)
            try:
                delivery = delivery_of(answering.respond(request))
            except Elsewhere as elsewhere:
                delivery = cast(Delivery, await server.passed_on(http, elsewhere))
        if delivery.conversation is None:
            return await _delivered(http, server, delivery)

        async def heard(message: bytes) -> Response:
            # A message is what the same path takes by POST.
            request = replace(head_of(http), method="POST", body=message)
            try:
                answer = delivery_of(answering.respond(request))
            except Elsewhere:
                # The app key of its head chooses another world by now.
                return Response(503, (), b"")
            return await _whole(server, answer)

        # Few clients open one.
        from mockserver.server.websockets import conversed  # noqa: PLC0415

        delivery = await _arrived(server, delivery)
        return await conversed(http, delivery, heard, server.stopping)

    return handle


async def _streamed(
    http: BaseRequest, response: Response, stream: Stream, server: HttpServer
) -> StreamResponse:
    """Send a body that goes on until the client leaves or the server stops."""
    sending = StreamResponse(status=response.status, headers=response.headers)
    try:
        with _leaving():
            await sending.prepare(http)
            while not (server.stopping.is_set() or cast(Connection, http.protocol).ended):
                if news := stream.pull():
                    await sending.write(news)
                with contextlib.suppress(TimeoutError):
                    pace_s = 0 if stream.more else _PACE_S
                    await asyncio.wait_for(server.stopping.wait(), pace_s)
            await sending.write_eof()
    finally:
        stream.close()
    return sending


async def _in_parts(
    http: BaseRequest, response: Response, parts: Iterator[bytes | Response]
) -> StreamResponse:
    """Send a body as it is made; others have their turn after each part."""
    sending = StreamResponse(status=response.status, headers=response.headers)
    with _leaving():
        for part in parts:
            if isinstance(part, Response):
                return http_response(joined(response, (part,)))
            if part:
                # Not before: until there is a body, the status may still be another.
                if not sending.prepared:
                    await sending.prepare(http)
                await sending.write(part)
            await asyncio.sleep(0)
        if not sending.prepared:
            await sending.prepare(http)
        await sending.write_eof()
    return sending


def _leaving() -> contextlib.suppress:
    """Ignore the error of a client that leaves in the middle of an answer."""
    return contextlib.suppress(ConnectionError)


async def _opened(gate: Gate) -> None:
    """Wait until a gate is opened, or it has held for as long as it may."""
    loop, opened = asyncio.get_running_loop(), asyncio.Event()

    def let_go() -> None:
        # The client may be gone, and the loop with it.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(opened.set)

    gate.when_open(let_go)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(opened.wait(), gate.longest_ms / 1000)


async def _arrived(server: HttpServer, delivery: Delivery) -> Delivery:
    """Wait for what an answer waits for, and return it as it is sent then."""
    if delivery.commit is not None and server.commits is not None:
        try:
            await server.commits.until(delivery.commit.number)
        except server.commits.failure as error:
            delivery = Delivery(delivery.commit.refused(str(error)))
    if delivery.delay_ms:
        await asyncio.sleep(delivery.delay_ms / 1000)
    if delivery.gate is not None:
        await _opened(delivery.gate)
    if delivery.pending is not None:
        # What is on its way to another service goes on, and is noted, also if this client leaves.
        fetched = asyncio.ensure_future(_fetched(delivery.pending))
        delivery = replace(delivery, response=await asyncio.shield(fetched), pending=None)
    return delivery


async def _whole(server: HttpServer, delivery: Delivery) -> Response:
    """Return an answer once all of it is there; others have their turn meanwhile."""
    delivery = await _arrived(server, delivery)
    parts = []
    for part in delivery.parts or ():
        parts.append(part)
        await asyncio.sleep(0)
    return joined(delivery.response, parts) if parts else delivery.response


async def _delivered(http: BaseRequest, server: HttpServer, delivery: Delivery) -> StreamResponse:
    delivery = await _arrived(server, delivery)
    if delivery.stream is not None:
        if http.method == "HEAD":
            delivery.stream.close()
            return http_response(delivery.response)
        return await _streamed(http, delivery.response, delivery.stream, server)
    if delivery.parts is not None and http.method != "HEAD":
        return await _in_parts(http, delivery.response, delivery.parts)
    if delivery.cut is not None:
        return await _cut(http, delivery.response, delivery.cut)
    if http.version == HttpVersion11 and http.keep_alive and http.method != "HEAD":
        raw = server.heads.written(delivery.response, asyncio.get_running_loop().time())
        if raw is not None:
            return cast(StreamResponse, _Prepared(http, raw))
    return http_response(delivery.response)


async def _fetched(pending: Pending) -> Response:
    return pending.settle(await pending.fetch())


async def _read(http: BaseRequest, request: Request, answering: RawAnswering) -> Request:
    """Return a request with its body. Raises `UnreadableRequest`."""
    body = await body_of(http, request, answering.most_bytes)
    if body is None:
        return request
    most = answering.most_bytes(request)
    body = _plain(body, request, most)
    # A dump of a world may be longer than a body, and has as many values as it needs.
    if most > limits.BODY.most:
        return await asyncio.to_thread(answering.prepared, replace(request, body=body))
    if refusal := too_many_values(body):
        raise refusal
    return replace(request, body=body)


def _plain(body: bytes, request: Request, most: int) -> bytes:
    """Return a body without its content coding. Raises `UnreadableRequest`."""
    if "Content-Encoding" not in request.headers:
        return body
    try:
        return content_codings.decoded(body, request.headers["Content-Encoding"], most)
    except content_codings.Undecodable as error:
        raise UnreadableRequest(error.name, str(error)) from None
    except content_codings.TooLong:
        raise too_large(most) from None


def _refused(answering: RawAnswering, request: Request, error: UnreadableRequest) -> StreamResponse:
    refused = answering.refuse(request, error.name, str(error))
    if error.name == "unknown-coding":
        refused = refused.with_headers(("Accept-Encoding", ", ".join(content_codings.READ)))
    response = http_response(refused)
    response.force_close()
    return response


async def _cut(http: BaseRequest, response: Response, cut: Cut) -> StreamResponse:
    """Disturb the connection for real: the client sees a reset, an early end, or half a body."""
    transport, response = http.transport, response.on_the_wire()
    sent = http_response(response)
    sent.force_close()
    if transport is None:
        return sent
    client = cast(Connection, http.protocol).client
    if cut is Cut.RESET_BEFORE:
        _reset(transport, client)
    elif cut is Cut.EMPTY:
        transport.close()
    elif cut is Cut.RESET_AFTER:
        transport.write(cut_head(response))
        _reset(transport, client)
    else:
        half = 0 if http.method == "HEAD" else len(response.body) // 2
        transport.write(cut_head(response) + response.body[:half])
        transport.close()
    return sent


def _reset(transport: asyncio.WriteTransport, client: socket.socket | None) -> None:
    # What was written is in the socket's buffer by now; with lingering off, closing it resets.
    raw = client or transport.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
