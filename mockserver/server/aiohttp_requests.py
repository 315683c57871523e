"""Requests as aiohttp's parser leaves them, as the plain values that the service takes."""

from collections.abc import Iterable
from typing import Protocol

from aiohttp.http import HttpVersion11
from aiohttp.web_request import BaseRequest
from multidict import CIMultiDict, CIMultiDictProxy

from mockserver.http_messages import Headers, Request, Response
from mockserver.responders.answer_delivery import Delivery


class RawAnswering(Protocol):
    """What stands behind the socket: plain requests in, plain answers out, never waiting."""

    def respond(self, request: Request) -> Response | Delivery:
        """Return the answer to a request, or its `Delivery` where it is not sent at once."""

    def most_bytes(self, request: Request) -> int:
        """Return how many bytes the body of a request may have, of which the head has come."""

    def prepared(self, request: Request) -> Request:
        """Return a request with what is made of its long body; another thread calls this."""

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the refusal of a request that could not be read."""


class WireHeaders(Headers):
    """Header fields as the parser keeps them; no copy is made of them until all are requested."""

    __slots__ = ("_wire",)

    def __init__(self, wire: "CIMultiDictProxy[str] | CIMultiDict[str]") -> None:
        self._wire = wire
        self.lowered = wire.get
        self.size = sum(map(len, wire.keys())) + sum(map(len, wire.values()))

    @property
    def items_sent(self) -> tuple[tuple[str, str], ...]:
        """The fields in the order sent."""
        # The parser's names are of its own subclass of `str`.
        return tuple((str(name), value) for name, value in self._wire.items())

    def __getitem__(self, name: str) -> str:
        return self._wire[name]

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return the first field of a name, in any case, or the default."""
        return self._wire.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._wire

    def __iter__(self) -> Iterable[str]:  # type: ignore[override]
        return iter(dict.fromkeys(name.lower() for name in self._wire))

    def __len__(self) -> int:
        return len({name.lower() for name in self._wire})

    def repeats(self) -> bool:
        """Tell whether a field was sent more than once."""
        return len(self) < len(self._wire)

    def count(self, name: str) -> int:
        return len(self._wire.getall(name, ()))

    def values_sent(self) -> Iterable[str]:
        """Return the values in the order sent."""
        return self._wire.values()


def head_of(http: BaseRequest) -> Request:
    """Return the plain request of a head that was read, without its body."""
    return request_of(http.method, http.raw_path, WireHeaders(http.headers))


def request_of(method: str, target: str, headers: WireHeaders, body: bytes = b"") -> Request:
    if target[:1] != "/" or "#" in target:
        target = plain_target(target)
    path, _, query = target.partition("?")
    return Request(method, path, query, headers, body)


def plain_target(raw: str) -> str:
    """Return the path and query of a request target, also of one in absolute form."""
    raw = raw.partition("#")[0]
    if not raw[:8].lower().startswith(("http://", "https://")):
        return raw
    _, slash, rest = raw.partition("://")[2].partition("/")
    return f"{slash}{rest}" or "/"


def invite_body(http: BaseRequest) -> None:
    """Send `100 Continue` for a body that the client holds back (RFC 9110, section 10.1.1)."""
    expects = http.headers.get("Expect", "").lower() == "100-continue"
    if expects and http.version == HttpVersion11 and not http.content.total_bytes:
        transport = http.transport
        if transport is not None:
            transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
