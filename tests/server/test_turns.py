"""Who comes in a turn of the loop, and what is left of those who have gone."""

import asyncio
import gc
import selectors
import socket
import sys
from asyncio.selector_events import _SelectorSocketTransport  # type: ignore[attr-defined]

import pytest

from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.assembly import Settings, build
from tests.conftest import listening, turns

_GET = b"GET /v1/getChain HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.skipif(sys.platform != "linux", reason="it is about the order in which Linux tells")
def test_who_became_ready_last_is_told_of_first() -> None:
    from mockserver.server.process import LatestFirst  # noqa: PLC0415 - there on Linux alone

    pairs = [socket.socketpair() for _ in range(4)]
    told = []
    for kind in (selectors.EpollSelector, LatestFirst):
        with kind() as selector:
            for ours, _ in pairs:
                selector.register(ours, selectors.EVENT_READ)
            # The first three are told of, and are ready again before the last one is.
            for _, theirs in pairs[:3]:
                theirs.send(b"x")
            assert len(selector.select(0)) == 3
            pairs[3][1].send(b"x")
            told.append([key.fileobj for key, _ in selector.select(0)])
            for ours, _ in pairs:
                ours.recv(10)
    assert told[0][-1] is told[1][0] is pairs[3][0]
    assert told[0] == told[1][::-1]
    for one in (end for pair in pairs for end in pair):
        one.close()


def _transports() -> int:
    return sum(isinstance(one, _SelectorSocketTransport) for one in gc.get_objects())


def test_a_connection_that_was_closed_leaves_nothing_for_the_collector() -> None:
    async def exchanged() -> tuple[int, int]:
        loop = asyncio.get_running_loop()
        server = HttpServer(build(Settings()))
        listener = await listening(lambda: server)
        gc.collect()
        before = _transports()
        gc.disable()
        for _ in range(5):
            with socket.socket() as client:
                client.setblocking(False)
                await loop.sock_connect(client, ("127.0.0.1", listener.port))
                await loop.sock_sendall(client, _GET)
                assert (await loop.sock_recv(client, 100)).startswith(b"HTTP/1.1 200")
        await turns(20)
        assert not server.connections
        after = _transports()
        await listener.stop()
        return before, after

    try:
        before, after = asyncio.run(exchanged())
    finally:
        gc.enable()
    assert after == before
