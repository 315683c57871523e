"""Messages between the processes of a server, with open sockets in them."""

import array
import json
import os
import socket
import struct
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json

# Linux keeps the order and drops nothing on both; the queue of a datagram socket has ten places.
_KIND = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_BUFFER = 4 * 1024 * 1024
# Larger ones are put into a file without a name, and its descriptor is sent: the system takes no
# message that is longer than the buffer, whose size it cuts to its own limit.
_MOST = 32_768
_HEAD = struct.Struct("!IB")


@dataclass(slots=True)
class Message:
    """A message: `kind` says what it is; `files` are descriptors that whoever takes it closes."""

    kind: str
    values: dict[str, Json] = field(default_factory=dict)
    body: bytes = b""
    files: tuple[int, ...] = ()

    def close(self) -> None:
        for number in self.files:
            os.close(number)
        self.files = ()


class Channel:
    """An inbox for each process, which outlives it: one that is started again finds its messages.

    Made before the processes are forked, so that all of them have it.
    """

    def __init__(self, inboxes: int) -> None:
        self._pairs = [socket.socketpair(socket.AF_UNIX, _KIND) for _ in range(inboxes)]
        for pair in self._pairs:
            for end in pair:
                end.setblocking(False)
                for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    end.setsockopt(socket.SOL_SOCKET, option, _BUFFER)

    def fileno(self, inbox: int) -> int:
        """Return the descriptor that is readable while there are messages."""
        return self._pairs[inbox][0].fileno()

    def post(self, inbox: int, message: Message) -> bool:
        """Put a message into an inbox; return whether there was room.

        The files of the message stay open here.
        """
        head = json.dumps([message.kind, message.values]).encode()
        body, files = message.body, list(message.files)
        apart = len(head) + len(body) > _MOST
        if apart:
            spilled = _spilled(head + body)
            files.append(spilled)
            packet = _HEAD.pack(len(head), 1)
        else:
            packet = _HEAD.pack(len(head), 0) + head + body
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
            self._pairs[inbox][1].sendmsg([packet], rights if files else [])
        except (BlockingIOError, InterruptedError):
            return False
        finally:
            if apart:
                os.close(spilled)
        return True

    def take(self, inbox: int) -> Message | None:
        """Return the next message of an inbox; None without any."""
        try:
            packet, files, _, _ = socket.recv_fds(self._pairs[inbox][0], 2 * _MOST, 4)
        except (BlockingIOError, InterruptedError):
            return None
        if not packet:
            return None
        size, apart = _HEAD.unpack_from(packet)
        content = packet[_HEAD.size :]
        if apart:
            content = _read(files.pop())
        kind, values = json.loads(content[:size])
        return Message(kind, values, content[size:], tuple(files))

    def close_inboxes(self, kept: Sequence[int]) -> None:
        """Close the inboxes of other processes here; messages to them can still be sent."""
        for number, (inbox, _) in enumerate(self._pairs):
            if number not in kept:
                inbox.close()


def _spilled(content: bytes) -> int:
    """Return the descriptor of a file without a name that has a content."""
    if hasattr(os, "memfd_create"):
        number = os.memfd_create("crosschain-mock")
    else:
        file, path = tempfile.mkstemp()
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 (a descriptor, no path)
        number = file
    with open(number, "wb", closefd=False) as file_of:
        file_of.write(content)
    return number


def _read(number: int) -> bytes:
    with open(number, "rb") as file:
        file.seek(0)
        return file.read()
