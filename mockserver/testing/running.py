"""A server on a socket: in a thread for everybody, or in the loop of asyncio's users."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mockserver.server import capsules
from mockserver.server.capsules import Replayed
from mockserver.server.http import HttpServer, RawAnswering
from mockserver.server.listener import Listener, bound
from mockserver.testing.arguments import check_type
from mockserver.testing.server import MockServer
from mockserver.testing.settings import BadSetting, MockSettings

_T = TypeVar("_T")
_TIMEOUT_SECONDS = 10


@contextmanager
def running(
    settings: MockSettings | None = None, *, port: int = 0, **changes: Any
) -> Iterator[MockServer]:
    """Serve in a daemon thread on loopback; port 0 takes any free one.

    Changes are settings such as `scenario="outage"`. Raises `CrosschainMockError` for bad ones,
    `CannotServe` where the port is taken.
    """
    mock = _server(settings, port, changes)
    with in_thread(mock.locked, port) as mock.port:
        yield mock


@contextmanager
def in_thread(answering: RawAnswering, port: int) -> Iterator[int]:
    """Answer in a daemon thread with a loop of its own; yield the port. Raises `CannotServe`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="crosschain-mock", daemon=True)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(_TIMEOUT_SECONDS)

    try:
        listener = wait_for(_listening(answering, port))
        try:
            yield listener.port
        finally:
            wait_for(listener.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_TIMEOUT_SECONDS)
        loop.close()


@asynccontextmanager
async def serving(
    settings: MockSettings | None = None, *, port: int = 0, **changes: Any
) -> AsyncIterator[MockServer]:
    """Serve in the running loop on loopback, as `running` does in a thread."""
    mock = _server(settings, port, changes)
    listener = await _listening(mock.locked, port)
    try:
        mock.port = listener.port
        yield mock
    finally:
        await listener.stop()


def _server(settings: MockSettings | None, port: int, changes: Mapping[str, Any]) -> MockServer:
    if not isinstance(settings, MockSettings | None):
        raise BadSetting(f"settings go by name, as in scenario='outage'; got {settings!r}")
    mock = MockServer((settings or MockSettings()).changed(**changes))
    # A test that chose the port knows the address of the default world, and may use it.
    mock.locked.default_used = port != 0
    return mock


async def _listening(answering: RawAnswering, port: int) -> Listener:
    listener = Listener(HttpServer(answering), bound("127.0.0.1", port))
    await listener.start()
    return listener


def replay_capsule(file: str | Path) -> Replayed:
    """Replay a capsule in this process; `divergences` has every answer that differs.

    Raises `BadCapsule`, `InvalidFile`, and `WrongWord` for what names no file.
    """
    check_type("file", file, str | Path)
    return capsules.replay(capsules.load(Path(file)))
