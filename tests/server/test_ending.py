"""A server that is asked to stop waits for nobody: neither for a delay nor for a silent client."""

import asyncio
import socket

import pytest

from mockserver.clock import ClockMode
from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.assembly import build
from mockserver.server.listener import DRAIN_SECONDS
from tests.conftest import frozen, listening, turns

_DELAYED = "amount=10500400&symbol=USDT&fromChain=ARB&toChain=BNB"
"""A quote whose answer is delayed by half a minute (the reserved amount 10.5004)."""
SENT = {
    "silent": b"",
    "idle": b"GET /v1/checkOrder?id=1 HTTP/1.1\r\nHost: mock\r\n\r\n",
    "delayed": f"GET /v1/getBridgeQuote?{_DELAYED} HTTP/1.1\r\nHost: mock\r\n\r\n".encode(),
    "deaf": b"GET /v1/getAssets HTTP/1.1\r\nHost: mock\r\n\r\n" * 400,
    "half": b'POST /v1/submitTicket HTTP/1.1\r\nHost: mock\r\nContent-Length: 90\r\n\r\n{"hash"',
    "listening": b"GET /__mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


async def _stopped(sent: bytes, drain_seconds: float) -> float:
    """Return how much time a server takes to its end, which passes by this function alone."""
    loop = asyncio.get_running_loop()
    listener = await listening(HttpServer, build(frozen(clock=ClockMode.REAL)))
    with socket.create_connection(("127.0.0.1", listener.port), timeout=60) as client:
        client.sendall(sent)
        await turns(200)
        began, passed = loop.time(), 0.0
        loop.time = lambda: began + passed  # type: ignore[method-assign]
        stop = loop.create_task(listener.stop(drain_seconds))
        while not stop.done():
            await turns(50)
            passed += DRAIN_SECONDS / 2
    return passed


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_it_ends_at_once_whatever_a_connection_waits_for(sent):
    assert asyncio.run(_stopped(sent, DRAIN_SECONDS)) < 4 * DRAIN_SECONDS


def test_a_stream_of_events_ends_with_its_last_chunk():
    async def ended() -> bytes:
        listener = await listening(HttpServer, build(frozen()))
        with socket.create_connection(("127.0.0.1", listener.port), timeout=60) as client:
            client.sendall(SENT["listening"])
            await turns(200)
            await listener.stop()
            return b"".join(iter(lambda: client.recv(65_536), b""))

    answer = asyncio.run(ended())
    assert b"\r\nTransfer-Encoding: chunked\r\n" in answer
    assert answer.endswith(b"\r\n0\r\n\r\n")


def test_a_longer_end_would_be_seen():
    assert asyncio.run(_stopped(SENT["delayed"], 2)) >= 2
