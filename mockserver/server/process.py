"""The process: where it listens, how it announces that, and how it ends."""

import asyncio
import contextlib
import gc
import json
import logging
import os
import selectors
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mockserver import jsontext, limits, userfiles
from mockserver.errors import CannotServe
from mockserver.fast_dataclass import dataclass
from mockserver.server.aiohttp_server import HttpServer
from mockserver.server.descriptor_exhaustion import Exhaustion, allow_more_files, most_connections
from mockserver.server.listener import DRAIN_SECONDS, EndingServer, Listener, bound
from mockserver.server.service import Service
from mockserver.standard_streams import give_up_stdout
from mockserver.wording import reason_of

# The thresholds of the garbage collector (docs/decisions/garbage-collection.md).
_THRESHOLDS = (10_000, 5, 10)
# Objects that survive two collections; so many count as long-lived state.
_GROWN = 50_000


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the garbage collector run seldom, and skip long-lived objects."""
    # What is loaded by now lives as long as the process; the collector need not look at it.
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
    gc.callbacks.append(_looked)
    try:
        yield
    finally:
        gc.callbacks.remove(_looked)
        gc.set_threshold(*before)


def _looked(phase: str, info: Mapping[str, int]) -> None:
    """Freeze what has survived two collections, where it is as much as orders make."""
    # Orders and journals have no cycles and need no collector. Connections leave some when they
    # close, so they must not be frozen each time that some are open.
    if phase == "stop" and info["generation"] and len(gc.get_objects(generation=2)) >= _GROWN:
        gc.freeze()


if TYPE_CHECKING:
    import ssl

    from mockserver.server.group_commit import Commits

log = logging.getLogger("mockserver.server")

_QUIET_SECONDS = 0.2
# How many moments to wait for a quiet one; after that, the next step delays clients.
_PATIENCE = 20


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen. Port 0 takes any free one."""

    host: str
    port: int
    ready_file: Path | None = None
    loop: str = "auto"
    """`asyncio`, `uvloop`, or `auto`: uvloop where it is installed."""
    tls: "ssl.SSLContext | None" = None
    """What the server serves TLS with; None for plain HTTP."""

    def address(self, port: int) -> str:
        """Return the base URL, with the port that was taken."""
        return address(self.host, port, self.tls)


class Serving:
    """A service with its server in the running loop, and what goes on behind its answers."""

    def __init__(self, service: Service, server: HttpServer) -> None:
        self.server = server
        steps = service.fetched()
        exhaustion = Exhaustion(server.shed, partial(_fetched_at_once, steps))
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(exhaustion.handle)
        server.watch(most_connections(), exhaustion.crowded)
        # The loop itself holds its tasks weakly.
        self._fetching = loop.create_task(_fetched(steps, server))

    async def stop(self) -> None:
        """Let a commit that is under way end."""
        if self.server.commits is not None:
            await self.server.commits.stop()


def serve(service: Service, listening: Listening, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `announce` gets the ready line with the real address.

    Raises `CannotServe` where it cannot listen.
    """
    begun: list[Serving] = []

    def make_server() -> HttpServer:
        begun.append(Serving(service, HttpServer(service, commits=commits_of(service))))
        return begun[0].server

    async def end() -> None:
        for serving in begun:
            await serving.stop()

    try:
        host(make_server, listening, announce, DRAIN_SECONDS, end)
    finally:
        service.close()


def commits_of(
    service: Service, lock: AbstractContextManager[object] | None = None
) -> "Commits | None":
    """Return what writes the state of a service, inside the running loop; None without state.

    `lock` is held by every thread that works on its worlds, if there are several.
    """
    if service.keeper is None:
        return None
    # SQLite is imported by servers that keep state alone.
    from mockserver.server.group_commit import Commits  # noqa: PLC0415

    return Commits(service.keeper, lock)


async def _fetched(steps: Iterator[None], server: HttpServer) -> None:
    """Fetch what later requests need, so that they find it in memory, at moments without any."""
    try:
        for _ in steps:
            await _quiet(server)
    except OSError as error:
        # It is read when it is needed.
        log.warning("what later requests need cannot be read yet: %s", reason_of(error))
    else:
        log.debug("what requests need is in memory")


def _fetched_at_once(steps: Iterator[None]) -> None:
    """Fetch what is left to fetch, before connections take the last file descriptors."""
    with contextlib.suppress(OSError):
        for _ in steps:
            pass


async def _quiet(server: HttpServer) -> None:
    """Wait until no request has come for a moment, but not for ever."""
    for _ in range(_PATIENCE):
        before = server.requests_count
        await asyncio.sleep(_QUIET_SECONDS)
        if before == server.requests_count:
            break


def host(
    make_server: Callable[[], EndingServer],
    listening: Listening,
    announce: Callable[[str], None],
    drain_seconds: float,
    ending: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve what `make_server` makes, inside the loop, until SIGINT or SIGTERM.

    `drain_seconds` is how long answers that are on their way may take after that, and `ending` is
    awaited at the very end. Raises `CannotServe` where it cannot listen.
    """
    allow_more_files()
    factory = loop_factory(listening.loop)
    with (
        bound(listening.host, listening.port) as listener,
        asyncio.Runner(loop_factory=factory) as runner,
    ):
        runner.run(_host(make_server, listening, listener, announce, drain_seconds, ending))


if sys.platform == "linux":

    class LatestFirst(selectors.EpollSelector):
        """Returns first what became ready last.

        Linux appends what becomes ready to its list of earlier ones, ready again or not. So the
        last connection would stay last, and wait for all others twice.
        """

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            return super().select(timeout)[::-1]


def _asyncio_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "linux":
        return asyncio.SelectorEventLoop(LatestFirst())
    return asyncio.new_event_loop()


def loop_factory(name: str) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes the event loop. Raises `CannotServe`."""
    if name == "asyncio":
        return _asyncio_loop
    try:
        import uvloop  # noqa: PLC0415 - of the extra `speed`
    except ImportError:
        if name == "auto":
            return _asyncio_loop
        raise CannotServe(
            "uvloop is not installed; it comes with the extra 'speed': "
            "pip install 'crosschain-mock[speed]'"
        ) from None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def address(host: str, port: int, tls: "ssl.SSLContext | None" = None) -> str:
    """Return the base URL of a host and a port; a wildcard host is shown as loopback."""
    scheme = scheme_of(tls)
    public = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 (only shown)
    shown = f"[{public}]" if ":" in public.strip("[]") else public
    return f"{scheme}://{shown}:{port}"


def scheme_of(tls: "ssl.SSLContext | None") -> str:
    return "http" if tls is None else "https"


async def _host(
    make_server: Callable[[], EndingServer],
    listening: Listening,
    listener: socket.socket,
    announce: Callable[[str], None],
    drain_seconds: float,
    ending: Callable[[], Awaitable[None]] | None,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    server = Listener(make_server(), listener, listening.tls)
    await server.start()
    url = listening.address(server.port)
    with rarely_collected(), ready_file(listening.ready_file, url):
        announce(url)
        await stop.wait()
        await server.stop(drain_seconds)
        if ending is not None:
            await ending()


@contextlib.contextmanager
def ready_file(path: Path | None, url: str) -> Iterator[None]:
    """Hold a file with the address while the server is ready; it appears whole and goes away."""
    if path is None:
        yield
        return
    claim(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        why = f"cannot write the ready file {str(path)!r}: {reason_of(error)}"
        raise CannotServe(why) from None
    try:
        yield
    finally:
        # Somebody may have put another file there since.
        if _holder(path) == (url, os.getpid()):
            path.unlink(missing_ok=True)


def claim(path: Path | None) -> None:
    """Remove the ready file of a server that is gone, so that it is not read as this one's.

    Raises `CannotServe` where it belongs to a server that runs, or is no such file.
    """
    if path is None:
        return
    if not path.name:
        raise CannotServe("cannot write the ready file '': name a file")
    if not os.path.lexists(path):
        return
    holder = _holder(path)
    if holder is None:
        raise CannotServe(
            f"cannot write the ready file {str(path)!r}: something else is there; "
            "remove it or name another file"
        )
    url, pid = holder
    if pid != os.getpid() and _answers(url):
        raise CannotServe(
            f"cannot write the ready file {str(path)!r}: it belongs to the server on {url} "
            f"(process {pid}); stop that or name another file"
        )
    with contextlib.suppress(OSError):
        path.unlink()


def _holder(path: Path) -> tuple[str, int] | None:
    try:
        content = jsontext.decode(userfiles.read(path, limits.BODY))
        return str(content["url"]), int(content["pid"])
    except (userfiles.NotReadable, jsontext.NotJson, KeyError, TypeError, ValueError):
        return None


def _answers(url: str) -> bool:
    try:
        parts = urlsplit(url)
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=1):
            return True
    except (OSError, ValueError):
        return False


def to_stdout(line: str) -> None:
    """Write one line to standard output at once, also where it is a pipe."""
    try:
        print(line, flush=True)  # noqa: T201 (the one line of a server)
    except (OSError, ValueError) as error:
        # It serves all the same: its starter may read the ready file, or know the port.
        give_up_stdout()
        log.warning("the ready line cannot be written: %s; %s", str(error).lower(), line)
