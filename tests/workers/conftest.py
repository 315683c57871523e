"""Servers of several processes, as the command starts them."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from mockserver.worlds.process_of_world import home_of
from tests.conftest import PATIENCE_S, START, eventually, order, without_epoch
from tests.state.conftest import SIGNED, certificate_of

WORKERS = 3


def keys_of(worker: int, count: int = 1, workers: int = WORKERS) -> list[str]:
    """Return keys of worlds that live in a worker, by its number from 0."""
    names = (f"w{number}" for number in range(10_000))
    return list(islice((name for name in names if home_of(name, workers) == worker), count))


class Multi:
    """A server of several processes, with a client that keeps its connection."""

    def __init__(self, *options: str, workers: int = WORKERS) -> None:
        command = (sys.executable, "-m", "mockserver", "serve", "--port", "0")
        self.process = subprocess.Popen(
            (*command, "--workers", str(workers), "--clock", "frozen", "--start", START, *options),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        self.port = int(line.split("127.0.0.1:")[1].split()[0])
        self._connection: http.client.HTTPConnection | None = None

    def fresh(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any, str | None]:
        """Return status, JSON and refusal of a request on the one connection."""
        if self._connection is None:
            self._connection = self.fresh()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, raw, named)
            answer = self._connection.getresponse()
        except (http.client.HTTPException, OSError):
            self._connection.close()
            self._connection = None
            raise
        content = json.loads(answer.read() or b"null")
        return answer.status, content, answer.getheader("X-Mock-Refusal")

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return the JSON of an answer that has to be a success."""
        status, content, refusal = self.ask(method, path, body, **headers)
        assert status == 200, (status, content, refusal)
        return without_epoch(content) if path.endswith("/dump") else content

    def submit(self, number: int, key: str) -> str:
        """Submit an order that no other number repeats, and return its id."""
        deposit = {"fromAmount": str(10_000_001 + 10 * number), "certHash": f"0x{number:064x}"}
        body = order(sourceCerts=certificate_of(deposit))
        answer = self.call("POST", f"/w/{key}/v1/submitOrder", body, **SIGNED)
        assert answer["code"] == 0, answer
        return str(answer["data"]["id"])

    def pid_of(self, key: str) -> int:
        return int(self.call("GET", f"/w/{key}/__mock/world")["pid"])

    def until_back(self, key: str) -> None:
        """Wait until the process of a world serves again."""

        def back() -> bool:
            with suppress(http.client.HTTPException, OSError):
                return self.ask("GET", f"/w/{key}/__mock/clock")[2] != "worker-away" and (
                    self.ask("GET", "/__mock/ready")[0] == 200
                )
            return False

        eventually(back, f"the process of world {key}")

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        if self._connection is not None:
            self._connection.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


@pytest.fixture(scope="module")
def multi() -> Iterator[Multi]:
    """A server that the tests of a module share; each takes worlds of its own."""
    server = Multi()
    yield server
    server.stop()


@pytest.fixture
def starting() -> Iterator[Callable[..., Multi]]:
    """Start servers, which are stopped at the end."""
    started: list[Multi] = []

    def start(*options: str, **named: Any) -> Multi:
        started.append(Multi(*options, **named))
        return started[-1]

    yield start
    for server in started:
        # A stopped process ends only once it goes on.
        for pid in children(server.process.pid):
            with suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        server.stop()


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []
