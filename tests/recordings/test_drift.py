"""Drift: what changed between recordings, at which level, and a test that finds it again."""

import json
import runpy
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.contract import load
from mockserver.learning.drift import Level, Undecided, drift
from mockserver.learning.drifting import drift_of
from mockserver.learning.requesting import NoAnswers, requested_again
from mockserver.recordings import Recording, gather, text_of
from tests.conftest import frozen
from tests.conftest import running as served
from tests.recordings.test_replay import exchange, polled, quote

CONTRACT = load("observed")


@pytest.fixture
def side(tmp_path):
    """Write recordings into a folder of that name."""

    def write(name, *exchanges):
        (tmp_path / name).mkdir()
        recording = Recording("one side", "captured", exchanges, source="https://service.example")
        (tmp_path / name / "kept.yaml").write_text(text_of(recording), "utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def changes(side):
    """Return what changed from some answers to others."""

    def compare(old, new):
        found = drift(gather([side("old", *old)]), gather([side("new", *new)]), CONTRACT)
        return [(one.level.value, one.kind, one.place) for one in found.changes]

    return compare


def price(**data):
    return exchange(
        "v2.getPrice", "GET", "/v1/getPrice", query={"symbol": "KAS"}, data=data, name="price"
    )


def test_other_values_are_no_drift(changes):
    assert changes([quote("10000000", "9700000000")], [quote("10000000", "9100000000")]) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"price": "0.11"}, {"price": "11"}, []),
        ({"price": "0.11"}, {"price": 1}, [("breaking", "type", "data.price")]),
        ({"price": "0.11"}, {}, [("breaking", "vanished", "data.price")]),
        ({"price": "1"}, {"price": "1", "age": 3}, [("harmless", "appeared", "data.age")]),
        ({"amount": "9700000000"}, {"amount": "9.7"}, [("may-break", "class", "data.amount")]),
        ({"timestamp": 1767225601}, {"timestamp": 1767225601000},
         [("may-break", "class", "data.timestamp")]),
        ({"a": {"b": {"c": 1}}}, {"a": {}}, [("breaking", "vanished", "data.a.b")]),
        ({"list": [{"a": 1}, {"a": 2}]}, {"list": [{"a": 1}, {}]},
         [("may-break", "optional", "data.list[].a")]),
        ({"list": [{"a": 1}]}, {"list": []}, []),
        ({"a": None}, {"a": None}, []),
        ({"a": None}, {"a": True}, [("breaking", "type", "data.a")]),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_found_and_nothing_else(changes, old, new, expected):
    assert changes([price(**old)], [price(**new)]) == expected


def test_names_that_are_data_are_no_fields(changes):
    def assets(*chains):
        contracts = {chain: {"address": "0x" + "e" * 40, "decimals": 18} for chain in chains}
        data = {"version": 1, "list": [{"index": 5, "symbol": "USDT", "contracts": contracts}]}
        return exchange("v2.getAssets", "GET", "/v1/getAssets", data=data)

    assert changes([assets("ARB", "BNB")], [assets("ETH")]) == []


def test_a_request_that_is_refused_now_is_breaking(changes):
    refused = quote("10000000", "", raw='{"code":3,"msg":"no","data":{}}')
    found = changes([quote("10000000", "1")], [refused])
    assert ("breaking", "outcome", "") in found


def test_a_longer_look_at_an_order_is_no_drift(changes):
    assert changes([polled("Pending", 1)], [polled("Pending", 1), polled("Succeeded", 9)]) == []


def test_status_and_media_type_of_an_answer_count(changes):
    page = quote("1", "", raw="<p>", status=502, headers=(("Content-Type", "text/html"),))
    other = quote("1", "", raw="<p>", status=503, headers=(("Content-Type", "text/plain"),))
    assert changes([page], [other]) == [
        ("may-break", "status", ""),
        ("may-break", "media-type", ""),
    ]


def test_the_command_writes_text_json_junit_and_ends_by_level(side):
    old, new = side("old", price(price="1")), side("new", price(price=1, more=True))
    run = lambda *more: CliRunner().invoke(_cli, ["recordings", "drift", str(old), str(new), *more])  # noqa: E731
    text = run()
    assert text.exit_code == 1
    assert "v2.getPrice: data.price: type: text -> number" in text.output
    assert "seen in kept.yaml#price" in text.output
    assert run("--fail-on", "never").exit_code == 0
    told = json.loads(run("--format", "json").output)
    assert [one["level"] for one in told["changes"]] == ["breaking", "harmless"]
    written = run("--format", "junit").output
    suite = ElementTree.fromstring(written)[0]  # noqa: S314 (our own)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    same = CliRunner().invoke(_cli, ["recordings", "drift", str(old), str(old)])
    assert (same.exit_code, same.output) == (
        0,
        "nothing has changed in 1 operation that both show\n",
    )


def test_the_difference_becomes_a_test_that_fails_until_it_is_gone(side, tmp_path):
    old, new = side("old", price(price="1")), side("new", price(price=1))
    file = tmp_path / "test_drift_of_price.py"
    arguments = ["recordings", "drift", str(old), str(new), "--write-test", str(file)]
    CliRunner().invoke(_cli, arguments)

    def ended(recordings):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
            env={
                "RECORDINGS": str(recordings), "PATH": "", "PYTHONPATH": ":".join(sys.path),
                # The test asks for no plugin, and is quicker without those that are installed here.
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
        )  # fmt: skip

    failed = ended(new)
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "v2.getPrice: data.price: type: text -> number" in failed.stdout
    assert ended(old).returncode == 0


def test_a_live_service_is_asked_what_was_recorded():
    old = gather(["v2/getBridgeQuote", "v2/submitOrder"])
    with served(frozen(breaks=("bridge-amounts-as-numbers",))) as mock:
        new = requested_again(old, f"http://127.0.0.1:{mock.port}", CONTRACT)
    assert {one.operation for source in new for one in source.recording.exchanges} == {
        "v2.getBridgeQuote"
    }
    assert drift(old, new, CONTRACT).changes[0].level is Level.BREAKING


def test_a_service_that_is_away_has_not_stayed_the_same(call, dead_port):
    run = call("recordings", "drift", "v2/getPrice", f"http://127.0.0.1:{dead_port}")
    assert (run.returncode, run.stdout) == (3, "")
    assert "answered none of the recorded reading requests" in run.stderr


def test_a_service_that_answers_a_part_has_not_stayed_the_same(call):
    fault = {"kind": "empty-answer", "operation": "v2.getChain"}
    with served(frozen()) as mock:
        mock.client.control("POST", "/faults", fault)
        url = f"http://127.0.0.1:{mock.port}"
        run = call("recordings", "drift", "v2", url, "--fail-on", "never")
        with pytest.raises(NoAnswers, match="did not answer 2 recorded requests"):
            drift_of("v2", url)
        assert drift_of("v2/getPrice", url) == ()
    assert run.returncode == 3
    assert "only in the old recordings: " in run.stdout
    assert run.stderr.endswith("cannot be known: v2.getChain\n")


def test_a_written_test_asks_a_service_again(call, tmp_path, monkeypatch):
    file = tmp_path / "test_drift_of_a_service.py"
    with served(frozen(breaks=("bridge-amounts-as-numbers",))) as mock:
        url = f"http://127.0.0.1:{mock.port}"
        assert call("recordings", "drift", "v2", url, "--write-test", str(file)).returncode == 1
        monkeypatch.delenv("RECORDINGS", raising=False)
        made = runpy.run_path(str(file))
        found = drift_of(made["OLD"], made["NEW"], made["DIALECT"], made["HOSTS"])
    assert Level.BREAKING in {one.level for one in found}


def test_recordings_of_other_operations_cannot_be_compared(call):
    run = call("recordings", "drift", "v2/getPrice", "v2/getChain")
    assert (run.returncode, run.stdout) == (3, "")
    assert "no operation is in both; old: v2.getPrice; new: v2.getChain" in run.stderr
    with pytest.raises(Undecided):
        drift_of("v2/getPrice", "v2/getChain")
