"""Reads requests from a connection, and refuses what cannot be read."""

import asyncio
import re
from collections.abc import Callable

from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.web_protocol import RequestPayloadError
from aiohttp.web_request import BaseRequest
from multidict import MultiMapping

from mockserver import limits
from mockserver.http_messages import Request
from mockserver.server.aiohttp_requests import invite_body

# A name or an address, IPv6 in brackets, and a port; a client that knows none sends nothing.
_HOST = re.compile(
    r"(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::[0-9]*)?", re.ASCII | re.IGNORECASE
)
_SPOKEN = (HttpVersion11, HttpVersion10)


class UnreadableRequest(Exception):
    """A request that is refused before its content is looked at."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def has_host(headers: MultiMapping[str]) -> bool:
    """Tell whether a host can be named so (RFC 9112, section 3.2); the parser asks for one."""
    return _HOST.fullmatch(headers.get("Host", "")) is not None


def _check(http: BaseRequest, request: Request) -> None:
    _check_version(http)
    if not has_host(http.headers):
        host = http.headers["Host"][:80]
        raise UnreadableRequest(
            "bad-http", f"header 'Host': expected a host and a port, got {host!a}"
        )
    size = request.headers.size
    if size > limits.HEAD.most:
        raise UnreadableRequest(
            "head-too-large", f"the headers have {size} bytes, expected at most {limits.HEAD.most}"
        )
    # Separators are counted: reading thousands of parameters to count them takes too long.
    if request.query.count("&") >= limits.PARAMETERS.most:
        raise UnreadableRequest("head-too-large", f"the query has more than {limits.PARAMETERS}")
    coding = request.headers.get("Transfer-Encoding", "chunked")
    if coding.strip().lower() != "chunked":
        raise UnreadableRequest(
            "bad-http", f"Transfer-Encoding {coding[:80]!a} is not read here; send 'chunked' alone"
        )


def _check_version(http: BaseRequest) -> None:
    """Raise `UnreadableRequest` for HTTP 0.9 and 2.0, which the parser takes, too."""
    # Not its property `version`, which caches its value before this sets it.
    version = http._version
    if version not in _SPOKEN:
        # The status line has this version, and clients could not read an answer of another one.
        http._version = HttpVersion10
        raise UnreadableRequest(
            "bad-http", f"HTTP/{version.major}.{version.minor} is not spoken here; use HTTP/1.1"
        )


async def body_of(
    http: BaseRequest, request: Request, most: Callable[[Request], int]
) -> bytes | None:
    """Return the body as it came, up to a bound, or None where there is none.

    Raises `UnreadableRequest`, also for a head that is not read here although the parser took it.
    """
    _check(http, request)
    # A body that broke before it was read counts as ended, too.
    if not http.can_read_body and http.content.exception() is None:
        return None
    return await _read(http, most(request))


async def _read(http: BaseRequest, most: int) -> bytes:
    if (http.content_length or 0) > most:
        raise too_large(most)
    invite_body(http)
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.BODY_WAIT.most):
            async for part in http.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > most:
                    raise too_large(most)
    except RequestPayloadError as error:
        raise UnreadableRequest("bad-http", " ".join(str(error).split())) from None
    except TimeoutError:
        reason = f"the body did not arrive within {limits.BODY_WAIT}"
        raise UnreadableRequest("request-timeout", reason) from None
    return b"".join(parts)


def too_many_values(body: bytes) -> UnreadableRequest | None:
    """Return the refusal of a body whose JSON has so many values that others would wait for it.

    The commas are counted, which takes no time beside reading the values. Those in texts count as
    well: no text of an operation has thousands.
    """
    most = limits.VALUES.most
    if len(body) <= 2 * most or body.count(b",") < most:
        return None
    reason = f"the JSON of the body has more than {most} members and items"
    return UnreadableRequest("body-too-large", reason)


def too_large(most: int) -> UnreadableRequest:
    """Return the refusal of a body that has more than `most` bytes."""
    reason = f"the body has more than {most} bytes, expected at most that many"
    return UnreadableRequest("body-too-large", reason)
