"""A suite of somebody in a hurry: the happy path works. Written blind; data for `grade`."""

import json
import urllib.request

import pytest

BRIDGE = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
DEPOSIT = {
    "fromAmount": "10000000",
    "fromIndex": "5",
    "fromChain": "ARB",
    "fromAddr": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "certHash": "0x" + "ab" * 32,
    "fromPublicKey": "",
    "signature": "123456",
}
ORDER = {
    "channel": "demo",
    "execStrategy": "",
    "extra": "",
    "orderType": "1",
    "slippage": "0",
    "sourceCerts": json.dumps(DEPOSIT).encode().hex(),
    "timeout": "0",
    "toAddr": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "toChain": "BNB",
    "toIndex": "5",
    "triggerPrice": "0",
}
HEAD = {"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "Signature": "ab" * 65}


@pytest.fixture
def call(crosschain_mock):
    def get(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{crosschain_mock.base_url_v2}/v1/{path}", data, HEAD)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read())

    return get


def test_lists(call):
    assert call("getChain")
    assert call("getAssets")


def test_quote(call):
    assert call(f"getBridgeQuote?{BRIDGE}")["data"]


def test_order(call):
    number = call("submitOrder", ORDER)["data"]["id"]
    assert "status" in call(f"checkOrder?id={number}")["data"]
