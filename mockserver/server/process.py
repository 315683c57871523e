"""The manners of the process: where it listens, how it says so, and how it ends."""

import asyncio
import contextlib
import errno
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from mockserver.errors import CannotServe
from mockserver.server.http import Answering, HttpServer

DRAIN_SECONDS = 2.0
"""How long answers that are on their way may take once the process was asked to stop."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen. Port 0 takes any free one."""

    host: str = "127.0.0.1"
    port: int = 8765
    ready_file: Path | None = None


def serve(answering: Answering, listening: Listening, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `announce` gets the ready line with the real address.

    Raises `CannotServe` where it cannot listen.
    """
    with _listener(listening) as listener:
        asyncio.run(_serve(answering, listening, listener, announce))


def address(host: str, port: int) -> str:
    """Return the base URL of a host and a port; a wildcard host is shown as loopback."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 (only shown)
    return f"http://[{shown}]:{port}" if ":" in shown.strip("[]") else f"http://{shown}:{port}"


async def _serve(
    answering: Answering,
    listening: Listening,
    listener: socket.socket,
    announce: Callable[[str], None],
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    runner = web.ServerRunner(HttpServer(answering), shutdown_timeout=DRAIN_SECONDS)
    await runner.setup()
    site = web.SockSite(runner, listener, backlog=1024)
    await site.start()
    url = address(listening.host, listener.getsockname()[1])
    # What is loaded by now lives as long as the process; the collector need not look at it again.
    gc.collect()
    gc.freeze()
    with _ready_file(listening.ready_file, url):
        announce(url)
        await stop.wait()
        await site.stop()
        await runner.cleanup()


def _listener(listening: Listening) -> socket.socket:
    where = f"{listening.host}:{listening.port}"
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            listening.host, listening.port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror as error:
        raise CannotServe(
            f"cannot listen on {where}: the host is not known here ({error})"
        ) from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
    except OSError as error:
        listener.close()
        raise CannotServe(f"cannot listen on {where}: {_advice(error)}") from None
    return listener


def _advice(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken; stop what listens there or choose another with --port (0: any)"
    if error.errno == errno.EACCES:
        return "not allowed; ports below 1024 need rights, choose another with --port"
    return (error.strerror or str(error)).lower()


@contextlib.contextmanager
def _ready_file(path: Path | None, url: str) -> Iterator[None]:
    """Hold a file with the address while the server is ready; it appears whole and goes away."""
    if path is None:
        yield
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        raise CannotServe(f"cannot write the ready file {str(path)!r}: {reason}") from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def to_stdout(line: str) -> None:
    """Write one line to standard output at once, also where it is a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
