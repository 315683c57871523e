"""`raw` decodes with real libraries, and its signature verifies with the key the mock publishes."""

from base64 import b64decode
from decimal import Decimal

import pytest
import rlp
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key
from eth_account import Account
from eth_utils import to_checksum_address

from mockserver.signing import rlp as own_rlp
from mockserver.signing.evm_transactions import NotATransaction, decoded
from mockserver.signing.v1_deposit_transactions import LegacyTransaction, signed_raw
from tests.conftest import HASH, WALLET
from tests.dialects.conftest import WALLET_KEY, v1_order

PATH = "/open/v1/order/getTransferToMinterRaw"
MINTER = "0x456325f2ac7067234dd71e01bebe032b0255e039"
NATIVE_COIN = {"token": "BNB", "amount": "0.25"}
USDT_BSC = "0x55d398326f99059ff775485246999027b3197955"


def _raw(client, **changes):
    body = {
        "amount": "10",
        "chain": "BSC",
        "evmAddress": WALLET,
        "fromAddress": WALLET,
        "token": "USDT",
        **changes,
    }
    return client.post(PATH, body, headers=client.keys).data["raw"]


def _fields(raw):
    """Return nonce, gas price, gas limit, to, value and data as the field's parsers read them."""
    items = rlp.decode(bytes.fromhex(raw.split("_")[0]))
    assert len(items) == 9
    assert items[6:] == [b"", b"", b""]
    numbers = [int.from_bytes(items[place], "big") for place in (0, 1, 2, 4)]
    return (*numbers[:3], f"0x{items[3].hex()}", numbers[3], items[5])


def _public_key(client):
    shown = client.control("GET", "/keys")["raw"]
    key = load_der_public_key(b64decode(shown["spki"]))
    assert isinstance(key, rsa.RSAPublicKey)
    assert load_pem_public_key(shown["pem"].encode()) == key
    numbers = key.public_numbers()
    assert (f"{numbers.n:x}", numbers.e) == (shown["modulus"], shown["exponent"])
    return key


def test_a_token_is_sent_by_a_transfer_call(observed):
    nonce, price, limit, to, value, data = _fields(_raw(observed))
    assert (nonce, limit, to, value) == (0, 90_000, USDT_BSC, 0)
    assert price > 0
    # BSC's USDT has 18 decimals.
    assert data.hex() == f"a9059cbb{MINTER[2:]:0>64}{10 * 10**18:064x}"


def test_decimals_are_those_of_the_chain(observed):
    *_, data = _fields(_raw(observed, chain="MATIC"))
    assert int.from_bytes(data[-32:], "big") == 10 * 10**6


def test_the_native_coin_is_sent_by_value(observed):
    _, _, limit, to, value, data = _fields(_raw(observed, **NATIVE_COIN))
    assert (limit, to, value, data) == (21_000, MINTER, 25 * 10**16, b"")


def test_the_nonce_counts_the_deposits_of_the_sender(observed):
    sent = v1_order(fromChain="BSC", toChain="MATIC")
    observed.post("/open/v1/order/submitCrossChain", sent, headers=observed.keys)
    assert _fields(_raw(observed))[0] == 1
    other = "0x" + "12" * 20
    assert _fields(_raw(observed, evmAddress=other, fromAddress=other))[0] == 0


def test_gas_costs_what_the_world_says(observed):
    costs = {row["chain"]: row["token"] for row in observed.get("/v1/getChainGasUsd").data}
    query = {"chain": "BNB", "contractAddress": "0x" + "e" * 40, "symbol": "BNB"}
    coin = observed.get("/v1/getPrice", query=query).data["price"]
    _, price, limit, *_ = _fields(_raw(observed))
    usd = price * limit * Decimal(coin) / 10**18
    assert costs["BNB"] - Decimal("1e-9") < usd <= costs["BNB"]


def test_a_coin_of_little_worth_does_not_make_gas_absurd(observed):
    _, price, *_ = _fields(_raw(observed, chain="MATIC"))
    assert price == 500 * 10**9


def test_the_signature_is_by_the_key_that_is_published(observed):
    text, signature = _raw(observed).split("_")
    assert len(signature) == 256
    key = _public_key(observed)
    key.verify(bytes.fromhex(signature), text.encode("ascii"), padding.PKCS1v15(), SHA256())
    for other in (text.upper().encode(), bytes.fromhex(text)):
        with pytest.raises(InvalidSignature):
            key.verify(bytes.fromhex(signature), other, padding.PKCS1v15(), SHA256())


def test_the_sample_of_the_facts_sheet():
    data = bytes.fromhex(f"a9059cbb{MINTER[2:]:0>64}{10 * 10**18:064x}")
    sample = LegacyTransaction(7, 5_000_000_000, 90_000, USDT_BSC, 0, data)
    assert signed_raw(sample).split("_")[0] == (
        "f86a0785012a05f20083015f909455d398326f99059ff775485246999027b319795580b844a9059cbb"
        "000000000000000000000000456325f2ac7067234dd71e01bebe032b0255e039"
        "0000000000000000000000000000000000000000000000008ac7230489e80000808080"
    )


def test_a_wallet_signs_it_and_the_chain_reads_it(observed):
    nonce, price, limit, to, value, data = _fields(_raw(observed))
    signed = Account.sign_transaction(
        {
            "nonce": nonce,
            "gasPrice": price,
            "gas": limit,
            "to": to_checksum_address(to),
            "value": value,
            "data": data,
            "chainId": 56,
        },
        WALLET_KEY,
    )
    seen = observed.control(
        "POST", "/transactions", {"chain": "BNB", "raw": signed.raw_transaction.hex()}
    )
    assert (seen["hash"], seen["from"]) == ("0x" + signed.hash.hex(), WALLET.lower())
    assert (seen["to"], seen["order"], seen["reverted"]) == (to, None, False)
    assert "no order" in seen["reason"]


@pytest.mark.parametrize("kind", [1, 2])
def test_newer_kinds_of_transactions_are_read(kind):
    fees = {"gasPrice": 5} if kind == 1 else {"maxFeePerGas": 5, "maxPriorityFeePerGas": 1}
    wanted = {
        "type": kind,
        "chainId": 56,
        "nonce": 3,
        "gas": 21_000,
        "to": to_checksum_address(MINTER),
        "value": 12,
        "data": b"\x01\x02",
        "accessList": [],
        **fees,
    }
    signed = Account.sign_transaction(wanted, WALLET_KEY)
    found = decoded(bytes(signed.raw_transaction))
    assert (found.sender, found.hash) == (WALLET.lower(), "0x" + signed.hash.hex())
    assert (found.chain_id, found.nonce, found.to, found.value) == (56, 3, MINTER, 12)
    assert found.data == b"\x01\x02"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "ends too early"),
        (b"\x80", "list of 9"),
        (b"\xc1\x80", "list of 9"),
        (b"\xc9" + b"\x80" * 9, "has v 0"),
        (b"\xf8\x09" + b"\x80" * 9, "not the shortest"),
        (b"\xca" + b"\x80" * 9, "ends too early"),
        (b"\xc9" + b"\x80" * 10, "too many"),
        (b"\x02\xc0", "list of 12"),
    ],
)
def test_what_is_no_transaction_is_told(raw, says):
    with pytest.raises(NotATransaction, match=says):
        decoded(raw)


@pytest.mark.parametrize("item", [b"", b"\x00", b"\x7f", b"\x80", b"a" * 55, b"a" * 56, b"a" * 300])
def test_both_encoders_agree(item):
    assert own_rlp.encoded(item) == rlp.encode(item)
    assert own_rlp.encoded([item, b"x"]) == rlp.encode([item, b"x"])
    assert own_rlp.decoded(rlp.encode([[item], item])) == [[item], item]


def test_keys_are_registered_and_forgotten(observed):
    body = b'{"amount":"10","fromChain":"MATIC","toChain":"BSC","token":"USDT","feeLevel":0}'
    quote = "/open/v1/order/getCrossChainQuote"
    assert observed.post(quote, body, headers=observed.keys).json["code"] == 200
    pair = {"appKey": "demo-app-key", "appSecret": "a-secret-of-its-own"}
    shown = observed.control("POST", "/keys", pair)
    assert (shown["developers"], shown["verifySignatures"]) == (["demo-app-key"], True)
    assert "a-secret-of-its-own" not in str(shown)
    assert observed.post(quote, body, headers=observed.keys).refusal.startswith("bad-signature")
    shown = observed.control("POST", "/keys", {"verifyWallets": True})
    assert (shown["verifyWallets"], shown["developers"]) == (True, ["demo-app-key"])
    headers = {"EvmAddress": WALLET, "Signature": "ab" * 65}
    ticket = observed.post("/v1/submitTicket", {"chain": "ARB", "hash": HASH}, headers=headers)
    assert ticket.refusal.startswith("bad-signature")
    assert observed.control("DELETE", "/keys")["developers"] == []
    assert observed.post(quote, body, headers=observed.keys).json["code"] == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"appKey": "x"},
        {"appSecret": "the-secret"},
        {"appKey": "x", "appSecret": ""},
        {"appKey": 5, "appSecret": "the-secret"},
        {"verifyWallets": "yes"},
        {"secret": "the-secret"},
    ],
)
def test_a_registration_that_cannot_be_is_a_sentence_without_the_secret(observed, body):
    answer = observed.call("POST", "/__mock/keys", body=body)
    assert answer.status == 400
    assert answer.json["error"]
    assert "the-secret" not in answer.json["error"]
    assert observed.control("GET", "/keys")["verifySignatures"] is False
