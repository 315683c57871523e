"""The proxy: passes requests on and answers back, and lets no answer end before it is kept."""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from mockserver import limits
from mockserver.clock import ticks_ms, wall_ms
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange
from mockserver.server.aiohttp_requests import head_of
from mockserver.server.connection import ConnectionServer, http_response
from mockserver.server.process import Listening, host
from mockserver.server.recorder.exchange_keeper import RecordingKeeper
from mockserver.server.recorder.upstream import (
    HOP_BY_HOP,
    NoUpstreamAnswer,
    ProxyOptions,
    Upstream,
    as_sent,
    header_text,
    passed_on,
    trouble,
)
from mockserver.server.request_parsing import UnreadableRequest, body_of

MOST_REQUEST = 16 * 1024 * 1024
"""Bytes a request body may have that is passed on."""

DRAIN_SECONDS = 2.0
"""How long answers that are on their way may take once the recorder has to stop."""

# How many different reasons are counted: some quote what a service or client has sent.
_MOST_REASONS = 1000


class RecordingProxy:
    """Answers requests with what the service answers, each of which is kept before it ends."""

    def __init__(self, options: ProxyOptions, keeper: RecordingKeeper) -> None:
        """Pass on what `options` allow, and give it to `keeper`."""
        self._options = options
        self.keeper = keeper
        self._upstream = Upstream(options, keeper.contract)
        self._passing: set[asyncio.Task[None]] = set()
        self.not_kept: Counter[str] = Counter()
        """Sentences on requests whose answers were not kept, and how often each came."""

    @property
    def upstreams(self) -> Mapping[str, str]:
        """Where requests go, by generation."""
        return self._options.upstreams

    def server(self) -> ConnectionServer:
        """Return the handler of every path, to be made inside a running loop."""
        return ConnectionServer(self._handle, self._refuse)

    async def close(self) -> None:
        """Give up answers that still come for clients that left, and leave the service."""
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)
        await self._upstream.close()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        relayed, request = _RelayedAnswer(http), head_of(http)
        try:
            body = await body_of(http, request, lambda _: MOST_REQUEST)
            headers = Headers(tuple(map(as_sent, request.headers.items_sent)))
            await self._passed(relayed, replace(request, headers=headers, body=body or b""))
        except ConnectionError:
            # The client left before its request was whole.
            return web.Response()
        except UnreadableRequest as error:
            refused = http_response(self._refuse(request, error.name, str(error)))
            refused.force_close()
            return refused
        except NoUpstreamAnswer as error:
            self._say(self.keeper.shown(request, str(error)))
            return relayed.failed(error)
        return relayed.response or web.Response()

    def _refuse(self, request: Request, name: str, reason: str) -> Response:
        sentence = f"{reason.removesuffix('.')}; nothing was sent"
        self._say(sentence)
        return trouble(self.keeper.contract.refusals[name].http, sentence)

    async def _passed(self, relayed: "_RelayedAnswer", request: Request) -> None:
        """Pass a request on; the exchange is kept also where its client leaves meanwhile."""
        task = asyncio.create_task(self._pass(relayed, request))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)
        await task

    async def _pass(self, relayed: "_RelayedAnswer", request: Request) -> None:
        began, ticks = wall_ms(), ticks_ms()
        async with self._upstream.answer(request) as answer:
            await relayed.take(answer, self._options.wait_seconds)
        taken = relayed.taken(request, began, ticks_ms() - ticks)
        if reason := await self._keep(taken):
            self._say(reason)
        await relayed.finish()

    async def _keep(self, exchange: RecordedExchange) -> str:
        try:
            return await asyncio.to_thread(self.keeper.keep, exchange)
        except CrosschainMockError as error:
            raise NoUpstreamAnswer(507, f"{error}; the answer was not kept") from None

    def _say(self, sentence: str) -> None:
        sentence = self.keeper.redactor.line(_without_quote(sentence))
        if sentence not in self.not_kept and len(self.not_kept) >= _MOST_REASONS:
            sentence = "for further reasons"
        self.not_kept[sentence] += 1
        if self.not_kept[sentence] == 1:
            self._options.tell(sentence)


class _RelayedAnswer:
    """One answer on its way through: its end waits until `finish`."""

    def __init__(self, http: web.BaseRequest) -> None:
        self.http = http
        self.response: _Unchanged | None = None
        self._held = b""
        self._body = bytearray()
        self._omitted = ""
        self._status = 0
        self._headers: tuple[tuple[str, str], ...] = ()
        self._prepared: _Unchanged | None = None
        self._client_left = False

    async def take(self, upstream: aiohttp.ClientResponse, wait_seconds: float) -> None:
        """Pass on the answer as it comes, but for its end.

        It is read on where the client leaves meanwhile, but not for longer than `wait_seconds`.
        """
        self._status = upstream.status
        self._headers = tuple(
            (header_text(name), header_text(value)) for name, value in upstream.raw_headers
        )
        self._prepared = _Unchanged(
            self._status, upstream.reason or "", passed_on(self._headers, HOP_BY_HOP)
        )
        try:
            async with asyncio.timeout(None) as patience:
                async for part in upstream.content.iter_any():
                    await self._take(part, upstream.content.is_eof())
                    if self._client_left and patience.when() is None:
                        now = asyncio.get_running_loop().time()
                        patience.reschedule(now + wait_seconds)
        except TimeoutError:
            if self._client_left:
                raise NoUpstreamAnswer(504, "the client left, and the answer did not end") from None
            raise

    async def _take(self, part: bytes, is_last: bool) -> None:
        self._remember(part)
        held = self._held + part
        # Of an answer that goes on, one byte suffices to keep its end from the client; one that is
        # whole already waits as a whole, so that an error can still be sent.
        at = 0 if is_last and self.response is None else len(held) - 1
        if at:
            await self._send(held[:at])
        self._held = held[at:]

    def taken(self, request: Request, began_ms: int, duration_ms: int) -> RecordedExchange:
        response = Response(self._status, self._headers, bytes(self._body))
        self._body.clear()
        return RecordedExchange.unnamed(request, response, began_ms, duration_ms, self._omitted)

    async def finish(self) -> None:
        if self._held:
            await self._send(self._held)
        response = await self._begun()
        with contextlib.suppress(ConnectionError):
            await response.write_eof()

    def failed(self, error: NoUpstreamAnswer) -> web.StreamResponse:
        """Answer with an error of ours, or cut the answer off where it has begun already."""
        if self.response is None:
            return http_response(trouble(error.status, str(error)))
        if self.http.transport is not None:
            self.http.transport.abort()
        return self.response

    async def _send(self, part: bytes) -> None:
        # A client that went away loses nothing but its answer: the exchange is kept all the same.
        if self._client_left:
            return
        response = await self._begun()
        try:
            await response.write(part)
        except ConnectionError:
            self._client_left = True

    async def _begun(self) -> "_Unchanged":
        if self.response is None:
            assert self._prepared is not None  # noqa: S101  # made with the head of the answer
            self.response = self._prepared
            with contextlib.suppress(ConnectionError):
                await self.response.prepare(self.http)
        return self.response

    def _remember(self, part: bytes) -> None:
        if len(self._body) + len(part) > limits.RECORDED_BODY.most:
            self._omitted = f"it has more than {limits.RECORDED_BODY}"
            self._body.clear()
        elif not self._omitted:
            self._body += part


class _Unchanged(web.StreamResponse):
    """An answer with the headers it came with, and no others."""

    def __init__(self, status: int, reason: str, headers: tuple[tuple[str, str], ...]) -> None:
        super().__init__(status=status, reason=reason, headers=CIMultiDict(headers))
        self._came = frozenset(name.lower() for name, _ in headers)

    async def _prepare_headers(self) -> None:
        await super()._prepare_headers()
        for added in ("Content-Type", "Date", "Server"):
            if added.lower() not in self._came:
                self.headers.popall(added, None)


def _without_quote(sentence: str) -> str:
    """Return a sentence without the bytes that a parser quotes: they may hold a secret."""
    return re.sub(r": b?(['\"])(?:.*\1|.*)", "", sentence)


def record(proxy: RecordingProxy, listening: Listening, announce: Callable[[str], None]) -> None:
    """Record until SIGINT or SIGTERM. Raises `CannotServe` where it cannot listen."""
    host(proxy.server, listening, announce, DRAIN_SECONDS, proxy.close)
