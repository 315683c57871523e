"""Scenarios that say what goes wrong in their worlds from the beginning on."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from mockserver.errors import CrosschainMockError
from mockserver.testing import MockWorld, running
from tests.conftest import WALLET, order

HEAD = "format: crosschain-mock/scenario@1\ntitle: bad day\nextends: frozen\nfailures:\n"
BAD_DAY = f"""{HEAD}
  faults: [{{kind: http-status, status: 503, operation: getChain, nth: 2}}]
  at: [{{counts: orders, steer: dropped}}]
  breaks: [bridge-amounts-as-numbers]
"""
QUOTE = "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"


def called(world: MockWorld, path: str, body: object = None) -> tuple[int, object]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Evmaddress": WALLET, "Signature": "ab" * 65}
    request = urllib.request.Request(f"{world.base_url_v2}{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        return error.code, None


def bad_day(world: MockWorld) -> list[object]:
    """Return what a world shows of each failure of the bad day."""
    statuses = [called(world, "/v1/getChain")[0] for _ in range(3)]
    amount = called(world, QUOTE)[1]["outAmount"]  # type: ignore[index]
    number = called(world, "/v1/submitOrder", order())[1]["id"]  # type: ignore[index]
    world.clock.advance("2h")
    status = called(world, f"/v1/checkOrder?id={number}")[1]["status"]  # type: ignore[index]
    return [statuses, type(amount), status]


def test_a_world_begins_with_the_failures_of_its_scenario_and_begins_so_anew(
    tmp_path: Path,
) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(BAD_DAY)
    expected = [[200, 503, 200], int, "Dropped"]
    with running(scenario=file) as mock:
        assert bad_day(mock.default) == expected
        mock.default.reset()
        assert bad_day(mock.default) == expected
        # Another world has counts of its own.
        assert bad_day(mock.world("second")) == expected


def test_a_copy_of_a_world_does_not_begin_anew(tmp_path: Path) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(BAD_DAY)
    with running(scenario=file, unused="allow") as mock:
        called(mock.default, "/v1/getChain")
        address = f"{mock.url}/__mock"
        forked = urllib.request.Request(f"{address}/fork", b'{"to": "twin"}')
        urllib.request.urlopen(forked, timeout=60).close()
        with urllib.request.urlopen(f"{address}/dump", timeout=60) as answer:
            dump = answer.read()
        loaded = urllib.request.Request(f"{mock.url}/w/loaded/__mock/load", dump)
        urllib.request.urlopen(loaded, timeout=60).close()
        for key in ("twin", "loaded"):
            url = f"{mock.url}/w/{key}/v1/getChain"
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(url, timeout=60)
            urllib.request.urlopen(url, timeout=60).close()


@pytest.mark.parametrize(
    ("failures", "sentence"),
    [
        ("  faults: [{kind: http-staus}]", r"failures.faults\[0\]: 'kind': .*got 'http-staus'"),
        ("  at: [{nth: 1, steer: droped}]", r"failures.at\[0\]: .*'droped' is no course"),
        ("  at: [{nth: 1}]", r"failures.at\[0\]: give one of fault"),
        ("  breaks: [no-such-break]", "no-such-break"),
        ("  fault: []", "fault"),
        ("  faults: 3", "expected an array"),
    ],
)
def test_a_failure_that_cannot_be_is_a_sentence_before_any_request(
    tmp_path: Path, failures: str, sentence: str
) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(HEAD + failures)
    with pytest.raises(CrosschainMockError, match=sentence), running(scenario=file):
        pass
