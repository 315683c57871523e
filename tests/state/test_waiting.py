"""What a client sees whose answer waits for the disk, whatever it does meanwhile."""

import json
import signal
import socket
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest

from benchmarks import loadgen
from tests.conftest import PATIENCE_S, order
from tests.state.conftest import SIGNED, Server, certificate_of
from tests.state.test_kills import serving_process

LISTS = loadgen.get("/v1/getChain")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(name="client")
def _client(folder: Path) -> Iterator[socket.socket]:
    """Yield a connection to a server that keeps its state."""
    with (
        serving_process(folder) as (_, port),
        socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client,
    ):
        yield client


def _submission(number: int) -> bytes:
    deposit = {"fromAmount": str(10_000_001 + 10 * number), "certHash": f"0x{number:060x}abcd"}
    body = json.dumps(order(sourceCerts=certificate_of(deposit))).encode()
    return loadgen.post("/v1/submitOrder", body, SIGNED)


def _answers(client: socket.socket, number: int) -> list[dict[str, Any]]:
    """Read so many answers."""
    with client.makefile("rb") as read:
        return [_answer(read) for _ in range(number)]


def _answer(read: BufferedReader) -> dict[str, Any]:
    assert read.readline() == b"HTTP/1.1 200 OK\r\n"
    lines = list(iter(read.readline, b"\r\n"))
    fields = {name.lower(): value for name, _, value in (line.partition(b": ") for line in lines)}
    body: dict[str, Any] = json.loads(read.read(int(fields[b"content-length"])))
    return body


def test_requests_that_come_meanwhile_are_answered_in_their_order(client: socket.socket) -> None:
    client.sendall(_submission(1))
    client.sendall(LISTS + _submission(2) + LISTS)
    client.sendall(_submission(3))
    kinds = ["id" if "id" in answer["data"] else "list" for answer in _answers(client, 5)]
    assert kinds == ["id", "list", "id", "list", "id"]


def test_a_request_in_pieces_behind_one_that_waits(client: socket.socket) -> None:
    later = _submission(5)
    client.sendall(_submission(4))
    for start in range(0, len(later), 97):
        client.sendall(later[start : start + 97])
    ids = [answer["data"] for answer in _answers(client, 2)]
    assert ids[0] != ids[1]


def test_a_client_that_ends_its_side_has_its_answer(client: socket.socket) -> None:
    client.sendall(_submission(6))
    client.shutdown(socket.SHUT_WR)
    assert _answers(client, 1)[0]["code"] == 0
    assert client.recv(1) == b""


def test_a_client_that_has_left_has_its_order(folder: Path) -> None:
    with serving_process(folder) as (process, port):
        for number in range(10, 20):
            with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
                client.sendall(_submission(number))
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
            # Its answer comes after all of them were taken.
            client.sendall(_submission(20))
            assert _answers(client, 1)[0]["code"] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    server = Server(folder)
    assert 1 <= server.service.worlds.get("default").world.orders.count() <= 11
    server.kill()


def test_an_answer_that_waits_leaves_a_server_that_ends(folder: Path) -> None:
    with serving_process(folder) as (process, port):
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
            client.sendall(_submission(30))
            process.send_signal(signal.SIGTERM)
            rest = client.makefile("rb").read()
        assert process.wait(PATIENCE_S) == 0
    server = Server(folder)
    kept = server.service.worlds.get("default").world.orders.count()
    # What was told of is kept; what was kept may have been too late to be told of.
    assert kept >= rest.count(b'"id"')
    server.kill()
