"""A world that has registered keys judges signatures; what it refuses, it explains."""

import json

import pytest

from mockserver.signing import developer_signatures, kaspa_messages, wallet_signatures
from tests.conftest import HASH, START_MS, WALLET, certificate
from tests.dialects.conftest import (
    APP_KEY,
    APP_SECRET,
    KAS_KEY,
    OTHER_KEY,
    field_order,
    signed_v1,
    signed_v2,
    v1_order,
)

QUOTE = "/open/v1/order/getCrossChainQuote"
SUBMIT = "/open/v1/order/submitCrossChain"
QUOTE_BODY = b'{"amount":"10","fromChain":"MATIC","toChain":"BSC","token":"USDT","feeLevel":0}'
TICKET = {"chain": "ARB", "hash": HASH}


def test_a_good_v1_signature_is_let_in(verifying):
    assert verifying.post(QUOTE, QUOTE_BODY, headers=signed_v1(QUOTE_BODY)).json["code"] == 200


@pytest.mark.parametrize("number", ["10", "10.0", "1e1", "10.50"])
def test_the_forms_of_numbers_are_those_of_the_raw_text(verifying, number):
    body = QUOTE_BODY.replace(b'"10"', number.encode())
    assert verifying.post(QUOTE, body, headers=signed_v1(body)).json["code"] == 200


def test_blanks_and_the_order_of_members_do_not_count(verifying):
    spaced = json.dumps(dict(reversed(json.loads(QUOTE_BODY).items())), indent=2).encode()
    assert verifying.post(QUOTE, spaced, headers=signed_v1(QUOTE_BODY)).json["code"] == 200


def test_a_wrong_v1_signature_shows_what_should_have_been_signed(verifying):
    answer = verifying.post(QUOTE, QUOTE_BODY, headers=signed_v1(QUOTE_BODY, secret=APP_SECRET[1:]))
    assert answer.json == {
        "code": 31010,
        "data": {},
        "msg": "Validation failed!",
        "status": 1,
    }
    assert answer.refusal.startswith("bad-signature: header 'signature'")
    text = developer_signatures.signed_text(
        QUOTE_BODY, developer_signatures.DeveloperHeaders(APP_KEY, "15000", str(START_MS))
    )
    assert text in answer.refusal
    assert APP_SECRET not in answer.refusal + answer.raw.decode()


@pytest.mark.parametrize(
    "changed",
    [
        {"amount": "11"},
        {"amount": 10},
        {"token": "USDC"},
        {"feeLevel": 1},
    ],
)
def test_a_signature_is_of_one_body(verifying, changed):
    body = {**json.loads(QUOTE_BODY), **changed}
    answer = verifying.post(QUOTE, body, headers=signed_v1(QUOTE_BODY))
    same_text = changed == {"amount": 10}
    # The text "10" and the number 10 are signed alike.
    assert answer.refusal.startswith("" if same_text else "bad-signature")
    assert (answer.json["code"] == 200) is same_text


def test_a_get_signs_its_headers_only(verifying):
    sent = v1_order()
    sn = verifying.post(SUBMIT, sent, headers=signed_v1(_raw(sent))).data["sn"]
    path = "/open/v1/order/getOrderDetail"
    found = verifying.get(path, query={"sn": sn}, headers=signed_v1())
    assert found.data["order"]["sn"] == sn
    signed_query = signed_v1(b'{"sn": "%s"}' % sn.encode())
    assert verifying.get(path, query={"sn": sn}, headers=signed_query).refusal.startswith(
        "bad-signature"
    )


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"app_key": "nobody"}, "unknown-app-key"),
        ({"timestamp": START_MS - 15_001}, "expired"),
        ({"timestamp": START_MS + 15_001}, "timestamp-ahead"),
        ({"expire_time": 999}, "other-dialect"),
        ({"expire_time": 20_001}, "other-dialect"),
    ],
)
def test_who_and_when_are_judged_before_the_signature(verifying, changes, name):
    answer = verifying.post(QUOTE, QUOTE_BODY, headers=signed_v1(QUOTE_BODY, **changes))
    assert answer.json["code"] == 31010
    assert answer.refusal.startswith(f"{name}: ")


@pytest.mark.parametrize("expire_time", [1000, 20_000])
def test_the_bounds_of_expire_time_are_good(verifying, expire_time):
    headers = signed_v1(QUOTE_BODY, expire_time=expire_time)
    assert verifying.post(QUOTE, QUOTE_BODY, headers=headers).json["code"] == 200


def test_a_refused_submission_makes_no_order(verifying):
    answer = verifying.post(SUBMIT, v1_order(), headers=signed_v1(b"{}"))
    assert answer.json["code"] == 31010
    lookup = verifying.get(
        "/open/v1/order/getOrderDetailByHashAndEvmAddress",
        query={"chain": "MATIC", "hash": HASH, "evmAddress": WALLET},
        headers=signed_v1(),
    )
    assert lookup.refusal.startswith("unknown-order")


def test_the_hosted_signer_signs_what_the_server_then_takes(verifying):
    sent = {"expireTime": "15000", "timestamp": str(START_MS)}
    signed = verifying.call("POST", "/sign/getSign", headers=sent, body=QUOTE_BODY).json
    assert signed["appKey"] == APP_KEY
    headers = {**sent, "appKey": signed["appKey"], "signature": signed["sign"]}
    assert verifying.post(QUOTE, QUOTE_BODY, headers=headers).json["code"] == 200


def test_without_keys_the_hosted_signer_has_a_pair_of_its_own(observed):
    headers = {"expireTime": "15000", "timestamp": str(START_MS)}
    signed = observed.call("POST", "/sign/getSign", headers=headers, body=b"{}").json
    assert signed["appKey"] == "demo-app-key"
    text = f"appKey=demo-app-keyexpireTime=15000timestamp={START_MS}"
    assert signed["sign"] == developer_signatures.signature(text, "demo-app-secret")


def test_the_hosted_signer_signs_objects_only(observed):
    headers = {"expireTime": "15000", "timestamp": str(START_MS)}
    refused = observed.call("POST", "/sign/getSign", headers=headers, body=b"[1]")
    assert refused.refusal.startswith("contract-violation")


@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_good_wallet_signature_is_let_in(verifying, as_bytes):
    sent = field_order()
    headers = signed_v2(sent, as_bytes=as_bytes)
    assert verifying.post("/v1/submitOrder", sent, headers=headers).data["id"]


def test_a_wallet_signature_by_another_key_shows_what_should_have_been_signed(verifying):
    sent = field_order()
    answer = verifying.post("/v1/submitOrder", sent, headers=signed_v2(sent, key=OTHER_KEY))
    assert answer.json == {"code": 3, "msg": "signature error"}
    assert answer.refusal.startswith("bad-signature: header 'Signature': ")
    text = wallet_signatures.signed_text(_raw(sent), WALLET)
    assert text in answer.refusal
    assert wallet_signatures.digest(text) in answer.refusal
    lookup = verifying.get("/v1/getOrderIdByHash", query={"chain": "ARB", "hash": HASH})
    assert lookup.refusal.startswith("unknown-order")


@pytest.mark.parametrize(
    ("signature", "says"),
    [("ab" * 64, "130 hex digits"), ("nonsense", "130 hex digits"), ("00" * 65, "fits no key")],
)
def test_what_is_no_signature_is_told_apart(verifying, signature, says):
    headers = {"EvmAddress": WALLET, "Signature": signature}
    answer = verifying.post("/v1/submitOrder", field_order(), headers=headers)
    assert answer.refusal.startswith("bad-signature")
    assert says in answer.refusal


def test_a_wallet_signature_is_of_one_body(verifying):
    headers = signed_v2(field_order())
    answer = verifying.post("/v1/submitOrder", field_order(channel="other"), headers=headers)
    assert answer.refusal.startswith("bad-signature")


@pytest.mark.parametrize("renamed", [{}, {"chain": "chan"}])
def test_a_ticket_is_signed_with_either_key(verifying, renamed):
    text = wallet_signatures.signed_text(_raw(TICKET), WALLET, renamed=renamed)
    headers = {
        "Evmaddress": WALLET,
        "Signature": wallet_signatures.signature(text, "0x" + "11" * 32),
    }
    assert verifying.post("/v1/submitTicket", TICKET, headers=headers).data["ticketId"] == 1


def test_an_order_from_kaspa_is_signed_by_its_wallet(verifying):
    sent, headers = _kaspa_order(verifying)
    assert verifying.post("/v1/submitOrder", sent, headers=headers).data["id"]


def test_an_order_from_kaspa_may_be_signed_in_short(verifying):
    sent, headers = _kaspa_order(verifying)
    deposit = json.loads(bytes.fromhex(sent["sourceCerts"]))
    names = ("certHash", "fromChain", "fromIndex", "fromAmount")
    short = [*(deposit[name] for name in names), sent["toChain"], sent["toIndex"]]
    message = "_".join([*short, "900000000000000000", sent["toAddr"]])
    headers["Signature"] = kaspa_messages.signature(message, KAS_KEY)[0]
    assert verifying.post("/v1/submitOrder", sent, headers=headers).data["id"]


@pytest.mark.parametrize(
    ("header", "value", "name"),
    [
        ("Signature", "ab" * 64, "bad-signature"),
        ("Address", "kaspa:" + "q" * 61, "bad-signature"),
        ("PublicKey", "ab" * 32, "bad-signature"),
        ("PublicKey", "ab" * 31, "bad-header"),
        ("PublicKey", "ab" * 64, "bad-header"),
        ("PublicKey", "05" + "ab" * 32, "bad-header"),
        ("Chain", "KASP", "unknown-chain"),
    ],
)
def test_another_key_of_kaspa_is_refused(verifying, header, value, name):
    sent, headers = _kaspa_order(verifying)
    answer = verifying.post("/v1/submitOrder", sent, headers={**headers, header: value})
    assert answer.json["code"] == (31005 if name == "unknown-chain" else 3)
    assert answer.refusal.startswith(f"{name}: ")


def test_presence_is_enough_where_no_key_is_registered(observed):
    assert observed.post(QUOTE, QUOTE_BODY, headers=observed.keys).json["code"] == 200
    sent = field_order()
    assert observed.post("/v1/submitOrder", sent, headers=observed.wallet).data["id"]


def _raw(body):
    return json.dumps(body).encode()


def _kaspa_order(client):
    """Return an order of 100 KAS for BNB's own coin, signed by the wallet that made the deposit."""
    _, public_key = kaspa_messages.signature("", KAS_KEY)
    address = _kaspa_address(bytes.fromhex(public_key))
    sent = field_order(
        orderType="2",
        slippage="100",
        extra="1_900000000000000000;3_2;4_1;5_BNB",
        sourceCerts=certificate(
            fromAmount="1000000000000",
            fromIndex="18",
            fromChain="KAS",
            fromAddr=address,
            certHash="ab" * 32,
            fromPublicKey=public_key,
        ),
    )
    text = wallet_signatures.signed_text(_raw(sent), address, prefix=wallet_signatures.OTHER_PREFIX)
    made, _ = kaspa_messages.signature(wallet_signatures.digest(text), KAS_KEY)
    return sent, {"Address": address, "PublicKey": public_key, "Chain": "KAS", "Signature": made}


def _kaspa_address(key):
    """Return the address of a key; its check digits are not looked at."""
    alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    bits = "".join(f"{byte:08b}" for byte in b"\0" + key) + "0"
    groups = (bits[start : start + 5] for start in range(0, len(bits), 5))
    return "kaspa:" + "".join(alphabet[int(group, 2)] for group in groups) + "q" * 8
