"""A server with TLS: the same answers, addresses with https, and files that are refused by name."""

import errno
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mockserver.server.tls import BadCertificate, context_of
from mockserver.testing import running
from tests.conftest import PATIENCE_S, START
from tests.server.certificates import Pair, written_pair
from tests.workers.conftest import Multi, keys_of


def trusting(pair: Pair) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(pair.cert))


class Secure(Multi):
    """A server of the command with TLS, and a client that trusts it."""

    def __init__(self, pair: Pair, *options: str, workers: int) -> None:
        self.pair = pair
        named = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
        super().__init__(*named, *options, workers=workers)

    def fresh(self) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE_S, context=trusting(self.pair)
        )

    def stream(self) -> ssl.SSLSocket:
        """Return a connection for bytes."""
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        return trusting(self.pair).wrap_socket(raw, server_hostname="127.0.0.1")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return written_pair(tmp_path_factory.mktemp("tls"))


@pytest.fixture(
    scope="module",
    params=[(1, "asyncio"), (2, "asyncio"), (2, "uvloop")],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def secure(request: pytest.FixtureRequest, pair: Pair) -> Iterator[Secure]:
    """A server of one process and one of two, with each event loop."""
    workers, loop = request.param
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    server = Secure(pair, "--loop", loop, workers=workers)
    yield server
    assert server.stop() == 0


KEYS = [*keys_of(0, 3, workers=2), *keys_of(1, 3, workers=2)]
"""Worlds of two processes."""


@pytest.mark.deep(quick=2)
def test_connections_change_the_world_with_each_request(secure: Secure) -> None:
    submitted: dict[str, list[str]] = {key: [] for key in KEYS}
    for number, key in enumerate(KEYS * 3):
        submitted[key].append(secure.submit(number, key))
    for key in KEYS:
        orders = secure.call("GET", f"/w/{key}/__mock/orders")["orders"]
        assert [item["id"] for item in orders] == submitted[key]


def test_addresses_are_https(secure: Secure) -> None:
    for key in KEYS[::3]:
        place = secure.call("GET", f"/w/{key}/__mock/world")
        assert place["url"] == f"https://127.0.0.1:{secure.port}/w/{key}"
    connection = secure.fresh()
    connection.request("GET", "/", headers={"Accept": "text/html"})
    page = connection.getresponse().read()
    connection.close()
    assert f"https://127.0.0.1:{secure.port}".encode() in page
    assert b"http://127.0.0.1" not in page


def test_long_answers_and_bodies_go_through(secure: Secure) -> None:
    for key, target in ((KEYS[0], KEYS[5]), (KEYS[4], KEYS[1])):
        for number in range(100, 160):
            secure.submit(number, key)
        dump = secure.call("GET", f"/w/{key}/__mock/dump")
        assert len(json.dumps(dump)) > 60_000
        secure.call("POST", f"/w/{target}/__mock/load", {**dump, "appKeys": []})
        assert secure.call("GET", f"/w/{target}/__mock/orders?limit=1")["total"] >= 60


def test_pipelined_requests_are_answered_in_order(secure: Secure) -> None:
    with secure.stream() as client:
        lines = [f"GET /w/{key}/__mock/version HTTP/1.1\r\nHost: localhost\r\n" for key in KEYS]
        text = "\r\n".join(lines) + "Connection: close\r\n\r\n"
        for begin in range(0, len(text), 50):
            client.sendall(text[begin : begin + 50].encode())
        said = b"".join(iter(lambda: client.recv(65_536), b"")).decode()
    assert said.count("HTTP/1.1 200 OK") == len(KEYS)
    places = [said.index(f'"world":"{key}"') for key in KEYS]
    assert places == sorted(places)


@pytest.mark.parametrize("kind", ["reset-before-headers", "empty-answer", "truncated-body"])
@pytest.mark.deep(quick=2)
def test_cut_connections_are_cut(secure: Secure, kind: str) -> None:
    """A reset is one, and an end is one, wherever the world lives."""
    for key in KEYS[::3]:
        secure.call("POST", f"/w/{key}/__mock/faults", {"kind": kind, "operation": "v2.getChain"})
        with secure.stream() as client:
            client.sendall(f"GET /w/{key}/v1/getChain HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            # The library takes a reset for an end.
            ended = select.poll()
            ended.register(client, select.POLLRDHUP)
            assert ended.poll(PATIENCE_S * 1000)
            reset = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET
            said = b"".join(iter(lambda: client.recv(65_536), b""))
        assert reset is (kind == "reset-before-headers"), said
        assert (len(said) > 0) is (kind == "truncated-body")
        secure.call("DELETE", f"/w/{key}/__mock/faults")


def test_events_come_and_end(secure: Secure) -> None:
    for key in KEYS[::3]:
        connection = secure.fresh()
        connection.request("GET", f"/w/{key}/__mock/events")
        stream = connection.getresponse()
        secure.call("GET", f"/w/{key}/v1/getChain")
        lines = iter(stream.readline, b"")
        assert next(line for line in lines if b'"operation":"v2.getChain"' in line)
        connection.close()


def test_clients_without_tls_are_turned_away_and_others_go_on(secure: Secure) -> None:
    with socket.create_connection(("127.0.0.1", secure.port), timeout=PATIENCE_S) as plain:
        plain.sendall(b"GET /v1/getChain HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # What comes before the end is an alert of TLS, and no answer.
        said = b""
        with suppress(ConnectionResetError):
            said = b"".join(iter(lambda: plain.recv(65_536), b""))
        assert not said.startswith(b"HTTP")
    assert secure.call("GET", "/v1/getChain")["code"] == 0


def test_the_commands_trust_what_they_are_told_to(
    secure: Secure, call: Callable[..., Any], tmp_path: Path
) -> None:
    url = ("--url", f"https://127.0.0.1:{secure.port}")
    trusted = (*url, "--cacert", str(secure.pair.cert))
    assert call("clock", "show", *trusted, "--world", KEYS[0]).stdout.startswith("2026-")
    made = call("world", "fork", "typed", *trusted, "--world", KEYS[0])
    assert made.stdout == f"typed is at https://127.0.0.1:{secure.port}/w/typed\n"
    assert call("world", "drop", "typed", *trusted).returncode == 0
    stranger = written_pair(tmp_path, "stranger")
    for options in (url, (*url, "--cacert", str(stranger.cert))):
        refused = call("clock", "show", *options)
        assert (refused.returncode, "is not trusted" in refused.stderr) == (3, True)
        assert "--cacert FILE" in refused.stderr
    refused = call("clock", "show", *url, "--cacert", str(secure.pair.key))
    assert (refused.returncode, "no certificate in PEM" in refused.stderr) == (2, True)
    refused = call("clock", "show", *url, "--cacert", str(tmp_path / "none"))
    assert (refused.returncode, "no such file" in refused.stderr.lower()) == (2, True)
    refused = call("clock", "show", "--url", f"http://127.0.0.1:{secure.port}")
    assert (refused.returncode, "Traceback" in refused.stderr) == (3, False)


def test_https_to_a_server_without_it_is_named(call: Callable[..., Any]) -> None:
    with running() as server:
        refused = call("clock", "show", "--url", server.url.replace("http:", "https:"))
    assert (refused.returncode, "speaks no TLS" in refused.stderr) == (3, True), refused.stderr


def test_the_ready_line_and_file_say_https(pair: Pair, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    server = Secure(pair, "--ready-file", str(ready), workers=1)
    assert json.loads(ready.read_text())["url"] == f"https://127.0.0.1:{server.port}"
    server.process.terminate()
    assert server.process.stderr is not None
    told = server.process.stderr.read()
    assert f"https://127.0.0.1:{server.port}/__mock/" in told
    assert "http://" not in told
    assert server.stop() == 0


def test_a_killed_process_ends_the_connections_of_its_worlds(pair: Pair, tmp_path: Path) -> None:
    server = Secure(pair, "--state", str(tmp_path / "state"), workers=2)
    try:
        ids = {key: server.submit(number, key) for number, key in enumerate(KEYS)}
        os.kill(server.pid_of(KEYS[0]), signal.SIGKILL)
        server.until_back(KEYS[0])
        for key in KEYS:
            answer = server.call("GET", f"/w/{key}/v1/checkOrder?id={ids[key]}")
            assert answer["code"] == 0
    finally:
        assert server.stop() == 0


def test_a_server_in_a_test_has_https(pair: Pair) -> None:
    context = context_of(pair.cert, pair.key)
    with running(start=START, tls=context) as server, server.world() as world:
        assert world.base_url.startswith("https://127.0.0.1:")
        url = f"{world.base_url}/v1/getChain"
        with urllib.request.urlopen(url, context=trusting(pair)) as answer:
            assert json.loads(answer.read())["code"] == 0


def _combined(pair: Pair, folder: Path) -> Pair:
    file = folder / "both.pem"
    file.write_bytes(pair.key.read_bytes() + pair.cert.read_bytes())
    return Pair(file, file)


BAD: dict[str, tuple[Callable[[Path], tuple[Path, Path | None]], str]] = {
    "a key of another certificate": (
        lambda folder: (written_pair(folder).cert, written_pair(folder, "another").key),
        "is not that of the certificate",
    ),
    "an encrypted key": (
        lambda folder: written_pair(folder, password=b"hush-hush"),
        "is encrypted, and nobody is there",
    ),
    "an expired certificate": (
        lambda folder: written_pair(folder, days=(-9, -1)),
        "has expired; clients would refuse it",
    ),
    "a certificate of tomorrow": (
        lambda folder: written_pair(folder, days=(1, 9)),
        "is not valid yet; clients would refuse it",
    ),
    "a missing certificate": (
        lambda folder: (folder / "none.pem", written_pair(folder).key),
        "none.pem' cannot be read",
    ),
    "a missing key": (
        lambda folder: (written_pair(folder).cert, folder / "none.key"),
        "none.key' cannot be read",
    ),
    "a certificate without its key": (
        lambda folder: (written_pair(folder).cert, None),
        "has no key in PEM",
    ),
    "the two exchanged": (
        lambda folder: _exchanged(written_pair(folder)),
        "has no certificate in PEM",
    ),
    "a folder": (lambda folder: (folder, None), "cannot be read"),
    "a damaged certificate": (lambda folder: _damaged(written_pair(folder)), "cannot be used"),
    "an empty file": (lambda folder: _emptied(written_pair(folder)), "has no certificate in PEM"),
}


def _exchanged(pair: Pair) -> Pair:
    return Pair(pair.key, pair.cert)


def _damaged(pair: Pair) -> Pair:
    lines = pair.cert.read_text().splitlines()
    lines[3] = lines[3][::-1]
    pair.cert.write_text("\n".join(lines) + "\n")
    return pair


def _emptied(pair: Pair) -> Pair:
    pair.cert.write_bytes(b"")
    return pair


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named(name: str, tmp_path: Path) -> None:
    make, part = BAD[name]
    cert, key = make(tmp_path)
    with pytest.raises(BadCertificate) as refused:
        context_of(cert, key)
    assert part in str(refused.value)
    assert refused.value.exit_code == 4


def test_a_good_pair_is_taken_from_one_file_or_two(pair: Pair, tmp_path: Path) -> None:
    assert context_of(pair.cert, pair.key)
    assert context_of(_combined(pair, tmp_path).cert, None)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.deep(quick=1)
def test_the_command_ends_with_exit_code_4(tmp_path: Path, workers: str) -> None:
    expired = written_pair(tmp_path, days=(-9, -1))
    command = (sys.executable, "-m", "mockserver", "serve", "--port", "0", "--workers", workers)
    for options, code, part in (
        (("--tls-cert", str(expired.cert), "--tls-key", str(expired.key)), 4, "has expired"),
        (("--tls-key", str(expired.key)), 2, "--tls-key goes with --tls-cert"),
    ):
        done = subprocess.run(
            (*command, *options), capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        assert (done.returncode, part in done.stderr) == (code, True), done.stderr
        assert "Traceback" not in done.stderr
