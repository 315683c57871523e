"""What a state folder may be that is not one of a server that ended well: a sentence each time."""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.refusal import StateNotLoadable
from mockserver.worlds.state import NotKept
from mockserver.worlds.state.sqlite_file import FILE, VERSION
from tests.conftest import PATIENCE_S, eventually, order
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


@pytest.mark.parametrize("others", [(), ("first",), ("last",)])
def test_another_scenario_for_the_default_world_is_named(
    serving: Serving, others: tuple[str, ...]
) -> None:
    """Also where other worlds, which may go on, began from the same scenario."""
    server = serving(clock=ClockMode.FROZEN)
    keys = [key for key in ("first", "default", "last") if key in ("default", *others)]
    for number, key in enumerate(keys):
        server.submit(number, f"/w/{key}")
    server.kill()
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


def _submitted_until_refused(url: str, numbers: Iterable[int] = range(3000)) -> list[str]:
    acknowledged: list[str] = []
    for number in numbers:
        status, order_id = _asked(url, number)
        if status == 503:
            return acknowledged
        acknowledged.append(order_id)
    raise AssertionError("never refused")


NOBODY = 65_534


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte. Needs the superuser, and a system that lets it mount."""
    folder = tmp_path / "small"
    folder.mkdir()
    if shutil.which("mount") is None or not _mounted(folder, "size=1m"):
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mounted(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def _started(folder: Path, *options: str) -> Iterator[str]:
    """Serve with a folder, in a process of its own; yield the address. It is killed at the end."""
    with subprocess.Popen(
        (*COMMAND, str(folder), "--clock", "frozen", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split(" on ")[1].split()[0]
        process.kill()


@pytest.mark.deep(quick=1)
def test_a_full_disk_in_the_middle_of_submissions_and_room_again(small: Path) -> None:
    """A real file system that becomes full while several clients submit, and has room later."""
    with _started(small / "state") as url:
        answers: list[list[str]] = [[] for _ in range(4)]
        threads = [
            threading.Thread(
                target=lambda place=place: answers[place].extend(
                    _submitted_until_refused(url, range(place * 10_000, place * 10_000 + 3000))
                )
            )
            for place in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        acknowledged = [order_id for told in answers for order_id in told]
        assert acknowledged
        assert subprocess.run(["mount", "-o", "remount,size=32m", str(small)], check=True)
        eventually(lambda: _asked(url, 70_000)[0] == 200, "room on the disk")
        acknowledged += [_asked(url, 70_001 + number)[1] for number in range(20)]
    server = Server(small / "state", clock=ClockMode.FROZEN)
    kept = [one["id"] for one in server.call("GET", "/__mock/orders?limit=1000")["orders"]]
    hashes = [one["certHash"] for one in server.call("GET", "/__mock/orders?limit=1000")["orders"]]
    server.kill()
    assert set(acknowledged) <= set(kept)
    assert len(set(hashes)) == len(hashes) == len(set(kept))


def _asked(url: str, number: int) -> tuple[int, str]:
    """Submit an order; return the status and, of a success, its id."""
    deposit = {"fromAmount": str(10_000_001 + number * 10), "certHash": f"0x{number:064x}"}
    body = json.dumps(order(sourceCerts=certificate_of(deposit))).encode()
    asked = urllib.request.Request(f"{url}/v1/submitOrder", body, SIGNED)
    try:
        with urllib.request.urlopen(asked) as answer:
            return 200, json.loads(answer.read())["data"]["id"]
    except urllib.error.HTTPError as error:
        with error:
            content = json.loads(error.read())
        return content["code"], ""


def test_a_read_only_disk_is_named(small: Path) -> None:
    with _started(small / "state") as url:
        assert _asked(url, 1)[0] == 200
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    for options in ((), ("--workers", "2")):
        done = subprocess.run(
            (*COMMAND, str(small / "state"), *options),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert (done.returncode, "read-only" in done.stderr.lower()) == (4, True), done.stderr
        assert "Traceback" not in done.stderr


def test_a_folder_that_nobody_may_write_is_named(serving: Serving) -> None:
    """Needs the superuser, who can be somebody else, or somebody who may not write everywhere."""
    folder = _left(serving)
    with tempfile.TemporaryDirectory() as open_to_all:
        place = Path(open_to_all, "state")
        shutil.copytree(folder, place)
        Path(open_to_all).chmod(0o755)
        for path in (place, *place.iterdir()):
            path.chmod(0o555 if path.is_dir() else 0o444)
        root = os.geteuid() == 0
        as_nobody = {"user": NOBODY} if root else {}
        try:
            done = subprocess.run(
                (*COMMAND, str(place)),
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE_S,
                cwd=open_to_all,
                **as_nobody,  # type: ignore[call-overload]
            )
        except PermissionError:
            pytest.skip("others may not run this Python")
        finally:
            place.chmod(0o755)
    if "No module named" in done.stderr:
        pytest.skip("others may not read this Python's packages")
    assert done.returncode == 4, done.stderr
    assert "denied" in done.stderr.lower() or "read-only" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.deep(quick=1)
def test_of_two_servers_that_are_started_at_once_one_serves(
    tmp_path: Path, is_deep: bool, workers: str
) -> None:
    for number in range(10 if is_deep else 2):
        folder = tmp_path / f"state-{number}"
        processes = [
            subprocess.Popen(
                (*COMMAND, str(folder), "--workers", workers),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        lines = [process.stdout.readline() for process in processes if process.stdout]
        assert sorted("ready on" in line for line in lines) == [False, True], lines
        for line, process in zip(lines, processes, strict=True):
            if line:
                process.terminate()
            _, told = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == (0 if line else 4), told
            assert bool(line) is not ("in use by another server" in told), told


def test_worlds_of_another_dialect_than_the_server_go_on_with_theirs(serving: Serving) -> None:
    server = serving(clock=ClockMode.FROZEN)
    for key, dialect in (("observed", "observed"), ("erratum", "E-01"), ("plain", "documented")):
        server.call("POST", "/__mock/worlds", {"key": key, "dialect": dialect})
    server.submit(1, "/w/plain")
    server.restart()
    worlds = server.call("GET", "/__mock/worlds")["worlds"]
    told = {world["key"]: world["dialect"] for world in worlds if world["key"] != "default"}
    assert told["observed"] == "observed"
    assert told["plain"] == "documented"
    assert "E-01" in told["erratum"]
