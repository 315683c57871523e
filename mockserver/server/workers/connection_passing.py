"""Connections that are handed over to the process that has the world of their next request."""

import asyncio
import contextlib
import re
import socket
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from aiohttp.web_protocol import RequestHandler
from aiohttp.web_request import BaseRequest

from mockserver.http_messages import Request
from mockserver.mock_headers import CONTROL_PATH
from mockserver.responders.answer_delivery import Delivery
from mockserver.server.aiohttp_requests import head_of
from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.fast_lane import LaneConnection
from mockserver.server.service import Service
from mockserver.server.workers.channel import Message
from mockserver.server.workers.peers import Peers
from mockserver.server.workers.tls_relaying import Inside, Outside
from mockserver.worlds.hosted import Elsewhere, WorldAway

if TYPE_CHECKING:
    from mockserver.server.group_commit import Commits

# How often a request is handed over: more often only where app keys are bound just now.
_MOST_HOPS = 4
_FLUSHED_S = 0.002

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*(?:\r\n|$)")
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*(?:\r\n|$)")
_CHUNK = re.compile(rb"([0-9a-f]+)[^\r\n]*\r\n", re.IGNORECASE)


class PassingConnection(LaneConnection):
    """A connection that keeps the bytes of requests which are not answered yet."""

    __slots__ = ("_begins", "_first", "_hops", "_kept")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept: bytes | bytearray = b""
        # How many requests had come before the bytes that are kept.
        self._begins = 0
        self._first = b""
        self._hops = 0

    def take_over(self, data: bytes, hops: int) -> None:
        """Begin with bytes that another process has read."""
        self._first, self._hops = data, hops

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._first:
            data, self._first = self._first, b""
            self.data_received(data)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and keep them until it is known that they are for this process."""
        if not data or self._payload_parser is not None:
            # A WebSocket stays here: it was asked for with the world that it is about.
            super().data_received(data)
            return
        if self._kept:
            if self.idle and not self._messages:
                self._forget()
            self._kept = bytearray(self._kept) if type(self._kept) is bytes else self._kept
            self._kept += data
        else:
            self._kept = data
        super().data_received(data)
        if self._between and not self._messages and self._begins < self._request_count:
            waiter = self._waiter
            if waiter is not None and not waiter.done():
                # The lane has answered all of it.
                self._kept, self._begins = b"", self._request_count

    def _forget(self) -> None:
        """Keep nothing more of requests that are answered."""
        if self._between:
            self._kept = b""
        else:
            answered = self._request_count - self._begins
            self._kept = self._kept[past(self._kept, answered) :]
        self._begins = self._request_count

    @property
    def hops(self) -> int:
        """How often the request that is being answered was handed over: only the first one was."""
        return self._hops if self._request_count - len(self._messages) == 1 else 0

    def unanswered(self) -> bytes:
        """Return the bytes from the first of the request that is being answered on."""
        before = self._request_count - len(self._messages) - 1 - self._begins
        return bytes(self._kept[past(self._kept, before) :])


def past(stream: bytes | bytearray, requests: int) -> int:
    """Return where so many whole requests end, that a parser has taken already."""
    at = 0
    for _ in range(requests):
        while stream[at : at + 2] == b"\r\n":
            at += 2
        end = stream.find(b"\r\n\r\n", at)
        if end < 0:
            return len(stream)
        head = bytes(stream[at:end]).lower()
        at = end + 4
        if _CHUNKED.search(head):
            at = _past_chunks(stream, at)
        elif length := _LENGTH.search(head):
            at += int(length[1])
    return at


def _past_chunks(stream: bytes | bytearray, at: int) -> int:
    while chunk := _CHUNK.match(stream, at):
        size = int(chunk[1], 16)
        at = chunk.end()
        if not size:
            # Trailers, if there are any, and an empty line.
            while (end := stream.find(b"\r\n", at)) > at:
                at = end + 2
            return len(stream) if end < 0 else end + 2
        at += size + 2
    return len(stream)


class PassingServer(HttpServer):
    """The server of one of several processes."""

    passes = True

    def __init__(self, service: Service, peers: Peers, commits: "Commits | None") -> None:
        """Answer with `service` what is for its worlds, and hand the rest over to `peers`."""
        super().__init__(service, commits=commits)
        self._service = service
        self._peers = peers
        self._adopting: set[asyncio.Task[None]] = set()
        self._relayed: set[asyncio.Transport] = set()

    def __call__(self) -> RequestHandler:
        return PassingConnection(self, **self.of_lane())

    async def passed_on(
        self, http: BaseRequest, delivery: Delivery | Exception | None
    ) -> Delivery | Exception | None:
        """Hand a connection over if its request is for another process, and do not return then.

        `delivery` is what was made of the request already. Returns the refusal of a request that
        nobody takes.
        """
        if delivery is None:
            home = self._home(head_of(http))
        elif isinstance(delivery, Elsewhere):
            home = delivery.worker
        else:
            return delivery
        if home is None:
            return None
        connection = cast(PassingConnection, http.protocol)
        if connection.hops >= _MOST_HOPS:
            return Delivery(self._service.away(head_of(http)))
        transport = connection.transport
        # What was answered before has to leave first.
        while transport is not None and transport.get_write_buffer_size():
            await asyncio.sleep(_FLUSHED_S)
            transport = connection.transport
        if transport is not None and transport.get_extra_info("sslcontext"):
            await self._relay(connection, transport, home)
        elif transport is not None:
            files = [transport.get_extra_info("socket").fileno()]
            if connection.client is not None:
                files.append(connection.client.fileno())
            self._peers.hand_over(home, files, connection.unanswered(), connection.hops + 1)
            # The other process has the socket open: this end of it is closed, and not the
            # connection. This task is cancelled with it.
            transport.abort()
        await asyncio.get_running_loop().create_future()
        return None

    async def _relay(
        self, connection: PassingConnection, transport: asyncio.Transport, home: int
    ) -> None:
        """Give the inner side of a connection with TLS to another worker, and stay in between."""
        transport.pause_reading()
        here, there = socket.socketpair()
        here.setblocking(False)
        files = [there.fileno(), transport.get_extra_info("socket").fileno()]
        self._peers.hand_over(home, files, connection.unanswered(), connection.hops + 1)
        there.close()
        inside = Inside(transport)
        loop = asyncio.get_running_loop()
        inner, _ = await loop.connect_accepted_socket(lambda: inside, here)
        self._relayed.add(transport)
        outside = Outside(inner, partial(self._relayed.discard, transport))
        transport.set_protocol(outside)
        if transport.is_closing():
            inner.abort()
        else:
            transport.resume_reading()
        # As if the connection had ended here; this task is cancelled with it. It must not close
        # what is no longer its own.
        connection.transport = None
        connection.connection_lost(None)

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 (aiohttp's)
        """End connections whose TLS is here as well."""
        for transport in tuple(self._relayed):
            transport.abort()
        await super().shutdown(timeout)

    def _home(self, request: Request) -> int | None:
        """Return the worker that has to answer a request; None where it is this one."""
        # Control requests are looked at when they are answered: some are for no world.
        path, key = self._service.place(request)
        if not path.startswith(CONTROL_PATH):
            with contextlib.suppress(WorldAway):
                try:
                    self._peers.check(key)
                except Elsewhere as elsewhere:
                    return elsewhere.worker
        return None

    def adopt(self, message: Message) -> None:
        """Serve a connection that another process has handed over."""
        task = asyncio.get_running_loop().create_task(self._adopted(message))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _adopted(self, message: Message) -> None:
        taken = socket.socket(fileno=message.files[0])
        taken.setblocking(False)
        connection = cast(PassingConnection, self())
        if len(message.files) > 1:
            connection.client = socket.socket(fileno=message.files[1])
        message.files = ()
        connection.take_over(message.body, message.values["hops"])
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, taken)
        except OSError:
            taken.close()
            if connection.client is not None:
                connection.client.close()
