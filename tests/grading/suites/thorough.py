"""A suite that asserts what a careful reader of the interface would think of. Written blind.

It was written from the interface alone, before the breaks were read, and is data for `grade`.
"""

import json
import re
import urllib.parse
import urllib.request
from decimal import Decimal

import pytest

pytestmark = pytest.mark.crosschain_mock(refusals="allow")
WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
HASH = "0x" + "ab" * 32
DIGITS = re.compile(r"\d+")
DECIMAL = re.compile(r"\d+(\.\d+)?")
SIGNED = re.compile(r"-?\d+(\.\d+)?")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


def certificate(**changes):
    fields = {
        "fromAmount": "10000000",
        "fromIndex": "5",
        "fromChain": "ARB",
        "fromAddr": WALLET,
        "certHash": HASH,
        "fromPublicKey": "",
        "signature": "123456",
    }
    return json.dumps({**fields, **changes}).encode().hex()


def order(**changes):
    fields = {
        "channel": "demo",
        "execStrategy": "",
        "extra": "",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": certificate(),
        "timeout": "0",
        "toAddr": WALLET,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
    }
    return {**fields, **changes}


class Service:
    def __init__(self, base):
        self.base = base

    def ask(self, path, body=None, signed=True, **query):
        url = f"{self.base}/v1/{path}"
        if query:
            url += "?" + urllib.parse.urlencode(query)
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if signed:
            headers |= {"Evmaddress": WALLET, "Signature": "ab" * 65}
        request = urllib.request.Request(url, data, headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.status == 200
            assert response.headers["Content-Type"].startswith("application/json")
            answer = json.loads(response.read())
        assert set(answer) == {"code", "msg", "data"}
        assert type(answer["code"]) is int
        assert type(answer["msg"]) is str
        assert isinstance(answer["data"], dict) or answer["code"] != 0
        return answer

    def get(self, path, body=None, **query):
        answer = self.ask(path, body, **query)
        assert answer["code"] == 0
        assert answer["msg"] == "success"
        return answer["data"]

    def refuses(self, path, body=None, signed=True, **query):
        answer = self.ask(path, body, signed, **query)
        assert answer["code"] != 0
        assert answer["msg"] not in ("", "success")


@pytest.fixture
def service(crosschain_mock):
    return Service(crosschain_mock.base_url_v2)


BRIDGE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}


def token(service, symbol):
    return next(row for row in service.get("getAssets")["list"] if row["symbol"] == symbol)


def swap(service):
    usdt, dai = token(service, "USDT"), token(service, "USDC")
    return {
        "fromAmount": "10000000",
        "fromTokenAddress": usdt["contracts"]["ARB"]["address"],
        "fromDecimal": str(usdt["contracts"]["ARB"]["decimals"]),
        "toTokenAddress": dai["contracts"]["ARB"]["address"],
        "toDecimal": str(dai["contracts"]["ARB"]["decimals"]),
    }


def test_chains(service):
    data = service.get("getChain")
    assert set(data) == {"version", "list"}
    assert type(data["version"]) is int
    assert len(data["list"]) == 28
    names = [row["nickName"] for row in data["list"]]
    assert len(set(names)) == len(names)
    assert {"ARB", "BNB", "ETH"} <= set(names)
    indexes = [row["chainIndex"] for row in data["list"]]
    assert len(set(indexes)) == len(indexes)
    for row in data["list"]:
        assert type(row["nickName"]) is str
        assert row["nickName"]
        assert type(row["decimals"]) is int
        assert row["disabled"] is False
        assert row["delisted"] is False
    by_name = {row["nickName"]: row for row in data["list"]}
    assert by_name["ETH"]["network"] == "1"
    assert by_name["BNB"]["network"] == "56"
    assert by_name["ARB"]["network"] == "42161"
    assert by_name["ETH"]["decimals"] == 18
    assert service.get("getChain") == data


def test_assets(service):
    data = service.get("getAssets")
    assert set(data) == {"version", "list"}
    assert type(data["version"]) is int
    symbols = [row["symbol"] for row in data["list"]]
    assert len(set(symbols)) == len(symbols)
    indexes = [row["index"] for row in data["list"]]
    assert len(set(indexes)) == len(indexes)
    known = {row["nickName"] for row in service.get("getChain")["list"]}
    for row in data["list"]:
        assert type(row["index"]) is int
        assert type(row["symbol"]) is str
        assert row["delisted"] is False
        assert set(row["contracts"]) <= known
        for contract in row["contracts"].values():
            assert type(contract["address"]) is str
            assert contract["address"]
            assert type(contract["decimals"]) is int
            assert 0 < contract["decimals"] <= 24
    usdt = token(service, "USDT")
    assert usdt["index"] == 5
    assert usdt["contracts"]["ARB"]["decimals"] == 6
    assert usdt["contracts"]["BNB"]["decimals"] == 18
    assert ADDRESS.fullmatch(usdt["contracts"]["ARB"]["address"])
    assert service.get("getAssets") == data


def test_assets_by_chain(service):
    data = service.get("getAssetsByChain", chain="ARB")
    whole = service.get("getAssets")
    assert data["version"] == whole["version"]
    assert data["list"]
    for row in data["list"]:
        same = next(item for item in whole["list"] if item["symbol"] == row["symbol"])
        assert row["index"] == same["index"]
        assert row["contractAddress"] == same["contracts"]["ARB"]["address"]
        assert row["decimals"] == same["contracts"]["ARB"]["decimals"]
    on_arb = {row["symbol"] for row in whole["list"] if "ARB" in row["contracts"]}
    assert {row["symbol"] for row in data["list"]} == on_arb
    service.refuses("getAssetsByChain", chain="NOWHERE")
    service.refuses("getAssetsByChain")


def test_bridge_quote(service):
    data = service.get("getBridgeQuote", **BRIDGE)
    assert set(data) == {"price", "outAmount", "outAmountUsd", "serviceFee", "gasFee"}
    for name, value in data.items():
        assert type(value) is str, name
        assert DECIMAL.fullmatch(value), name
    for name in ("outAmount", "serviceFee", "gasFee"):
        assert DIGITS.fullmatch(data[name]), name
    out, fees = int(data["outAmount"]), int(data["serviceFee"]) + int(data["gasFee"])
    # 10 USDT: 6 decimals at the source, 18 at the target.
    assert 9 * 10**18 < out <= 10 * 10**18
    assert 0 < fees < 10**18
    assert Decimal(data["price"]) == 1
    assert 9 < Decimal(data["outAmountUsd"]) <= 10
    assert service.get("getBridgeQuote", **BRIDGE) == data
    double = service.get("getBridgeQuote", **{**BRIDGE, "amount": "20000000"})
    assert 18 * 10**18 < int(double["outAmount"]) <= 20 * 10**18
    assert int(double["serviceFee"]) == 2 * int(data["serviceFee"])
    assert double["gasFee"] == data["gasFee"]


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "0"},
        {"amount": "-1"},
        {"amount": "1.5"},
        {"amount": "ten"},
        {"amount": ""},
        {"symbol": "NOPE"},
        {"symbol": ""},
        {"fromChain": "NOWHERE"},
        {"toChain": "NOWHERE"},
        {"toChain": "ARB"},
    ],
)
def test_wrong_quotes_are_refused(service, change):
    service.refuses("getBridgeQuote", **{**BRIDGE, **change})


@pytest.mark.parametrize("name", list(BRIDGE))
def test_a_quote_without_an_input_is_refused(service, name):
    service.refuses("getBridgeQuote", **{key: BRIDGE[key] for key in BRIDGE if key != name})


def test_aggregate_quote(service):
    asked = {**swap(service), "fromChain": "ARB", "toChain": "ARB"}
    data = service.get("getAggregateQuote", **asked)
    assert data["chain"] == "42161"
    assert data["chainDecimal"] == 6
    for name in ("outAmount", "serviceFee", "gasFee"):
        assert type(data[name]) is str
        assert DIGITS.fullmatch(data[name]), name
    assert type(data["aggregator"]) is str
    assert data["aggregator"]
    assert SIGNED.fullmatch(data["priceImpact"])
    assert 9 * 10**6 < int(data["outAmount"]) < 11 * 10**6
    assert 9 < Decimal(data["outAmountUsd"]) < 11
    if data["minOutAmount"]:
        assert int(data["minOutAmount"]) <= int(data["outAmount"])
    service.refuses("getAggregateQuote", **{**asked, "fromAmount": "0"})
    service.refuses("getAggregateQuote", **{**asked, "fromDecimal": "7"})
    service.refuses("getAggregateQuote", **{**asked, "fromTokenAddress": "0x" + "1" * 40})


def test_aggregate_swap(service):
    asked = {
        **swap(service),
        "chain": "ARB",
        "sender": WALLET,
        "recipient": WALLET,
        "slippage": "100",
        "allowPartialFill": "false",
    }
    data = service.get("getAggregateSwap", **asked)
    assert set(data) == {"amountOut", "from", "to", "gas", "value", "data"}
    assert {type(value) for value in data.values()} == {str}
    assert ADDRESS.fullmatch(data["to"])
    assert data["from"].lower() == WALLET.lower()
    assert re.fullmatch(r"0x[0-9a-f]+", data["data"])
    # A token is sold, so no coin goes along.
    assert int(data["value"]) == 0
    assert DIGITS.fullmatch(data["gas"])
    quote = service.get("getAggregateQuote", **swap(service), fromChain="ARB", toChain="ARB")
    assert data["amountOut"] == quote["outAmount"]
    # The recipient and the amount are in the call data.
    assert WALLET[2:].lower() in data["data"]
    assert f"{10_000_000:064x}" in data["data"]
    service.refuses("getAggregateSwap", **{**asked, "fromAmount": "0"})


def test_an_order_arrives(service, crosschain_mock):
    number = service.get("submitOrder", order())["id"]
    assert type(number) is str
    assert number
    first = service.get("checkOrder", id=number)
    assert first["status"] != "Succeeded"
    assert first["amountOut"] == "0"
    assert first["execHash"] == ""
    assert first["reason"] == ""
    crosschain_mock.clock.run_until_final(number)
    last = service.get("checkOrder", id=number)
    assert set(last) == {"status", "timestamp", "execHash", "reason", "amountOut"}
    assert last["status"] == "Succeeded"
    assert type(last["timestamp"]) is int
    assert last["timestamp"] >= first["timestamp"]
    assert 1_700_000_000 < last["timestamp"] < 5_000_000_000
    assert re.fullmatch(r"0x[0-9a-f]{64}", last["execHash"])
    assert last["reason"] == ""
    quote = service.get("getBridgeQuote", **BRIDGE)
    fees = int(quote["serviceFee"]) + int(quote["gasFee"])
    assert int(last["amountOut"]) == int(quote["outAmount"]) - fees
    assert service.get("checkOrder", id=number) == last
    # The same deposit is the same order, another one is another.
    assert service.get("submitOrder", order())["id"] == number
    other = order(sourceCerts=certificate(certHash="0x" + "cd" * 32))
    assert service.get("submitOrder", other)["id"] != number


@pytest.mark.parametrize(
    "changes",
    [
        {"toChain": "NOWHERE"},
        {"toIndex": "99999"},
        {"orderType": "9"},
        {"toAddr": ""},
        {"toAddr": "0x1234"},
        {"sourceCerts": "zz"},
        {"sourceCerts": ""},
        {"sourceCerts": certificate(fromAmount="0")},
        {"sourceCerts": certificate(certHash="")},
        {"sourceCerts": certificate(fromChain="NOWHERE")},
    ],
)
def test_wrong_orders_are_refused(service, changes):
    service.refuses("submitOrder", order(**changes))


def test_an_order_needs_a_signature_and_all_fields(service):
    service.refuses("submitOrder", order(), signed=False)
    for name in set(order()) - {"toChain"}:
        fields = order()
        del fields[name]
        service.refuses("submitOrder", fields)


def test_unknown_orders_are_refused(service):
    service.refuses("checkOrder", id="1")
    service.refuses("checkOrder", id="")
    service.refuses("checkOrder")


def test_a_failed_order_has_a_reason(service, crosschain_mock):
    number = service.get("submitOrder", order())["id"]
    crosschain_mock.orders.steer(number, "fail")
    crosschain_mock.clock.advance(hours=2)
    failed = service.get("checkOrder", id=number)
    assert failed["status"] not in ("Succeeded", "Pending", "Unknown")
    assert failed["reason"]
    assert failed["amountOut"] == "0"


def test_balance_and_price(service):
    usdt = token(service, "USDT")["contracts"]["ARB"]["address"]
    balance = service.get("getBalance", chain="ARB", contractAddress=usdt, address=WALLET)
    assert set(balance) == {"balance", "hrpBalance"}
    assert DIGITS.fullmatch(balance["balance"])
    assert Decimal(balance["hrpBalance"]) == Decimal(balance["balance"]) / 10**6
    service.refuses("getBalance", chain="NOWHERE", contractAddress=usdt, address=WALLET)
    price = service.get("getPrice", chain="ARB", contractAddress=usdt, symbol="USDT")
    assert set(price) == {"price", "updateTime", "source"}
    assert {type(value) for value in price.values()} == {str}
    assert Decimal("0.9") < Decimal(price["price"]) < Decimal("1.1")
    assert price["updateTime"]
    assert price["source"]
    quote = service.get("getBridgeQuote", **BRIDGE)
    value = Decimal(price["price"]) * Decimal(quote["outAmount"]) / 10**18
    assert Decimal(quote["outAmountUsd"]) == value
    service.refuses("getPrice", chain="ARB", contractAddress=usdt, symbol="NOPE")


def test_tickets(service):
    service.get("submitOrder", order())
    ticket = service.get("submitTicket", {"hash": HASH, "chain": "ARB"})["ticketId"]
    assert type(ticket) is int
    listed = service.get("getAllTicketByAddress", address=WALLET, filter="Unknown")["list"]
    pending = service.get("getAllTicketByAddress", address=WALLET, filter="Pending")["list"]
    [row] = [row for row in [*listed, *pending] if row["ticketId"] == ticket]
    assert row["address"].lower() == WALLET.lower()
    assert row["chain"] == "ARB"
    assert row["hash"] == HASH
    assert row["succeeded"] is False
    assert type(row["solution"]) is str
    done = service.get("getAllTicketByAddress", address=WALLET, filter="Succeeded")["list"]
    assert ticket not in [row["ticketId"] for row in done]
    checked = service.get("checkTicket", ticketId=ticket)
    assert set(checked) == {"succeeded", "solution"}
    assert checked["succeeded"] is False
    assert checked["solution"] == row["solution"]
    service.refuses("checkTicket", ticketId="999999")
    service.refuses("submitTicket", {"hash": HASH, "chain": "NOWHERE"})
    service.refuses("submitTicket", {"hash": HASH, "chain": "ARB"}, signed=False)


def test_a_suspended_chain_leaves_the_list(service, crosschain_mock):
    before = service.get("getChain")["version"]
    crosschain_mock.suspend("BNB", mode="delisted")
    after = service.get("getChain")
    assert "BNB" not in [row["nickName"] for row in after["list"]]
    assert after["version"] > before
    service.refuses("getBridgeQuote", **BRIDGE)
    service.refuses("submitOrder", order())
