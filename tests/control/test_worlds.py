"""Worlds over the control API: made, found, forked, kept, dumped, loaded and forgotten."""

import json
from pathlib import Path

import pytest

from tests.conftest import START, WALLET, order, without_epoch
from tests.control.conftest import QUOTE_PATH, submitted

GOLDEN = Path(__file__).parents[1] / "golden" / "world.json"


@pytest.fixture
def server(serve):
    """A server of the test's own, for what concerns the server as a whole."""
    return serve(seed=11).client


def keys_of(client):
    """Return the keys of the worlds of a server."""
    return {one["key"] for one in client.control("GET", "/worlds")["worlds"]}


def test_a_world_is_made_with_scenario_dialect_and_clock_of_its_own(server):
    wanted = {
        "key": "mine",
        "scenario": "slow",
        "dialect": "observed",
        "clock": "scaled",
        "rate": 60,
        "start": "2027-05-01T00:00:00Z",
        "seed": 5,
    }
    made = server.control("POST", "/worlds", wanted)
    assert (made["scenario"], made["dialect"], made["seed"]) == ("slow", "observed", 5)
    assert made["now"].startswith("2027-05-01T")
    assert server.call("GET", "/v1/getVaultAddress").status == 404
    server.prefix = "/w/mine"
    assert server.call("GET", "/v1/getVaultAddress").status == 200


def test_a_world_is_chosen_by_path_by_header_and_by_app_key(server):
    server.control("POST", "/worlds", {"key": "bound", "appKeys": ["key-1"]})
    found = {
        "path": server.call("GET", "/w/other/v1/getChain"),
        "header": server.get("/v1/getChain", headers={"X-Mock-World": "third"}),
        "appKey": server.get("/open/v1/base/getSupportChains", headers={"appKey": "key-1"}),
        "another appKey": server.get("/open/v1/base/getSupportChains", headers={"appKey": "key-2"}),
        "both": server.call("GET", "/w/other/v1/getChain", headers={"X-Mock-World": "third"}),
    }
    assert {how: answer.headers["x-mock-world"] for how, answer in found.items()} == {
        "path": "other",
        "header": "third",
        "appKey": "bound",
        "another appKey": "default",
        "both": "other",
    }


def test_app_keys_belong_to_one_world_until_it_lets_go(server):
    server.control("POST", "/worlds", {"key": "one", "appKeys": ["k"]})
    told = server.call("POST", "/__mock/worlds", body={"key": "two", "appKeys": ["k"]})
    assert (told.status, "'one'" in told.json["error"]) == (400, True)
    assert "two" not in keys_of(server)
    server.control("DELETE", "/worlds/one")
    server.control("POST", "/worlds", {"key": "two", "appKeys": ["k"]})
    server.prefix = "/w/two"
    assert server.control("GET", "/app-keys") == {"appKeys": ["k"]}
    assert server.control("DELETE", "/app-keys") == {"released": ["k"]}
    assert server.control("POST", "/app-keys", {"appKeys": ["l"]}) == {"appKeys": ["l"]}


def test_a_dropped_world_begins_afresh(server):
    server.control("POST", "/worlds", {"key": "mine", "scenario": "slow"})
    assert server.control("DELETE", "/worlds/mine") == {"dropped": "mine"}
    assert "mine" not in keys_of(server)
    server.prefix = "/w/mine"
    assert server.control("GET", "/version")["scenario"] == "default"


def test_a_fork_goes_its_own_way(control, line, mock):
    order_id = line.submit().data["id"]
    control.post("/faults", {"kind": "http-status", "status": 503, "first": 2})
    line.get(QUOTE_PATH)
    twin = control.post("/fork", {"to": f"{mock.prefix[3:]}-twin"})
    assert (twin["orders"], twin["faults"], twin["requests"]) == (1, 1, 0)
    other = type(line)(line.port, f"{mock.prefix}-twin")
    assert [other.get(QUOTE_PATH).status for _ in range(2)] == [503, 200]
    other.send("POST", f"/__mock/orders/{order_id}", {"status": "Failed"})
    other.send("POST", "/__mock/clock", {"advance": "1h"})
    assert control.get(f"/orders/{order_id}")["status"] == "Unknown"
    assert control.get("/clock")["now"] == START
    assert line.get(QUOTE_PATH).status == 503


def test_a_snapshot_brings_back_clock_orders_outages_faults_and_stubs(control, line):
    control.post("/faults", {"kind": "http-status", "status": 503, "operation": "v2.getChain"})
    line.submit()
    before = control.get("/dump")
    assert control.post("/snapshots", {"name": "before"})["name"] == "before"
    line.get("/v1/getChain")
    control.delete("/faults")
    control.post("/outages", {"chain": "BNB"})
    control.post("/clock", {"advance": "9h"})
    control.post("/reset", {})
    assert control.get("/dump") != before
    for _ in range(2):
        assert control.post("/revert", {"name": "before"}) == {"name": "before", "now": START}
        assert control.get("/dump") == before
        line.get("/v1/getChain")


def test_snapshots_are_named_listed_and_dropped(control):
    assert [control.post("/snapshots", {})["name"] for _ in range(2)] == ["1", "2"]
    assert control.get("/snapshots") == {"snapshots": ["1", "2"]}
    assert control.delete("/snapshots/1") == {"snapshots": ["2"]}
    assert "'1' does not exist" in control.refused("POST", "/revert", {"name": "1"})
    assert "does not exist" in control.refused("DELETE", "/snapshots/1")


def test_the_journal_goes_on_over_a_revert(control, line):
    control.post("/snapshots", {"name": "a"})
    line.get(QUOTE_PATH)
    control.post("/revert", {"name": "a"})
    assert len(control.get("/journal")["entries"]) == 1


def lived(client):
    """Let a world live: an order steered, an outage, a ticket, a fault, a stub, a transaction."""
    client.post("/v1/submitOrder", order(), headers=client.wallet)
    client.control("POST", "/clock", {"advance": "5s"})
    client.control("POST", "/outages", {"chain": "BNB", "mode": "lagging", "lag": 3, "for": "9h"})
    [told] = client.control("GET", "/orders")["orders"]
    client.control("POST", f"/orders/{told['id']}", {"status": "Dropped", "reason": "lost"})
    client.post(
        "/v1/submitTicket",
        {"hash": told["certHash"], "chain": "ARB"},
        headers={"EvmAddress": WALLET, "Signature": "ab" * 65},
    )
    client.control("POST", "/faults", {"kind": "quota", "limit": 1, "window": "1m", "id": "q"})
    client.control("POST", "/stubs", {"operation": "v2.getChain", "response": {"status": 500}})
    client.call("GET", "/v1/getChain")
    client.control("POST", "/app-keys", {"appKeys": ["golden"]})
    deposit = {"chain": "BNB", "from": WALLET, "to": WALLET, "value": "1", "hash": f"0x{7:064x}"}
    client.control("POST", "/transactions", deposit)


def test_a_dump_is_the_golden_file_and_loads_again(server):
    lived(server)
    dump = server.control("GET", "/dump")
    assert without_epoch(dump) == json.loads(GOLDEN.read_text("utf-8"))
    server.control("POST", "/reset", {})
    assert server.control("GET", "/dump") != dump
    server.control("POST", "/load", dump)
    assert without_epoch(server.control("GET", "/dump")) == without_epoch(dump)


def test_a_world_loaded_elsewhere_goes_on_the_same(serve):
    golden = json.loads(GOLDEN.read_text("utf-8"))
    seen = []
    for _ in range(2):
        client = serve(scenario="slow", seed=3).client
        client.prefix = "/w/elsewhere"
        made = client.control("POST", "/load", golden)
        assert (made["scenario"], made["appKeys"], made["orders"]) == ("default", ["golden"], 1)
        client.control("POST", "/clock", {"next": True})
        client.control("DELETE", "/faults")
        orders = client.control("GET", "/orders")["orders"]
        dump = without_epoch(client.control("GET", "/dump"))
        seen.append((client.control("GET", "/clock"), orders, dump))
    assert seen[0] == seen[1]
    assert seen[0][1][0]["status"] == "Refunded"


def test_a_dump_from_before_a_member_came_loads_and_the_member_has_its_default(server):
    older = json.loads(GOLDEN.read_text("utf-8"))
    for kept in older["world"]["orders"]:
        del kept["exposed_ms"]
    server.control("POST", "/load", older)
    assert without_epoch(server.control("GET", "/dump")) == json.loads(GOLDEN.read_text("utf-8"))


def changed(path, value):
    """Return the golden dump with one member changed."""
    dump = json.loads(GOLDEN.read_text("utf-8"))
    place = dump
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return dump


@pytest.mark.parametrize(
    ("dump", "words"),
    [
        ({}, "no dump of a world"),
        ({"format": "crosschain-mock/scenario@1"}, "no dump of a world"),
        (changed(["format"], "crosschain-mock/world@2"), "version 2; this release loads version 1"),
        (changed(["world", "version"], 7), "damaged"),
        (changed(["world", "scenario"], "gone"), "neither shipped"),
        (changed(["world", "scenario"], 5), "damaged"),
        (changed(["world", "clock"], {}), "damaged at clock"),
        (changed(["world", "orders", 0, "amount"], "lots"), "damaged at orders[0].amount"),
        (changed(["world", "orders", 0, "route", "source_chain"], "MOON"), "damaged"),
        (changed(["faults", 0, "told", "kind"], "quotas"), "did you mean 'quota'"),
        (changed(["faults", 0, "used"], -1), "'faults[0].used'"),
        (changed(["stubs", 0, "told", "operation"], "v2.nothing"), "'v2.nothing'"),
        (changed(["dialect"], "spoken"), "'spoken'"),
        (changed(["transactions", 0, "data"], "0"), "hex of whole bytes"),
        (changed(["more"], 1), "'more'"),
    ],
)
def test_a_dump_that_cannot_be_loaded_is_a_sentence_and_changes_nothing(control, line, dump, words):
    line.submit()
    before = control.get("/dump")
    told = control.refused("POST", "/load", dump)
    assert words.replace("'", "") in told.replace("'", "")
    assert control.get("/dump") == before


def test_reset_forgets_everything_but_snapshots(control, line):
    begun = control.get("/dump")
    line.submit()
    control.post("/faults", {"kind": "empty-answer"})
    control.post("/stubs", {"operation": "v2.getChain", "response": {"status": 500}})
    control.post("/snapshots", {"name": "kept"})
    told = control.post("/reset", {})
    assert (told["orders"], told["faults"], told["stubs"], told["snapshots"]) == (0, 0, 0, ["kept"])
    assert control.get("/dump") == begun
    assert control.get("/journal")["entries"] == []
    assert told["requests"] == 0
    assert (control.get("/journal")["last"], control.get("/journal")["dropped"]) == (1, 0)
    line.submit()
    (shown,) = (one for one in control.get("/worlds")["worlds"] if one["key"] == told["key"])
    assert shown["requests"] == 1


def test_many_worlds_do_not_see_each_other(server):
    base = server.prefix
    for number in range(50):
        server.prefix = f"{base}/w/many-{number}"
        server.control("POST", "/clock", {"advance": f"{number + 1}s"})
    for number in range(50):
        server.prefix = f"{base}/w/many-{number}"
        told = server.control("GET", "/clock")["ms"]
        assert told == server.timestamp + (number + 1) * 1000


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/worlds", {}, "'key': missing"),
        ("POST", "/worlds", {"key": "a b"}, "1 to 128 letters"),
        ("POST", "/worlds", {"key": "x" * 129}, "1 to 128 letters"),
        ("POST", "/worlds", {"key": "new", "scenario": "slwo"}, "did you mean 'slow'"),
        ("POST", "/worlds", {"key": "new", "scenario": "../../etc/passwd"}, "no shipped scenario"),
        ("POST", "/worlds", {"key": "new", "dialect": "spoken"}, "'spoken'"),
        ("POST", "/worlds", {"key": "new", "clock": "warp"}, "'clock'"),
        ("POST", "/worlds", {"key": "new", "clock": "scaled"}, "goes with clock 'scaled'"),
        ("POST", "/worlds", {"key": "new", "seed": -1}, "'seed'"),
        ("POST", "/worlds", {"key": "new", "start": "yesterday"}, "'start'"),
        ("POST", "/worlds", {"key": "new", "appKeys": []}, "'appKeys'"),
        ("DELETE", "/worlds/nobody", None, "'nobody' does not exist"),
        ("POST", "/fork", {}, "'to': missing"),
        ("POST", "/fork", {"to": "ä"}, "1 to 128 letters"),
        ("POST", "/revert", {"name": "gone"}, "'gone' does not exist"),
        ("POST", "/snapshots", {"name": "a/b"}, "'name'"),
        ("POST", "/reset", {"all": True}, "'all': unknown name"),
    ],
)
def test_a_wrong_request_is_a_sentence_and_makes_no_world(control, method, path, body, words):
    control.get("/clock")
    before = {one["key"] for one in control.get("/worlds")["worlds"]}
    assert words in control.refused(method, path, body)
    assert {one["key"] for one in control.get("/worlds")["worlds"]} == before


def test_a_key_is_taken_once(control, mock):
    own = mock.prefix[3:]
    control.get("/clock")
    assert "exists already" in control.refused("POST", "/worlds", {"key": own})
    assert "exists already" in control.refused("POST", "/fork", {"to": own})


@pytest.mark.parametrize("key", ["a%20b", "%3Cb%3E", "x" * 200, "%00", "%F0%9F%92%A5", ""])
def test_a_world_key_with_odd_characters_is_400_on_the_control_api(line, key):
    answer = type(line)(line.port, f"/w/{key}").get("/__mock/clock")
    assert answer.status == 400
    assert "1 to 128 letters" in answer.json["error"]
    named = type(line)(line.port, "").get("/__mock/clock", **{"X-Mock-World": "a b"})
    assert named.status == 400


def test_an_order_of_one_world_is_unknown_in_another(control, line):
    line.submit()
    assert len(submitted(control)) == 1
    other = type(line)(line.port, "/w/elsewhere")
    assert other.get("/__mock/orders").json["orders"] == []
