"""Nothing is called well without ground: what a verdict rests on, and how it can be missing."""

import json
import sys

import pytest

from tests.audit.wallets import Wallet
from tests.conftest import Client
from tests.control.test_commands import told
from tests.plugin.conftest import apart, client, installed, project, server, world

__all__ = ["apart", "client", "installed", "project", "server", "told", "world"]

pytest_plugins = ["pytester"]

VERDICTS = (["audit"], ["check"], ["lint"], ["verify", "submitOrder", "--at-most", "1"])


def good(wallet: Wallet) -> None:
    """Do what no verdict has anything to say of."""
    for path in ("/v1/getChain", "/v1/getAssets"):
        wallet.client.get(path)
    wallet.quote()
    wallet.follow(wallet.submit())


def ground(mock):
    return mock.control("GET", "/ground")


@pytest.mark.parametrize("verdict", VERDICTS)
def test_asking_makes_no_world_and_calls_nothing_well(told, mock, verdict):
    assert "well" not in told(*verdict, code=3)
    everybody = Client(mock.port, mock.contract)
    keys = [listed["key"] for listed in everybody.control("GET", "/worlds")["worlds"]]
    everybody.close()
    assert mock.prefix.removeprefix("/w/") not in keys


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_world_without_requests_is_not_well(told, mock, verdict):
    mock.control("GET", "/clock")
    assert "well" not in told(*verdict, code=3)
    good(Wallet(mock))
    told(*verdict)


@pytest.mark.parametrize("holes", [False, True])
def test_strictly_holes_are_not_well(serve, monkeypatch, call, holes):
    client = serve().client
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", f"http://127.0.0.1:{client.port}")
    good(Wallet(client))
    if holes:
        client.call("GET", "/w/elsewhere/v1/getChain")
    for verdict in VERDICTS:
        assert call(*verdict).returncode == 0
        assert call(*verdict, "--strict").returncode == (3 if holes else 0)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_reset_takes_the_ground_away(told, mock, verdict):
    good(Wallet(mock))
    mock.control("POST", "/reset")
    assert ground(mock)["holes"][0] == "5 requests before a reset of the world"
    assert "well" not in told(*verdict, code=3)


def test_a_cleared_journal_leaves_a_hole(told, mock):
    good(Wallet(mock))
    mock.control("DELETE", "/journal")
    assert "5 older requests no longer in the journal" in ground(mock)["holes"]
    told("verify", "submitOrder", "--at-most", "1", code=1)
    told("verify", "submitOrder", "--exactly", "0", code=1)
    mock.get("/v1/getChain")
    told("verify", "getChain", "--at-least", "1")
    told("verify", "getChain", "--at-least", "1", "--strict", code=3)


def test_what_a_revert_has_undone_is_a_hole(mock):
    wallet = Wallet(mock)
    mock.get("/v1/getChain")
    mock.control("POST", "/snapshots", {"name": "before"})
    wallet.quote()
    mock.control("POST", "/revert", {"name": "before"})
    found = ground(mock)
    assert found["requests"] == 1
    assert "1 request undone by a revert" in found["holes"]


def test_answers_that_a_stub_gave_are_a_hole(mock):
    body = {"operation": "v2.getPrice", "response": {"refusal": "no-price", "reason": "so"}}
    mock.control("POST", "/stubs", body)
    mock.operation("v2.getPrice")
    holes = ground(mock)["holes"]
    assert any(hole.startswith("1 answer by stubs") for hole in holes)


def test_a_fork_says_that_it_began_with_something(mock):
    good(Wallet(mock))
    key = f"{mock.prefix.removeprefix('/w/')}-twin"[-100:]
    mock.control("POST", "/fork", {"to": key})
    twin = mock.call("GET", "/__mock/ground", headers={"X-Mock-World": key})
    found = json.loads(twin.raw)
    assert found["epoch"]
    mock.control("DELETE", f"/worlds/{key}")


def test_another_epoch_is_refused(told, mock):
    good(Wallet(mock))
    epoch = ground(mock)["epoch"]
    assert "all is well" in told("audit", "--epoch", epoch)
    with pytest.raises(AssertionError, match="was made anew, or the server was started again"):
        told("audit", "--epoch", "0123456789ab")


def test_traffic_of_other_worlds_is_told(serve):
    client = serve().client
    client.get("/v1/getChain")
    client.call("GET", "/w/elsewhere/v1/getChain")
    assert ground(client)["holes"] == ["1 request in another world: 'elsewhere'"]


@pytest.mark.parametrize("option", ["--audit", "--lint"])
def test_a_run_that_sends_nothing_is_not_well(apart, option):
    ended = apart("-m", "mockserver", "run", option, "--", sys.executable, "-c", "")
    assert ended.returncode == 3
    assert "there is nothing to judge" in ended.stderr
    assert "well" not in ended.stderr
    ended = apart("-m", "mockserver", "run", option, "--", sys.executable, "-c", "exit(7)")
    assert ended.returncode == 7


def test_what_was_wrong_before_a_reset_fails_a_test(project):
    result = project(
        """
import pytest
from test_helpers import submit

@pytest.mark.crosschain_mock(audit=True)
def test_reset(crosschain_mock):
    submit(crosschain_mock)
    crosschain_mock.reset()
""".replace("from test_helpers import submit", SUBMIT)
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["audit: order-not-followed*"])


SUBMIT = """
import json, urllib.request
ADDRESS = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"

def submit(world):
    get(world, "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")
    certs = {"fromAmount": "10000000", "fromIndex": "5", "fromChain": "ARB",
        "fromAddr": ADDRESS, "certHash": "0x" + "1" * 64, "fromPublicKey": "", "signature": ""}
    body = {"channel": "demo", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0",
        "sourceCerts": json.dumps(certs).encode().hex(), "timeout": "0", "toAddr": ADDRESS,
        "toChain": "BNB", "toIndex": "5", "triggerPrice": "0"}
    request = urllib.request.Request(world.base_url_v2 + "/v1/submitOrder",
        json.dumps(body).encode(), {"Evmaddress": ADDRESS, "Signature": "00" * 65})
    urllib.request.urlopen(request, timeout=60).close()
    world.clock.advance(hours=1)
"""


NOTHING_CAN_COME = (
    (["submitOrder", "--body", "tochain=BNB"], "v2.submitOrder has no field 'tochain'"),
    (["getBridgeQuote", "--query", "amout=1"], "did you mean 'amount'"),
    (["--body", "nobodyHasThis=1"], "no operation has a field"),
    (["getChain", "--method", "POST"], "v2.getChain is a GET"),
    (["getChain", "--path", "/v1/getAssets"], "v2.getChain has /v1/getChain"),
    (["--path", "/v1/getChian"], "did you mean '/v1/getChain'"),
    (["submitOrdr"], "did you mean"),
    (["submitOrder", "--from", "2031-01-01T00:00:00Z"], "is to come"),
    (["submitOrder", "--until", "2020-01-01T00:00:00Z"], "before this world began"),
)


@pytest.mark.parametrize("bound", [["--never"], ["--at-most", "1"], ["--exactly", "0"]])
@pytest.mark.parametrize(("arguments", "words"), NOTHING_CAN_COME)
def test_what_no_request_can_be_is_no_bound_that_holds(told, mock, arguments, bound, words):
    good(Wallet(mock))
    with pytest.raises(AssertionError, match=words):
        told("verify", *arguments, *bound)


def test_what_can_come_and_did_not_is_a_bound_that_holds(told, mock):
    good(Wallet(mock))
    told("verify", "submitOrder", "--body", "toChain=ETH", "--never")
    body = {"operation": "submitOrder", "never": True}
    assert mock.control("POST", "/verify", {**body, "since": 5})["held"]
    refused = mock.call("POST", "/__mock/verify", body={**body, "since": 6})
    assert "'since': 6 is to come; the newest request is 5" in refused.json["error"]
    told("verify", "--path", "/v1/getBalance", "--never")
    # Of nothing, all came at once.
    told("verify", "submitTicket", "--within", "1s", code=1)


def test_after_a_revert_audit_and_verify_count_alike(told, mock):
    good(Wallet(mock))
    mock.control("POST", "/snapshots", {"name": "before"})
    Wallet(mock, paid=7).submit()
    mock.control("POST", "/revert", {"name": "before"})
    assert mock.control("GET", "/audit")["judged"] == 1
    told("verify", "submitOrder", "--exactly", "1")
    told("verify", "submitOrder", "--exactly", "1", "--strict", code=3)


def test_a_question_never_makes_a_world(serve):
    client = serve().client
    for verb, path in (("GET", "audit"), ("GET", "check"), ("GET", "lint"), ("GET", "ground")):
        assert client.call(verb, f"/w/nobody/__mock/{path}").status == 404
    body = {"operation": "submitOrder", "never": True}
    assert client.call("POST", "/w/nobody/__mock/verify", body=body).status == 404
    # What is asked wrongly is told, whatever the world.
    assert client.call("POST", "/w/nobody/__mock/verify", body={"never": 7}).status == 400
    assert "nobody" not in [listed["key"] for listed in client.control("GET", "/worlds")["worlds"]]


LISTS = """
import os, urllib.request
url = os.environ["CROSSCHAIN_MOCK_URL"]
def ask(method, path, body=None):
    request = urllib.request.Request(url + path, body, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()
def seen(world=""):
    ask("GET", f"{world}/v1/getChain")
    ask("GET", f"{world}/v1/getAssets")
def asked(*verdicts):
    for verdict in verdicts:
        ask("GET", f"/w/mine/__mock/{verdict}")
def gone():
    ask("DELETE", "/__mock/worlds/mine")
"""

# What a command does, what a run says of it, and its exit codes with --audit and with --strict.
RUNS = {
    "well": ("seen()", "", 0, 0),
    "reset": ("seen(); ask('POST', '/__mock/reset'); seen()", "2 requests before a reset", 0, 3),
    "reset last": ("seen(); ask('POST', '/__mock/reset')", "nothing left to judge", 3, 3),
    "deleted": (
        "seen(); seen('/w/mine'); gone()",
        "world mine: 2 requests before it was deleted, and passed no check and no audit until then",
        0,
        3,
    ),
    "judged and deleted": (
        "seen(); seen('/w/mine'); asked('check', 'audit'); gone()",
        "ground: 1 world with 2 requests passed check and audit before it was deleted",
        0,
        0,
    ),
    "used again after it was judged": (
        "seen('/w/mine'); asked('audit'); seen(); seen('/w/mine'); asked('check'); gone()",
        "world mine: 4 requests before it was deleted, and passed no audit until then",
        0,
        3,
    ),
    "only steered": ("ask('GET', '/__mock/clock')", "nothing to judge", 3, 3),
    "cleared": (
        "seen(); ask('DELETE', '/__mock/journal'); seen()",
        "no longer in the journal",
        0,
        3,
    ),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.deep(quick=2)
def test_a_run_tells_what_its_verdict_does_not_rest_on(apart, name):
    program, words, audited, strict = RUNS[name]
    for options, code in ((["--audit"], audited), (["--audit", "--strict"], strict)):
        command = ["run", *options, "--", sys.executable, "-c", f"{LISTS}\n{program}"]
        ended = apart("-m", "mockserver", *command)
        assert ended.returncode == code, ended.stderr
        assert words in ended.stderr
        assert ("all is well" in ended.stderr) is (audited == 0)


def test_a_run_whose_worlds_were_all_judged_and_deleted_is_well(apart):
    program = f"{LISTS}\nseen('/w/mine'); asked('check'); gone()"
    told = "passed no audit until then"
    for options, code, words in (([], 0, ""), (["--strict"], 0, ""), (["--audit"], 3, told)):
        ended = apart("-m", "mockserver", "run", *options, "--", sys.executable, "-c", program)
        assert ended.returncode == code, ended.stderr
        assert words in ended.stderr
        assert bool(words) is bool(ended.stderr)


@pytest.mark.deep
def test_a_world_that_failed_its_check_and_was_deleted_is_told(apart):
    program = f"{LISTS}\nask('GET', '/w/mine/v1/checkOrder?id=7'); asked('check'); gone()"
    ended = apart("-m", "mockserver", "run", "--", sys.executable, "-c", program)
    assert ended.returncode == 0
    assert ended.stderr == (
        "check: there is nothing left to judge: world mine: 1 request before it was deleted, "
        "and passed no check until then\n"
    )


def test_a_run_without_any_request_says_so_whatever_was_asked(apart):
    for options, code in (([], 0), (["--strict"], 3)):
        ended = apart("-m", "mockserver", "run", *options, "--", sys.executable, "-c", "")
        assert ended.returncode == code
        assert "there is nothing to judge: no request came to any world" in ended.stderr


def test_each_answer_of_the_control_api_names_the_epoch(mock):
    named = mock.call("GET", "/__mock/clock").headers["x-mock-epoch"]
    assert (
        mock.call("POST", "/__mock/clock", body={"advance": "1s"}).headers["x-mock-epoch"] == named
    )
    good(Wallet(mock))
    assert ground(mock)["epoch"] == named
    mock.control("POST", "/load", mock.control("GET", "/dump"))
    assert mock.call("GET", "/__mock/clock").headers["x-mock-epoch"] != named
