"""What a state folder may be that is not one of a server that ended well: a sentence each time."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.refusal import StateNotLoadable
from mockserver.worlds.state import NotKept
from mockserver.worlds.state.file import FILE, VERSION
from tests.conftest import PATIENCE_S, order
from tests.state.conftest import SIGNED, Server, certificate_of

Serving = Callable[..., Server]


def _changed(folder: Path, *statements: str) -> None:
    with sqlite3.connect(folder / FILE) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def _left(serving: Serving, **settings: object) -> Path:
    """Return the folder of a server with an order, that was killed."""
    server = serving(clock=ClockMode.FROZEN, **settings)
    server.submit(1)
    server.kill()
    return server.folder


def test_a_folder_in_use_is_named(serving: Serving) -> None:
    serving()
    with pytest.raises(StateNotLoadable, match="in use by another server"):
        serving()


def test_a_later_version_is_named(serving: Serving) -> None:
    folder = _left(serving)
    _changed(folder, "UPDATE meta SET value = value + 1 WHERE name = 'version'")
    with pytest.raises(StateNotLoadable, match=f"version {VERSION + 1} of the format"):
        serving()


def test_another_file_of_sqlite_is_left_alone(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    _changed(tmp_path / "state", "CREATE TABLE mine(a)", "INSERT INTO mine VALUES (1)")
    before = (tmp_path / "state" / FILE).read_bytes()
    with pytest.raises(StateNotLoadable, match="no state of crosschain-mock"):
        serving()
    assert (tmp_path / "state" / FILE).read_bytes() == before


def test_any_other_file_is_named(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / FILE).write_bytes(b"a letter to my aunt\n" * 500)
    with pytest.raises(StateNotLoadable, match="cannot be read"):
        serving()


def test_a_file_in_place_of_the_folder_is_named(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(StateNotLoadable, match="cannot keep state"):
        serving()


def test_a_changed_value_is_noticed(serving: Serving) -> None:
    folder = _left(serving)
    _changed(folder, "UPDATE items SET value = replace(value, '10000011', '99000011')")
    with pytest.raises(StateNotLoadable, match=r"branch .* is damaged"):
        serving()


def test_a_damaged_world_is_refused_by_name_and_the_others_go_on(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    server.submit(1, "/w/alice")
    server.submit(2, "/w/bob")
    server.kill()
    _changed(
        server.folder,
        "UPDATE items SET value = '{}'"
        " WHERE branch = (SELECT branch FROM worlds WHERE key = 'alice')",
    )
    server.restart()
    told = server.call("GET", "/w/alice/v1/getChain")
    assert (told["code"], told["msg"].partition(":")[0]) == (503, "state not kept")
    assert "damaged" in server.call("GET", "/w/alice/__mock/orders")["error"]
    assert len(server.call("GET", "/w/bob/__mock/orders")["orders"]) == 1


def test_another_dialect_for_the_default_world_is_named(serving: Serving) -> None:
    _left(serving)
    with pytest.raises(StateNotLoadable, match=r"speaks dialect 'documented'.*'observed'"):
        serving(dialect="observed")


def test_another_scenario_for_the_default_world_is_named(serving: Serving) -> None:
    _left(serving)
    with pytest.raises(StateNotLoadable, match=r"began from scenario 'default'.*'slow'"):
        serving(scenario="slow")


def test_a_scenario_file_that_has_changed_is_named(serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\nseed: 1\n")
    _left(serving, scenario=file)
    file.write_text("# Only a comment\n" + file.read_text())
    serving(scenario=file).kill()
    file.write_text(file.read_text().replace("seed: 1", "seed: 5"))
    with pytest.raises(StateNotLoadable, match="'mine' has changed"):
        serving(scenario=file)


def test_a_full_disk_loses_nothing_that_was_acknowledged(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    keeper = server.service.keeper
    assert keeper is not None
    acknowledged = [server.submit(number) for number in range(5)]
    database = keeper.file._db
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    number, refused = 5, False
    while not refused:
        try:
            acknowledged.append(server.submit(number))
        except NotKept:
            refused = True
        number += 1
    # From now on nothing is told that is not on the disk.
    told = server.call("GET", "/v1/getChain")
    assert (told["code"], "full" in told["msg"]) == (503, True)
    deposit = {"fromAmount": "5000", "certHash": "0x" + "f" * 64}
    body = order(sourceCerts=certificate_of(deposit))
    assert server.call("POST", "/v1/submitOrder", body, **SIGNED)["code"] == 503
    assert "full" in server.call("POST", "/__mock/clock", {"advance": "1h"})["error"]
    server.restart()
    kept = [one["id"] for one in server.call("GET", "/__mock/orders?limit=1000")["orders"]]
    # The last one was not acknowledged: it is there whole, or not at all.
    assert sorted(kept)[: len(kept)] == sorted(acknowledged) or len(kept) == len(acknowledged) + 1


def test_a_disk_that_has_room_again_is_written_to_again(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    keeper = server.service.keeper
    assert keeper is not None
    server.submit(1)
    database = keeper.file._db
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(NotKept, match="full"):
        _ = [server.submit(number) for number in range(2, 500)]
    orders = server.service.worlds.get("default").world.orders.count()
    database.execute("PRAGMA max_page_count = 1000000")
    keeper.writes.flush()
    assert server.call("GET", "/v1/getChain")["code"] == 0
    server.restart()
    assert server.service.worlds.get("default").world.orders.count() == orders


COMMAND = (sys.executable, "-m", "mockserver", "serve", "--port", "0", "--state")


def test_the_command_ends_with_exit_code_4(serving: Serving, tmp_path: Path) -> None:
    folder = serving().folder
    done = subprocess.run(
        (*COMMAND, str(folder)), capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 4
    assert "in use by another server" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_size_limit_in_the_middle_of_submissions(tmp_path: Path) -> None:
    """A real process, whose system refuses to let its files grow, as a full disk does."""
    folder = tmp_path / "state"

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    with subprocess.Popen(
        (*COMMAND, str(folder), "--clock", "frozen"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,  # noqa: PLW1509 - no other thread runs yet
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split(" on ")[1].split()[0]
        acknowledged = _submitted_until_refused(url)
        process.kill()
    server = Server(folder, clock=ClockMode.FROZEN)
    kept = [one["id"] for one in server.call("GET", "/__mock/orders?limit=1000")["orders"]]
    server.kill()
    assert acknowledged
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept)) <= len(acknowledged) + 1


def _submitted_until_refused(url: str) -> list[str]:
    acknowledged: list[str] = []
    for number in range(3000):
        deposit = {"fromAmount": str(10_000_001 + number * 10), "certHash": f"0x{number:064x}"}
        body = json.dumps(order(sourceCerts=certificate_of(deposit))).encode()
        asked = urllib.request.Request(f"{url}/v1/submitOrder", body, SIGNED)
        try:
            with urllib.request.urlopen(asked) as answer:
                acknowledged.append(json.loads(answer.read())["data"]["id"])
        except urllib.error.HTTPError as error:
            refused = error
            break
    else:
        raise AssertionError("never refused")
    assert (refused.code, json.loads(refused.read())["code"]) == (503, 503)
    return acknowledged


def test_a_folder_that_nobody_may_write_is_named(serving: Serving) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    folder = _left(serving)
    folder.chmod(0o500)
    with pytest.raises(StateNotLoadable, match=r"read-only|cannot"):
        serving()
    folder.chmod(0o700)
