"""The audit as people meet it: by the command, around another command, and in a test."""

import json
import sys

import pytest

from mockserver.testing import BadSetting, MockSettings
from tests.audit.wallets import Wallet
from tests.conftest import WALLET, order
from tests.control.test_commands import told
from tests.plugin.conftest import apart, client, installed, project, server, world

__all__ = ["apart", "client", "installed", "project", "server", "told", "world"]

pytest_plugins = ["pytester"]

SUBMITS = f"""
import json, os, sys, urllib.request

def call(target, body=None, headers={{}}):
    url = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"] + target
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as answer:
        return json.load(answer)

headers = {{"Evmaddress": "{WALLET}", "Signature": "{"ab" * 65}"}}
call("/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")
made = call("/v1/submitOrder", {json.dumps(order()).encode()!r}, headers)["data"]["id"]
status = "" if "watch" in sys.argv else "Succeeded"
while status != "Succeeded":
    status = call("/v1/checkOrder?id=" + made)["data"]["status"]
call("/__mock/clock", b'{{"advance": "1h"}}')
raise SystemExit(int(sys.argv[1]))
"""


def test_the_command_tells_findings_and_ends_with_one(told, mock):
    wallet = Wallet(mock)
    with pytest.raises(AssertionError, match="there is no world"):
        told("audit")
    wallet.quote()
    wallet.submit()
    wallet.wait("1h")
    lines = told("audit", code=1).splitlines()
    assert lines[0].startswith("order-not-followed: order ")
    assert lines[1:] == ["  2. POST /v1/submitOrder -> 200"]
    assert json.loads(told("audit", "--json", code=1))["findings"][0]["kind"] in lines[0]
    # Not all is well where not all was looked for.
    words = "nothing found with 1 order; not looked for: "
    assert told("audit", "--without", "order-not-followed") == f"{words}order-not-followed\n"
    assert told("audit", "two-orders", "other-quote").startswith(words)
    for arguments, words in (
        (["two-order"], "did you mean 'two-orders'"),
        (["--quote-age", "soon"], "'quote-age': expected a duration"),
    ):
        with pytest.raises(AssertionError, match=words):
            told("audit", *arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["0", "watch"], 0, "audit: all is well with 1 order"),
        (["0"], 1, "audit of world default:\norder-not-followed: order "),
        (["7"], 7, "order-not-followed"),
    ],
)
def test_a_run_is_audited_at_its_end(apart, arguments, code, words):
    start = ["-m", "mockserver", "run", "--audit", "--clock", "auto", "--"]
    ended = apart(*start, sys.executable, "-c", SUBMITS, *arguments)
    assert (ended.returncode, words in ended.stderr) == (code, True), ended.stderr


TEST = """
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
    with urllib.request.urlopen(request, timeout=60) as answer:
        made = json.load(answer)["data"]["id"]
    world.clock.advance(hours=1)
    return made

def test_sloppy(crosschain_mock):
    submit(crosschain_mock)

def test_careful(crosschain_mock):
    get(crosschain_mock, "/v1/checkOrder?id=" + submit(crosschain_mock))

@pytest.mark.crosschain_mock(audit=True)
def test_marked(crosschain_mock):
    submit(crosschain_mock)

@pytest.mark.crosschain_mock(audit=False)
def test_not_wanted(crosschain_mock):
    submit(crosschain_mock)

@pytest.mark.crosschain_mock(audit="-order-not-followed")
def test_all_but(crosschain_mock):
    submit(crosschain_mock)

def test_by_hand(crosschain_mock):
    order = submit(crosschain_mock)
    [found] = crosschain_mock.audit()
    assert (found.kind, found.orders, len(found.entries)) == ("order-not-followed", (order,), 1)
    assert not crosschain_mock.audit("two-orders")
    get(crosschain_mock, "/v1/checkOrder?id=" + order)
    assert not crosschain_mock.audit()
"""


def test_a_marker_turns_it_on_for_a_test(project):
    result = project(TEST)
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        ["audit: order-not-followed: order *", "  2. POST /v1/submitOrder -> 200"]
    )


@pytest.mark.parametrize("arguments", [["--crosschain-mock-audit", "all"], ["-o", "ini"]])
def test_an_option_or_an_ini_key_turns_it_on_for_all_tests(project, arguments):
    if arguments[0] == "-o":
        arguments = ["-o", "crosschain_mock_audit=order-not-followed,two-orders"]
    result = project(TEST, *arguments)
    result.assert_outcomes(passed=4, failed=2)


def test_an_assertion_prints_what_was_found(world, client):
    client.submit()
    world.clock.advance(hours=1)
    found = world.audit("order-not-followed")
    assert found
    assert repr(found) == str(found[0])
    assert "nobody has ever looked it up" in repr(found)
    assert repr(world.audit("two-orders")).startswith("nothing found with 1 order; not looked for")


@pytest.mark.parametrize(
    ("audit", "words"),
    [("two-order", "did you mean 'two-orders'"), (7, "expected True, False"), (["-x"], "'x' is")],
)
def test_a_kind_that_is_none_is_a_sentence(audit, words):
    with pytest.raises(BadSetting, match=words):
        MockSettings().changed(audit=audit)


def test_settings_take_all_none_some_and_all_but_some():
    every = MockSettings().changed(audit=True).audit
    assert len(every) == 13
    for asked, wanted in (
        ("all", every),
        ("no", ()),
        (False, ()),
        ("two-orders", ("two-orders",)),
        (["other-quote", "two-orders"], ("two-orders", "other-quote")),
        ("-two-orders", every[1:]),
    ):
        assert MockSettings().changed(audit=asked).audit == wanted, asked
