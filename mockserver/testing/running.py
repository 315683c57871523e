"""A server on a socket: in a thread for everybody, or in the loop of asyncio's users."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mockserver.server.aiohttp_server import HttpServer, RawAnswering
from mockserver.server.listener import Listener, bound
from mockserver.server.process import commits_of
from mockserver.server.service import Service
from mockserver.testing.argument_checks import check_type
from mockserver.testing.locked_access import LockedService
from mockserver.testing.server import MockServer
from mockserver.testing.settings import BadSetting, MockSettings

if TYPE_CHECKING:
    import ssl

    from mockserver.server.capsules import Replayed
    from mockserver.server.group_commit import Commits

_T = TypeVar("_T")
_TIMEOUT_SECONDS = 10


@contextmanager
def running(
    settings: MockSettings | None = None,
    *,
    port: int = 0,
    tls: "ssl.SSLContext | None" = None,
    **changes: Any,
) -> Iterator[MockServer]:
    """Serve in a daemon thread on loopback; port 0 takes any free one.

    With a context of `tls`, which has a certificate for 127.0.0.1, it serves https. Changes are
    settings such as `scenario="outage"`. Raises `CrosschainMockError` for bad ones,
    `CannotServe` where the port is taken.
    """
    mock = _server(settings, port, changes, tls)
    with service_in_thread(mock.locked.service, port, mock.locked, tls) as mock.port:
        yield mock


@contextmanager
def service_in_thread(
    service: Service,
    port: int,
    locked: LockedService | None = None,
    tls: "ssl.SSLContext | None" = None,
) -> Iterator[int]:
    """Answer as `in_thread` does, and write the state of the service where it keeps any.

    `locked` answers for it where other threads use its worlds too.
    """
    answering = locked or service

    async def commits_of_loop() -> "Commits | None":
        return commits_of(service, None if locked is None else locked.lock)

    try:
        with loop_in_thread() as loop:
            commits = _waited_for(loop, commits_of_loop())
            try:
                with listening(loop, answering, port, commits, tls) as taken:
                    yield taken
            finally:
                if commits is not None:
                    _waited_for(loop, commits.stop())
    finally:
        # Last of all, when the loop has written what was to be written.
        service.close()


@contextmanager
def in_thread(answering: RawAnswering, port: int) -> Iterator[int]:
    """Answer in a daemon thread with a loop of its own; yield the port. Raises `CannotServe`."""
    with loop_in_thread() as loop, listening(loop, answering, port) as taken:
        yield taken


@contextmanager
def loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """Run a loop in a daemon thread, for servers that are `listening` in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="crosschain-mock", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        # Not for ever: the thread is a daemon, and a client may hold the loop up.
        thread.join(_TIMEOUT_SECONDS)
        loop.close()


@contextmanager
def listening(
    loop: asyncio.AbstractEventLoop,
    answering: RawAnswering,
    port: int = 0,
    commits: "Commits | None" = None,
    tls: "ssl.SSLContext | None" = None,
) -> Iterator[int]:
    """Answer on loopback in the loop of another thread; yield the port. Raises `CannotServe`."""
    listener = _waited_for(loop, _listening(answering, port, commits, tls))
    try:
        yield listener.port
    finally:
        _waited_for(loop, listener.stop())


def _waited_for(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run_coroutine_threadsafe(work, loop).result(_TIMEOUT_SECONDS)


@asynccontextmanager
async def serving(
    settings: MockSettings | None = None,
    *,
    port: int = 0,
    tls: "ssl.SSLContext | None" = None,
    **changes: Any,
) -> AsyncIterator[MockServer]:
    """Serve in the running loop on loopback, as `running` does in a thread."""
    mock = _server(settings, port, changes, tls)
    commits = commits_of(mock.locked.service, mock.locked.lock)
    try:
        listener = await _listening(mock.locked, port, commits, tls)
        try:
            mock.port = listener.port
            yield mock
        finally:
            await listener.stop()
            if commits is not None:
                await commits.stop()
    finally:
        mock.locked.service.close()


def _server(
    settings: MockSettings | None,
    port: int,
    changes: Mapping[str, Any],
    tls: "ssl.SSLContext | None",
) -> MockServer:
    if not isinstance(settings, MockSettings | None):
        raise BadSetting(f"settings go by name, as in scenario='outage'; got {settings!r}")
    mock = MockServer((settings or MockSettings()).changed(**changes))
    # A test that chose the port knows the address of the default world, and may use it.
    mock.locked.default_used = port != 0
    mock.secure(tls)
    return mock


async def _listening(
    answering: RawAnswering,
    port: int,
    commits: "Commits | None" = None,
    tls: "ssl.SSLContext | None" = None,
) -> Listener:
    server = HttpServer(answering, commits=commits)
    # Loopback by number: `localhost` may be ::1 first, where nothing listens.
    listener = Listener(server, bound("127.0.0.1", port), tls)
    await listener.start()
    return listener


def replay_capsule(file: str | Path) -> "Replayed":
    """Replay a capsule in this process; `divergences` has every answer that differs.

    Raises `BadCapsule`, and `WrongWord` for what names no file.
    """
    from mockserver.server import capsules

    check_type("file", file, str | Path)
    return capsules.replay(capsules.load(Path(file)))
