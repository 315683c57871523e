"""Processes that end or hang: their worlds say so, and go on from the disk."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest

from tests.conftest import PATIENCE_S, eventually, lives
from tests.workers.conftest import WORKERS, Multi, children, keys_of

MINE, OTHER = keys_of(0)[0], keys_of(1)[0]


def _killed(server: Multi, key: str) -> None:
    """Kill the process of a world, and wait until another one has its number."""
    pid = server.pid_of(key)
    os.kill(pid, signal.SIGKILL)
    with suppress(http.client.HTTPException, OSError):
        server.ask("GET", f"/w/{key}/__mock/clock")
    server.until_back(key)


@pytest.mark.deep(quick=1)
def test_a_killed_process_goes_on_from_its_state(starting, tmp_path):
    server = starting("--state", str(tmp_path / "state"))
    ids = [server.submit(number, MINE) for number in range(5)]
    server.call("POST", f"/w/{MINE}/__mock/clock", {"advance": "3h"})
    server.call("POST", f"/w/{MINE}/__mock/app-keys", {"appKeys": ["mine"]})
    kept = server.submit(1, OTHER)
    before = server.call("GET", f"/w/{MINE}/__mock/dump")
    _killed(server, MINE)
    assert server.call("GET", f"/w/{MINE}/__mock/dump") == before
    assert server.call("GET", f"/v1/checkOrder?id={ids[0]}", X_Mock_World=MINE)["code"] == 0
    assert server.call("GET", f"/v1/checkOrder?id={kept}", X_Mock_World=OTHER)["code"] == 0
    worlds = {item["key"]: item for item in server.call("GET", "/__mock/worlds")["worlds"]}
    assert (worlds[MINE]["restarts"], worlds[OTHER]["restarts"]) == (1, 0)
    told = server.call("GET", "/__mock/workers")
    assert [row["restarts"] for row in told["workers"]] == [1, 0, 0]
    assert told["workers"][0]["pid"] == server.pid_of(MINE)
    assert (told["answering"], {row["up"] for row in told["workers"]}) == (3, {True})
    for _ in range(2 * WORKERS):
        connection = server.fresh()
        connection.request("GET", "/__mock/version", headers={"appKey": "mine"})
        assert json.loads(connection.getresponse().read())["world"] == MINE
        connection.close()


@pytest.mark.deep(quick=1)
def test_the_worlds_of_a_server_are_there_when_it_is_started_again(starting, tmp_path):
    folder = str(tmp_path / "state")
    server = starting("--state", folder)
    keys = [key for worker in range(WORKERS) for key in keys_of(worker, 2)]
    for number, key in enumerate(keys):
        server.submit(number, key)
    before = [server.call("GET", f"/w/{key}/__mock/dump") for key in keys]
    assert server.stop() == 0
    server = starting("--state", folder)
    assert [server.call("GET", f"/w/{key}/__mock/dump") for key in keys] == before


@pytest.mark.deep(quick=1)
def test_a_world_that_was_in_memory_only_is_called_lost(starting):
    server = starting()
    order_id = server.submit(1, MINE)
    server.submit(1, OTHER)
    _killed(server, MINE)
    for path in (f"/w/{MINE}/v1/checkOrder?id={order_id}", f"/w/{MINE}/v1/getChain"):
        status, body, refusal = server.ask("GET", path)
        assert (status, body["code"]) == (503, 503)
        assert refusal.startswith("world-lost: ")
        assert "--state" in refusal
    status, body, _ = server.ask("GET", f"/w/{MINE}/__mock/orders")
    assert (status, body["error"].partition(":")[0]) == (503, "world-lost")
    # Other worlds go on, and so do new ones of the same process.
    assert server.call("GET", f"/w/{OTHER}/__mock/orders")["total"] == 1
    assert server.call("GET", f"/w/{keys_of(0, 2)[1]}/v1/getChain")["code"] == 0
    assert server.call("POST", f"/w/{MINE}/__mock/reset")["orders"] == 0
    assert server.call("GET", f"/w/{MINE}/v1/getChain")["code"] == 0
    # A world that was dropped in between is new, and was not lost.
    server.call("DELETE", f"/__mock/worlds/{MINE}")
    _killed(server, keys_of(0, 2)[1])
    assert server.call("GET", f"/w/{MINE}/v1/getChain")["code"] == 0


@pytest.mark.deep(quick=1)
def test_a_process_that_hangs_is_named(starting):
    server = starting()
    order_id = server.submit(1, OTHER)
    server.submit(1, MINE)
    pid = server.pid_of(OTHER)
    # The connection is with the process that goes on.
    server.call("GET", f"/w/{MINE}/v1/getChain")
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: server.ask("GET", "/__mock/ready")[0] == 503, "a hanging process noticed")
    status, body, refusal = server.ask("GET", f"/w/{OTHER}/v1/checkOrder?id={order_id}")
    assert (status, body["code"]) == (503, 503)
    assert refusal.startswith("worker-away: ")
    assert "worker 2 of 3 has not answered for" in refusal
    assert server.call("GET", f"/w/{MINE}/__mock/orders")["total"] == 1
    for path in ("/__mock/worlds", f"/w/{MINE}/__mock/metrics"):
        status, body, _ = server.ask("GET", path)
        assert (status, "2 of 3 workers answered" in body["error"]) == (503, True)
    told = server.call("GET", "/__mock/workers")
    assert (told["answering"], [row["up"] for row in told["workers"]]) == (2, [True, False, True])
    assert "worker 2 of 3 has not answered for" in told["workers"][1]["why"]
    made = {"key": keys_of(0, 5)[-1], "appKeys": ["k"]}
    assert server.ask("POST", "/__mock/worlds", made)[0] == 503
    os.kill(pid, signal.SIGCONT)
    server.until_back(OTHER)
    assert server.call("GET", f"/w/{OTHER}/v1/checkOrder?id={order_id}")["code"] == 0
    # What was refused has bound nothing.
    assert server.call("GET", "/__mock/version", appKey="k")["world"] == "default"


@pytest.mark.deep(quick=1)
def test_clients_that_wait_for_a_hanging_process_are_answered(starting):
    server = starting()
    pid = server.pid_of(OTHER)
    server.call("GET", f"/w/{MINE}/v1/getChain")
    os.kill(pid, signal.SIGSTOP)
    # It was not noticed yet, so that the connection is handed over to nobody.
    status, _, refusal = server.ask("GET", f"/w/{OTHER}/v1/getChain")
    assert (status, str(refusal).partition(":")[0]) == (503, "worker-away")
    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.deep(quick=1)
def test_it_ends_with_all_its_processes(starting, tmp_path, number):
    ready = tmp_path / "ready.json"
    server = starting("--ready-file", str(ready))
    held = json.loads(ready.read_text())
    assert held == {"url": f"http://127.0.0.1:{server.port}", "pid": server.process.pid}
    pids = children(server.process.pid)
    assert len(pids) == WORKERS
    server.process.send_signal(number)
    assert server.stop() == 0
    assert not ready.exists()
    assert not [pid for pid in pids if lives(pid)]


def test_no_process_outlives_the_first_one(starting):
    server = starting()
    pids = children(server.process.pid)
    server.process.kill()
    server.process.wait(PATIENCE_S)
    eventually(lambda: not [pid for pid in pids if lives(pid)], "the end of all")


def _refused(*options: str) -> tuple[int, str]:
    command = (sys.executable, "-m", "mockserver", "serve", "--workers", "2", *options)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return ended.returncode, ended.stderr


@pytest.mark.deep(quick=1)
def test_what_is_wrong_at_the_start_is_told_once(starting, tmp_path):
    folder = str(tmp_path / "state")
    server = starting("--state", folder, workers=2)
    code, error = _refused("--port", "0", "--state", folder)
    assert (code, error.count("error:")) == (4, 1)
    assert "is in use by another server" in error
    code, error = _refused("--port", str(server.port))
    assert (code, "the port is taken" in error) == (3, True)
    code, error = _refused("--port", "0", "--scenario", "no-such")
    assert (code, "no-such" in error) == (2, True)
    code, error = _refused("--port", "0", "--record", "once", "--upstream-v2", "http://127.0.0.1:1")
    assert (code, "goes with one process" in error) == (2, True)


class _Client(threading.Thread):
    """Submits orders to worlds of all processes, and remembers which were acknowledged."""

    def __init__(self, server: Multi, number: int, rounds: int) -> None:
        super().__init__()
        self._server, self._number = server, number
        self.acknowledged: dict[tuple[str, int], str] = {}
        self.wrong: list[Any] = []
        self.stopping = threading.Event()
        self._rounds = rounds

    def run(self) -> None:
        chosen = random.Random(self._number)  # noqa: S311
        client = Multi.__new__(Multi)
        client.port, client._connection = self._server.port, None
        number = self._number * 100_000
        while not self.stopping.is_set():
            number += 1
            key = f"load-{chosen.randrange(12)}"
            try:
                self.acknowledged[key, number] = client.submit(number, key)
                known = self.acknowledged[chosen.choice(list(self.acknowledged))]
                place = next(place for place, value in self.acknowledged.items() if value == known)
                status, body, refusal = client.ask(
                    "GET", f"/w/{place[0]}/v1/checkOrder?id={self.acknowledged[place]}"
                )
                if status != 503 and body["code"] != 0:
                    self.wrong.append((place, body, refusal))
            except AssertionError as refused:
                if "worker-away" not in str(refused):
                    self.wrong.append(refused)
            except (http.client.HTTPException, OSError):
                # Its process was killed; whether the order is there is open.
                pass
        if client._connection is not None:
            client._connection.close()


def _kill_one_of_three(server: Multi, rounds: int) -> None:
    clients = [_Client(server, number, rounds) for number in range(4)]
    for client in clients:
        client.start()
    chosen = random.Random(rounds)  # noqa: S311
    try:
        for _ in range(rounds):
            reached = sum(len(client.acknowledged) for client in clients) + chosen.randrange(5, 40)
            eventually(
                lambda least=reached: sum(len(c.acknowledged) for c in clients) >= least,  # type: ignore[misc]
                "orders under load",
            )
            pids = children(server.process.pid)
            os.kill(chosen.choice(pids), signal.SIGKILL)
    finally:
        for client in clients:
            client.stopping.set()
        for client in clients:
            client.join()
    eventually(lambda: server.ask("GET", "/__mock/ready")[0] == 200, "all processes")
    assert [client.wrong for client in clients] == [[]] * 4
    acknowledged = {
        place: made for client in clients for place, made in client.acknowledged.items()
    }
    for key in {key for key, _ in acknowledged}:
        dump = server.call("GET", f"/w/{key}/__mock/orders?limit=1000")
        found = [item["id"] for item in dump["orders"]]
        told = [made for (place, _), made in acknowledged.items() if place == key]
        assert set(told) <= set(found)
        hashes = [item["certHash"] for item in dump["orders"]]
        assert len(set(hashes)) == len(hashes) == len(set(found))
        audit = server.call("GET", f"/w/{key}/__mock/audit?asIs=true")
        assert not {finding["kind"] for finding in audit["findings"]} & {"two-orders", "lost"}
        # Each verdict says what of the journal went with a killed process.
        dropped = server.call("GET", f"/w/{key}/__mock/journal?limit=1")["dropped"]
        assert bool(dropped) is any(
            "lost with a server" in hole or "no longer in" in hole
            for hole in audit["ground"]["holes"]
        )
    worlds = {item["key"]: item for item in server.call("GET", "/__mock/worlds")["worlds"]}
    assert sum(worlds[f"load-{number}"]["restarts"] for number in range(12)) >= rounds


@pytest.mark.parametrize("kills", [10, pytest.param(50, marks=pytest.mark.deep)])
@pytest.mark.deep(quick=1)
def test_no_acknowledged_order_is_lost_when_one_of_three_is_killed(starting, tmp_path, kills):
    _kill_one_of_three(starting("--state", str(tmp_path / "state")), kills)
