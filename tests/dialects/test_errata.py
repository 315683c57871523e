"""Each erratum both ways: its own form is served, the other is refused with the erratum named."""

import json
from typing import Any

import pytest

from mockserver.contract import load
from tests.conftest import NATIVE, USDT_ARB, USDT_BNB, WALLET, Client, order, v1_submission
from tests.dialects.conftest import field_order, v1_order

QUOTE = "/open/v1/order/getCrossChainQuote"
SUBMIT = "/open/v1/order/submitCrossChain"
DOCUMENTED_SUBMIT = v1_submission()
QUOTE_BODY = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
SWAP = {
    "fromAmount": "1000000000",
    "fromTokenAddress": USDT_ARB,
    "fromDecimal": "6",
    "fromChain": "ARB",
    "toTokenAddress": NATIVE,
    "toDecimal": "18",
    "toChain": "BNB",
}
CALL = {
    "fromAmount": "1000000000000000000",
    "fromTokenAddress": NATIVE,
    "fromDecimal": "18",
    "toTokenAddress": USDT_BNB,
    "toDecimal": "18",
    "chain": "BNB",
    "aggregator": "1inch",
    "sender": WALLET,
    "recipient": WALLET,
    "slippage": "100",
    "allowPartialFill": "false",
}


def _without(values, *names):
    return {name: value for name, value in values.items() if name not in names}


BRIDGE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
KASPA_HEADERS = {
    "Address": WALLET,
    "PublicKey": "02" + "ab" * 32,
    "Chain": "ARB",
    "Signature": "ab" * 65,
}
TOKENS = "/open/v1/base/getSupportTokens"
ORDERS = "/v1/submitOrder"

# A request in the documented and in the observed form, or None where a form is no request of its
# own: with the method, the path, and what is sent.
FORMS: dict[str, tuple[str, str, Any, Any]] = {
    "E-02": ("GET", TOKENS, {"headers": {"chain": "BSC"}}, {"query": {"chain": "BSC"}}),
    "E-03": ("POST", SUBMIT, {"body": DOCUMENTED_SUBMIT}, {"body": v1_order()}),
    "E-04": ("POST", SUBMIT, {"body": DOCUMENTED_SUBMIT}, {"body": v1_order()}),
    "E-05": ("POST", QUOTE, {"body": QUOTE_BODY}, {"body": {**QUOTE_BODY, "amount": "10"}}),
    "E-09": ("GET", "/v1/getBridgeQuote", None, {"query": {**BRIDGE, "channelFeeRate": "10"}}),
    "E-11": ("POST", ORDERS, None, {"headers": KASPA_HEADERS, "body": field_order()}),
    "E-15": ("POST", ORDERS, None, {"body": order(orderType="2", toIndex="8")}),
    "E-18": ("GET", "/v1/getAggregateQuote", None, {"query": _without(SWAP, "toDecimal")}),
    "E-28": ("POST", QUOTE, {"body": QUOTE_BODY, "expire": "999"}, None),
    "E-30": ("POST", ORDERS, None, {"body": order(orderType=1, toIndex=5)}),
    "E-31": ("GET", "/v1/getAggregateSwap", None, {"query": _without(CALL, "allowPartialFill")}),
}


@pytest.mark.parametrize("erratum", FORMS)
def test_the_documented_form(erratum, mock, observed):
    method, path, documented, _ = FORMS[erratum]
    if documented is None:
        return
    assert _sent(mock, method, path, documented).json["code"] == 0
    if erratum == "E-05":
        # Numbers are still taken.
        assert _sent(observed, method, path, documented).json["code"] == 200
        return
    _refused_naming(erratum, _sent(observed, method, path, documented), "documented")


@pytest.mark.parametrize("erratum", FORMS)
def test_the_observed_form(erratum, mock, observed):
    method, path, _, in_the_field = FORMS[erratum]
    if in_the_field is None:
        return
    assert _sent(observed, method, path, in_the_field).json["code"] in (0, 200)
    _refused_naming(erratum, _sent(mock, method, path, in_the_field), "observed")


ADDED = [
    (erratum.id, operation)
    for erratum in load().errata
    for operation in erratum.operations
    if any(change["path"] == f"/operations/{operation}" for change in erratum.changes)
    and operation not in {known.id for known in load()}
]


def test_ten_operations_are_added():
    assert len(ADDED) == 10


@pytest.mark.parametrize(("erratum", "operation_id"), ADDED)
def test_an_added_operation_is_elsewhere_nowhere(erratum, operation_id, mock):
    operation = load("observed").operation(operation_id)
    answer = mock.call(operation.method, operation.path)
    assert answer.status == 404
    assert f"erratum {erratum} " in answer.refusal


@pytest.mark.parametrize(("erratum", "operation_id"), ADDED)
def test_an_added_operation_is_served_by_its_erratum_alone(erratum, operation_id, serve):
    client = serve(dialect=erratum).client
    operation = client.contract.operation(operation_id)
    answer = client.operation(operation_id)
    assert answer.status == 200
    assert client.contract.dialect.errata == (erratum,)
    assert operation.response_violations(answer.json) == ()


def test_the_success_code_of_v1(mock, observed):
    path = "/open/v1/base/getSupportChains"
    assert (mock.get(path).json["code"], observed.get(path).json["code"]) == (0, 200)


def test_the_failure_envelope(mock, observed):
    query = {"chain": "MOON"}
    documented = mock.get("/v1/getAssetsByChain", query=query).json
    in_the_field = observed.get("/v1/getAssetsByChain", query=query).json
    assert documented["data"] == {}
    assert "'MOON'" in documented["msg"]
    assert in_the_field == {"code": 31005, "msg": "Not support this chain!"}


def test_further_fields_of_quotes(mock, observed):
    assert "serviceFeeRate" not in mock.get("/v1/getBridgeQuote", query=BRIDGE).data
    with_fee = {**BRIDGE, "channelFeeRate": "10"}
    assert observed.get("/v1/getBridgeQuote", query=with_fee).data["serviceFeeRate"] == "16"
    swap = observed.get("/v1/getAggregateQuote", query=SWAP).data
    assert (swap["serviceFeeRate"], swap["slippage"]) == ("20", "1")
    documented = mock.get("/v1/getAggregateQuote", query=SWAP).data
    assert {"serviceFeeRate", "slippage"}.isdisjoint(documented)


def test_the_type_of_update_time(mock, observed):
    query = {"chain": "ARB", "contractAddress": USDT_ARB, "symbol": "USDT"}
    assert mock.get("/v1/getPrice", query=query).data["updateTime"] == "1767225600"
    assert observed.get("/v1/getPrice", query=query).data["updateTime"] == 1767225600


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_tolerances_of_every_dialect(serve, dialect):
    client = serve(dialect=dialect).client
    swap = client.get("/v1/getAggregateSwap", query={**CALL, "aggregator": "1INCH"}).data
    assert swap["to"] == "0x1111111254eeb25477b68fb85ed929f73a960582"
    quoted = client.get("/v1/getAggregateQuote", query="&" + "&&".join(_pairs(SWAP)) + "&")
    assert quoted.data["chain"] == "56"
    undefined = client.get("/v1/getAggregateSwap", query={**CALL, "routeSummary": "undefined"})
    plain = client.get("/v1/getAggregateSwap", query=CALL)
    assert (undefined.data["data"] == plain.data["data"]) is (dialect == "observed")


def test_the_quirk_of_one_client_as_a_whole(observed):
    pairs = _pairs(_without(SWAP, "toDecimal"))
    # The second fromDecimal is the destination's; the first one counts.
    answer = observed.get("/v1/getAggregateQuote", query="&" + "&".join([*pairs, "fromDecimal=18"]))
    assert answer.data == observed.get("/v1/getAggregateQuote", query=SWAP).data


def test_other_parameters_are_given_once(observed):
    answer = observed.get("/v1/getAggregateQuote", query="&".join([*_pairs(SWAP), "toChain=ETH"]))
    assert "given more than once" in answer.refusal


def test_tokens_of_all_chains_without_a_chain(observed):
    tokens = observed.get("/open/v1/base/getSupportTokens").data["tokenVos"]
    assert {"BSC", "MATIC", "FSN"} <= {token["chain"] for token in tokens}
    only = observed.get("/open/v1/base/getSupportTokens", query={"chain": "BSC"}).data["tokenVos"]
    assert {token["chain"] for token in only} == {"BSC"}
    assert len(only) < len(tokens)


def _pairs(values):
    return [f"{name}={value}" for name, value in values.items()]


def _sent(client: Client, method, path, told):
    headers = client.keys if path.startswith("/open") else client.wallet
    if "expire" in told:
        headers = {**headers, "expireTime": told["expire"]}
    sent = told.get("headers", headers if method == "POST" else {})
    body = json.dumps(told["body"]).encode() if "body" in told else None
    return client.call(method, path, query=told.get("query", ""), headers=sent, body=body)


def _refused_naming(erratum, answer, form):
    assert answer.json["code"] not in (0, 200)
    assert answer.refusal.startswith("other-dialect: ")
    assert f"this is the {form} form of erratum {erratum} " in answer.refusal


@pytest.mark.parametrize(("name", "value"), [("direct", "x"), ("slippage", "0"), ("slippage", "")])
def test_nonsense_in_what_an_erratum_brings_is_nobodys_form(observed, name, value):
    query = {**SWAP, name: value}
    answer = observed.get("/v1/getAggregateQuote", query=query)
    assert answer.refusal.startswith(f"contract-violation: query parameter '{name}'")
    assert "erratum" not in answer.refusal


def test_names_that_nobody_declares(mock, observed):
    query = {**BRIDGE, "lang": "en"}
    assert "'lang'" in mock.get("/v1/getBridgeQuote", query=query).refusal
    assert observed.get("/v1/getBridgeQuote", query=query).data
    twice = "lang=en&lang=de&" + "&".join(_pairs(BRIDGE))
    assert observed.get("/v1/getBridgeQuote", query=twice).data
    body = {**QUOTE_BODY, "toAddress": WALLET}
    headers = {**mock.keys}
    assert "'toAddress'" in mock.post(QUOTE, body, headers=headers).refusal
    assert observed.post(QUOTE, body, headers=headers).json["code"] == 200
