"""Bytes of a state folder that change by themselves: named, and never taken for the truth."""

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.refusal import StateNotLoadable
from tests.state.conftest import Server

KEYS = ("default", "alice", "bob")
PATHS = "dump orders outages faults stubs balances transactions keys app-keys snapshots clock"


def _seen(server: Server, key: str) -> Any:
    """Return what the control API tells of a world, or the sentence that refuses it."""
    told: dict[str, Any] = {}
    for path in PATHS.split():
        told[path] = server.call("GET", f"/w/{key}/__mock/{path}")
        if isinstance(told[path], dict) and "error" in told[path]:
            return told[path]["error"]
    journal = server.call("GET", f"/w/{key}/__mock/journal?limit=1000")
    told["journal"] = [entry["request"]["path"] for entry in journal["entries"]]
    told["dropped"] = journal["dropped"]
    return told


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a server that has ended, and what it told of its worlds."""
    folder = tmp_path_factory.mktemp("kept") / "state"
    server = Server(folder, clock=ClockMode.FROZEN)
    for place, key in enumerate(KEYS):
        world = f"/w/{key}"
        for number in range(12):
            server.submit(number, world)
        server.call("POST", f"{world}/__mock/snapshots", {"name": "before"})
        server.call("POST", f"{world}/__mock/outages", {"chain": "BNB", "mode": "accept-stall"})
        server.call("POST", f"{world}/__mock/faults", {"kind": "latency", "delay": "2s"})
        server.call("POST", f"{world}/__mock/clock", {"advance": f"{place + 1}h"})
        server.call("POST", f"{world}/__mock/app-keys", {"appKeys": [f"key-of-{key}"]})
        first = server.call("GET", f"{world}/__mock/orders")["orders"][0]["id"]
        server.call("POST", f"{world}/__mock/orders/{first}/status", {"status": "Failed"})
        for number in range(12, 20):
            server.submit(number, world)
    told = {key: _seen(server, key) for key in KEYS}
    server.service.close()
    return folder, told


def _struck(folder: Path, copy: Path, drawn: random.Random) -> tuple[str, int, int]:
    """Copy a folder, with some bytes of its file changed; return how, where and how many."""
    shutil.copytree(folder, copy)
    file = copy / "worlds.sqlite"
    content = bytearray(file.read_bytes())
    how = drawn.choice(["flip", "flip", "flip", "zero", "page", "swap"])
    page = drawn.randrange(len(content) // 4096)
    at, size = drawn.randrange(len(content)), drawn.choice([1, 1, 2, 8, 64])
    if how == "flip":
        content[at : at + size] = bytes(
            byte ^ (1 << drawn.randrange(8)) for byte in content[at : at + size]
        )
    elif how == "zero":
        content[at : at + size] = bytes(len(content[at : at + size]))
    elif how == "page":
        at, size = page * 4096, 4096
        content[at : at + size] = drawn.randbytes(size)
    else:
        other = drawn.randrange(len(content) // 4096)
        at, size = page * 4096, other
        one, two = slice(page * 4096, page * 4096 + 4096), slice(other * 4096, other * 4096 + 4096)
        content[one], content[two] = content[two], content[one]
    file.write_bytes(content)
    return how, at, size


def _opened(folder: Path) -> Server | str:
    """Start a server with a folder, or return the sentence that it ends with."""
    try:
        return Server(folder, clock=ClockMode.FROZEN)
    except StateNotLoadable as error:
        return str(error)


def test_damage_is_named_and_never_told_as_the_truth(
    kept: tuple[Path, dict[str, Any]], tmp_path: Path, is_deep: bool
) -> None:
    folder, before = kept
    drawn = random.Random(27)  # noqa: S311
    outcomes: Counter[str] = Counter()
    for number in range(200 if is_deep else 25):
        copy = tmp_path / str(number)
        where = _struck(folder, copy, drawn)
        server = _opened(copy)
        if isinstance(server, str):
            outcomes["start refused"] += 1
            assert "damaged" in server or "cannot be read" in server or "no state of" in server
            continue
        for key in KEYS:
            told = _seen(server, key)
            if isinstance(told, str):
                outcomes["world refused"] += 1
                assert "damaged" in told or "cannot be read" in told, told
                continue
            outcomes["unharmed"] += 1
            assert told == before[key], (where, key)
        server.kill()
        shutil.rmtree(copy)
    assert all(outcomes[name] for name in ("start refused", "world refused", "unharmed")), outcomes


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE worlds SET key = 'alicf' WHERE key = 'alice'", "worlds"),
        ("UPDATE worlds SET began = began + 1 WHERE key = 'bob'", "worlds"),
        ("UPDATE worlds SET branch = branch + 1 WHERE key = 'bob'", "tips"),
        ("DELETE FROM worlds WHERE key = 'bob'", "worlds"),
        ("UPDATE branches SET parent = NULL WHERE parent IS NOT NULL", "branches"),
        ("DELETE FROM branches", "branches"),
        ("UPDATE shared SET value = value || ' ' WHERE number = 1", "shared"),
        ("DELETE FROM shared WHERE number = 1", "shared"),
        ("UPDATE meta SET value = 'x' WHERE name = 'version'", "no version"),
    ],
)
@pytest.mark.deep(quick=4)
def test_rows_that_say_where_others_belong_are_sealed(
    kept: tuple[Path, dict[str, Any]], tmp_path: Path, call: Any, statement: str, what: str
) -> None:
    shutil.copytree(kept[0], copy := tmp_path / "state")
    with closing(sqlite3.connect(copy / "worlds.sqlite")) as database:
        assert database.execute(statement).rowcount
        database.commit()
    told = _opened(copy)
    assert isinstance(told, str)
    assert "is damaged" in told
    assert what in told
    checked = call("state", "check", str(copy))
    assert checked.returncode in (1, 4)
    assert what in checked.stdout + checked.stderr


def test_what_is_dropped_or_left_behind_has_no_seal(tmp_path: Path, call: Any) -> None:
    server = Server(tmp_path / "state", clock=ClockMode.FROZEN)
    for number, key in enumerate(KEYS):
        server.submit(number, f"/w/{key}")
        server.call("POST", f"/w/{key}/__mock/snapshots", {"name": "a"})
        server.call("POST", f"/w/{key}/__mock/reset")
    server.call("DELETE", "/__mock/worlds/alice")
    assert server.service.keeper is not None
    server.service.keeper.writes.flush()
    while server.service.keeper.file.sweep():
        pass
    server.restart()
    server.service.close()
    assert call("state", "prune", str(server.folder), "bob").returncode == 0
    assert call("state", "check", str(server.folder)).returncode == 0
    server.service = server._built()
    assert [w["key"] for w in server.call("GET", "/__mock/worlds")["worlds"]] == ["default"]
