"""The aiohttp side: requests become plain values, answers become bytes, and nothing else."""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from mockserver.exchange import Headers, Request, Response
from mockserver.responders.delivery import Cut, Delivery

log = logging.getLogger("mockserver.server")

MAX_BODY = 1024 * 1024
"""Bytes a request body may have; the service's own bodies have under two thousand (A-030)."""

MAX_CONTROL_BODY = 16 * 1024 * 1024
"""Bytes a body of the control API may have: the dump of a world with many orders is large."""

_LINE = 65_536


class Answering(Protocol):
    """What stands behind the socket: plain requests in, plain answers out, never waiting."""

    def answer(self, request: Request) -> Delivery:
        """Return the answer to a request."""

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the refusal of a request that could not be read."""


class HttpServer(web.Server):
    """One handler for every path; broken HTTP is refused inside an envelope as well."""

    def __init__(self, answering: Answering) -> None:
        """Serve what `answering` says."""
        super().__init__(
            _handler(answering),
            access_log=None,
            max_line_size=_LINE,
            max_field_size=_LINE,
            handler_cancellation=True,
            request_factory=_request,
        )
        self._answering = answering

    def __call__(self) -> RequestHandler:
        """Return the protocol of one connection."""
        return _Connection(
            self, answering=self._answering, loop=asyncio.get_running_loop(), **self._kwargs
        )


class _Connection(RequestHandler):
    __slots__ = ("_answering",)

    def __init__(self, *args: Any, answering: Answering, **options: Any) -> None:
        super().__init__(*args, **options)
        self._answering = answering

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what aiohttp could not read as HTTP, or a handler that failed."""
        if status >= 500:
            log.error("error while answering %s", request.path, exc_info=exc)
        name = "internal-error" if status >= 500 else "bad-http"
        reason = " ".join((message or str(exc) or "unreadable request").split())
        refused = self._answering.refuse(_head(request), name, reason)
        response = _http(refused)
        response.force_close()
        return response


def _handler(answering: Answering) -> Callable[[web.BaseRequest], Any]:
    async def handle(http: web.BaseRequest) -> web.StreamResponse:
        if (http.content_length or 0) > _most(http.raw_path):
            return _too_large(answering, http)
        try:
            body = await http.read() if http.can_read_body else b""
        except web.HTTPRequestEntityTooLarge:
            return _too_large(answering, http)
        delivery = answering.answer(_head(http, body))
        if delivery.delay_ms:
            await asyncio.sleep(delivery.delay_ms / 1000)
        if delivery.cut is not None:
            return await _cut(http, delivery.response, delivery.cut)
        return _http(delivery.response)

    return handle


def _request(
    message: Any, payload: Any, protocol: Any, writer: Any, task: "asyncio.Task[None]"
) -> web.BaseRequest:
    loop = task.get_loop()
    most = _most(message.path)
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=most + 1)


def _most(target: str) -> int:
    """Return how many bytes a body may have that is sent to a target."""
    control = "/__mock/" in target.partition("?")[0]
    return MAX_CONTROL_BODY if control else MAX_BODY


def _head(http: web.BaseRequest, body: bytes = b"") -> Request:
    path, _, query = _target(http.raw_path).partition("?")
    headers = Headers(tuple(http.headers.items()))
    return Request(http.method, path, query, headers, body)


def _target(raw: str) -> str:
    """Return the path and query of a request target, also of one in absolute form."""
    raw = raw.partition("#")[0]
    if not raw.startswith(("http://", "https://")):
        return raw
    _, slash, rest = raw.partition("://")[2].partition("/")
    return f"{slash}{rest}" or "/"


def _too_large(answering: Answering, http: web.BaseRequest) -> web.StreamResponse:
    reason = f"the body has more than {_most(http.raw_path)} bytes, expected at most that many"
    response = _http(answering.refuse(_head(http), "body-too-large", reason))
    response.force_close()
    return response


def _http(response: Response) -> web.Response:
    return web.Response(status=response.status, headers=response.headers, body=response.body)


async def _cut(http: web.BaseRequest, response: Response, cut: Cut) -> web.StreamResponse:
    """Disturb the connection for real: the client sees a reset, an early end, or half a body."""
    transport = http.transport
    sent = _http(response)
    sent.force_close()
    if transport is None:
        return sent
    if cut is Cut.RESET_BEFORE:
        _reset(transport)
    elif cut is Cut.EMPTY:
        transport.close()
    elif cut is Cut.RESET_AFTER:
        transport.write(_raw_head(response))
        _reset(transport)
    else:
        transport.write(_raw_head(response) + response.body[: len(response.body) // 2])
        transport.close()
    return sent


def _raw_head(response: Response) -> bytes:
    phrase = {int(known): known.phrase for known in HTTPStatus}.get(response.status, "")
    lines = [f"HTTP/1.1 {response.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    lines += [f"Content-Length: {len(response.body)}", "", ""]
    return "\r\n".join(lines).encode("ascii")


def _reset(transport: asyncio.WriteTransport) -> None:
    # What was written is in the socket's buffer by now; with lingering off, closing it resets.
    raw = transport.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
