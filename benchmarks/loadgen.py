"""A small client for benchmarks: keep-alive connections, one request in flight on each."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FAR = 2**31


@dataclass(frozen=True, slots=True)
class Load:
    """What a run of requests took: requests answered and wall seconds."""

    requests: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Requests answered a second."""
        return self.requests / self.seconds


async def run(port: int, requests: Iterator[bytes], count: int, connections: int = 8) -> Load:
    """Send `count` requests over keep-alive connections and wait for every answer."""
    remaining = iter(range(count))
    began = time.perf_counter()
    workers = (_worker(port, requests, remaining) for _ in range(connections))
    done = sum(await asyncio.gather(*workers))
    return Load(done, time.perf_counter() - began)


async def _worker(port: int, requests: Iterator[bytes], remaining: Iterator[int]) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_FAR)
    done = 0
    for _ in remaining:
        writer.write(next(requests))
        await _read_answer(reader)
        done += 1
    writer.close()
    return done


async def _read_answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    lowered = head.lower()
    start = lowered.index(b"content-length:") + len(b"content-length:")
    length = int(lowered[start : lowered.index(b"\r\n", start)])
    return await reader.readexactly(length)


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
