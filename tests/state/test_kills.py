"""A server that is killed under load, again and again: nothing acknowledged is lost or doubled."""

import http.client
import json
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mockserver.clock import ClockMode
from tests.conftest import PATIENCE_S, eventually, order
from tests.state.conftest import SIGNED, Server, certificate_of

CLIENTS = 8
GONE = (http.client.HTTPException, OSError)


@dataclass
class Told:
    """What clients were told, and what they have asked for without an answer."""

    orders: dict[str, str] = field(default_factory=dict)
    """Ids by the hash of the deposit."""
    asked: set[str] = field(default_factory=set)
    clock: str = ""
    faults: set[str] = field(default_factory=set)
    outages: int = 0
    answered: int = 0
    """Requests of operations that have an answer."""
    epochs: list[set[str]] = field(default_factory=list)
    """The epochs that the answers of each round have named."""
    kept: set[str] = field(default_factory=set)
    """Those in which a change was acknowledged; a server that was only read from keeps nothing."""
    statuses: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def serving_process(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Serve with a state folder; yield the process and its port. It is killed at the end."""
    command = (sys.executable, "-m", "mockserver", "serve", "--port", "0", "--clock", "frozen")
    with subprocess.Popen(
        (*command, "--state", str(folder)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            assert line, process.stderr.read() if process.stderr else ""
            yield process, int(line.split("127.0.0.1:")[1].split()[0])
        finally:
            process.send_signal(signal.SIGKILL)


class _User:
    """A client that goes on until the server is gone."""

    def __init__(self, port: int, told: Told, numbers: Iterator[int], seed: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self._told, self._numbers = told, numbers
        self._random = random.Random(seed)  # noqa: S311

    def run(self) -> None:
        with suppress(*GONE):
            while True:
                chosen = self._random.random()
                if chosen < 0.7:
                    self._submit()
                elif chosen < 0.8:
                    self._look()
                else:
                    self._control(chosen)

    def call(self, method: str, path: str, body: Any = None, headers: Any = None) -> Any:
        raw = None if body is None else json.dumps(body)
        self._connection.request(method, path, raw, headers or {})
        answer = self._connection.getresponse()
        content, epoch = json.loads(answer.read()), answer.getheader("X-Mock-Epoch")
        with self._told.lock:
            self._told.answered += "/__mock/" not in path
            if epoch is not None:
                self._told.epochs[-1].add(epoch)
                if method != "GET" and answer.status == 200 and not content.get("code"):
                    self._told.kept.add(epoch)
        return content

    def _submit(self) -> None:
        number = next(self._numbers)
        cert_hash = f"0x{number:060x}abcd"
        deposit = {"fromAmount": str(10_000_001 + 10 * number), "certHash": cert_hash}
        with self._told.lock:
            self._told.asked.add(cert_hash)
        body = order(sourceCerts=certificate_of(deposit))
        answer = self.call("POST", "/v1/submitOrder", body, SIGNED)
        if answer["code"] == 0:
            with self._told.lock:
                self._told.orders[cert_hash] = answer["data"]["id"]

    def _look(self) -> None:
        with self._told.lock:
            ids = list(self._told.orders.values())[-5:]
        for order_id in ids:
            answer = self.call("GET", f"/__mock/orders/{order_id}")
            with self._told.lock:
                self._told.statuses[order_id] = answer["status"]

    def _control(self, chosen: float) -> None:
        if chosen < 0.85:
            now = self.call("POST", "/__mock/clock", {"advance": "1s"})["now"]
            with self._told.lock:
                self._told.clock = max(self._told.clock, now)
        elif chosen < 0.9:
            fault = {"kind": "latency", "operation": "v2.getChain", "delay": "1ms"}
            made = self.call("POST", "/__mock/faults", fault)
            if "id" in made:
                with self._told.lock:
                    self._told.faults.add(made["id"])
        elif chosen < 0.92:
            outage = {"chain": "TRX", "mode": "lagging", "lag": 2, "for": "1s"}
            if "error" not in self.call("POST", "/__mock/outages", outage):
                with self._told.lock:
                    self._told.outages += 1
        else:
            self.call("GET", "/v1/getChain")


def _round(
    folder: Path, told: Told, numbers: Iterator[int], seed: int, *, longest_s: float
) -> None:
    told.epochs.append(set())
    with serving_process(folder) as (process, port):
        users = [_User(port, told, numbers, seed * CLIENTS + place) for place in range(CLIENTS)]
        threads = [threading.Thread(target=user.run) for user in users]
        for thread in threads:
            thread.start()
        # Any moment will do, also one before the first answer; but some order has to come.
        if seed % 2:
            eventually(lambda: told.orders or process.poll() is not None, "an order")
        threads[0].join(random.Random(seed).uniform(0, longest_s))  # noqa: S311
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()


def _check(server: Server, told: Told) -> None:
    """Compare a world with what its clients were told."""
    hosted = server.service.worlds.get("default")
    orders = list(hosted.world.core.state.orders.each())
    by_hash = {each.cert_hash: each.id for each in orders}
    assert len(by_hash) == len(orders), "an order is doubled"
    lost = {key: name for key, name in told.orders.items() if by_hash.get(key) != name}
    assert not lost, f"{len(lost)} acknowledged orders are lost or others"
    assert set(by_hash) <= told.asked
    assert server.call("GET", "/__mock/clock")["now"] >= told.clock
    faults = {item["id"] for item in server.call("GET", "/__mock/faults")["faults"]}
    assert told.faults <= faults
    assert len(server.call("GET", "/__mock/outages")["outages"]) >= told.outages
    for each in orders:
        booked: Counter[tuple[str, str]] = Counter()
        for posting in hosted.world.balances.postings_of(each.id):
            for entry in posting.entries:
                booked[entry.chain, entry.token] += entry.units
        assert not any(booked.values()), f"the books of {each.id} do not balance"
    # Whoever reads a verdict is told how often the server has gone, and what went with it.
    assert all(len(epochs) <= 1 for epochs in told.epochs), "an epoch that changes by itself"
    named = [epoch for epochs in told.epochs for epoch in epochs]
    assert len(set(named)) == len(named), "an epoch that outlives its server"
    (world,) = [w for w in server.call("GET", "/__mock/worlds")["worlds"] if w["key"] == "default"]
    # The copy that is judged is one more start; the first ones may have been killed before any.
    assert len(told.kept) <= world["restarts"] <= len(told.epochs)
    assert world["requests"] >= told.answered
    dropped = server.call("GET", "/__mock/journal?limit=1")["dropped"]
    audit = server.call("GET", "/__mock/audit")
    assert bool(dropped) is any(
        "lost with a server" in hole or "no longer in the journal" in hole
        for hole in audit["ground"]["holes"]
    )
    # Clients that submit each deposit once have lost no money, whatever else the audit says.
    kinds = {finding["kind"] for finding in audit["findings"]}
    assert not kinds & {"two-orders", "lost", "doubled"}, kinds
    # Each acknowledged order has its request in the journal, as far as that reaches back.
    journal = hosted.journal
    seen = [entry for entry in journal if entry.operation == "v2.submitOrder"]
    assert len({entry.sequence for entry in journal}) == len(journal)
    assert len(seen) <= len(orders)


DEEP = [pytest.param(1000 * part, 20, marks=pytest.mark.deep) for part in range(1, 11)]
"""Two hundred rounds, in parts that can be run apart."""


@pytest.mark.parametrize(("seed", "rounds"), [(1, 10), *DEEP])
def test_nothing_acknowledged_is_lost_or_doubled_by_kills(
    tmp_path: Path, seed: int, rounds: int
) -> None:
    told, numbers = Told(), count(1)
    folder = tmp_path / "state"
    for number in range(rounds):
        _round(folder, told, numbers, seed + number, longest_s=0.4 if rounds < 20 else 1.2)
        # What is judged is a copy, so that the next server finds what the last one left.
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        server = Server(copy, clock=ClockMode.FROZEN)
        try:
            if "default" in server.service.worlds:
                _check(server, told)
        finally:
            server.kill()
            shutil.rmtree(copy)
    assert told.orders


def test_a_power_failure_loses_what_was_not_synced_alone(tmp_path: Path, is_deep: bool) -> None:
    """Cut the log of the file at any byte behind the last sync: the rest of it is a whole state."""
    server = Server(tmp_path / "state", clock=ClockMode.FROZEN)
    log = tmp_path / "state" / "worlds.sqlite-wal"
    acknowledged = []
    sizes = []
    for number in range(6):
        acknowledged.append(server.submit(number))
        sizes.append(log.stat().st_size)
    drawn = random.Random(7)  # noqa: S311
    for cut in range(20 if is_deep else 10):
        copy = tmp_path / f"cut{cut}"
        shutil.copytree(tmp_path / "state", copy)
        kept = drawn.randrange(1, len(sizes))
        size = drawn.randrange(sizes[kept - 1], sizes[kept] + 1)
        with (copy / log.name).open("r+b") as file:
            # What was written and not synced may be there in part, and be anything.
            file.seek(file.truncate(size))
            file.write(b"\xff" * drawn.randrange(0, 5000))
        later = Server(copy, clock=ClockMode.FROZEN)
        orders = [each["id"] for each in later.call("GET", "/__mock/orders")["orders"]]
        later.kill()
        synced = kept if size < sizes[kept] else kept + 1
        assert set(acknowledged[:synced]) <= set(orders), (size, sizes)
        assert len(orders) <= kept + 1
    server.kill()
