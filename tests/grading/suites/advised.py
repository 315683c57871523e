"""What the report on the thorough suite advises to assert as well, written from its sentences.

Each test is the assertion of one or more breaks that the thorough suite lets pass.
"""

import json
import re
import time
import urllib.parse
import urllib.request
from datetime import timedelta

import pytest
from eth_abi import decode
from thorough import BRIDGE, HASH, WALLET, Service, order, swap, token

pytestmark = pytest.mark.crosschain_mock(refusals="allow")

# The call of 1inch's router, as its contract publishes it.
ONE_INCH = "12aa3caf"
ARGUMENTS = (
    "address",
    "(address,address,address,address,uint256,uint256,uint256)",
    "bytes",
    "bytes",
)


def unique(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names)
    return dict(pairs)


def refused(text):
    raise AssertionError(f"{text} is no JSON")


def ask(base, path, body=None, headers=(), **query):
    """Read an answer as a strict client of another language does."""
    url = f"{base}/v1/{path}?{urllib.parse.urlencode(query)}"
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **dict(headers)}
    with urllib.request.urlopen(urllib.request.Request(url, data, sent), timeout=60) as response:
        assert response.headers.get("content-encoding") is None
        text = response.read().decode("utf-8")
    return json.loads(text, object_pairs_hook=unique, parse_constant=refused)


@pytest.fixture
def service(crosschain_mock):
    return Service(crosschain_mock.base_url_v2)


def usdt_of(service):
    return token(service, "USDT")["contracts"]["ARB"]["address"]


def test_bodies_can_be_read_strictly(service):
    usdt = usdt_of(service)
    assert ask(service.base, "getChain")["code"] == 0
    assert ask(service.base, "getPrice", chain="ARB", contractAddress=usdt, symbol="USDT")["data"]
    assert ask(service.base, "getAllTicketByAddress", address=WALLET, filter="Unknown")["data"]


def test_a_refusal_has_an_object_as_its_data(service):
    refusal = ask(
        service.base,
        "getBalance",
        chain="NOWHERE",
        contractAddress=usdt_of(service),
        address=WALLET,
    )
    assert type(refusal["data"]) is dict


def test_the_list_of_tokens_is_this(service):
    tokens = service.get("getAssets")["list"]
    assert len(tokens) == 30
    assert tokens[0]["contracts"]["ETH"]["address"] == "0xb712d62fe84258292d1961b5150a19bc4ab49026"


def test_a_negative_amount_is_refused(service):
    service.refuses("getBridgeQuote", **{**BRIDGE, "amount": "-10000000"})


def test_each_header_is_needed(service):
    answer = ask(service.base, "submitOrder", order(), {"Evmaddress": WALLET})
    assert answer["code"] != 0
    report = {"hash": HASH, "chain": "ARB"}
    service.get("submitOrder", order())
    answer = ask(service.base, "submitTicket", report, {"Signature": "ab" * 65})
    assert answer["code"] != 0


def test_the_impact_on_the_price_is_none(service):
    asked = {**swap(service), "fromChain": "ARB", "toChain": "ARB"}
    assert service.get("getAggregateQuote", **asked)["priceImpact"] == "0"


def test_call_data_says_what_was_asked_for(service):
    for units in (10_000_000, 30_000_000):
        asked = {
            **swap(service),
            "fromAmount": str(units),
            "chain": "ARB",
            "sender": WALLET,
            "recipient": WALLET,
            "slippage": "100",
            "allowPartialFill": "false",
            "aggregator": "1inch",
        }
        data = service.get("getAggregateSwap", **asked)
        assert data["to"] == "0x1111111254eeb25477b68fb85ed929f73a960582"
        assert re.fullmatch(r"0x([0-9a-f]{2})+", data["data"])
        raw = bytes.fromhex(data["data"][2:])
        assert raw[:4].hex() == ONE_INCH
        _, description, _, _ = decode(ARGUMENTS, raw[4:])
        sold, bought, _, recipient, paid, least, _ = description
        assert sold == asked["fromTokenAddress"].lower()
        assert bought == asked["toTokenAddress"].lower()
        assert recipient == WALLET.lower()
        assert paid == units
        assert int(data["amountOut"]) * 99 // 100 <= least <= int(data["amountOut"])


def test_a_price_is_of_today(service, crosschain_mock):
    price = service.get("getPrice", chain="ARB", contractAddress=usdt_of(service), symbol="USDT")
    now = crosschain_mock.clock.now.timestamp()
    assert now - timedelta(days=1).total_seconds() <= int(price["updateTime"]) <= now


def test_answers_take_less_than_half_a_second(service):
    usdt = usdt_of(service)
    for path, query in (
        ("getAssets", {}),
        ("getBalance", {"chain": "ARB", "contractAddress": usdt, "address": WALLET}),
    ):
        taken = []
        # The quickest of some, since a machine may be busy.
        for _ in range(5):
            began = time.monotonic()
            service.get(path, **query)
            taken.append(time.monotonic() - began)
        assert min(taken) < 0.5
