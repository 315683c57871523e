"""Switching breaks on and off by command, control API and settings, and how they last."""

import json
import sys
import urllib.request

import pytest

from mockserver.cli import main
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers, Request
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.responders.control_forms import BadControl
from mockserver.server.assembly import build
from mockserver.testing import BadSetting, MockSettings, running
from tests.breaks.conftest import BRIDGE, PRICE, get
from tests.conftest import frozen
from tests.control.conftest import ControlClient, Line
from tests.plugin.conftest import installed, project

pytest_plugins = ["pytester"]
__all__ = ["installed", "project"]

PRICE_PATH = "/v1/getPrice?" + "&".join(f"{name}={value}" for name, value in PRICE.items())


@pytest.fixture
def control(mock):
    """The control API of the test's own world."""
    return ControlClient(mock)


@pytest.fixture
def line(mock):
    """An unchecked way to the test's own world."""
    return Line(mock.port, mock.prefix)


def price(line):
    """Return the price that the test's world tells."""
    return line.get(PRICE_PATH).data["price"]


def versions(line, count=1):
    """Return the versions that a list has, read so many times."""
    return [line.get("/v1/getChain").data["version"] for _ in range(count)]


# The control API


def test_breaks_are_set_and_cleared_in_one_world(control, line):
    shown = control.get("/breaks")
    assert (shown["active"], len(shown["breaks"])) == ([], len(CATALOGUE))
    names = ["price-as-number", "chain-list-missing"]
    assert control.send("PUT", "/breaks", {"breaks": names}) == {"active": names}
    assert price(line) == 1
    assert "list" not in line.get("/v1/getChain").data
    assert control.get("/breaks")["active"] == names
    assert control.send("PUT", "/breaks", {"breaks": []}) == {"active": []}
    assert price(line) == "1"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"breaks": ["price-as-numbers"]}, "did you mean 'price-as-number'"),
        ({"breaks": ["zzz"]}, "`crosschain-mock breaks` lists them"),
        ({"breaks": ["list-shrinks"] * 2}, "given twice"),
        ({"breaks": "list-shrinks"}, "expected an array"),
        ({}, "'breaks'"),
    ],
)
def test_a_name_that_no_break_has_changes_nothing(control, line, body, sentence):
    control.send("PUT", "/breaks", {"breaks": ["price-as-number"]})
    assert sentence in control.refused("PUT", "/breaks", body)
    assert price(line) == 1


def test_a_world_is_made_with_breaks_and_shows_them(serve):
    client = serve().client
    made = client.control("POST", "/worlds", {"key": "w", "breaks": ["price-as-number"]})
    assert made["breaks"] == ["price-as-number"]
    assert price(Line(client.port, "/w/w")) == 1
    assert price(Line(client.port, "")) == "1"
    wrong = client.call("POST", "/__mock/worlds", body={"key": "v", "breaks": ["no"]})
    assert (wrong.status, "no break" in wrong.json["error"]) == (400, True)
    assert "v" not in [one["key"] for one in client.control("GET", "/worlds")["worlds"]]


def test_every_world_of_a_server_has_its_breaks_unless_told_otherwise(serve):
    client = serve(breaks=("price-as-number",)).client
    assert price(Line(client.port, "/w/any")) == 1
    client.control("POST", "/worlds", {"key": "like", "scenario": "outage"})
    client.control("POST", "/worlds", {"key": "whole", "breaks": []})
    assert price(Line(client.port, "/w/like")) == 1
    assert price(Line(client.port, "/w/whole")) == "1"


def test_a_server_does_not_start_with_an_unknown_break():
    with pytest.raises(BadControl, match="did you mean 'list-shrinks'"):
        build(frozen(breaks=("list-shrink",)))


# The journal


def test_the_journal_names_the_break_and_the_answer_does_not(control, line):
    control.send("PUT", "/breaks", {"breaks": ["price-as-number"]})
    answer = line.get(PRICE_PATH)
    assert not [name for name in answer.headers if "break" in name or "fault" in name]
    line.get("/v1/getChain")
    entries = control.get("/journal")["entries"]
    assert [one["fault"] for one in entries] == ["break (price-as-number)", None]
    assert entries[0]["response"]["body"]["data"]["price"] == 1


# How they last


def test_snapshots_forks_and_resets_keep_breaks_and_what_they_remember(control, line, mock):
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads"]})
    assert versions(line, 2) == [2, 3]
    control.post("/snapshots", {"name": "then"})
    key = f"{mock.prefix[3:]}-fork"
    control.post("/fork", {"to": key})
    assert versions(line) == [4]
    assert versions(Line(mock.port, f"/w/{key}")) == [4]
    control.send("PUT", "/breaks", {"breaks": []})
    assert versions(line) == [1]
    control.post("/revert", {"name": "then"})
    assert versions(line) == [4]
    control.post("/reset", {})
    assert versions(line, 2) == [2, 3]
    control.delete(f"/worlds/{key}")


def test_a_dump_carries_breaks_and_what_they_remember(control, line):
    assert "breaks" not in control.get("/dump")
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads", "price-as-number"]})
    versions(line, 2)
    dump = control.get("/dump")
    control.send("PUT", "/breaks", {"breaks": []})
    assert control.post("/load", dump)["breaks"] == ["allowed-version-of-reads", "price-as-number"]
    assert (versions(line), price(line)) == ([4], 1)
    del dump["breaks"]
    assert control.post("/load", dump)["breaks"] == []


@pytest.mark.parametrize(
    "broken",
    ["x", [{"name": "no", "memory": {}}], [{"name": "list-shrinks"}], [{"name": 1, "memory": {}}]],
)
def test_a_damaged_dump_is_a_sentence(control, broken):
    dump = control.get("/dump")
    assert "damaged" in control.refused("POST", "/load", {**dump, "breaks": broken})


def test_breaks_that_stay_keep_what_they_remember_when_others_come(control, line):
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads"]})
    versions(line, 3)
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads", "list-shrinks"]})
    assert versions(line) == [5]
    control.send("PUT", "/breaks", {"breaks": ["list-shrinks"]})
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads"]})
    assert versions(line) == [2]


# Beside faults and stubs


def test_faults_come_on_top_of_breaks(control, line):
    control.send("PUT", "/breaks", {"breaks": ["price-as-number"]})
    control.post("/faults", {"kind": "latency", "delay": "30s"})
    answer = line.get(PRICE_PATH)
    assert answer.data["price"] == 1
    assert answer.headers["x-mock-fault"] == "latency (1)"
    entry = control.get("/journal")["entries"][-1]
    assert entry["fault"] == "latency (1), break (price-as-number)"


def test_a_fault_without_effect_leaves_the_memory_of_breaks(control, line):
    control.send("PUT", "/breaks", {"breaks": ["allowed-version-of-reads"]})
    control.post("/faults", {"kind": "false-success", "first": 1})
    control.post("/faults", {"kind": "http-status", "status": 500, "first": 1})
    assert versions(line) == [2]
    assert line.get("/v1/getChain").status == 500
    assert versions(line) == [2]


def test_a_stub_is_broken_as_well(control, line):
    data = {"price": "7", "updateTime": "1", "source": "stub"}
    control.post("/stubs", {"operation": "v2.getPrice", "response": {"data": data}})
    control.send("PUT", "/breaks", {"breaks": ["price-as-number"]})
    assert price(line) == 7


def test_the_unbroken_answer_is_held_against_the_contract():
    service = build(frozen(breaks=("bridge-snake-case",)))
    response = service.answer(get("/v1/getBridgeQuote", None, **BRIDGE)).response
    assert b"out_amount" in response.body
    assert service.failures == []


def test_a_delay_of_a_break_is_wall_time_and_no_time_of_the_world():
    service = build(frozen(breaks=("allowed-latency",)))
    before = service.worlds.get("default").world.now()
    delivery = service.answer(Request("GET", "/v1/getChain", "", Headers()))
    assert (delivery.delay_ms, service.worlds.get("default").world.now()) == (50, before)


def test_several_breaks_of_one_operation_add_up(control, line):
    names = ["bridge-usd-in-cents", "bridge-gas-fee-null", "bridge-snake-case"]
    control.send("PUT", "/breaks", {"breaks": names})
    query = "&".join(f"{name}={value}" for name, value in BRIDGE.items())
    data = line.get(f"/v1/getBridgeQuote?{query}").data
    assert (data["out_amount_usd"], data["gas_fee"]) == ("1000", None)


# In tests


def test_worlds_of_tests_have_breaks():
    with running(breaks=["price-as-number"]) as server:
        whole = server.world("whole", breaks=())
        both = server.world("both", breaks="price-as-number, list-shrinks")
        assert both.settings.breaks == ("price-as-number", "list-shrinks")
        told = [_price(world.base_url_v2) for world in (server.default, whole, both)]
    assert told == [1, "1", 1]


def _price(base):
    with urllib.request.urlopen(f"{base}{PRICE_PATH}", timeout=60) as answer:
        return json.load(answer)["data"]["price"]


@pytest.mark.parametrize("breaks", ["list-shrink", ["list-shrink"], [1], 1, None])
def test_settings_know_what_breaks_there_are(breaks):
    with pytest.raises(BadSetting, match=r"^breaks: "):
        MockSettings(breaks=breaks)


def test_a_refusal_that_a_break_makes_fails_no_test():
    with running(breaks=("listed-token-unquotable",)) as server, server.world() as world:
        query = "&".join(f"{name}={value}" for name, value in BRIDGE.items())
        url = f"{world.base_url_v2}/v1/getBridgeQuote?{query}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert json.load(answer)["code"] != 0


def test_the_marker_and_the_option_take_breaks(project):
    source = """
@pytest.mark.crosschain_mock(breaks=("chain-list-missing",))
def test_marked(crosschain_mock):
    assert "list" not in get(crosschain_mock, "/v1/getChain")["data"]

def test_from_the_option(crosschain_mock):
    assert "version" not in get(crosschain_mock, "/v1/getChain")["data"]
"""
    project(source, "--crosschain-mock-breaks", "chain-version-missing").assert_outcomes(passed=2)


# The command


@pytest.fixture
def typed(mock, monkeypatch, capsys):
    """Run the command in this process for the test's own world; return what it prints."""
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", f"http://127.0.0.1:{mock.port}")

    def run(*arguments, code=0, world=True):
        more = ["--world", mock.prefix[3:]] if world else []
        monkeypatch.setattr(sys, "argv", ["crosschain-mock", *arguments, *more])
        ended = 0
        try:
            main()
        except SystemExit as end:
            ended = int(end.code or 0)
        printed = capsys.readouterr()
        assert ended == code, printed.err
        return printed.err if code else printed.out

    return run


def test_the_command_lists_all_of_them(typed):
    table = typed("breaks", world=False).splitlines()
    assert len(table) == len(CATALOGUE) + 1
    assert table[0].split()[:3] == ["name", "layer", "verdict"]
    told = json.loads(typed("breaks", "--json", world=False))
    assert [one["name"] for one in told] == list(CATALOGUE)
    assert "goes with the list" in typed("breaks", "--json", "active", code=2)


def test_the_command_sets_and_clears_them(typed, line):
    assert typed("breaks", "set", "price-as-number", "list-shrinks").split() == [
        "price-as-number",
        "list-shrinks",
    ]
    assert price(line) == 1
    assert typed("breaks", "active") == "price-as-number\nlist-shrinks\n"
    assert "did you mean" in typed("breaks", "set", "list-shrink", code=2)
    assert typed("breaks", "clear") == ""
    assert price(line) == "1"
    body = '{"breaks": ["price-as-number"]}'
    assert json.loads(typed("control", "PUT", "/breaks", body)) == {"active": ["price-as-number"]}


def test_the_command_makes_a_world_with_breaks(typed, mock):
    key = f"{mock.prefix[3:]}-made"
    told = json.loads(typed("world", "new", key, "--break", "price-as-number", "--json"))
    assert told["breaks"] == ["price-as-number"]
    typed("world", "drop", key)


def test_serving_an_unknown_break_is_a_sentence(typed):
    told = typed("serve", "--port", "0", "--break", "list-shrink", code=2, world=False)
    assert told == "error: 'list-shrink' is no break; did you mean 'list-shrinks'?\n"


def test_the_error_is_one_that_people_can_put_right():
    assert issubclass(BadControl, CrosschainMockError)
