"""The service behind a recorder or a world: which requests it gets, and what it answers to them."""

import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import field, replace

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mockserver import jsontext
from mockserver.clock import ticks_ms, wall_ms
from mockserver.content_codings import is_read
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, Request, Response
from mockserver.mock_headers import SAFE_METHODS
from mockserver.recordings import RecordedExchange
from mockserver.server.connection import parser_reason

TROUBLE_HEADER = "X-Recorder"
"""Names answers of the recorder itself, which are none of the service's."""

_LINE = 65_536
HOP_BY_HOP = frozenset(
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
_OWN_OF_REQUESTS = HOP_BY_HOP | {"host", "content-length", "expect"}
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


def header_text(raw: bytes) -> str:
    """Return a name or a value, which is sent as UTF-8 again."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def as_sent(item: tuple[str, str]) -> tuple[str, str]:
    """Return a field of a request, of which the parser leaves bytes that are no UTF-8 as halves."""
    return item[0], header_text(item[1].encode("utf-8", "surrogateescape"))


class NoUpstreamAnswer(Exception):
    """Why a request got no answer of the service: an HTTP status of ours and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Upstream:
    """Passes requests on to the service that `options` name."""

    def __init__(self, options: ProxyOptions, contract: Contract) -> None:
        """Take where requests go; `contract` tells their generation."""
        self.options = options
        self._contract = contract
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    @contextlib.asynccontextmanager
    async def answer(self, request: Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request, and yield what the service begins to answer.

        Raises `NoUpstreamAnswer` where the request may not be sent, or no answer comes.
        """
        base = self._base(request)
        reason = self.options.refusal(request)
        if reason:
            raise NoUpstreamAnswer(403, f"{reason}; nothing was sent")
        if not request.path.startswith("/"):
            line = f"{request.method} {request.path[:80]}"
            raise NoUpstreamAnswer(400, f"{line} names no path of a service; nothing was sent")
        self.options.note(request)
        with _explained(request, base):
            async with self._session(request.method).request(
                request.method,
                URL(base + request.target, encoded=True),
                headers=CIMultiDict(
                    map(_readable, passed_on(request.headers.items_sent, _OWN_OF_REQUESTS))
                ),
                data=request.body or None,
                allow_redirects=False,
            ) as upstream:
                _check(upstream)
                yield upstream

    def _base(self, request: Request) -> str:
        generation = self._contract.generation_of(request.path).id
        base = self.options.upstreams.get(generation)
        if base is None:
            what = f"{request.method} {request.path} is of {generation}"
            raise NoUpstreamAnswer(
                421, f"{what}, which has no address here; name one with --upstream-{generation}"
            )
        return base

    def _session(self, method: str) -> aiohttp.ClientSession:
        """Return connections for a method: what changes something never takes a used one."""
        # The service may have closed it, and whether the request arrived would not be known.
        lasting = method in SAFE_METHODS
        if lasting not in self._sessions:
            wait = self.options.wait_seconds
            self._sessions[lasting] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, force_close=not lasting, ssl=self.options.tls or True
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


def _check(upstream: aiohttp.ClientResponse) -> None:
    """Raise `ValueError` for an answer that cannot be passed on as it is."""
    codings = upstream.headers.getall("Transfer-Encoding", [])
    if codings and ",".join(codings).strip().lower() != "chunked":
        raise ValueError(f"Transfer-Encoding {', '.join(codings)[:80]!a} is not read here")
    if upstream.status < _LOWEST_STATUS:
        raise ValueError(f"status {upstream.status} ends no request of a client's")


def _readable(item: tuple[str, str]) -> tuple[str, str]:
    """Return a field of a request, which asks only for codings that can be searched for secrets."""
    name, value = item
    if name.lower() != "accept-encoding":
        return item
    readable = [coding.strip() for coding in value.split(",") if is_read(coding.partition(";")[0])]
    return name, ", ".join(readable) or "identity"


def passed_on(
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
def _explained(request: Request, base: str) -> Iterator[None]:
    """Turn errors of the service into a sentence."""
    line = f"{request.method} {request.path}"
    try:
        yield
    except aiohttp.ClientConnectorCertificateError as error:
        reason = str(error.certificate_error)
        # An unknown issuer can be trusted by an option; a wrong name or date cannot.
        if "self-signed" in reason or "issuer" in reason:
            reason += "; trust one more with --upstream-ca FILE"
        raise NoUpstreamAnswer(
            502, f"{line}: the certificate of {base} is not valid: {reason}"
        ) from None
    except aiohttp.ClientSSLError as error:
        raise NoUpstreamAnswer(
            502, f"{line}: {base} speaks no TLS that works: {_reason(error)}"
        ) from None
    except (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError, TimeoutError):
        raise NoUpstreamAnswer(504, f"{line}: {base} took too long to answer") from None
    except aiohttp.ClientConnectorError as error:
        raise NoUpstreamAnswer(502, f"{line}: {base} cannot be reached: {_reason(error)}") from None
    except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
        raise NoUpstreamAnswer(
            502, f"{line}: {base} broke off before the answer was whole"
        ) from None
    except aiohttp.ClientResponseError as error:
        reason = parser_reason(error.__cause__, error.message)[:200]
        if reason.startswith("Bad status line"):
            # The parser takes a body for the next answer, and tells nothing of the one before it.
            reason += "; or a body follows where HTTP has none: to HEAD, or of status 204 or 304"
        raise NoUpstreamAnswer(502, f"{line}: {base} answers no HTTP: {reason}") from None
    except (aiohttp.ClientError, ValueError) as error:
        raise NoUpstreamAnswer(502, f"{line}: {base} answers no HTTP: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or error
    text = getattr(inner, "strerror", None) or str(inner)
    return " ".join(str(text).split())[:200] or type(error).__name__


def trouble(status: int, sentence: str) -> Response:
    """Return an answer of the recorder itself."""
    body = {"code": status, "msg": f"recorder: {' '.join(sentence.split())}"}
    headers = ((TROUBLE_HEADER, "trouble"), ("Content-Type", "application/json"))
    return Response(status, headers, jsontext.encode(body))


async def fetched(options: ProxyOptions, contract: Contract, request: Request) -> RecordedExchange:
    """Return a request with the service's answer, as they passed. Raises `NoUpstreamAnswer`.

    Connections are not kept: what asks like this asks seldom. The body of the request comes
    without its coding, whose header therefore stays behind.
    """
    kept = [pair for pair in request.headers.items_sent if pair[0].lower() != "content-encoding"]
    sent = replace(request, headers=Headers(tuple(map(as_sent, kept))))
    upstream, began, ticks = Upstream(options, contract), wall_ms(), ticks_ms()
    try:
        async with upstream.answer(sent) as came:
            body = await came.read()
            headers = tuple(
                (header_text(name), header_text(text)) for name, text in came.raw_headers
            )
            response = Response(came.status, headers, body)
    finally:
        await upstream.close()
    return RecordedExchange.unnamed(sent, response, began, ticks_ms() - ticks)


def answer_of(exchange: RecordedExchange) -> Response:
    """Return the answer of a service as a world gives it: without the headers of its connection.

    Its body can be read, where its coding is one that is known here; what came is sent.
    """
    readable = exchange.unpacked()
    response = exchange.response if readable.response_omitted else readable.response
    headers = passed_on(response.headers, HOP_BY_HOP | {"content-length"})
    return replace(response, headers=headers)
