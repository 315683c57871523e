"""Writes the state and the dump that a release leaves, which later ones have to read.

    python -m tests.state.write_release tests/state/files/0.1.0

The files of a release are written once, with its code, and never again.
"""

import json
import shutil
import sys
from pathlib import Path

from mockserver.clock import ClockMode
from tests.conftest import WALLET
from tests.state.conftest import Server

KEYS = ("default", "alice", "twin")


def written(folder: Path) -> None:
    """Fill a folder with what a release keeps of worlds in which much has happened."""
    server = Server(folder / "state", clock=ClockMode.FROZEN)
    for number in range(3):
        server.submit(number)
    server.call("POST", "/__mock/outages", {"chain": "BNB", "mode": "accept-stall", "for": "9h"})
    server.call(
        "POST", "/__mock/faults", {"kind": "latency", "operation": "v2.getChain", "delay": "2s"}
    )
    server.call("POST", "/__mock/at", {"operation": "submitOrder", "nth": 9, "steer": "dropped"})
    stub = {"operation": "v2.getPrice", "response": {"refusal": "no-price"}, "times": 3}
    server.call("POST", "/__mock/stubs", stub)
    server.call("PUT", "/__mock/breaks", {"breaks": ["bridge-whole-tokens"]})
    server.call("POST", "/__mock/app-keys", {"appKeys": ["one", "two"]})
    server.call("POST", "/__mock/keys", {"appKey": "k", "appSecret": "s"})
    server.call("POST", "/__mock/expect", {"refusal": "unknown-order"})
    server.call("POST", "/__mock/snapshots", {"name": "before"})
    server.call("POST", "/__mock/clock", {"advance": "3h"})
    server.submit(4)
    ticket = {"address": WALLET, "chain": "BNB", "txHash": "0x" + "7" * 64}
    server.call("POST", "/v1/submitTicket", ticket)
    moved = {"chain": "ARB", "from": WALLET, "to": WALLET, "value": "5", "hash": "0x" + "8" * 64}
    server.call("POST", "/__mock/transactions", moved)
    server.call("POST", "/__mock/worlds", {"key": "alice", "clock": "frozen", "seed": 7})
    server.submit(5, "/w/alice")
    server.call("POST", "/w/alice/__mock/fork", {"to": "twin"})
    server.submit(6, "/w/twin")
    seen = {key: server.seen(f"/w/{key}") for key in KEYS}
    keeper = server.service.keeper
    assert keeper is not None
    keeper.writes.flush()
    server.service.close()
    for path in (folder / "state").iterdir():
        if path.name == "worlds.sqlite":
            shutil.move(path, folder / path.name)
    shutil.rmtree(folder / "state")
    (folder / "seen.json").write_text(json.dumps(seen, indent=0, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True)
    written(Path(sys.argv[1]))
