"""Connections whose TLS stays in one process, while another one answers their requests.

The keys of a connection are in the process that has accepted it and cannot be handed over. So the
bytes go on, decrypted, through a pair of sockets of which the other process has one end.
"""

import asyncio
import socket
import struct
from collections.abc import Callable


class _RelayEnd(asyncio.Protocol):
    """Writes what comes to one side of a relayed connection to the other one."""

    def __init__(self, onto: asyncio.Transport) -> None:
        self._onto = onto

    def data_received(self, data: bytes) -> None:
        self._onto.write(data)

    def pause_writing(self) -> None:
        """Read no more from the other side, whose bytes this one does not take now."""
        if not self._onto.is_closing():
            self._onto.pause_reading()

    def resume_writing(self) -> None:
        if not self._onto.is_closing():
            self._onto.resume_reading()


class Outside(_RelayEnd):
    """The side of the client, with TLS."""

    def __init__(self, onto: asyncio.Transport, ended: Callable[[], None]) -> None:
        super().__init__(onto)
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()
        self._onto.close()


class Inside(_RelayEnd):
    """The side of the process that answers."""

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection of the client as that process has ended this one."""
        raw = self._onto.get_extra_info("socket")
        if raw is None:
            return
        try:
            resets = struct.unpack("ii", raw.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))[0]
        except OSError:
            # The client is gone.
            resets = False
        if resets:
            self._onto.abort()
        else:
            self._onto.close()
