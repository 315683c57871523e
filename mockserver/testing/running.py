"""A server on a socket: in a thread for everybody, or in the loop of asyncio's users."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from aiohttp import web

from mockserver.errors import CannotServe
from mockserver.server.http import Answering, HttpServer
from mockserver.testing.server import MockServer
from mockserver.testing.settings import MockSettings

_T = TypeVar("_T")
_DRAIN_SECONDS = 0.05
_PATIENCE_SECONDS = 10


@contextmanager
def running(
    settings: MockSettings | None = None, *, port: int = 0, **changes: Any
) -> Iterator[MockServer]:
    """Serve in a daemon thread on loopback; port 0 takes any free one.

    Changes are settings such as `scenario="outage"`. Raises `CrosschainMockError` for bad ones,
    `CannotServe` where the port is taken.
    """
    mock = MockServer((settings or MockSettings()).changed(**changes))
    with in_thread(mock.gate, port) as mock.port:
        yield mock


@contextmanager
def in_thread(answering: Answering, port: int = 0) -> Iterator[int]:
    """Answer in a daemon thread with a loop of its own; yield the port. Raises `CannotServe`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="crosschain-mock", daemon=True)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(_PATIENCE_SECONDS)

    try:
        runner = wait_for(_listen(answering, port))
        try:
            yield runner.addresses[0][1]
        finally:
            wait_for(runner.cleanup())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE_SECONDS)
        loop.close()


@asynccontextmanager
async def serving(
    settings: MockSettings | None = None, *, port: int = 0, **changes: Any
) -> AsyncIterator[MockServer]:
    """Serve in the running loop on loopback, as `running` does in a thread."""
    mock = MockServer((settings or MockSettings()).changed(**changes))
    runner = await _listen(mock.gate, port)
    try:
        mock.port = runner.addresses[0][1]
        yield mock
    finally:
        await runner.cleanup()


async def _listen(answering: Answering, port: int) -> web.ServerRunner:
    runner = web.ServerRunner(HttpServer(answering), shutdown_timeout=_DRAIN_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        reason = (error.strerror or str(error)).lower()
        raise CannotServe(f"cannot listen on 127.0.0.1:{port}: {reason}") from None
    return runner
