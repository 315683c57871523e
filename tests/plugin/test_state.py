"""A test's world that survives its session: the option, the ini key and the marker `state`."""

import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from mockserver.errors import CrosschainMockError
from mockserver.testing import running
from tests.plugin.conftest import Client

pytest_plugins = ["pytester"]

Project = Callable[..., pytest.RunResult]

COUNTED = """
def test_counted(crosschain_mock, request):
    before = len(crosschain_mock.journal)
    print("requests before:", before)
    print("at:", crosschain_mock.clock.now.isoformat())
    get(crosschain_mock, "/v1/getChain")
    crosschain_mock.clock.advance("1h")


def test_another(crosschain_mock):
    print("another before:", len(crosschain_mock.journal))
    get(crosschain_mock, "/v1/getChain")
"""
MARKED = """
@pytest.mark.crosschain_mock(state="kept")
""" + COUNTED.strip()


def lines_of(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "before:" in line or line.startswith("at:")]


def test_the_next_session_goes_on_with_the_world_of_each_test(project: Project) -> None:
    first = project(COUNTED, "-s", "--crosschain-mock-state=kept")
    second = project(COUNTED, "-s", "--crosschain-mock-state=kept")
    first.assert_outcomes(passed=2)
    second.assert_outcomes(passed=2)
    assert [line.rpartition(" ")[2] for line in lines_of(first) if "before" in line] == ["0", "0"]
    assert [line.rpartition(" ")[2] for line in lines_of(second) if "before" in line] == ["1", "1"]
    # The clock stands where the first session has moved it to.
    moved = [line for result in (first, second) for line in lines_of(result) if "at:" in line]
    assert [line.partition("T")[2][:2] for line in moved] == ["00", "01"]


def test_without_a_folder_nothing_is_kept(project: Project, pytester: pytest.Pytester) -> None:
    for _ in range(2):
        assert "requests before: 0" in "\n".join(lines_of(project(COUNTED, "-s")))
    assert not list(pytester.path.rglob("*.sqlite"))


def test_a_marker_keeps_one_test_beside_its_file(
    project: Project, pytester: pytest.Pytester
) -> None:
    for expected in ("0", "1"):
        told = lines_of(project(MARKED, "-s"))
        assert [line.rpartition(" ")[2] for line in told if "before" in line] == [expected, "0"]
    (file,) = pytester.path.rglob("worlds.sqlite")
    assert file.relative_to(pytester.path).parts == (
        *("kept", "test_project", "test_counted", "worlds.sqlite"),
    )


def test_a_marker_of_none_begins_anew_in_every_session(project: Project) -> None:
    source = MARKED.replace('"kept"', "None")
    for _ in range(2):
        told = "\n".join(lines_of(project(source, "-s", "--crosschain-mock-state=kept")))
        assert "requests before: 0" in told


def test_the_ini_file_names_a_folder_beside_itself(
    project: Project, pytester: pytest.Pytester
) -> None:
    pytester.makeini("[pytest]\ncrosschain_mock_state = kept\n")
    project(COUNTED, "-s")
    told = "\n".join(lines_of(project(COUNTED, "-s")))
    assert "requests before: 1" in told
    assert (pytester.path / "kept").is_dir()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ('scenario="outage"', "began with 'default', and is to go on with 'outage'"),
        ('dialect="observed"', "speaks dialect 'documented', and this server 'observed'"),
        ("state=7", "state: expected a folder, got 7"),
        (
            'record="once", upstream_v2="http://127.0.0.1:1"',
            "record and state exclude each other",
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_world_goes_on_as_it_began_or_the_test_fails_with_the_reason(
    project: Project, settings: str, sentence: str
) -> None:
    project(COUNTED, "--crosschain-mock-state=kept", "-k", "counted").assert_outcomes(passed=1)
    marked = f"@pytest.mark.crosschain_mock({settings})\n{COUNTED.strip()}"
    result = project(marked, "--crosschain-mock-state=kept", "-k", "counted")
    result.assert_outcomes(errors=1)
    text = " ".join(result.outlines)
    assert sentence in text or "began from scenario 'default'" in text
    assert "Traceback" not in text


def test_a_killed_test_loses_nothing_of_what_it_did(
    apart: Callable[..., object], tmp_path: Path
) -> None:
    source = """
import os, pathlib
from mockserver.testing import running
with running(state="kept") as server:
    world = server.world("mine")
    world.clock.advance("3h")
    world.suspend("BNB")
    world.stub("getChain", refusal="internal-error")
    os._exit(9)
"""
    (tmp_path / "killed.py").write_text(source)
    apart("killed.py")
    with running(state=tmp_path / "kept") as server:
        world = server.world("mine")
        with world.hosted() as hosted:
            assert hosted.restarts == 1
            assert [window.chain for window in hosted.world.outages.all()] == ["BNB"]
            assert len(hosted.stubs) == 1
            assert hosted.world.now() - hosted.began_ms == 3 * 3_600_000


def test_a_test_and_its_client_change_a_kept_world_at_once(tmp_path: Path) -> None:
    """Commits of the loop and of the test's own thread never meet in the middle."""
    with running(state=tmp_path / "kept", refusals="allow") as server:
        world = server.world("mine")
        client = Client(world.base_url_v2)
        ids = []
        for number in range(1, 61):
            ids.append(client.submit(number)["data"]["id"])
            world.clock.advance("1s")
    with running(state=tmp_path / "kept", refusals="allow") as server:
        world = server.world("mine")
        client = Client(world.base_url_v2)
        assert [client.status(order_id) for order_id in ids] != []
        with world.hosted() as hosted:
            assert hosted.world.orders.count() == 60
            assert hosted.world.now() - hosted.began_ms == 60_000


def test_two_servers_cannot_have_one_folder(tmp_path: Path) -> None:
    with running(state=tmp_path), pytest.raises(CrosschainMockError, match="in use by another"):
        running(state=tmp_path).__enter__()


def test_a_world_of_a_server_with_state_goes_nowhere_else(tmp_path: Path) -> None:
    with running(state=tmp_path / "a") as server:
        with pytest.raises(CrosschainMockError, match="one folder; make another server"):
            server.world("mine", state=tmp_path / "b")
        with urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=60) as answer:
            assert answer.status == 200


def test_bounds_are_settings_of_worlds(tmp_path: Path) -> None:
    with running(bounds={"journal_entries": 5, "most-snapshots": 2}, refusals="allow") as server:
        world = server.world("small")
        client = Client(world.base_url_v2)
        for _ in range(8):
            client.get("/v1/getChain")
        assert len(world.journal) == 5
        world.snapshot("a"), world.snapshot("b")
        with pytest.raises(CrosschainMockError, match="there are 2 snapshots already"):
            world.snapshot("c")
    for wrong, sentence in (
        ({"journal": 5}, "'journal' is no bound; there are journal-entries, "),
        ({"journal-entries": 0}, "expected a whole number, from 1"),
        ({"journal-bytes": "5 apples"}, "expected a size such as 64MiB"),
        (7, "expected bounds by name"),
    ):
        with pytest.raises(CrosschainMockError, match=sentence):
            running(bounds=wrong).__enter__()
