"""What real clients put into an order: `sourceCerts`, `extra`, `toIndex`, headers of any chain."""

import json

import pytest

from tests.conftest import DEPOSIT, HASH, WALLET, certificate
from tests.dialects.conftest import field_order, v1_order

EXTRA = "1_{expected};2_{fee};3_2;4_{minimum};5_BNB"


def _quote(client, **more):
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB", **more}
    return client.get("/v1/getBridgeQuote", query=query).data


def _finished(client, sent):
    order_id = client.post("/v1/submitOrder", sent, headers=client.wallet).data["id"]
    client.control("POST", "/clock", {"advance": "10m"})
    return client.get("/v1/checkOrder", query={"id": order_id}).data


CODES = {
    "amount-too-low": 31071,
    "unknown-chain": 31005,
    "unknown-token": 31006,
    "token-not-on-chain": 31006,
}
"""What a wallet tells apart (E-38); everything else is 3."""


def _refused(client, sent, name):
    answer = client.post("/v1/submitOrder", sent, headers=client.wallet)
    assert answer.json["code"] == CODES.get(name, 3), answer.json
    assert "data" not in answer.json
    assert answer.refusal.startswith(f"{name}: "), answer.refusal
    lookup = client.get("/v1/getOrderIdByHash", query={"chain": "ARB", "hash": HASH})
    assert lookup.refusal.startswith("unknown-order")
    return answer.refusal


def test_an_order_pays_what_the_quote_promised(observed):
    quote = _quote(observed, channelFeeRate="30")
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    sent = field_order(extra=EXTRA.format(expected=net, fee=30, minimum=net))
    done = _finished(observed, sent)
    assert (done["status"], done["amountOut"]) == ("Succeeded", str(net))


def test_no_more_than_the_expected_amount_is_paid(observed):
    sent = field_order(extra="1_9000000000000000000;3_2;4_8000000000000000000;5_BNB")
    done = _finished(observed, sent)
    assert (done["status"], done["amountOut"]) == ("Succeeded", "9000000000000000000")


def test_less_than_the_minimum_is_refunded(observed):
    quote = _quote(observed)
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    sent = field_order(extra=f"1_{net + 1};3_2;4_{net + 1};5_BNB")
    assert _finished(observed, sent)["status"] == "Refunded"


def test_the_third_partys_fee_is_taken(observed):
    without = _finished(observed, field_order(extra="1_9700000000000000000;3_2"))
    with_fee = field_order(extra="1_9700000000000000000;2_50;3_2", certHash="0x" + "77" * 32)
    paid = int(_finished(observed, with_fee)["amountOut"])
    assert int(without["amountOut"]) - paid == 10 * 10**18 * 50 // 10_000


@pytest.mark.parametrize(
    "extra",
    [
        "",
        "1_9694000000000000000",
        "1_9694000000000000000;2_30",
        "1_9694000000000000000;3_2;4_9694000000000000000;5_ARB",
        "1_9694000000000000000;2_0;3_1",
    ],
)
def test_the_forms_of_extra_that_clients_send_are_taken(observed, extra):
    answer = observed.post("/v1/submitOrder", field_order(extra=extra), headers=observed.wallet)
    assert answer.data["id"]


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("1_3432345:3_2", "'3432345:3_2', expected smallest units"),
        ("nonsense", "'nonsense' is no rule"),
        ("1_1;1_2", "rule 1 is given twice"),
        ("1_", "is no rule"),
        ("6_1", "is no rule"),
        ("1_1;;3_2", "'' is no rule"),
        ("1_12.5", "smallest units"),
        ("1_0", "above 0"),
        ("1_-5", "smallest units"),
        ("1_5;4_6", "more than the expected"),
        ("2_x", "bps as digits"),
        ("3_7", "expected 1 or 2"),
    ],
)
def test_an_extra_that_does_not_parse_is_refused(observed, extra, says):
    assert says in _refused(observed, field_order(extra=extra), "bad-extra")


def test_rules_that_nobody_can_keep_are_refused(observed):
    _refused(observed, field_order(extra="1_1;2_51"), "fee-out-of-range")
    _refused(observed, field_order(extra="1_1;5_MOON"), "unknown-chain")


@pytest.mark.parametrize("key", list(DEPOSIT))
def test_order_information_that_lacks_a_key_is_refused(observed, key):
    said = _refused(observed, field_order(sourceCerts=certificate(without=key)), "bad-source-certs")
    assert repr(key) in said
    assert "body field 'sourceCerts'" in said


@pytest.mark.parametrize(
    ("told", "says"),
    [
        (b"not json".hex(), "no JSON"),
        (b"[1]".hex(), "no object"),
        ("ff", "not UTF-8"),
        (certificate(fromAmount="ten"), "'fromAmount'"),
        (certificate(fromAmount="-1"), "'fromAmount'"),
        (certificate(fromIndex=True), "'fromIndex'"),
        (certificate(fromChain=5), "'fromChain'"),
        (certificate(fromPublicKey="ab" * 31), "'fromPublicKey'"),
        (certificate(fromPublicKey="ab" * 34), "'fromPublicKey'"),
        (certificate(fromPublicKey=None), "'fromPublicKey'"),
    ],
)
def test_order_information_of_another_form_is_refused(observed, told, says):
    assert says in _refused(observed, field_order(sourceCerts=told), "bad-source-certs")


@pytest.mark.parametrize("told", ["zz", "abc", ""])
def test_order_information_that_is_no_hex_breaks_the_contract(observed, told):
    said = _refused(observed, field_order(sourceCerts=told), "contract-violation")
    assert "body field 'sourceCerts'" in said


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"fromAmount": "0"}, "amount-not-positive"),
        ({"fromAmount": "1"}, "amount-too-low"),
        ({"fromIndex": "999"}, "unknown-token"),
        ({"fromChain": "MOON"}, "unknown-chain"),
        ({"fromChain": "MATIC"}, "unknown-chain"),
        ({"fromAddr": "somebody"}, "bad-address"),
        ({"toIndex": "999"}, "unknown-token"),
        ({"toIndex": "75"}, "token-not-on-chain"),
        ({"toChain": "MOON"}, "unknown-chain"),
        ({"toAddr": "nowhere"}, "bad-address"),
    ],
)
def test_what_an_order_names_has_to_exist(observed, changes, name):
    _refused(observed, field_order(**{"extra": "", **changes}), name)


def test_a_hash_is_used_once(observed):
    first = observed.post("/v1/submitOrder", field_order(), headers=observed.wallet).data["id"]
    for again in (field_order(), field_order(fromAmount="20000000", extra="")):
        answer = observed.post("/v1/submitOrder", again, headers=observed.wallet)
        assert answer.refusal.startswith("hash-already-used: ")
        assert first in answer.refusal
    lookup = observed.get("/v1/getOrderIdByHash", query={"chain": "ARB", "hash": HASH})
    assert lookup.data["id"] == first


def test_a_hash_is_used_once_in_v1_too(observed):
    path = "/open/v1/order/submitCrossChain"
    assert observed.post(path, v1_order(), headers=observed.keys).data["status"] == 1
    answer = observed.post(path, v1_order(), headers=observed.keys)
    assert answer.json["code"] == 31010
    assert answer.refusal.startswith("hash-already-used: body field 'certHash'")
    swap = v1_order(toToken="ETH", toChain="ETH")
    answer = observed.post("/open/v1/order/submitAggregate", swap, headers=observed.keys)
    assert answer.refusal.startswith("hash-already-used: ")


def test_the_order_of_the_signature_vector_is_taken(serve):
    client = serve(dialect="observed", scenario="published-examples").client
    sent = field_order(
        fromChain="FSN",
        extra="1_9690000000000000000;2_30;3_2;4_9690000000000000000;5_BNB",
    )
    assert client.post("/v1/submitOrder", sent, headers=client.wallet).data["id"] == "30000000002"


def test_an_order_from_a_chain_without_contracts(observed):
    sent = field_order(
        orderType="2",
        slippage="100",
        extra="1_900000000000000000;3_2;4_1;5_BNB",
        sourceCerts=certificate(
            fromAmount="1000000000000",
            fromIndex="18",
            fromChain="KAS",
            fromAddr="kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm",
            certHash="ab" * 32,
            fromPublicKey="02" + "ab" * 32,
        ),
    )
    headers = {
        "Address": "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm",
        "PublicKey": "02" + "ab" * 32,
        "Chain": "KAS",
        "Signature": "ab" * 64,
    }
    order_id = observed.post("/v1/submitOrder", sent, headers=headers).data["id"]
    observed.control("POST", "/clock", {"advance": "10m"})
    done = observed.get("/v1/checkOrder", query={"id": order_id}).data
    assert (done["status"], done["amountOut"]) == ("Succeeded", "900000000000000000")
    for name in ("Address", "PublicKey", "Chain"):
        fewer = {key: value for key, value in headers.items() if key != name}
        answer = observed.post("/v1/submitOrder", sent, headers=fewer)
        assert answer.json["code"] == 3
        assert "Evmaddress, or Address, PublicKey and Chain" in answer.refusal


def test_in_the_documented_dialect_other_forms_are_taken(mock):
    for number, (opaque, extra) in enumerate([("c0ffee", ""), (certificate(), "whatever")]):
        sent = field_order(sourceCerts=opaque, extra=extra, channel=f"c{number}")
        assert mock.post("/v1/submitOrder", sent, headers=mock.wallet).data["id"]
    told = json.loads(bytes.fromhex(certificate()))
    assert told["fromAddr"] == WALLET
