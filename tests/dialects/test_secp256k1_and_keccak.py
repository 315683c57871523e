"""Keccak, the curve and signed transactions, held against the library of the field."""

import eth_utils
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver.signing import evm_transactions, rlp, wallet_signatures
from mockserver.signing.keccak import keccak256

P = 2**256 - 2**32 - 977
"""The field of secp256k1."""
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The order of its group."""
KEYS = st.integers(1, N - 1).map(lambda secret: f"0x{secret:064x}")
UNITS = st.integers(0, 2**128)
ADDRESS = "0x" + "25" * 20
WARM = [{"address": ADDRESS, "storageKeys": ["0x" + "07" * 32]}, {"address": ADDRESS}]
EDGES = (0, 1, 2, N - 1, N, N + 1, P - 1, P, 2**256 - 1)


@settings(deadline=None)
@given(st.binary(max_size=500))
def test_the_hash_is_that_of_the_field(data):
    assert keccak256(data) == eth_utils.keccak(data)


@pytest.mark.parametrize("size", [0, 1, 134, 135, 136, 137, 271, 272, 273])
def test_blocks_end_where_they_end(size):
    assert keccak256(b"x" * size) == eth_utils.keccak(b"x" * size)


@settings(deadline=None, max_examples=25)
@given(KEYS, st.text(max_size=80), st.booleans())
def test_signatures_and_addresses_are_those_of_the_field(key, text, as_bytes):
    assert wallet_signatures.address_of(key) == Account.from_key(key).address
    made = wallet_signatures.signature(text, key, as_bytes=as_bytes)
    message = _message(text, as_bytes=as_bytes)
    assert made == Account.sign_message(message, key).signature.hex().removeprefix("0x")
    assert wallet_signatures.signers(text, made)[as_bytes] == wallet_signatures.address_of(key)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**256 - 1) | st.sampled_from(EDGES),
    st.integers(0, 2**256 - 1) | st.sampled_from(EDGES),
    st.integers(0, 255) | st.sampled_from((0, 1, 26, 27, 28, 29, 34, 35, 36)),
)
def test_any_signature_is_by_whom_the_field_says(r, s, v):
    came = f"{r:064x}{s:064x}{v:02x}"
    found = (_signer("text", came, as_bytes=as_bytes) for as_bytes in (False, True))
    assert wallet_signatures.signers("text", came) == tuple(filter(None, found))


@pytest.mark.parametrize("key", ["", "0x", "11" * 31, "11" * 33, "0x" + "00" * 32, f"{N:064x}"])
def test_what_is_no_key_signs_nothing(key):
    for use in (wallet_signatures.address_of, lambda key: wallet_signatures.signature("text", key)):
        with pytest.raises(ValueError, match="a private key"):
            use(key)


@settings(deadline=None, max_examples=25)
@given(
    KEYS,
    st.fixed_dictionaries(
        {
            "nonce": st.integers(0, 2**64 - 1),
            "gas": st.integers(0, 2**64 - 1),
            "value": UNITS,
            "data": st.binary(),
        }
    ),
    st.sampled_from(
        [
            {"gasPrice": 9},
            {"gasPrice": 9, "chainId": 42161},
            {"gasPrice": 9, "chainId": 56, "type": 1, "accessList": WARM[:1]},
            {"maxFeePerGas": 9, "maxPriorityFeePerGas": 2, "chainId": 1, "type": 2},
        ]
    ),
    st.sampled_from([ADDRESS, b""]),
)
def test_transactions_of_each_type_are_read_as_they_were_signed(key, told, kind, to):
    made = Account.sign_transaction({**told, **kind, "to": to}, key)
    found = evm_transactions.decoded(bytes(made.raw_transaction))
    assert found.sender == Account.from_key(key).address.lower()
    assert found.hash == f"0x{made.hash.hex().removeprefix('0x')}"
    assert (found.nonce, found.value, found.data) == (told["nonce"], told["value"], told["data"])
    assert (found.chain_id, found.to) == (kind.get("chainId"), to or "")


@pytest.mark.parametrize("v", [0, 1, 26, 29, 34])
def test_an_old_transaction_says_its_v_as_old_ones_do(v):
    raw = rlp.encoded([b"", b"", b"", b"", b"", b"", rlp.number(v), b"\1" * 32, b"\1" * 32])
    with pytest.raises(evm_transactions.NotATransaction):
        evm_transactions.decoded(raw)


def test_a_typed_transaction_says_whether_y_is_odd():
    raw = b"\2" + rlp.encoded([*[b""] * 8, [], b"\x1b", b"\1" * 32, b"\1" * 32])
    with pytest.raises(evm_transactions.NotATransaction, match="has v 27"):
        evm_transactions.decoded(raw)


def test_an_address_has_twenty_bytes():
    raw = rlp.encoded([b"", b"", b"", b"\1" * 19, b"", b"", b"\x1b", b"\1" * 32, b"\1" * 32])
    with pytest.raises(evm_transactions.NotATransaction, match="20 bytes, not 19"):
        evm_transactions.decoded(raw)


def _message(text, *, as_bytes):
    hashed = wallet_signatures.digest(text)
    return encode_defunct(hexstr=hashed) if as_bytes else encode_defunct(text=hashed)


def _signer(text, came, *, as_bytes):
    try:
        return Account.recover_message(_message(text, as_bytes=as_bytes), signature=f"0x{came}")
    except Exception:  # noqa: BLE001 - the library raises many kinds
        return None
