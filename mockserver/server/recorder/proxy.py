"""The proxy: passes requests on and answers back, and lets no answer end before it is kept."""

import asyncio
import contextlib
import re
import ssl
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from mockserver import jsontext, limits
from mockserver.clock import ticks_ms, wall_ms
from mockserver.errors import CrosschainMockError
from mockserver.exchange import Headers, Request, Response
from mockserver.headers import SAFE_METHODS
from mockserver.recordings import RecordedExchange
from mockserver.server.codings import is_read
from mockserver.server.connection import ConnectionServer, http_response, parser_reason
from mockserver.server.incoming import Unreadable, body_of
from mockserver.server.process import Listening, host
from mockserver.server.recorder.keeper import Keeper
from mockserver.server.wire import head_of
from mockserver.values import dataclass

MOST_REQUEST = 16 * 1024 * 1024
"""Bytes a request body may have that is passed on."""

DRAIN_SECONDS = 2.0
"""How long answers that are on their way may take once the recorder has to stop."""

TROUBLE_HEADER = "X-Recorder"
"""Names answers of the recorder itself, which are none of the service's."""

_LINE = 65_536
_MOST_REASONS = 1000
"""How many different reasons are counted: some quote what a service or client has sent."""
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OWN_OF_REQUESTS = _HOP_BY_HOP | {"host", "content-length", "expect"}
_LOWEST_STATUS = 200


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """Where requests go, and which may.

    `upstreams` are base addresses by generation, `v1` and `v2`. `refusal` returns why a request may
    not be passed on, and `note` counts one that is. `wait_seconds` is how long the service may take
    to accept a connection, and to send each further part of an answer. `tls` replaces the usual
    verification of certificates. `tell` gets a sentence for people where something went wrong.
    """

    upstreams: Mapping[str, str]
    refusal: Callable[[Request], str]
    note: Callable[[Request], None]
    tell: Callable[[str], None]
    wait_seconds: float = 60.0
    tls: ssl.SSLContext | None = field(default=None, repr=False)


class _NoAnswer(Exception):
    """Why a request got no answer of the service: an HTTP status of ours and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class RecordingProxy:
    """Answers requests with what the service answers, each of which is kept before it ends."""

    def __init__(self, options: ProxyOptions, keeper: Keeper) -> None:
        """Pass on what `options` allow, and give it to `keeper`."""
        self._options = options
        self.keeper = keeper
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
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
        for session in self._sessions.values():
            await session.close()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        relayed, request = _RelayedAnswer(http), head_of(http)
        try:
            body = await body_of(http, request, lambda _: MOST_REQUEST)
            headers = Headers(tuple(map(_as_sent, request.headers.items_sent)))
            await self._passed(relayed, replace(request, headers=headers, body=body or b""))
        except ConnectionError:
            # The client left before its request was whole.
            return web.Response()
        except Unreadable as error:
            refused = http_response(self._refuse(request, error.name, str(error)))
            refused.force_close()
            return refused
        except _NoAnswer as error:
            self._say(str(error))
            return relayed.failed(error)
        return relayed.response or web.Response()

    def _refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the answer to a request that cannot be read."""
        sentence = f"{reason.removesuffix('.')}; nothing was sent"
        self._say(sentence)
        return _trouble(self.keeper.contract.refusals[name].http, sentence)

    async def _passed(self, relayed: "_RelayedAnswer", request: Request) -> None:
        """Pass a request on; the exchange is kept also where its client leaves meanwhile."""
        task = asyncio.create_task(self._pass(relayed, request))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)
        await task

    async def _pass(self, relayed: "_RelayedAnswer", request: Request) -> None:
        base = self._base(request)
        reason = self._options.refusal(request)
        if reason:
            raise _NoAnswer(403, f"{reason}; nothing was sent")
        if not request.path.startswith("/"):
            line = f"{request.method} {request.path[:80]}"
            raise _NoAnswer(400, f"{line} names no path of a service; nothing was sent")
        self._options.note(request)
        began, ticks = wall_ms(), ticks_ms()
        with _explained(request, base):
            async with self._session(request.method).request(
                request.method,
                URL(base + request.target, encoded=True),
                headers=CIMultiDict(
                    map(_readable, _passed_on(request.headers.items_sent, _OWN_OF_REQUESTS))
                ),
                data=request.body or None,
                allow_redirects=False,
            ) as upstream:
                _check(upstream)
                await relayed.take(upstream, self._options.wait_seconds)
        taken = relayed.taken(request, began, ticks_ms() - ticks)
        if reason := await self._keep(taken):
            self._say(reason)
        await relayed.finish()

    async def _keep(self, exchange: RecordedExchange) -> str:
        try:
            return await asyncio.to_thread(self.keeper.keep, exchange)
        except CrosschainMockError as error:
            raise _NoAnswer(507, f"{error}; the answer was not kept") from None

    def _base(self, request: Request) -> str:
        generation = self.keeper.contract.generation_of(request.path).id
        base = self._options.upstreams.get(generation)
        if base is None:
            what = f"{request.method} {request.path} is of {generation}"
            raise _NoAnswer(
                421, f"{what}, which has no address here; name one with --upstream-{generation}"
            )
        return base

    def _session(self, method: str) -> aiohttp.ClientSession:
        """Return connections for a method: what changes something never takes a used one.

        The service may have closed it, and whether the request arrived would not be known.
        """
        lasting = method in SAFE_METHODS
        if lasting not in self._sessions:
            wait = self._options.wait_seconds
            self._sessions[lasting] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, force_close=not lasting, ssl=self._options.tls or True
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=wait, sock_read=wait),
                trust_env=False,
                skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
                max_line_size=_LINE,
                max_field_size=_LINE,
            )
        return self._sessions[lasting]

    def _say(self, sentence: str) -> None:
        sentence = _without_quote(sentence)
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
            (_header_text(name), _header_text(value)) for name, value in upstream.raw_headers
        )
        self._prepared = _Unchanged(
            self._status, upstream.reason or "", _passed_on(self._headers, _HOP_BY_HOP)
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
                raise _NoAnswer(504, "the client left, and the answer did not end") from None
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
        """Return the exchange as it passed."""
        response = Response(self._status, self._headers, bytes(self._body))
        self._body.clear()
        return RecordedExchange.unnamed(request, response, began_ms, duration_ms, self._omitted)

    async def finish(self) -> None:
        """Let the answer end."""
        if self._held:
            await self._send(self._held)
        response = await self._begun()
        with contextlib.suppress(ConnectionError):
            await response.write_eof()

    def failed(self, error: _NoAnswer) -> web.StreamResponse:
        """Answer with an error of ours, or cut the answer off where it has begun already."""
        if self.response is None:
            return http_response(_trouble(error.status, str(error)))
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


def _check(upstream: aiohttp.ClientResponse) -> None:
    """Raise `ValueError` for an answer that cannot be passed on as it is."""
    codings = upstream.headers.getall("Transfer-Encoding", [])
    if codings and ",".join(codings).strip().lower() != "chunked":
        raise ValueError(f"Transfer-Encoding {', '.join(codings)[:80]!a} is not read here")
    if upstream.status < _LOWEST_STATUS:
        raise ValueError(f"status {upstream.status} ends no request of a client's")


def _header_text(raw: bytes) -> str:
    """Return a name or a value, which is sent as UTF-8 again."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _as_sent(item: tuple[str, str]) -> tuple[str, str]:
    """Return a field of a request, of which the parser leaves bytes that are no UTF-8 as halves."""
    return item[0], _header_text(item[1].encode("utf-8", "surrogateescape"))


def _readable(item: tuple[str, str]) -> tuple[str, str]:
    """Return a field of a request, which asks only for codings that can be searched for secrets."""
    name, value = item
    if name.lower() != "accept-encoding":
        return item
    readable = [coding.strip() for coding in value.split(",") if is_read(coding.partition(";")[0])]
    return name, ", ".join(readable) or "identity"


def _without_quote(sentence: str) -> str:
    """Return a sentence without the bytes that a parser quotes: they may hold a secret."""
    return re.sub(r": b?(['\"])(?:.*\1|.*)", "", sentence)


def _trouble(status: int, sentence: str) -> Response:
    """Return an answer of the recorder itself."""
    body = {"code": status, "msg": f"recorder: {' '.join(sentence.split())}"}
    headers = ((TROUBLE_HEADER, "trouble"), ("Content-Type", "application/json"))
    return Response(status, headers, jsontext.encode(body))


def _passed_on(
    headers: tuple[tuple[str, str], ...], own: frozenset[str]
) -> tuple[tuple[str, str], ...]:
    """Return headers without those of one connection, such as the ones that `Connection` names."""
    named = {
        name.strip().lower()
        for field_name, value in headers
        if field_name.lower() == "connection"
        for name in value.split(",")
    }
    return tuple(item for item in headers if item[0].lower() not in own | named)


@contextlib.contextmanager
def _explained(request: Request, base: str) -> Any:
    """Turn errors of the service into a sentence."""
    line = f"{request.method} {request.path}"
    try:
        yield
    except aiohttp.ClientConnectorCertificateError as error:
        reason = str(error.certificate_error)
        # An unknown issuer can be trusted by an option; a wrong name or date cannot.
        if "self-signed" in reason or "issuer" in reason:
            reason += "; trust one more with --upstream-ca FILE"
        raise _NoAnswer(502, f"{line}: the certificate of {base} is not valid: {reason}") from None
    except aiohttp.ClientSSLError as error:
        raise _NoAnswer(502, f"{line}: {base} speaks no TLS that works: {_reason(error)}") from None
    except (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError, TimeoutError):
        raise _NoAnswer(504, f"{line}: {base} took too long to answer") from None
    except aiohttp.ClientConnectorError as error:
        raise _NoAnswer(502, f"{line}: {base} cannot be reached: {_reason(error)}") from None
    except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        raise _NoAnswer(502, f"{line}: {base} broke off before the answer was whole") from None
    except aiohttp.ClientResponseError as error:
        reason = parser_reason(error.__cause__, error.message)[:200]
        if reason.startswith("Bad status line"):
            # The parser takes a body for the next answer, and tells nothing of the one before it.
            reason += "; or a body follows where HTTP has none: to HEAD, or of status 204 or 304"
        raise _NoAnswer(502, f"{line}: {base} answers no HTTP: {reason}") from None
    except (aiohttp.ClientError, ValueError) as error:
        raise _NoAnswer(502, f"{line}: {base} answers no HTTP: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    text = getattr(inner, "strerror", None) or str(inner)
    return " ".join(str(text).split())[:200] or type(error).__name__


def record(proxy: RecordingProxy, listening: Listening, announce: Callable[[str], None]) -> None:
    """Record until SIGINT or SIGTERM. Raises `CannotServe` where it cannot listen."""
    host(proxy.server, listening, announce, DRAIN_SECONDS, proxy.close)
