"""Truths that users of the mock stumbled over, each small."""

import json
from urllib.parse import urlencode

import pytest

from tests.conftest import WALLET, Client, order, v1_submission


@pytest.fixture(params=["documented", "observed"])
def told(request, serve):
    """A client of a server of a dialect."""
    return serve(dialect=request.param).client


def _listed(client):
    return [item["nickName"] for item in client.get("/v1/getChain").data["list"]]


def _balance(client: Client, **query: str):
    return client.get("/v1/getBalance", query=query)


def _nearest(client):
    refused = client.control("GET", "/journal?refused=true")["entries"]
    return refused[-1]["nearest"]["query"]


def test_the_nearest_valid_form_of_a_balance_is_of_its_chain(told):
    chains, seen = _listed(told), 0
    for chain in chains:
        tokens = told.get("/v1/getAssetsByChain", query={"chain": chain}).data["list"]
        addresses = {token["contractAddress"] for token in tokens}
        if not addresses:
            continue
        # An account is missing, then a token is wrong: what is proposed is of the chain, and taken.
        asked = {"chain": chain, "contractAddress": min(addresses)}
        assert _balance(told, **asked).refusal, chain
        asked = _nearest(told)
        assert asked["chain"] == chain
        assert not _balance(told, **asked).refusal, asked
        assert _balance(told, **{**asked, "contractAddress": "0x1234"}).refusal
        asked = _nearest(told)
        assert asked["contractAddress"] in addresses, asked
        assert not _balance(told, **asked).refusal, asked
        seen += 1
    assert seen > 20


def test_an_order_has_one_number_in_both_generations(mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    deposit = json.loads(bytes.fromhex(order()["sourceCerts"]))
    query = {"chain": "ARB", "hash": deposit["certHash"], "evmAddress": WALLET}
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    shown = mock.get(path, query=query, headers=mock.keys).data
    assert shown["order"]["sn"] == order_id
    mock.post("/open/v1/order/submitCrossChain", v1_submission(), headers=mock.keys)
    numbers = [listed["id"] for listed in mock.control("GET", "/orders")["orders"]]
    assert len(set(numbers)) == 2


def test_an_order_of_opaque_certificates_arrives_with_nothing(mock):
    body = order(sourceCerts="deadbeef")
    order_id = mock.post("/v1/submitOrder", body, headers=mock.wallet).data["id"]
    mock.control("POST", "/clock", {"advance": "1h"})
    shown = mock.get("/v1/checkOrder", query={"id": order_id}).data
    assert (shown["status"], shown["amountOut"]) == ("Succeeded", "0")


def test_a_number_as_javascript_writes_it_is_refused_with_what_to_write(mock):
    body = json.dumps(v1_submission(fromAddress=1))
    cut = format(float(int(WALLET, 16)), ".17g")
    raw = body.replace('"fromAddress": 1', f'"fromAddress": {cut}').encode()
    headers = {**mock.keys, "Content-Type": "application/json"}
    answer = mock.call("POST", "/open/v1/order/submitCrossChain", body=raw, headers=headers)
    assert "its last digits were lost" in answer.refusal
    assert "JSON.stringify" in answer.refusal
    assert str(int(WALLET, 16)) in answer.refusal


def test_an_outage_that_lags_needs_no_number(told):
    told.control("POST", "/outages", {"chain": "BNB", "mode": "lagging"})
    [outage] = told.control("GET", "/outages?which=active")["outages"]
    assert outage["lag"] == 4
    order_id = told.post("/v1/submitOrder", order(), headers=told.wallet).data["id"]
    told.control("POST", "/clock", {"advance": "20s"})
    assert told.get("/v1/checkOrder", query={"id": order_id}).data["status"] != "Succeeded"
    told.control("POST", "/clock", {"advance": "10m"})
    assert told.get("/v1/checkOrder", query={"id": order_id}).data["status"] == "Succeeded"


def _v1_tokens(client: Client):
    return client.call("GET", "/open/v1/base/getSupportTokens", headers={"chain": "BSC"})


@pytest.mark.parametrize("token", [{}, {"token": "USDT"}], ids=["chain", "token"])
def test_an_outage_reaches_lists_that_are_replayed(serve, token):
    client = serve(replay=("v1/getSupportTokens", "v1/getSupportChains")).client
    before = _v1_tokens(client).raw
    assert b"USDT" in before
    out = {"chain": "BNB", **token}
    client.control("POST", "/outages", {**out, "mode": "delisted"})
    during = _v1_tokens(client)
    assert b"USDT" not in during.raw or during.refusal
    if token:
        assert len(during.raw) > len(before) // 2
    client.control("DELETE", f"/outages?{urlencode(out)}")
    after, version = _v1_tokens(client).raw, b'"version":1}'
    assert version in before
    assert after == before.replace(version, b'"version":3}')
