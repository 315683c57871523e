"""A client for benchmarks: one request in flight on each connection, timed one by one."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_CLOSING = re.compile(rb"HTTP/1\.0|.*?\r\nconnection: *close", re.IGNORECASE | re.DOTALL)
_SUCCESS = re.compile(rb'^HTTP/1\.[01] 200 .*?\r\n\r\n.*?"code": ?0\b', re.DOTALL)
_PATIENCE_SECONDS = 20

Answered = Callable[[bytes], bytes | None]
"""Given the body of an answer, the next request of the same connection, or None for any."""


class Stuck(Exception):
    """A server that owes answers for too long, or sends what this client cannot read."""


@dataclass(slots=True)
class Load:
    """What a run of requests took: the milliseconds of each, and the wall seconds of all."""

    seconds: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)
    failed: int = 0
    example: bytes = b""
    """One of the answers that failed."""

    @property
    def requests(self) -> int:
        """How many were answered."""
        return len(self.latencies_ms)

    @property
    def per_second(self) -> float:
        """Requests answered a second."""
        return self.requests / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """Return the milliseconds within which that share of the requests was answered."""
        times = sorted(self.latencies_ms)
        return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0


@dataclass(frozen=True, slots=True)
class Flow:
    """Requests without end; `follow` makes the next request of the answer to the last.

    An answer that is no success has failed; where `refused`, one that is a success.
    """

    requests: Iterator[bytes]
    follow: Answered | None = None
    close: bool = False
    refused: bool = False


async def run(port: int, flow: Flow, seconds: float, connections: int = 32) -> Load:
    """Send requests for some seconds and wait for every answer. Raises `Stuck`."""
    load, loop = Load(), asyncio.get_running_loop()
    began = time.perf_counter()
    until = began + seconds
    clients = [_Client(load, flow, until, loop.create_future()) for _ in range(connections)]
    try:
        async with asyncio.timeout(seconds + _PATIENCE_SECONDS):
            await asyncio.gather(*(_lived(client, port) for client in clients))
    except TimeoutError:
        owed = [client for client in clients if not client.done.done()]
        raise Stuck(
            f"{len(owed)} of {connections} answers have not come within {_PATIENCE_SECONDS} s; "
            f"{load.requests} had come; {owed[0].told() if owed else 'no connection was taken'}"
        ) from None
    finally:
        for client in clients:
            client.abort()
    load.seconds = time.perf_counter() - began
    return load


async def _lived(client: "_Client", port: int) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await loop.create_connection(lambda: client, "127.0.0.1", port)
        await client.done
        if not client.again():
            return


class _Client(asyncio.Protocol):
    """One connection that sends a request as soon as the last one is answered."""

    def __init__(self, load: Load, flow: Flow, until: float, done: "asyncio.Future[None]") -> None:
        self._load, self._flow, self._until = load, flow, until
        self.done = done
        self._got = b""
        self._wanted = 0
        self._next: bytes | None = None
        self._request = b""
        self._transport: asyncio.Transport | None = None
        self._sent = 0.0

    def told(self) -> str:
        """Return what it waits for, as people read it."""
        return f"after {self._request[:100]!r} came {self._got[:200]!r}"

    def abort(self) -> None:
        """Leave the connection, where it is still open."""
        if self._transport is not None:
            self._transport.abort()

    def again(self) -> bool:
        """Tell whether there is another connection to make, and get ready for it."""
        if time.perf_counter() >= self._until:
            return False
        self.done = asyncio.get_running_loop().create_future()
        return True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        got = self._got = self._got + data if self._got else data
        if not self._wanted:
            end = got.find(b"\r\n\r\n")
            if end < 0:
                return
            length = _LENGTH.search(got, 0, end)
            if length is None and _CHUNKED.search(got, 0, end):
                self.done.set_exception(
                    Stuck(f"it sends chunks, which are not read: {got[:200]!r}")
                )
                return
            self._wanted = end + 4 + (int(length[1]) if length else 0)
        if len(got) >= self._wanted:
            self._answered(got)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.done.done():
            return
        if self._request:
            self.done.set_exception(Stuck(f"the connection was closed; {self.told()}"))
        else:
            self.done.set_result(None)

    def _answered(self, got: bytes) -> None:
        now = time.perf_counter()
        self._load.latencies_ms.append((now - self._sent) * 1000)
        if (_SUCCESS.match(got) is None) is not self._flow.refused:
            self._load.failed += 1
            self._load.example = got[:300]
        if self._flow.follow is not None:
            self._next = self._flow.follow(got)
        closing = (
            self._flow.close or now >= self._until or _CLOSING.match(got, 0, got.find(b"\r\n\r\n"))
        )
        self._got, self._wanted, self._request = b"", 0, b""
        assert self._transport is not None
        if closing:
            self._transport.close()
        else:
            self._send()

    def _send(self) -> None:
        request = self._request = self._next or next(self._flow.requests)
        self._next = None
        assert self._transport is not None
        self._sent = time.perf_counter()
        self._transport.write(request)


def get(path: str) -> bytes:
    """Return the bytes of a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(path: str, body: bytes, headers: dict[str, str]) -> bytes:
    """Return the bytes of a POST request with a JSON body."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def repeated(make: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield the request made for 0, 1, 2 and so on, without end."""
    number = 0
    while True:
        yield make(number)
        number += 1
