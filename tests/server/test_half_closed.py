"""A client that ends its side at once after its last byte, whichever loop the server has."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE_S, WALLET

_HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
LIST = b"GET /v1/getChain" + _HOST + b"\r\n"
FAR = b"GET /w/%b/v1/getChain" + _HOST + b"\r\n"
_POST = (
    b"POST /v1/submitTicket" + _HOST + b"Evmaddress: " + WALLET.encode() + b"\r\nSignature: 00\r\n"
)
_BODY = b'{"hash": "0x%b", "chain": "ARB"}' % (b"41" * 32)
SIZED = _POST + b"Content-Length: %d\r\n\r\n" % len(_BODY) + _BODY
_CHUNKS = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (_BODY[:5], len(_BODY) - 5, _BODY[5:])
CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n" + _CHUNKS
MOVED = b"POST /__mock/clock" + _HOST + b'Content-Length: 16\r\n\r\n{"advance":"1s"}'
LONG = b"POST /v1/submitTicket" + _HOST + b"Content-Length: 200000\r\n\r\n" + b" " * 200_000

STREAMS = {
    "one": (LIST, "l"),
    "pipelined": (LIST * 2, "ll"),
    "more than wait in the queue": (LIST * 100 + SIZED, "l" * 100 + "t"),
    "bodies": (SIZED * 2 + CHUNKED * 2, "tttt"),
    "a list behind a body": (CHUNKED + LIST + SIZED + LIST, "tltl"),
    "changes": (MOVED + LIST + MOVED, "clc"),
    "long bodies": (LONG + LIST + LONG, "rlr"),
    "other worlds": (FAR % b"a" + FAR % b"b" + MOVED + FAR % b"c", "llcl"),
    "ends in a head": (LIST + SIZED + SIZED[:30], "lt"),
    "ends in a body": (LIST + SIZED + SIZED[:-1], "lt"),
    "ends in a chunk": (MOVED + CHUNKED[:-12], "c"),
    "ends in its only body": (SIZED[:-1], ""),
}
"""What is sent, and the kinds of the answers: list, ticket, clock, refusal."""

_KINDS = {b'"nickName":"FSN"': "l", b'"ticketId"': "t", b'"now"': "c", b"\r\nX-Mock-Refusal: ": "r"}


@pytest.fixture(
    params=[
        "uvloop --state FOLDER",
        "uvloop --workers 2",
        *(
            pytest.param(line, marks=pytest.mark.deep)
            for line in ("uvloop", "asyncio", "asyncio --state FOLDER", "asyncio --workers 2")
        ),
    ]
)
def port(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of a server with a loop."""
    loop, *options = request.param.replace("FOLDER", str(tmp_path / "state")).split()
    pytest.importorskip(loop)
    with subprocess.Popen(
        [sys.executable, "-m", "mockserver", "serve", "--port", "0", "--loop", loop, *options],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().split("127.0.0.1:")[1].split()[0])
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


def _kinds(port: int, warm: int, *parts: bytes) -> str:
    """Return the kinds of all answers to what is sent behind so many answered requests."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(warm):
            client.sendall(LIST)
            came = b""
            while not came.endswith(b"}"):
                came += client.recv(65_536)
        for part in parts:
            client.sendall(part)
        client.shutdown(socket.SHUT_WR)
        came = b"".join(iter(lambda: client.recv(65_536), b""))
    kinds = [
        kind for each in came.split(b"HTTP/1.")[1:] for word, kind in _KINDS.items() if word in each
    ]
    return "".join(kinds)


def test_all_that_came_whole_is_answered_before_the_end(port: int) -> None:
    for name, (stream, kinds) in STREAMS.items():
        half = len(stream) // 2
        for warm in (0, 1):
            assert _kinds(port, warm, stream) == kinds, (name, warm)
            assert _kinds(port, warm, stream[:half], stream[half:]) == kinds, (name, warm, "parts")
