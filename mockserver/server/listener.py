"""A server on a socket, up to its end: no connection outlives it, whoever is at the other side."""

import asyncio
import contextlib
import errno
import socket
from typing import TYPE_CHECKING, Any

from aiohttp.web_server import Server

from mockserver.errors import CannotServe
from mockserver.wording import reason_of

if TYPE_CHECKING:
    import ssl

DRAIN_SECONDS = 0.02
"""How long what is on its way may take once a server has to stop, in seconds.

It is granted twice, before and after the handlers are cancelled. No answer needs longer: each is
made at once and lies in the socket's buffer by then. What lasts is a requested delay, a
body that does not come, or a client that does not read, and for none of these is it right to wait.
"""


# Connections that are accepted in one turn of the loop, and tried where none can be.
_ACCEPTED = 64
# Test runs open many connections at once; the system cuts this to its own limit.
WAITING = 1024
_LAST_PORT = 65_535
# How long clients may take to begin and to end TLS, in seconds: asyncio would wait a minute.
_TLS_BOUNDS = {"ssl_handshake_timeout": 10.0, "ssl_shutdown_timeout": 2.0}


class EndingServer(Server):
    """A server of which no connection is left when its shutdown returns."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stopping = asyncio.Event()
        """Ends streams, which would otherwise go on for ever."""

    def pre_shutdown(self) -> None:
        self.stopping.set()
        super().pre_shutdown()

    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 (aiohttp's)
        """Let what is on its way end within twice `timeout` seconds, then close everything."""
        left = [request_handler.transport for request_handler in self.connections]
        await super().shutdown(timeout)
        for transport in left:
            # aiohttp has closed it, which waits for a client that does not read.
            if transport is not None:
                transport.abort()
        await _two_turns()


class Listener:
    """A server that takes connections from a listening socket."""

    def __init__(
        self,
        server: EndingServer,
        listening: socket.socket,
        tls: "ssl.SSLContext | None" = None,
    ) -> None:
        """Serve what comes to a bound socket, with TLS where there is a context for it.

        `start` has to follow, inside the loop.
        """
        self._server = server
        self._tls: dict[str, Any] = {} if tls is None else {"ssl": tls, **_TLS_BOUNDS}
        self._socket = listening
        self._accepting: asyncio.Server | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    async def start(self) -> None:
        self._accepting = await asyncio.get_running_loop().create_server(
            self._server, sock=self._socket, backlog=_ACCEPTED, **self._tls
        )
        self._socket.listen(WAITING)

    async def stop(self, drain_seconds: float = DRAIN_SECONDS) -> None:
        """Take no more connections, and close those that there are."""
        if self._accepting is None:
            return
        # asyncio loses a connection whose server is closed between the call of `accept` and the
        # next turn of the loop: it leaves the socket open and reports nothing.
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().remove_reader(self._socket)
        await _two_turns()
        self._accepting.close()
        self._server.pre_shutdown()
        await self._server.shutdown(drain_seconds)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound and does not listen yet. Raises `CannotServe`."""
    where = f"{host}:{port}"
    if not 0 <= port <= _LAST_PORT:
        raise CannotServe(f"cannot listen on {where}: a port is a number from 0 to {_LAST_PORT}")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise CannotServe(
            f"cannot listen on {where}: the host is not known here ({error})"
        ) from None
    family, kind, protocol, _, place = addresses[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit it; to set it on each, uvloop would make a socket object.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
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
    return reason_of(error)


async def _two_turns() -> None:
    """Let the loop finish what it has begun: set up accepted connections, report closed ones."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
