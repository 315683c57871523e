"""What a client believes, or is to bring about, as it can be said."""

import sys
from decimal import Decimal

import pytest

from tests.audit.flows.payer import Payer
from tests.audit.test_surfaces import SUBMITS, apart
from tests.conftest import Client
from tests.plugin.conftest import client, installed, server, world

__all__ = ["apart", "client", "installed", "server", "world"]


@pytest.fixture
def payer(mock: Client) -> Payer:
    return Payer(mock)


def arrived(payer: Payer, **body: str) -> str:
    """Send 10 USDT to its end, and return the order."""
    payer.quote()
    order = payer.submit(payer.hash(), **body)
    payer.follow(order)
    assert order is not None
    return order


def told(payer: Payer, query: str = "") -> list[tuple[str, str]]:
    """Return the kinds and causes of what is found."""
    found = payer.client.control("GET", f"/audit{query}")["findings"]
    return [(finding["kind"], finding["cause"]) for finding in found]


@pytest.mark.parametrize(
    ("state", "amount", "cause"),
    [
        ("arrived", None, ""),
        ("Succeeded", "9.694", ""),
        ("arrived", "9694000000000000000 units", ""),
        ("arrived", "9.69", "amount"),
        ("returned", None, "state"),
        ("lost", None, "state"),
    ],
)
def test_a_claim_is_held_against_what_happened(payer, state, amount, cause):
    claim = {"order": arrived(payer), "state": state}
    payer.believes(**claim, **({} if amount is None else {"amount": amount}))
    assert told(payer) == ([("not-as-claimed", cause)] if cause else [])


@pytest.mark.parametrize("amount", ["10", "10.0", "10000000000000000000 units"])
def test_a_finding_names_whole_tokens_in_whichever_unit_they_were_claimed(payer, amount):
    payer.believes(order=arrived(payer), state="arrived", amount=amount)
    (finding,) = payer.client.control("GET", "/audit")["findings"]
    told = finding["told"]
    assert told.endswith("10 USDT are believed to have arrived, and 9.694 USDT did")


@pytest.mark.parametrize("units", ["1", "9694000000000000001", "123456789" * 6])
def test_amounts_in_units_keep_all_their_digits(payer, units):
    payer.believes(order=arrived(payer), state="arrived", amount=f"{units} units")
    (finding,) = payer.client.control("GET", "/audit")["findings"]
    tokens = f"{units.zfill(19)[:-18]}.{units.zfill(19)[-18:]}"
    assert f": {tokens} USDT are believed to have arrived" in finding["told"]


def test_a_payout_of_a_few_units_is_told_in_whole_tokens(payer):
    payer.quote("2400")
    payer.follow(payer.submit(payer.hash(), "2400", extra="1_18;4_18"))
    told = [finding["told"] for finding in payer.client.control("GET", "/audit")["findings"]]
    (short,) = [text for text in told if "that were quoted" in text]
    assert "received 0.000000000000000018 USDT of " in short
    assert "units" not in short


def test_a_later_claim_replaces_an_earlier_one_and_a_reset_forgets_all(payer):
    order = arrived(payer)
    payer.believes(order=order, state="lost")
    payer.believes(order=order, state="arrived")
    assert told(payer) == []
    payer.believes(order="7", state="arrived")
    assert told(payer) == [("not-as-claimed", "unknown")]
    payer.client.control("POST", "/reset", {})
    assert told(payer) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"claims": [{"order": "7", "state": "arived"}]}, "did you mean 'arrived'"),
        ({"claims": [{"order": "7", "state": "arrived", "amount": "ten"}]}, "is no amount"),
        ({"expects": [{"amount": "2.5 ETH or so"}]}, "write '2.5 ETH'"),
        ({"expects": [{"times": 0}]}, "times"),
        ({"claim": []}, "claims"),
    ],
)
def test_what_says_nothing_is_refused_with_what_would(mock, body, words):
    answer = mock.call("POST", "/__mock/claims", body=body)
    assert answer.status == 400
    assert words in answer.json["error"]


def test_what_was_announced_twice_is_no_double_payment(payer):
    payer.quote()
    first, second = payer.submit(payer.hash()), payer.submit(payer.hash())
    payer.follow(first)
    payer.follow(second)
    assert told(payer) == [("two-orders", "")]
    payer.expects(amount="10 USDT", times=2)
    assert told(payer) == []


def test_a_client_that_died_has_not_read_its_answer(payer):
    payer.quote()
    payer.submit(payer.hash())
    payer.client.control("POST", "/claims", {"died": True})
    payer.quote()
    second = payer.submit(payer.hash())
    payer.follow(second)
    assert ("two-orders", "") in told(payer)


def test_an_exit_code_may_claim_that_all_arrived(payer):
    payer.quote()
    order = payer.submit(payer.hash())
    payer.course(order, "refund")
    payer.follow(order)
    assert told(payer) == []
    assert told(payer, "?exitClaims=true") == [("not-as-claimed", "state")]
    payer.believes(order=order, state="returned")
    assert told(payer, "?exitClaims=true") == []


@pytest.mark.parametrize(("code", "ends"), [("0", 1), ("7", 7)])
def test_a_run_takes_its_exit_code_for_a_claim(apart, code, ends):
    start = ["-m", "mockserver", "run", "--audit", "--exit-claims", "--clock", "auto", "--"]
    steered = """call("/__mock/orders/" + made, b'{"course": "refund"}')\nstatus = ""'"""
    program = SUBMITS.replace('status = "" if', steered.removesuffix("'") + " if")
    program = program.replace('status != "Succeeded"', 'status != "Refunded"')
    ended = apart(*start, sys.executable, "-c", program, code, "watch")
    assert ended.returncode == ends, ended.stderr
    assert ("believed to have arrived" in ended.stderr) == (code == "0")


def test_a_test_says_it_in_python(world, client):
    client.get("/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")
    order = client.submit()["data"]["id"]
    world.clock.advance(hours=1)
    client.get(f"/v1/checkOrder?id={order}")
    world.expects("10 USDT", chain="BNB", source="ARB", times=1)
    world.claims(order, amount=Decimal("9.694"))
    assert not world.audit()
    world.claims(order, "returned")
    world.expects("25 USDT", chain="BNB")
    assert [finding.kind for finding in world.audit()] == ["not-as-claimed", "not-as-expected"]
    world.died()
