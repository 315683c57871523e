"""What people do with a state folder: check, export and prune it, and change the processes."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.refusal import StateNotLoadable
from mockserver.worlds.journal import entry_of
from mockserver.worlds.process_of_world import home_of
from mockserver.worlds.state import Hold, StateFile, arrange
from mockserver.worlds.state.row_encoding import journal_entries
from tests.state.conftest import Server

Serving = Callable[..., Server]
KEYS = ["default", *(f"w{number}" for number in range(7))]


def _filled(serving: Serving) -> Server:
    server = serving(clock=ClockMode.FROZEN)
    for number, key in enumerate(KEYS):
        server.submit(number, f"/w/{key}")
    server.call("POST", "/w/w1/__mock/snapshots", {"name": "a"})
    server.submit(50, "/w/w1")
    server.call("POST", "/w/w1/__mock/fork", {"to": "twin"})
    server.call("POST", "/w/w1/__mock/app-keys", {"appKeys": ["k1"]})
    server.call("POST", "/w/w2/__mock/outages", {"chain": "BNB", "mode": "delisted", "for": "9h"})
    return server


def _run(call: Any, *arguments: str) -> tuple[int, str, str]:
    ended = call(*arguments)
    return ended.returncode, ended.stdout, ended.stderr


def _closed(server: Server) -> None:
    server.service.close()


def _seen(server: Server) -> dict[str, Any]:
    return {key: server.seen(f"/w/{key}") for key in [*KEYS, "twin"]}


@pytest.mark.parametrize("processes", [(3,), (2, 3), (4, 2)])
@pytest.mark.deep(quick=1)
def test_worlds_move_to_the_files_of_other_processes_and_back(
    serving: Serving, processes: tuple[int, ...]
) -> None:
    server = _filled(serving)
    server.restart()
    before = _seen(server)
    restarts = {world["key"]: world["restarts"] for world in _worlds(server)}
    _closed(server)
    for count in processes:
        with closing(Hold(server.folder)):
            assert arrange(server.folder, count) == len(KEYS) + 1
            assert arrange(server.folder, count) == 0
        for number in range(count):
            file = StateFile(server.folder, share=(number, count), create=False)
            found = [str(key) for (key,) in file.read("SELECT key FROM worlds")]
            file.close()
            assert all(home_of(key, count) == number for key in found)
    assert not (server.folder / "worlds.sqlite").exists()
    server.service = server._built()
    assert _seen(server) == before
    server.call("POST", "/w/w1/__mock/revert", {"name": "a"})
    assert server.call("GET", "/w/w1/__mock/orders")["total"] == 1
    assert {key: count + 1 for key, count in restarts.items()} == {
        world["key"]: world["restarts"] for world in _worlds(server)
    }
    left = sorted(path.name for path in server.folder.iterdir() if "-of-" in path.name)
    assert left == []


def _worlds(server: Server) -> list[Any]:
    worlds: list[Any] = server.call("GET", "/__mock/worlds")["worlds"]
    return worlds


def test_a_move_that_was_killed_has_changed_nothing(serving: Serving) -> None:
    server = _filled(serving)
    before = _seen(server)
    _closed(server)
    # As it is left when the process ends before the new files are named.
    (server.folder / "worlds-1-of-2.sqlite").write_bytes(b"half")
    (server.folder / "worlds-2-of-2.sqlite").write_bytes(b"")
    with closing(Hold(server.folder)):
        assert arrange(server.folder, 2) == len(KEYS) + 1
    (server.folder / "worlds.sqlite").write_bytes(b"half")
    server.service = server._built()
    assert _seen(server) == before


def test_servers_of_other_numbers_of_processes_do_not_share_a_folder(serving: Serving) -> None:
    server = _filled(serving)
    with pytest.raises(StateNotLoadable, match="in use by another server"):
        Hold(server.folder)


def test_check_tells_of_each_world(serving: Serving, call: Any) -> None:
    server = _filled(serving)
    server.restart()
    folder = str(server.folder)
    code, _, error = _run(call, "state", "check", folder)
    assert (code, "in use by another server" in error) == (4, True)
    _closed(server)
    code, text, _ = _run(call, "state", "check", folder)
    assert (code, text.splitlines()[-1].startswith("all is well: 9 worlds, ")) == (0, True)
    code, text, _ = _run(call, "state", "check", folder, "--json")
    told = json.loads(text)
    (world,) = [world for world in told["worlds"] if world["key"] == "w1"]
    assert (code, told["ok"], world["orders"], world["snapshots"]) == (0, True, 2, 1)


def test_check_names_what_is_damaged(serving: Serving, call: Any) -> None:
    server = _filled(serving)
    _closed(server)
    with closing(sqlite3.connect(server.folder / "worlds.sqlite")) as db:
        db.execute("UPDATE items SET value = replace(value, '10000001', '10000002')")
        db.commit()
    code, text, _ = _run(call, "state", "check", str(server.folder))
    assert code == 1
    assert "damaged: worlds.sqlite: items" in text
    assert text.splitlines()[-1].startswith("damaged: 9 worlds")


def test_check_finds_a_damaged_page(serving: Serving, call: Any) -> None:
    server = _filled(serving)
    _closed(server)
    path = server.folder / "worlds.sqlite"
    content = bytearray(path.read_bytes())
    for page in range(3, len(content) // 4096, 2):
        content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(content)
    code, text, error = _run(call, "state", "check", str(server.folder))
    assert code in (1, 4)
    assert "damaged" in text or "error: " in error
    assert "Traceback" not in text + error


@pytest.mark.parametrize("command", ["check", "export", "prune"])
def test_what_is_no_state_folder_is_named(tmp_path: Path, call: Any, command: str) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        code, _, error = _run(
            call, "state", command, str(folder), *(["x"] if command == "prune" else [])
        )
        assert (code, "is no state folder" in error) == (4, True)
        assert list(tmp_path.iterdir()) == []


def test_export_writes_what_world_load_takes(serving: Serving, call: Any, tmp_path: Path) -> None:
    server = _filled(serving)
    dumps = {key: server.call("GET", f"/w/{key}/__mock/dump") for key in KEYS}
    _closed(server)
    out = tmp_path / "out"
    code, text, _ = _run(call, "state", "export", str(server.folder), "--out", str(out))
    assert (code, len(text.splitlines())) == (0, 9)
    assert {key: json.loads((out / f"{key}.json").read_text()) for key in KEYS} == dumps
    code, text, _ = _run(call, "state", "export", str(server.folder), "w3")
    assert (code, json.loads(text)) == (0, dumps["w3"])
    code, _, error = _run(call, "state", "export", str(server.folder), "w*")
    assert (code, "7 worlds cannot go to standard output" in error) == (2, True)
    code, _, error = _run(call, "state", "export", str(server.folder), "nobody")
    assert (code, "no world of" in error) == (4, True)


@pytest.mark.deep(quick=1)
def test_prune_deletes_worlds_and_gives_the_space_back(serving: Serving, call: Any) -> None:
    server = _filled(serving)
    for number in range(200):
        server.submit(100 + number, "/w/w1")
    before = _seen(server)
    _closed(server)
    size = (server.folder / "worlds.sqlite").stat().st_size
    code, text, error = _run(call, "state", "prune", str(server.folder), "w[13]", "*n", "--dry-run")
    assert (code, text.split(), "3 worlds would be deleted" in error) == (
        0,
        ["w1", "w3", "twin"],
        True,
    )
    code, text, error = _run(call, "state", "prune", str(server.folder), "w[13]", "*n")
    assert (code, text.split()) == (0, ["w1", "w3", "twin"])
    assert "3 worlds deleted, " in error
    assert (server.folder / "worlds.sqlite").stat().st_size < size
    assert _run(call, "state", "check", str(server.folder))[0] == 0
    server.service = server._built()
    keys = [world["key"] for world in _worlds(server)]
    # The default world goes by its name alone.
    assert sorted(keys) == sorted(set(KEYS) - {"w1", "w3"})
    assert {key: server.seen(f"/w/{key}") for key in keys} == {key: before[key] for key in keys}
    # The app key of a world that is gone is free.
    assert "error" not in server.call("POST", "/w/w4/__mock/app-keys", {"appKeys": ["k1"]})


def test_a_journal_without_durations_is_read():
    request, answer = "GET /v1/getChain HTTP/1.1\r\n\r\n", [200, None, 0]
    row = [["{}"], [[0, "v2.getChain", request, answer, "simulation", "", 1000]]]
    entry = entry_of(1, journal_entries(json.dumps(row))[0])
    assert (entry.request.path, entry.duration_ms, entry.weight) == ("/v1/getChain", None, 1000)
