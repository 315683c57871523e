"""What a client was told of is there after a kill: every part of a world."""

from collections.abc import Callable
from typing import Any

import pytest

from mockserver.clock import ClockMode
from tests.conftest import START_MS, WALLET
from tests.state.conftest import Server

Serving = Callable[..., Server]
Call = tuple[str, str, Any]

LATENCY = {"kind": "latency", "operation": "submitOrder", "delay": "2s"}
STATUS = {"kind": "http-status", "operation": "v2.getChain", "status": 503, "every": 2}
STUB = {"operation": "v2.getChain", "response": {"refusal": "internal-error"}, "times": 3}
OUTAGE = {"chain": "BNB", "mode": "accept-stall", "for": "9h"}
CHANGES: dict[str, list[Call]] = {
    "nothing": [],
    "clock": [("POST", "/__mock/clock", {"advance": "8h"})],
    "clock mode": [("POST", "/__mock/clock", {"mode": "scaled", "rate": 60})],
    "auto clock": [("POST", "/__mock/clock", {"mode": "auto"}), ("GET", "/v1/getChain", None)],
    "outage": [("POST", "/__mock/outages", OUTAGE)],
    "outage ended": [
        ("POST", "/__mock/outages", OUTAGE),
        ("DELETE", "/__mock/outages", {"chain": "BNB"}),
    ],
    "fault": [("POST", "/__mock/faults", LATENCY)],
    "fault that counts reading requests": [
        ("POST", "/__mock/faults", STATUS),
        *[("GET", "/v1/getChain", None)] * 3,
    ],
    "stub that was used": [("POST", "/__mock/stubs", STUB), ("GET", "/v1/getChain", None)],
    "stub that was removed": [("POST", "/__mock/stubs", STUB), ("DELETE", "/__mock/stubs", None)],
    "break": [("PUT", "/__mock/breaks", {"breaks": ["bridge-whole-tokens"]})],
    "app keys": [("POST", "/__mock/app-keys", {"appKeys": ["alice", "bob"]})],
    "app keys released": [
        ("POST", "/__mock/app-keys", {"appKeys": ["alice", "bob"]}),
        ("DELETE", "/__mock/app-keys", None),
    ],
    "developer key": [("POST", "/__mock/keys", {"appKey": "k", "appSecret": "s"})],
    "claims": [
        (
            "POST",
            "/__mock/claims",
            {
                "claims": [{"order": "30000000001", "state": "arrived", "amount": "9.7"}],
                "expects": [{"amount": "2.5 ETH", "times": 2, "arrives": "0.1"}],
                "died": True,
            },
        )
    ],
    "expected refusal": [("POST", "/__mock/expect", {"refusal": "unknown-order"})],
    "snapshot": [("POST", "/__mock/snapshots", {"name": "a"})],
    "dropped snapshot": [
        ("POST", "/__mock/snapshots", {"name": "a"}),
        ("DELETE", "/__mock/snapshots/a", None),
    ],
    "reset": [("POST", "/__mock/faults", LATENCY), ("POST", "/__mock/reset", None)],
    "ticket": [
        (
            "POST",
            "/v1/submitTicket",
            {"address": WALLET, "chain": "BNB", "txHash": "0x" + "7" * 64},
        )
    ],
    "transaction": [
        (
            "POST",
            "/__mock/transactions",
            {"chain": "ARB", "from": WALLET, "to": WALLET, "value": "5", "hash": "0x" + "8" * 64},
        )
    ],
    "refused request": [("GET", "/v1/getBridgeQuote", None), ("GET", "/nowhere", None)],
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.deep(quick=8)
def test_a_killed_server_goes_on_with_the_same_worlds(
    serving: Serving, changes: list[Call]
) -> None:
    server = serving(clock=ClockMode.FROZEN)
    for number in range(3):
        server.submit(number)
    for call in changes:
        answer = server.call(*call)
        assert "error" not in answer, answer
    # The requests before it are written with it.
    server.submit(9)
    before = server.seen()
    server.restart()
    assert server.seen() == before


def test_snapshots_have_what_was_before_them_alone(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    told = []
    for number in range(4):
        server.submit(number)
        server.call("POST", "/__mock/snapshots", {"name": str(number)})
        told.append(server.call("GET", "/__mock/dump"))
        server.call("POST", "/__mock/clock", {"advance": "1h"})
    server.call("POST", "/__mock/revert", {"name": "1"})
    server.submit(7)
    server.call("POST", "/__mock/snapshots", {"name": "7"})
    told.append(server.call("GET", "/__mock/dump"))
    server.restart()
    names = server.call("GET", "/__mock/snapshots")["snapshots"]
    assert names == ["0", "1", "2", "3", "7"]
    for name, dump in zip(names, told, strict=True):
        server.call("POST", "/__mock/revert", {"name": name})
        assert server.call("GET", "/__mock/dump") == dump
        server.restart()
        assert server.call("GET", "/__mock/dump") == dump


def test_forks_go_their_own_ways(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1)
    server.call("POST", "/__mock/fork", {"to": "twin"})
    server.submit(2)
    server.submit(3, "/w/twin")
    before = server.seen(), server.seen("/w/twin")
    server.restart()
    assert (server.call("GET", "/__mock/dump"), server.call("GET", "/w/twin/__mock/dump")) == (
        before[0]["dump"],
        before[1]["dump"],
    )


def test_a_world_that_was_dropped_is_gone(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1, "/w/alice")
    server.submit(2, "/w/bob")
    server.call("DELETE", "/__mock/worlds/alice")
    server.restart()
    server.call("DELETE", "/__mock/worlds/bob")
    server.restart()
    worlds = server.call("GET", "/__mock/worlds")["worlds"]
    assert [one["key"] for one in worlds] == ["default"]
    assert server.call("GET", "/w/alice/__mock/orders")["orders"] == []


def test_a_loaded_dump_takes_the_place_of_the_world(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1)
    dump = server.call("GET", "/__mock/dump")
    server.submit(2)
    server.call("POST", "/__mock/load", dump)
    server.restart()
    assert server.call("GET", "/__mock/dump") == dump


def test_a_world_keeps_its_own_beginning(serving: Serving) -> None:
    server = serving()
    made = {"key": "alice", "clock": "frozen", "start": "2030-05-05T00:00:00Z", "seed": 7}
    server.call("POST", "/__mock/worlds", made)
    server.call("POST", "/w/alice/__mock/clock", {"advance": "1h"})
    server.restart()
    server.call("POST", "/w/alice/__mock/reset")
    (world,) = [
        one for one in server.call("GET", "/__mock/worlds")["worlds"] if one["key"] == "alice"
    ]
    assert (world["now"], world["clock"], world["seed"]) == ("2030-05-05T00:00:00Z", "frozen", 7)


@pytest.mark.parametrize(
    ("mode", "rate", "passed"), [("real", None, 60_000), ("scaled", 60, 3_600_000)]
)
def test_a_running_clock_goes_on_while_the_server_is_away(
    serving: Serving, mode: str, rate: int | None, passed: int
) -> None:
    server = serving()
    server.call("POST", "/__mock/clock", {"mode": mode, **({"rate": rate} if rate else {})})
    server.now += 60_000
    server.restart()
    hosted = server.service.worlds.get("default")
    assert hosted.world.now() == START_MS + passed


def test_a_wall_clock_that_was_set_back_does_not_turn_the_world_back(serving: Serving) -> None:
    server = serving()
    server.submit(1)
    server.now -= 3_600_000
    server.restart()
    assert server.service.worlds.get("default").world.now() >= START_MS


def test_restarts_are_told(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1)
    server.restart()
    server.submit(1, "/w/alice")
    server.restart()
    worlds = server.call("GET", "/__mock/worlds")["worlds"]
    assert {one["key"]: one["restarts"] for one in worlds} == {"default": 2, "alice": 1}


def test_requests_that_were_lost_are_counted(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1)
    for _ in range(5):
        server.call("GET", "/v1/getChain")
    server.restart()
    assert server.call("GET", "/__mock/journal")["dropped"] == 5
    server.call("GET", "/v1/getChain")
    server.restart()
    assert server.call("GET", "/__mock/journal")["dropped"] == 6
    server.call("POST", "/__mock/reset")
    server.restart()
    assert server.call("GET", "/__mock/journal")["dropped"] == 0


def test_reading_requests_write_nothing(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1)
    keeper = server.service.keeper
    assert keeper is not None
    before = keeper.writes.newest, keeper.writes.done
    for path in (
        "getChain",
        "getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB",
    ):
        server.call("GET", f"/v1/{path}")
    assert (keeper.writes.newest, keeper.writes.done) == before
    keeper.writes.flush()
    server.restart()
    assert server.call("GET", "/__mock/journal")["dropped"] == 0


def test_secrets_of_requests_are_not_written(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.call("GET", "/v1/getChain?apiKey=hush1", Authorization="hush2", Signature="hush3")
    keeper = server.service.keeper
    assert keeper is not None
    keeper.writes.flush()
    server.kill()
    kept = b"".join(file.read_bytes() for file in server.folder.iterdir())
    assert b"getChain" in kept
    assert b"hush" not in kept


@pytest.mark.deep(quick=1)
def test_a_journal_is_bounded_on_the_disk_too(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    for number in range(1300):
        server.call("GET", "/nothing")
        if number % 100 == 0:
            server.submit(number)
    server.restart()
    journal = server.call("GET", "/__mock/journal?limit=1000")
    assert journal["dropped"] > 300
    assert len(journal["entries"]) + journal["dropped"] == 1313
    assert server.service.keeper is not None
    kept = list(server.service.keeper.file.read("SELECT last FROM journal"))
    assert len(kept) < 14
