"""Everything that a world tells names its epoch, and whoever names another one is refused."""

import json
import threading
import urllib.request

import pytest

from mockserver.cli import command_table
from mockserver.responders.control_forms import BadControl
from mockserver.server.control.route_table import ROWS
from tests.audit.test_verdict_evidence import good
from tests.audit.wallets import Wallet
from tests.conftest import Client, frozen, order, running
from tests.control.conftest import QUOTE_PATH
from tests.control.test_commands import told
from tests.plugin.conftest import client, installed, project, server, world

__all__ = ["client", "installed", "project", "server", "told", "world"]

pytest_plugins = ["pytester"]

ANOTHER = "0123456789ab"
REFUSED = "was made anew, or the server was started again"

COMMANDS = {
    "clock show": "",
    "clock advance": "1h",
    "clock set": "2030-01-01T00:00:00Z",
    "clock next": "",
    "clock mode": "real",
    "clock run-until": "30000000001 terminal",
    "outage list": "",
    "outage start": "BNB",
    "outage end": "BNB",
    "outage load": "short-blip",
    "outage timeline": "",
    "order list": "",
    "order story": "30000000001",
    "order steer": "30000000001 fail",
    "order force": "30000000001 Failed",
    "order show": "30000000001",
    "order step": "30000000001",
    "fault list": "",
    "fault add": "latency submitOrder delay=2s",
    "fault remove": "1",
    "fault clear": "",
    "stub add": "-",
    "stub list": "",
    "stub remove": "1",
    "stub clear": "",
    "world list": "",
    "world new": "another",
    "world bind": "some-key",
    "world drop": "default",
    "world fork": "another",
    "world unbind": "",
    "world dump": "",
    "world load": "-",
    "snapshot take": "later",
    "snapshot list": "",
    "snapshot revert": "before",
    "snapshot drop": "before",
    "reset": "",
    "control": 'POST /clock {"advance":"1h"}',
    "breaks set": "envelope-code-missing",
    "breaks active": "",
    "breaks clear": "",
    "journal": "",
    "verify": "submitOrder --at-least 1",
    "check": "",
    "audit": "",
    "lint": "",
    "capsule save": "some.capsule",
}
"""Each command that asks or steers a running server, with its words."""


def head(answer):
    return answer.headers["x-mock-epoch"]


def test_each_command_for_a_server_is_here():
    asking = {name for name, row in command_table.TABLE["commands"].items() if "request" in row}
    asking |= {name for name, row in command_table.TABLE["commands"].items() if row.get("remote")}
    assert asking == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_names_another_epoch_is_refused(
    told, mock, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    mock.post("/v1/submitOrder", order(), headers=mock.wallet)
    mock.control("POST", "/snapshots", {"name": "before"})
    before = mock.control("GET", "/dump")
    words = [*command.split(), *COMMANDS[command].split()]
    words = [mock.prefix[3:] if word == "default" else word for word in words]
    with pytest.raises(AssertionError, match=REFUSED):
        told(*words, "--epoch", ANOTHER, stdin=json.dumps(before))
    with pytest.raises(AssertionError, match="assert 2 == 0"):
        told(*words, "--epoch", "", stdin=json.dumps(before))
    assert mock.control("GET", "/dump") == before
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("command", ["clock show", "order list", "journal", "audit", "world dump"])
def test_a_command_that_names_the_epoch_is_carried_out(told, mock, command):
    good(Wallet(mock))
    assert told(*command.split(), "--epoch", head(mock.call("GET", "/v1/getChain")))


def test_each_request_of_the_control_api_may_name_its_epoch(serve):
    mock = serve().client
    mock.get("/v1/getChain")
    mock.control("POST", "/worlds", {"key": "alice"})
    before = {key: mock.control("GET", "/dump") for key in ("default", "alice")}
    for row in ROWS:
        target = row.example.target or row.path.replace("{chain}", "BNB")
        for key, status in (("default", 400), ("nobody", 404)):
            names = {"X-Mock-World": key, "X-Mock-Epoch": ANOTHER}
            answer = mock.call(row.method, f"/__mock{target}", body=row.example.body, headers=names)
            # A world that is not there has no epoch; what is no form of a request is told first.
            assert answer.status == status or (key == "nobody" and answer.status == 400), row
            assert key == "nobody" or REFUSED in answer.raw.decode()
    assert {key: mock.control("GET", "/dump") for key in before} == before
    keys = {listed["key"] for listed in mock.control("GET", "/worlds")["worlds"]}
    assert keys == {"default", "alice"}


def test_what_forgets_a_world_is_about_that_world(serve):
    mock = serve().client
    mock.control("POST", "/worlds", {"key": "alice"})
    epoch = head(mock.call("GET", "/w/alice/v1/getChain"))
    named = {"X-Mock-Epoch": head(mock.call("GET", "/v1/getChain"))}
    assert mock.call("DELETE", "/__mock/worlds/alice", headers=named).status == 400
    named = {"X-Mock-Epoch": epoch}
    assert mock.call("DELETE", "/__mock/worlds/alice", headers=named).status == 200


ANSWERS = {
    "a success": ("GET", QUOTE_PATH, None),
    "a refusal": ("GET", QUOTE_PATH.replace("USDT", "USDTT"), None),
    "a list": ("GET", "/v1/getAssets", None),
    "the same list": ("GET", "/v1/getAssets", None),
    "an order": ("POST", "/v1/submitOrder", order()),
    "v1": ("GET", "/open/v1/base/getSupportChains", None),
    "an unknown path": ("GET", "/v1/getNothing", None),
    "a wrong method": ("DELETE", "/v1/getChain", None),
    "no JSON": ("POST", "/v1/submitOrder", b"{"),
}


@pytest.mark.parametrize("lane", [True, False])
def test_each_answer_of_the_service_names_the_epoch(lane):
    with running(frozen(), lane=lane) as server:
        mock = server.client
        epoch = mock.control("GET", "/world")["epoch"]
        for method, path, body in ANSWERS.values():
            for _ in range(2):
                assert head(mock.call(method, path, body=body, headers=mock.wallet)) == epoch, path
        another = head(mock.call("GET", f"/w/another{QUOTE_PATH}"))
        assert another not in (epoch, None)
        assert head(mock.call("GET", QUOTE_PATH)) == epoch


def test_what_others_answer_names_the_epoch(mock):
    epoch = head(mock.call("GET", "/v1/getChain"))
    stub = {"operation": "getPrice", "response": {"status": 500, "body": "no"}}
    mock.control("POST", "/stubs", stub)
    assert head(mock.call("GET", "/v1/getPrice")) == epoch
    mock.control(
        "POST", "/faults", {"kind": "http-status", "status": 503, "operation": "getAssets"}
    )
    answer = mock.call("GET", "/v1/getAssets")
    assert (answer.status, head(answer)) == (503, epoch)


def test_a_browser_may_read_the_epoch(mock):
    answer = mock.call("GET", "/v1/getChain", headers={"Origin": "http://app.example"})
    assert "X-Mock-Epoch" in answer.headers["access-control-expose-headers"]


def test_a_client_sees_by_its_answers_that_the_server_began_anew(serve):
    first = serve()
    epoch = head(first.client.call("GET", "/v1/getChain"))
    assert head(serve().client.call("GET", "/v1/getChain")) != epoch
    first.client.control("POST", "/reset")
    # A reset begins the scenario anew in the same world, which the ground tells.
    assert head(first.client.call("GET", "/v1/getChain")) == epoch


def test_a_loaded_or_new_world_has_an_epoch_of_its_own(mock):
    epoch = head(mock.call("GET", "/v1/getChain"))
    dump = mock.control("GET", "/dump")
    assert dump["epoch"] == epoch
    answer = mock.call("POST", "/__mock/load", body=dump)
    loaded = head(answer)
    assert loaded not in (epoch, "")
    assert head(mock.call("GET", "/v1/getChain")) == loaded
    assert mock.control("GET", "/dump") == {**dump, "epoch": loaded}


def test_a_dump_of_before_epochs_were_named_is_loaded(mock):
    dump = mock.control("GET", "/dump")
    del dump["epoch"]
    assert "error" not in mock.control("POST", "/load", dump)


def test_who_follows_a_journal_is_told_that_the_world_is_another(mock, told):
    mock.get("/v1/getChain")
    dump = mock.control("GET", "/dump")
    second = Client(mock.port, mock.contract, mock.prefix)
    timer = threading.Timer(0.6, second.control, ("POST", "/load", dump))
    timer.start()
    with pytest.raises(AssertionError, match=REFUSED):
        told("journal", "--follow")
    timer.join()
    second.close()


def test_a_test_asks_for_its_epoch(world, client):
    epoch = world.epoch
    assert world.dump()["epoch"] == epoch
    world.require_epoch(epoch)
    with urllib.request.urlopen(f"{client.base_url}/v1/getChain", timeout=60) as answer:
        assert head(answer) == epoch
    with pytest.raises(BadControl, match=REFUSED):
        world.require_epoch(ANOTHER)
