"""Whatever comes in: the right envelope, a nonzero code, a reason that names the field, no 5xx."""

import json
import socket

import pytest

from mockserver import limits
from mockserver.contract import load
from tests.conftest import HASH, USDT_ARB, WALLET, certificate, order, v1_submission

ALL_REFUSALS = set(load().refusals)
BRIDGE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
QUOTE = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 2}
SUBMIT = v1_submission(feeLevel=2)
SWAP = {
    "fromAmount": "1000000",
    "fromTokenAddress": USDT_ARB,
    "fromDecimal": "6",
    "fromChain": "ARB",
    "toTokenAddress": "0x" + "e" * 40,
    "toDecimal": "18",
    "toChain": "BNB",
}
CALL = {
    "fromAmount": "1000000",
    "fromTokenAddress": USDT_ARB,
    "fromDecimal": "6",
    "toTokenAddress": "0x" + "e" * 40,
    "toDecimal": "18",
    "chain": "ARB",
    "sender": WALLET,
    "recipient": WALLET,
    "slippage": "100",
    "allowPartialFill": "false",
}


def refused(answer, generation, *words, status=200):
    """Assert a refusal in the generation's envelope whose reason has the words."""
    assert answer.status == status, answer.raw
    body = answer.json
    assert body["code"] not in (0, None)
    assert isinstance(body["code"], int)
    assert isinstance(body["msg"], str)
    assert ("status" in body) == (generation == "v1")
    assert answer.refusal, "the header X-Mock-Refusal is missing"
    for word in words:
        assert word in answer.refusal
    # The header is one line of ASCII; the envelope tells the same reason.
    name, _, reason = answer.refusal.partition(": ")
    assert name in ALL_REFUSALS
    assert "\\" in reason or reason in body["msg"] or reason.endswith("...")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"amount": "0"}, ["'amount'", "whole number"]),
        ({"amount": "-5"}, ["'amount'", "'-5'"]),
        ({"amount": "NaN"}, ["'amount'", "'NaN'"]),
        ({"amount": "1e400"}, ["'amount'", "'1e400'"]),
        ({"amount": "9" * 78}, ["'amount'"]),
        ({"amount": " 10 "}, ["'amount'", "' 10 '"]),
        ({"amount": "0x10"}, ["'amount'", "'0x10'"]),
        ({"amount": "10.5"}, ["'amount'", "smallest units"]),
        ({"amount": "\u0661\u0660"}, ["'amount'"]),
        ({"amount": ""}, ["'amount'"]),
        ({"amount": "300000"}, ["'amount'", "at least"]),
        ({"fromChain": "ARBB"}, ["'fromChain'", "did you mean 'ARB'"]),
        ({"toChain": "BSC"}, ["'toChain'", "'BNB'"]),
        ({"toChain": "ARB"}, ["'toChain'", "both 'ARB'"]),
        ({"symbol": "USDX"}, ["'symbol'", "did you mean"]),
        ({"symbol": "KOIN"}, ["'symbol'", "not on 'ARB'"]),
        ({"amout": "1"}, ["'amout'", "did you mean 'amount'"]),
        ({"channelFeeRate": "10"}, ["'channelFeeRate'", "E-"]),
    ],
)
def test_bridge_quotes(mock, change, words):
    refused(mock.get("/v1/getBridgeQuote", query={**BRIDGE, **change}), "v2", *words)


@pytest.mark.parametrize("name", list(BRIDGE))
def test_a_missing_parameter_is_named(mock, name):
    query = {key: value for key, value in BRIDGE.items() if key != name}
    refused(mock.get("/v1/getBridgeQuote", query=query), "v2", f"'{name}'", "missing")


def test_a_repeated_parameter_is_named(mock):
    query = "amount=10000000&amount=1&symbol=USDT&fromChain=ARB&toChain=BNB"
    refused(mock.get("/v1/getBridgeQuote", query=query), "v2", "'amount'", "more than once")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'"NaN"', ["'amount'", "expected a number"]),
        (b"0", ["'amount'"]),
        (b"-1", ["'amount'"]),
        (b"1e400", ["'amount'"]),
        (b"1" * 78, ["'amount'"]),
        (b"0.00000000000000000001", ["'amount'", "decimals"]),
        (b"0.1", ["'amount'", "at least"]),
        (b'"10"', ["'amount'", "E-"]),
        (b"null", ["'amount'", "got null"]),
        (b"true", ["'amount'", "a boolean"]),
        (b"[10]", ["'amount'", "an array"]),
        (b'{"value": 10}', ["'amount'", "an object"]),
    ],
)
def test_v1_amounts(mock, raw, words):
    body = json.dumps({**QUOTE, "amount": 77}).encode().replace(b"77", raw)
    answer = mock.post("/open/v1/order/getCrossChainQuote", body, headers=mock.keys)
    refused(answer, "v1", *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fromChain": "POLYGON"}, ["'fromChain'", "'MATIC'"]),
        ({"toChain": "KAS"}, ["'toChain'", "does not offer"]),
        ({"token": "KOIN"}, ["'token'"]),
        ({"feeLevel": 11}, ["'feeLevel'"]),
        ({"feeLevel": "2"}, ["'feeLevel'", "an integer"]),
        ({"feeLevel": 1.5}, ["'feeLevel'"]),
        ({"tokne": "USDT"}, ["'tokne'", "did you mean 'token'"]),
    ],
)
def test_v1_quotes(mock, change, words):
    body = json.dumps({**QUOTE, **change}).encode()
    refused(mock.post("/open/v1/order/getCrossChainQuote", body, headers=mock.keys), "v1", *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evmAddres": "0x123"}, ["'evmAddres'", "40 hex digits"]),
        ({"fromAddress": WALLET}, ["'fromAddress'", "E-"]),
        ({"fromAddress": int(WALLET, 16) + 1}, ["'evmAddres'", "both are the same"]),
        ({"certHash": "0x12"}, ["'certHash'"]),
        ({"certHash": HASH[:-1]}, ["'certHash'"]),
        ({"fromAmount": 0.0000000001}, ["'fromAmount'", "decimals"]),
    ],
)
def test_v1_submissions(mock, change, words):
    body = json.dumps({**SUBMIT, **change}).encode()
    answer = mock.post("/open/v1/order/submitCrossChain", body, headers=mock.keys)
    refused(answer, "v1", *words)


def test_the_other_spelling_names_its_erratum(mock):
    body = {key: value for key, value in SUBMIT.items() if key != "evmAddres"}
    answer = mock.post(
        "/open/v1/order/submitCrossChain", {**body, "evmAddress": WALLET}, headers=mock.keys
    )
    refused(answer, "v1", "'evmAddres'", "'evmAddress'", "erratum E-")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"timestamp": None}, ["header 'timestamp'", "missing"]),
        ({"appKey": None}, ["header 'appKey'", "missing"]),
        ({"signature": ""}, ["header 'signature'"]),
        ({"expireTime": "soon"}, ["header 'expireTime'", "an integer"]),
        ({"expireTime": "0"}, ["header 'expireTime'"]),
        ({"expireTime": "15.5"}, ["header 'expireTime'"]),
        ({"timestamp": "-1"}, ["header 'timestamp'"]),
        ({"timestamp": "1767225580000"}, ["'timestamp'", "expired"]),
        ({"timestamp": "1767225580"}, ["'timestamp'", "expired"]),
        ({"timestamp": "1767225620000"}, ["'timestamp'", "ahead"]),
        ({"timestamp": "9" * 90}, ["'timestamp'", "ahead"]),
    ],
)
def test_v1_authentication(mock, change, words):
    headers = {name: value for name, value in {**mock.keys, **change}.items() if value is not None}
    answer = mock.post("/open/v1/order/getCrossChainQuote", QUOTE, headers=headers)
    refused(answer, "v1", *words)


@pytest.mark.parametrize("timestamp", ["1767225600000", "1767225600", "1767225590000"])
def test_a_timestamp_in_seconds_or_milliseconds_is_let_in(mock, timestamp):
    headers = {**mock.keys, "timestamp": timestamp}
    assert mock.post("/open/v1/order/getCrossChainQuote", QUOTE, headers=headers).data


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sourceCerts": "abc"}, ["'sourceCerts'", "even"]),
        ({"sourceCerts": "xyz1"}, ["'sourceCerts'"]),
        ({"sourceCerts": ""}, ["'sourceCerts'"]),
        ({"sourceCerts": certificate(fromAmount="ten")}, ["'sourceCerts'", "fromAmount"]),
        ({"sourceCerts": certificate(fromAmount="0")}, ["'sourceCerts'"]),
        ({"sourceCerts": certificate(fromAmount="9" * 78)}, ["'sourceCerts'"]),
        ({"sourceCerts": certificate(fromAmount=str(2**256 - 1))}, ["'sourceCerts'"]),
        ({"sourceCerts": certificate(fromAmount="010000000")}, ["'sourceCerts'"]),
        ({"sourceCerts": certificate(certHash="")}, ["bad-hash", "'sourceCerts'", "'0x' and 64"]),
        ({"sourceCerts": certificate(certHash="hello")}, ["bad-hash", "'sourceCerts'"]),
        ({"sourceCerts": certificate(certHash=HASH[2:])}, ["bad-hash", f"here {HASH!r}"]),
        ({"sourceCerts": certificate(certHash=f" {HASH}")}, ["bad-hash", f"here {HASH!r}"]),
        ({"sourceCerts": certificate(fromChain="MOON")}, ["'sourceCerts'", "'MOON'"]),
        ({"sourceCerts": certificate(fromIndex="4")}, ["no", "'USDT'"]),
        ({"sourceCerts": b'{"fromAmount":"1"}'.hex()}, ["'sourceCerts'", "lacks"]),
        ({"toAddr": "nobody"}, ["'toAddr'", "40"]),
        ({"toIndex": "99999"}, ["'toIndex'", "nearest"]),
        ({"toIndex": "-5"}, ["'toIndex'"]),
        ({"toChain": "BSC"}, ["'toChain'", "'BNB'"]),
        ({"orderType": "3"}, ["'orderType'"]),
        ({"orderType": 1}, ["'orderType'", "a string"]),
        ({"slippage": "100"}, ["'slippage'"]),
        ({"timeout": "-1"}, ["'timeout'"]),
        ({"surprise": "x"}, ["'surprise'"]),
        ({"extra": None}, ["'extra'"]),
    ],
)
def test_2_0_orders(mock, change, words):
    answer = mock.post("/v1/submitOrder", order(**change), headers=mock.wallet)
    refused(answer, "v2", *words)
    first = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    assert first == "30000000001", "the refused order left something behind"


@pytest.mark.parametrize("name", list(order()))
def test_a_missing_member_of_an_order_is_named(mock, name):
    body = {key: value for key, value in order().items() if key != name}
    answer = mock.post("/v1/submitOrder", body, headers=mock.wallet)
    if name == "toChain":
        refused(answer, "v2", "same-chain")
    else:
        refused(answer, "v2", f"'{name}'", "missing")


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Signature": "ab"}, ["'Evmaddress'", "missing"]),
        ({"Evmaddress": WALLET}, ["'Signature'", "missing"]),
        ({"Evmaddress": "me", "Signature": "ab"}, ["'Evmaddress'", "0x"]),
    ],
)
def test_2_0_headers(mock, headers, words):
    refused(mock.post("/v1/submitOrder", order(), headers=headers), "v2", *words)


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("/v1/checkOrder", {"id": "31"}, ["'id'"]),
        ("/v1/checkOrder", {"id": "../etc"}, ["'id'"]),
        ("/v1/checkOrder", {"id": "9" * 400}, ["'id'"]),
        ("/v1/checkTicket", {"ticketId": "7"}, ["'ticketId'", "7"]),
        ("/v1/checkTicket", {"ticketId": "x"}, ["'ticketId'"]),
        ("/v1/getAllTicketByAddress", {"address": WALLET, "filter": "succeeded"}, ["'filter'"]),
        ("/v1/getAssetsByChain", {"chain": "NOPE"}, ["'chain'", "'NOPE'"]),
        (
            "/v1/getBalance",
            {"chain": "ARB", "contractAddress": USDT_ARB, "address": "0x1"},
            ["'address'"],
        ),
        (
            "/v1/getBalance",
            {"chain": "ARB", "contractAddress": "0x1", "address": WALLET},
            ["'contractAddress'"],
        ),
        (
            "/v1/getPrice",
            {"chain": "ARB", "contractAddress": USDT_ARB, "symbol": "ETH"},
            ["'symbol'", "'USDT'"],
        ),
        ("/v1/getAggregateQuote", {**SWAP, "fromDecimal": "18"}, ["'fromDecimal'", "6"]),
        (
            "/v1/getAggregateQuote",
            {**SWAP, "toTokenAddress": "0x" + "1" * 40},
            ["'toTokenAddress'"],
        ),
        (
            "/v1/getAggregateQuote",
            {**SWAP, "toChain": "ARB", "toTokenAddress": USDT_ARB, "toDecimal": "6"},
            ["same-token"],
        ),
        ("/v1/getAggregateSwap", {**CALL, "slippage": "0"}, ["'slippage'"]),
        ("/v1/getAggregateSwap", {**CALL, "slippage": "1.5"}, ["'slippage'"]),
        ("/v1/getAggregateSwap", {**CALL, "allowPartialFill": "yes"}, ["'allowPartialFill'"]),
        ("/v1/getAggregateSwap", {**CALL, "aggregator": "2inch"}, ["'aggregator'", "1inch"]),
        ("/v1/getAggregateSwap", {**CALL, "recipient": "0x12"}, ["'recipient'"]),
    ],
)
def test_2_0_reads(mock, path, query, words):
    refused(mock.get(path, query=query), "v2", *words)


def test_the_chain_of_v1_tokens_travels_in_a_header(mock):
    answer = mock.get("/open/v1/base/getSupportTokens", query={"chain": "BSC"})
    refused(answer, "v1", "'chain'", "erratum E-02")
    assert mock.get("/open/v1/base/getSupportTokens", headers={"CHAIN": "BSC"}).data


@pytest.mark.parametrize(
    ("body", "words", "status"),
    [
        (b"", ["body", "JSON"], 400),
        (b"not json", ["body", "line 1 column 1"], 400),
        (b"channel=demo", ["body"], 400),
        (b'{"channel": "\xff"}', ["not UTF-8"], 400),
        (b'{"channel": "a", "channel": "b"}', ["'channel'", "twice"], 400),
        (b"[" * 3000 + b"]" * 3000, ["nested deeper"], 400),
        (b'{"timeout": NaN}', ["NaN"], 400),
        (b'{"timeout": ' + b"9" * 6000 + b"}", ["too many digits"], 400),
        (b'{"timeout": 1e999999999}', ["too large an exponent"], 400),
        (b"[]", ["an array"], 200),
        (b'{"channel": "\\ud800"}', ["missing"], 200),
        (b"null", ["null"], 200),
        (b'"text"', ["'text'"], 200),
    ],
)
def test_bodies(mock, body, words, status):
    answer = mock.post("/v1/submitOrder", body, headers=mock.wallet)
    refused(answer, "v2", *words, status=status)


def test_a_body_of_ten_megabytes(mock):
    body = json.dumps(order(extra="x" * 10_000_000)).encode()
    answer = mock.post("/v1/submitOrder", body, headers=mock.wallet)
    refused(answer, "v2", "1048576 bytes", status=413)


@pytest.mark.parametrize(
    ("method", "path", "generation", "words", "status"),
    [
        ("GET", "/v1/submitOrder", "v2", ["use POST"], 405),
        ("POST", "/open/v1/base/getSupportChains", "v1", ["use GET"], 405),
        ("DELETE", "/v1/getChain", "v2", ["use GET"], 405),
        ("GET", "/v1/getChains", "v2", ["nearest operation is GET /v1/getChain"], 404),
        ("GET", "/v1/getBrigeQuote", "v2", ["GET /v1/getBridgeQuote"], 404),
        ("POST", "/order/submitCrossChain", "v2", ["/open/v1/order/submitCrossChain"], 404),
        ("GET", "/open/v1/base/getSupportChain", "v1", ["getSupportChains"], 404),
        ("GET", "/", "v2", ["nothing is at '/'", "crosschain-mock routes"], 404),
        ("GET", "/v1/getVaultAddress", "v2", ["erratum E-"], 404),
        ("GET", "/open/v1/order/getOrderDetail", "v1", ["erratum E-"], 404),
    ],
)
def test_methods_and_paths(mock, method, path, generation, words, status):
    answer = mock.call(method, path)
    refused(answer, generation, *words, status=status)
    if status == 405:
        allowed = "POST, OPTIONS" if path == "/v1/submitOrder" else "GET, HEAD, OPTIONS"
        assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("query", ["chain=%ff", "chain=%c3%28"])
def test_a_query_that_is_not_utf8(mock, query):
    refused(mock.get("/v1/getAssetsByChain", query=query), "v2", "not UTF-8", status=400)


@pytest.mark.parametrize("value", ["%0d%0aX-Evil:%201", "%00", "%F0%9F%92%B8", "a%22b"])
def test_odd_characters_come_back_harmless(mock, value):
    answer = mock.get("/v1/getAssetsByChain", query=f"chain={value}")
    refused(answer, "v2", "'chain'")
    assert "x-evil" not in answer.headers
    assert answer.refusal.isascii()


@pytest.mark.parametrize("key", ["a b", "ä", "x" * 129, "a/b", ".", ".."])
def test_a_world_key_with_odd_characters(mock, key):
    plain = type(mock)(mock.port, mock.contract)
    answer = plain.get("/v1/getChain", headers={"X-Mock-World": key.encode().decode("latin-1")})
    refused(answer, "v2", "world key", status=404)
    plain.close()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n",
        b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET /v1/getChain HTTP/0.9\r\nHost: x\r\n\r\n",
        b"POST /v1/submitOrder HTTP/2.0\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=[
        *("no request", "bad header", "negative length"),
        *("older version", "later version", "TLS"),
    ],
)
def test_broken_http_gets_an_envelope_too(mock, request_bytes):
    _unreadable(mock, request_bytes, 400, b"bad-http")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 70_000,
        b"GET /v1/getChain?x=" + b"y" * 70_000 + b" HTTP/1.1\r\nHost: x",
        b"GET /v1/getChain HTTP/1.1\r\nHost: x" + b"\r\nX: y" * limits.HEAD_FIELDS.most,
        b"GET /v1/getChain HTTP/1.1\r\nHost: x" + (b"\r\nX: " + b"y" * 40_000) * 2,
    ],
    ids=["long header", "long target", "many headers", "long headers"],
)
def test_a_head_that_is_too_large_is_told_as_documented(mock, head):
    _unreadable(mock, head + b"\r\n\r\n", 431, b"head-too-large")


def test_a_head_up_to_the_bound_is_read(mock):
    # The request line and the one that ends the head count.
    fields = b"\r\nX: y" * (limits.HEAD_FIELDS.most - 4)
    with socket.create_connection(("127.0.0.1", mock.port), timeout=60) as raw:
        raw.sendall(b"GET /v1/getChain HTTP/1.1\r\nHost: x" + fields + b"\r\n\r\n")
        assert raw.recv(65_536).startswith(b"HTTP/1.1 200")


def _unreadable(mock, request_bytes, status, name):
    with socket.create_connection(("127.0.0.1", mock.port), timeout=60) as raw:
        raw.sendall(request_bytes)
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == str(status).encode(), answer[:200]
    assert json.loads(body)["code"] != 0
    assert b"X-Mock-Refusal: " + name in head
    assert b"b'" not in body, "what came is shown as text"


def test_a_number_that_lost_digits_is_told_with_the_right_one(mock):
    # As JSON.stringify writes Number(evmAddress), and as other libraries write the same float.
    exact = int(WALLET, 16)
    for rounded in (json.dumps(float(exact)), str(int(float(exact)))):
        raw = json.dumps(v1_submission(fromAddress="HERE")).replace('"HERE"', rounded).encode()
        answer = mock.post("/open/v1/order/submitCrossChain", raw, headers=mock.keys)
        assert answer.refusal.startswith("bad-address: body field 'fromAddress'")
        assert "JSON.stringify" in answer.json["msg"]
        assert f"write the digits {exact} into the JSON text" in answer.json["msg"]
    for text in (WALLET, str(exact)):
        typed = v1_submission(fromAddress=text)
        answer = mock.post("/open/v1/order/submitCrossChain", typed, headers=mock.keys)
        assert f"expected an integer, got '{text}', as an integer {exact}" in answer.json["msg"]
    short = v1_submission(fromAddress="12")
    answer = mock.post("/open/v1/order/submitCrossChain", short, headers=mock.keys)
    assert "as an integer" not in answer.json["msg"]
    another = v1_submission(fromAddress=exact + 2**150)
    answer = mock.post("/open/v1/order/submitCrossChain", another, headers=mock.keys)
    assert answer.json["msg"].endswith(f"both are the same; send the digits {exact}")
    exactly = v1_submission(fromAddress=exact)
    assert mock.post("/open/v1/order/submitCrossChain", exactly, headers=mock.keys).data["sn"]


def test_the_server_is_well_after_all_of_it(mock):
    assert mock.get("/v1/getChain").data["list"]
