"""The fast lane and the ordinary road give the same bytes for the same stream, however it comes."""

import asyncio
import io
import itertools
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from mockserver.clock import ClockMode
from mockserver.http_messages import plain_request
from mockserver.server import fast_lane
from mockserver.server.aiohttp_requests import WireHeaders
from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.assembly import Settings, build
from mockserver.server.repeated_request_parsing import Repeated
from tests.conftest import START_MS, costly, listening, turns

_DATE = re.compile(rb"(?<=\r\nDate: )[^\r]*|(?<=\r\nX-Mock-Epoch: )[^\r]*")
_LAST = b"GET /__mock/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_GET = b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\n\r\n"
_POST = b"POST /v1/submitTicket HTTP/1.1\r\nHost: a\r\n"
PIECES = (
    _GET,
    b"GET /v1/getPrice?chain=BNB HTTP/1.1\r\nHost: a\r\nX-Mock-World: other\r\n\r\n",
    b"GET /w/x%20y/v1/getChain HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://a/v1/getAssets?x=%ff#y HTTP/1.1\r\nHost: a\r\n\r\n",
    b"HEAD /v1/getChain HTTP/1.1\r\nHost: a\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\nAccess-Control-Request-Method: GET\r\n\r\n",
    b"GET /v1/getChain HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"GET /v1/getChain HTTP/1.0\r\n\r\n",
    b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET /__mock/journal HTTP/1.1\r\nHost: localhost\r\n\r\n",
    _POST + b"Content-Length: 2\r\n\r\n{}",
    _POST + b"Content-Length: 0\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    _POST + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    _POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    _POST + b"Content-Length: 70000\r\n\r\n" + b" " * 70_000,
    _POST + b"Content-Length: x\r\n\r\n",
    b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\na b: c\r\n\r\n",
    b"\x16\x03\x01\r\n\r\n",
    b"\r\n",
)
LINES = (
    b"get /v1/getChain HTTP/1.1",
    b"GET  /v1/getChain HTTP/1.1",
    b"GET /v1/getChain  HTTP/1.1",
    b"GET /v1/getChain HTTP/1.0",
    b"GET /v1/getChain HTTP/1.2",
    b"GET /v1/getChain HTTP/1.1 ",
    b"GET /v1/get Chain HTTP/1.1",
    b"GET /v1/getChain#x HTTP/1.1",
    b"GET //a/v1/getChain HTTP/1.1",
    b"GET http://a/v1/getChain HTTP/1.1",
    b"GET /v1/get\x7fChain HTTP/1.1",
    b"GET /v1/get\x00Chain HTTP/1.1",
    b"GET /v1/get\nChain HTTP/1.1",
    b"GET /v1/get\rChain HTTP/1.1",
    b"GET /v1/get\xc3\xa9Chain HTTP/1.1",
    b"GET * HTTP/1.1",
    b"HEAD /v1/getChain HTTP/1.1",
    b"POST /v1/getChain HTTP/1.1",
    b"GET / HTTP/1.1\r\nX: y",
)
"""Request lines that only the parser reads, whatever fields follow them."""


class _Noting(asyncio.Protocol):
    """Notes how many bytes the server has taken, and whether it takes no more."""

    def __init__(self, inner: asyncio.Protocol) -> None:
        self._inner = inner
        self.taken, self.is_over = 0, False
        self.transport: asyncio.BaseTransport | None = None
        self.pause_writing = inner.pause_writing  # type: ignore[method-assign]
        self.resume_writing = inner.resume_writing  # type: ignore[method-assign]
        self.eof_received = inner.eof_received  # type: ignore[method-assign]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.taken += len(data)
        self._inner.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self._inner.connection_lost(exc)

    def has_taken(self, count: int) -> bool:
        """Tell whether it has taken so much, or takes nothing any more."""
        is_closing = self.transport is not None and self.transport.is_closing()
        return self.taken >= count or self.is_over or is_closing


class _NotingServer(HttpServer):
    """A server that can be asked what became of its last connection."""

    last: _Noting | None = None

    def __call__(self) -> Any:
        self.last = _Noting(super().__call__())
        return self.last


@dataclass(frozen=True)
class _Place:
    """Where a server listens, and the server."""

    port: int
    server: _NotingServer

    async def took(self, count: int) -> None:
        """Wait until the server has taken so many bytes."""
        async with asyncio.timeout(60):
            while self.server.last is None or not self.server.last.has_taken(count):
                await turns(1)


@asynccontextmanager
async def _served(*, fast: bool) -> AsyncIterator[_Place]:
    # Answers that are checked take the long way through the service as well.
    settings = Settings(clock=ClockMode.FROZEN, start_ms=START_MS, check_answers=not fast)
    service = build(settings)
    server = _NotingServer(service, lane=fast)
    listener = await listening(lambda: server)
    try:
        yield _Place(listener.port, server)
    finally:
        await listener.stop()


async def _exchanged(place: _Place, parts: list[bytes]) -> bytes:
    """Return what came, whether its end or a reset followed.

    A server that closes a connection before it has read all of it resets it. A socket keeps what
    came before that; a stream of asyncio forgets it where it notices early enough.
    """
    loop, came, sent = asyncio.get_running_loop(), b"", 0
    place.server.last = None
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", place.port))
        with suppress(ConnectionError):
            for part in parts:
                await loop.sock_sendall(client, part)
                sent += len(part)
                # The server takes each part before the next one comes: what it says of broken HTTP
                # shows what it had taken at once.
                await place.took(sent)
        with suppress(ConnectionError):
            async with asyncio.timeout(60):
                while part := await loop.sock_recv(client, 65_536):
                    came += part
    return _DATE.sub(b"-", came)


async def _both(parts: list[bytes]) -> tuple[bytes, bytes]:
    found = []
    for fast in (True, False):
        async with _served(fast=fast) as place:
            found.append(await _exchanged(place, parts))
    return found[0], found[1]


def _without_chunks(stream: bytes) -> bytes:
    """Return answers as if none came in chunks: a journal does where making it takes a while."""
    before, chunked, after = stream.partition(b"Transfer-Encoding: chunked\r\n")
    if not chunked:
        return stream
    head, end, content = after.partition(b"\r\n\r\n")
    reader, parts = io.BytesIO(content), [before, head, end]
    while size := int(reader.readline(), 16):
        parts.append(reader.read(size))
        assert reader.readline() == b"\r\n"
    assert reader.readline() == b"\r\n"
    return b"".join(parts) + _without_chunks(reader.read())


def _untimed(stream: bytes) -> bytes:
    """Return answers without how long requests took, where a journal tells that.

    It decides how long the answer is, and whether it comes in chunks.
    """
    if b'"durationMs"' not in stream:
        return stream
    timed = rb'"durationMs": ?[\d.]+|Content-Length: \d+\r\n'
    return re.sub(timed, b"", _without_chunks(stream))


def _cut(stream: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(stream), *(place % len(stream) for place in places)})
    return [stream[one:other] for one, other in itertools.pairwise(bounds)]


def test_the_lane_is_there_for_this_aiohttp() -> None:
    assert fast_lane.is_possible()


@costly(16, 1000)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5),
    st.lists(st.integers(0, 100_000), max_size=8),
)
def test_every_stream_gets_the_same_bytes_on_both_roads(pieces, places) -> None:
    fast, ordinary = asyncio.run(_both(_cut(b"".join(pieces) + _LAST, places)))
    assert _untimed(fast) == _untimed(ordinary)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.deep(quick=6)
def test_a_request_line_before_fields_that_came_before_is_read_as_ever(line) -> None:
    parts = [_GET, _GET, line + _GET[_GET.index(b"\r\n") :], _GET, _LAST]
    fast, ordinary = asyncio.run(_both(parts))
    assert _untimed(fast) == _untimed(ordinary)


@costly(8, 500)
@given(st.lists(st.sampled_from((*PIECES[:18], *LINES)), min_size=1, max_size=6))
def test_requests_one_after_the_other_get_the_same_bytes(pieces) -> None:
    parts = [one if one in PIECES else one + b"\r\nHost: a\r\n\r\n" for one in pieces]
    fast, ordinary = asyncio.run(_both([_GET, *parts, _JOURNAL, _LAST]))
    assert _untimed(fast) == _untimed(ordinary)


def test_fields_that_repeat_are_read_once() -> None:
    repeated, headers = Repeated(), WireHeaders(CIMultiDict({"Host": "a"}))
    assert repeated.request(_GET) is None
    repeated.remember(_GET, headers)
    found = repeated.request(b"GET /v1/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert found is not None
    assert (found.method, found.path, found.query) == ("GET", "/v1/x", "y=1")
    assert found.headers.items_sent == headers.items_sent
    assert plain_request(found.raw) == found == replace(found, path="/v1/x")
    repeated.remember(_GET + _GET, headers)
    assert repeated.request(_GET + _GET) is None
    # A head that has not come to its end.
    assert [repeated.request(_GET[:-count]) for count in range(1, 5)] == [None] * 4
    for line in LINES:
        assert repeated.request(line + b"\r\nHost: a\r\n\r\n") is None


_JOURNAL = b"GET /__mock/journal HTTP/1.1\r\nHost: localhost\r\n\r\n"
_LIKE = (
    b"POST /v1/submitTicket HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nSignature: %b\r\n"
    b"Content-Length: %b\r\n\r\n%b"
)


@costly(8, 500)
@given(st.data())
def test_requests_that_differ_in_values_get_the_same_bytes(data) -> None:
    parts = [_LIKE % (b"first", b"2", b"{}")]
    for _ in range(data.draw(st.integers(1, 8))):
        body = data.draw(st.sampled_from([b"{}", b'{"chain": "BNB"}', b"", b"\r\n\r\n"]))
        length = data.draw(st.sampled_from([b"%d" % len(body)] * 6 + [b"0%d" % len(body), b"1"]))
        value = data.draw(st.sampled_from([b"two", b"3", b"a b", b" c ", b"", b"\xe9", b"d\te"]))
        request = _LIKE % (value, length, body)
        before, after = data.draw(
            st.sampled_from(
                [(b"", b"")] * 6
                + [
                    (b"keep-alive", b"close"),
                    (b"Connection: keep-alive", b"Transfer-Encoding: chunked"),
                    (b"Connection: keep-alive", b"Content-Encoding: gzip"),
                    (b"Signature: ", b"Signature:"),
                    (b"Signature", b"Host"),
                    (b"Signature", b"X-Mock-World"),
                    (b"POST ", b"GET "),
                    (b"HTTP/1.1", b"HTTP/1.0"),
                    (b"Host: a\r\n", b""),
                ]
            )
        )
        parts.append(request.replace(before, after, 1))
    fast, ordinary = asyncio.run(_both([*parts, _JOURNAL, _LAST]))
    assert _untimed(fast) == _untimed(ordinary)


def test_the_journal_tells_of_a_request_like_others_what_came() -> None:
    sent = _LIKE % (b"first: a", b"13", b'{"chain": ""}')
    [told, again] = [sent, sent.replace(b"first", b"second")]
    get = _GET.replace(b" HTTP", b"?a=%20b HTTP", 1)
    fast, _ = asyncio.run(_both([told, again, _GET, get, _JOURNAL, _LAST]))
    journal = _without_chunks(fast).decode().partition('{"last":')
    page, _ = json.JSONDecoder().raw_decode("".join(journal[1:]))
    requests = [entry["request"] for entry in page["entries"]]
    assert [one["method"] for one in requests] == ["POST", "POST", "GET", "GET"]
    assert ["Signature", "redacted"] in requests[1]["headers"]
    assert requests[1]["headers"] == requests[0]["headers"]
    assert requests[1]["body"] == {"chain": ""}
    assert requests[3]["query"] == [["a", " b"]]
    assert requests[3]["headers"] == requests[2]["headers"]


def test_fields_may_differ_in_values_that_say_nothing_of_the_way() -> None:
    repeated = Repeated()
    first = _LIKE % (b"first", b"2", b"{}")
    items = [("Host", "a"), ("Connection", "keep-alive"), ("Signature", "first")]
    repeated.remember(first, WireHeaders(CIMultiDict([*items, ("Content-Length", "2")])))
    # What is alone in being new is known of the second of them, and looked for in the others.
    for value in ("second", "third_", "fourth", "a-five", "sixth6"):
        found = repeated.request(_LIKE % (value.encode(), b"4", b"{  }"))
        assert found is not None
        assert (found.method, found.body) == ("POST", b"{  }")
        again = plain_request(found.raw)
        assert again == found
        assert again.headers.items_sent == found.headers.items_sent
        assert found.headers.lowered("signature") == value
        assert found.headers.size == len("HostaConnectionkeep-aliveSignaturesecondContent-Length4")
    assert repeated._framed(
        b"Host: a\r\nConnection: keep-alive\r\nSignature: 7\r\nContent-Length: 4", "4"
    )
    for odd in (
        _LIKE % (b"second", b"4", b"{}"),
        _LIKE % (b"second", b"04", b"{  }"),
        _LIKE % (b"", b"2", b"{}"),
        _LIKE % (b"x\x7f", b"2", b"{}"),
        first.replace(b"keep-alive", b"close"),
        first.replace(b"Signature", b"signature"),
        first.replace(b"Host: a\r\n", b""),
        first.replace(b"Host: a\r\n", b"Host: a\r\nHost: a\r\n"),
        first.replace(b"Host: a\r\n", b"Host: a\r\nHost: b\r\n"),
        first.replace(b"POST", b"PUT"),
        first.replace(b"{}", b"{}GET"),
        (_LIKE % (b"7", b"4", b"{ }")),
        (_LIKE % (b"7", b"4", b"{  }")).replace(b"7", b"7 "),
        first[:-2],
    ):
        assert repeated.request(odd) is None, odd


def test_as_many_sets_of_names_are_tried_as_are_kept() -> None:
    repeated = Repeated()
    raws = [f"GET /a HTTP/1.1\r\nHost: a\r\nX-{number}: b" for number in range(9)]
    for number, raw in enumerate(raws):
        headers = WireHeaders(CIMultiDict([("Host", "a"), (f"X-{number}", "b")]))
        repeated.remember(f"{raw}\r\n\r\n".encode(), headers)
    found = [repeated.request(f"{raw}c\r\n\r\n".encode()) for raw in raws]
    assert [one is None for one in found] == [True] + [False] * 8
    assert found[8] is not None
    assert found[8].headers.items_sent == (("Host", "a"), ("X-8", "bc"))


@costly(8, 500)
@given(st.data())
def test_damaged_streams_get_the_same_bytes_on_both_roads(data) -> None:
    stream = bytearray(b"".join(data.draw(st.lists(st.sampled_from(PIECES[:12]), max_size=3))))
    stream += _LAST
    for place in data.draw(st.lists(st.integers(0, len(stream) - 1), max_size=3)):
        stream[place] = data.draw(st.integers(0, 255))
    stream += b"\r\n\r\n" + _LAST
    places = data.draw(st.lists(st.integers(0, 100_000), max_size=4))
    fast, ordinary = asyncio.run(_both(_cut(bytes(stream), places)))
    assert _untimed(fast) == _untimed(ordinary)


@pytest.mark.parametrize("piece", PIECES, ids=range(len(PIECES)))
@pytest.mark.deep(quick=6)
def test_a_stream_byte_by_byte_gets_the_same_bytes(piece) -> None:
    head = [bytes([byte]) for byte in piece[:300]]
    parts = [*head, piece[300:], *(bytes([byte]) for byte in _LAST)]
    fast, ordinary = asyncio.run(_both(parts))
    assert _untimed(fast) == _untimed(ordinary)


def test_a_request_that_comes_before_the_ordinary_road_has_begun_is_answered_at_once() -> None:
    """As uvloop delivers it where a client sends right after it has connected."""

    async def answered() -> tuple[bytes, bytes]:
        server = HttpServer(build(Settings(clock=ClockMode.FROZEN, start_ms=START_MS)))
        ours, theirs = socket.socketpair()
        loop, connection = asyncio.get_running_loop(), server()
        theirs.setblocking(False)
        transport, _ = await loop.connect_accepted_socket(asyncio.Protocol, ours)
        with theirs:
            transport.set_protocol(connection)
            connection.connection_made(transport)
            connection.data_received(_GET)
            at_once = theirs.recv(65_536)
            await loop.sock_sendall(theirs, _GET)
            later = await loop.sock_recv(theirs, 65_536)
            transport.abort()
            await turns(2)
        return _DATE.sub(b"-", at_once), _DATE.sub(b"-", later)

    at_once, later = asyncio.run(answered())
    assert at_once.startswith(b"HTTP/1.1 200 OK")
    assert at_once == later


def test_a_client_that_does_not_read_is_left_to_the_ordinary_road() -> None:
    async def flooded(*, fast: bool) -> int:
        async with _served(fast=fast) as place:
            reader, writer = await asyncio.open_connection("127.0.0.1", place.port, limit=2**16)
            count = 600
            for _ in range(count):
                writer.write(_GET)
            writer.write(_LAST)
            got = await asyncio.wait_for(reader.read(), 60)
            writer.close()
            return got.count(b"HTTP/1.1 200 OK") - count

    assert asyncio.run(flooded(fast=True)) == asyncio.run(flooded(fast=False)) == 1


def test_an_answer_that_is_cut_takes_the_ordinary_road_and_has_one_effect() -> None:
    fault = b'{"kind": "truncated-body", "operation": "v2.getChain", "first": 1}'
    head = b"POST /__mock/faults HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b"

    async def cut(*, fast: bool) -> list[bytes]:
        async with _served(fast=fast) as place:
            told = await _exchanged(place, [head % (len(fault), fault), _LAST])
            first = await _exchanged(place, [_GET])
            shown = b"GET /__mock/faults HTTP/1.1\r\nHost: localhost\r\n\r\n"
            return [told, first, await _exchanged(place, [_GET, _LAST, shown])]

    quick = asyncio.run(cut(fast=True))
    assert quick == asyncio.run(cut(fast=False))
    assert quick[1].startswith(b"HTTP/1.1 200 OK")
    assert len(quick[1]) < len(quick[2])
