"""A user's project of ten tests in each record mode, and a program of any language with `run`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.recordings.services.lattice import Lattice
from tests.recordings.services.serving import serving

pytest_plugins = ["pytester"]

PROJECT = """
import os

pytestmark = pytest.mark.crosschain_mock(record="once")
USDC = "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"


def quoted(world, amount):
    route = "&symbol=USDC&fromChain=ARB&toChain=MATIC"
    return get(world, f"/v1/getBridgeQuote?amount={amount}{route}")


def post(world, path, body):
    headers = {"Evmaddress": "0x" + "52" * 20, "Signature": "0x" + "5a" * 65}
    headers["Content-Type"] = "application/json"
    raw = json.dumps(body).encode()
    return asked(urllib.request.Request(world.base_url_v2 + path, raw, headers))


@pytest.mark.parametrize("amount", ["10000000", "20000000", os.environ.get("AMOUNT", "30000000")])
def test_quote(crosschain_mock, amount):
    assert quoted(crosschain_mock, amount)["data"]["price"] == "1.00"


def test_refused(crosschain_mock):
    assert quoted(crosschain_mock, "1")["code"] == 40012


def test_chains(crosschain_mock):
    assert len(get(crosschain_mock, "/v1/getChain")["data"]["list"]) == 3
    crosschain_mock.verify("getChain", exactly=1)


def test_price(crosschain_mock):
    target = f"/v1/getPrice?chain=ARB&contractAddress={USDC}&symbol=USDC"
    for _ in range(int(os.environ.get("TIMES", "1"))):
        assert get(crosschain_mock, target)["data"]["price"] == "1.0000"


def test_chains_of_v1(crosschain_mock):
    assert get(crosschain_mock, "/open/v1/base/getSupportChains")["status"] == 200


def test_order_and_ticket(crosschain_mock):
    body = {"channel": "a", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0"}
    body |= {"sourceCerts": "3e" * 32, "timeout": "0", "toAddr": "0x1", "toChain": "MATIC"}
    order = post(crosschain_mock, "/v1/submitOrder", body | {"toIndex": "31", "triggerPrice": "0"})
    found = get(crosschain_mock, "/v1/checkOrder?id=" + order["data"]["id"])
    assert found["data"]["status"] == "PENDING"
    post(crosschain_mock, "/v1/submitTicket", {"hash": "0x" + "3e" * 32, "chain": "ARB"})


class TestOfAClass:
    def test_unknown_order(self, crosschain_mock):
        assert get(crosschain_mock, "/v1/checkOrder?id=7")["code"] == 40030


def test_not_recorded_at_all(crosschain_mock):
    crosschain_mock.clock.advance(hours=1)
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def lattice() -> Iterator[tuple[Lattice, str]]:
    """A service to be recorded, and its address."""
    service = Lattice()
    with serving(service) as url:
        yield service, url


@pytest.fixture
def recorded(project: Run, lattice: tuple[Lattice, str]) -> Run:
    """The same project, recorded once."""
    project(PROJECT, *upstream(lattice[1])).assert_outcomes(passed=10)
    return project


def upstream(url: str) -> tuple[str, ...]:
    """Return the options that name a service and allow submissions."""
    bases = (f"--crosschain-mock-upstream-v1={url}", f"--crosschain-mock-upstream-v2={url}")
    return (*bases, "--crosschain-mock-arm-writes")


def files(pytester: pytest.Pytester) -> dict[str, str]:
    """Return the recordings by their paths."""
    root = pytester.path / "recordings"
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.yaml")}


def test_once_records_one_folder_for_each_test_and_then_plays(
    recorded: Run, pytester: pytest.Pytester, lattice: tuple[Lattice, str]
) -> None:
    before, sent = files(pytester), lattice[0].answered
    assert len(before) == 9
    assert "test_project/test_quote-10000000/flow.yaml" in before
    assert "test_project/TestOfAClass-test_unknown_order/flow.yaml" in before
    assert not list((pytester.path / "recordings").rglob(".*"))
    recorded(PROJECT, *upstream(lattice[1])).assert_outcomes(passed=10)
    assert files(pytester) == before
    assert lattice[0].answered == sent


def test_none_needs_no_service_and_refuses_by_name_what_is_not_recorded(
    recorded: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(PROJECT, "--crosschain-mock-record=none").assert_outcomes(passed=10)
    monkeypatch.setenv("AMOUNT", "40000000")
    result = recorded(PROJECT, "--crosschain-mock-record=none")
    result.assert_outcomes(passed=9, failed=1)
    result.stdout.fnmatch_lines(
        ["*'recordings/test_project/test_quote-40000000' has no recordings; record them with *"]
    )


def test_once_refuses_another_request_of_a_recorded_test(
    recorded: Run, lattice: tuple[Lattice, str]
) -> None:
    other = PROJECT.replace("checkOrder?id=7", "checkOrder?id=8")
    result = recorded(other, *upstream(lattice[1]))
    result.assert_outcomes(passed=9, failed=1)
    result.stdout.fnmatch_lines(["*not-recorded: nearest recording flow.yaml#* differs: query*"])


def test_new_records_what_is_missing_also_a_further_answer_of_a_kind(
    recorded: Run,
    pytester: pytest.Pytester,
    lattice: tuple[Lattice, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, sent = files(pytester), lattice[0].answered
    monkeypatch.setenv("TIMES", "3")
    monkeypatch.setenv("AMOUNT", "40000000")
    result = recorded(PROJECT, "--crosschain-mock-record=new", *upstream(lattice[1]))
    result.assert_outcomes(passed=10)
    added = files(pytester).keys() - before.keys()
    assert added == {
        "test_project/test_price/flow-2.yaml",
        "test_project/test_quote-40000000/flow.yaml",
    }
    assert lattice[0].answered == sent + 3
    recorded(PROJECT, "--crosschain-mock-record=none").assert_outcomes(passed=10)


@pytest.mark.deep(quick=1)
def test_all_takes_the_place_of_what_was_recorded_unless_nothing_came(
    recorded: Run, pytester: pytest.Pytester, lattice: tuple[Lattice, str]
) -> None:
    before = files(pytester)
    result = recorded(PROJECT, "--crosschain-mock-record=all", *upstream(lattice[1]))
    result.assert_outcomes(passed=10)
    again = files(pytester)
    assert again.keys() == before.keys()
    assert all(again[name] != before[name] for name in before)
    nowhere = recorded(PROJECT, "--crosschain-mock-record=all", *upstream("http://127.0.0.1:9"))
    nowhere.assert_outcomes(passed=1, failed=9)
    assert files(pytester) == again


@pytest.mark.deep(quick=1)
def test_submissions_need_the_permit_of_the_recorder(
    project: Run, lattice: tuple[Lattice, str], pytester: pytest.Pytester
) -> None:
    result = project(PROJECT, *upstream(lattice[1])[:2])
    result.assert_outcomes(passed=9, failed=1)
    result.stdout.fnmatch_lines(["*v2.submitOrder changes something: it needs *arm-writes*"])
    strange = project(PROJECT, *upstream("http://api.example"))
    strange.stdout.fnmatch_lines(["*'api.example' is not this machine; name it with *"])


def test_a_mode_needs_a_service_where_there_is_nothing_to_play(project: Run) -> None:
    result = project(PROJECT)
    result.stdout.fnmatch_lines(["*not-recorded: no service is named*--crosschain-mock-upstream*"])


CLIENT = """
import json, os, urllib.request
for name in os.environ["TARGETS"].split():
    with urllib.request.urlopen(os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + name) as answer:
        print(json.load(answer)["code"], end=" ")
"""


@pytest.mark.deep(quick=1)
def test_run_records_for_any_language(tmp_path: Path, lattice: tuple[Lattice, str]) -> None:
    chains, price = "/v1/getChain", "/v1/checkOrder?id=9"

    def run(mode: str, *targets: str, url: str = "") -> tuple[str, str]:
        named = ("--upstream-v2", url) if url else ()
        command = [sys.executable, "-m", "mockserver", "run", "--record", mode, *named]
        environment = {**os.environ, "TARGETS": " ".join(targets)}
        done = subprocess.run(
            [*command, "--recordings", str(tmp_path / "kept"), "--", sys.executable, "-c", CLIENT],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        return done.stdout, done.stderr

    out, told = run("once", chains, chains, price, url=lattice[1])
    assert (out, "recorded 3 exchanges in" in told) == ("0 0 40030 ", True)
    assert run("none", chains, price, chains)[0] == "0 40030 0 "
    out, told = run("new", chains, "/v1/getAssets", url=lattice[1])
    assert (out, "recorded 1 exchange in" in told) == ("0 0 ", True)
    assert run("none", "/v1/getAssets", "/v1/getPrice")[0] == "0 3 "
