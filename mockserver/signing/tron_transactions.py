"""Transactions of Tron: what they say, who signed them, and new ones to sign.

A signature is of the SHA-256 hash of the raw data, which is the transaction's id as well
(protocol of java-tron). Needs the extra `signing` for whoever signed.
"""

from hashlib import sha256

from mockserver.fast_dataclass import dataclass
from mockserver.signing import keccak, protobuf, secp256k1
from mockserver.signing.evm_transactions import NotATransaction
from mockserver.signing.protobuf import ProtobufValue

TRANSFER, TRIGGER = "TransferContract", "TriggerSmartContract"
"""What a transaction may do: move TRX, or call a contract."""

_KINDS = {1: TRANSFER, 31: TRIGGER}
_NUMBERS = {name: number for number, name in _KINDS.items()}
_TYPE_URL = "type.googleapis.com/protocol."
PREFIX = b"\x41"
"""The first byte of an address on the main network."""


@dataclass(frozen=True, slots=True)
class TronTransaction:
    """The raw data of a transaction: amounts in sun, times in ms since 1970, addresses of 21 bytes.

    `data` are those of a contract's call, and `memo` is what any transaction may carry.
    """

    kind: str
    owner: bytes
    to: bytes
    amount: int
    data: bytes
    memo: bytes
    ref_bytes: bytes
    ref_hash: bytes
    expiration: int
    timestamp: int
    fee_limit: int

    @property
    def raw(self) -> bytes:
        # The amount is the third field of both kinds; only calls of contracts have data.
        members: list[tuple[int, ProtobufValue]] = [
            (1, self.owner),
            (2, self.to),
            (3, self.amount),
            (4, self.data),
        ]
        parameter = protobuf.encoded([(1, self.type_url.encode()), (2, protobuf.encoded(members))])
        contract = protobuf.encoded([(1, _NUMBERS[self.kind]), (2, parameter)])
        return protobuf.encoded(
            [
                (1, self.ref_bytes),
                (4, self.ref_hash),
                (8, self.expiration),
                (10, self.memo),
                (11, contract),
                (14, self.timestamp),
                (18, self.fee_limit),
            ]
        )

    @property
    def type_url(self) -> str:
        return f"{_TYPE_URL}{self.kind}"


def decoded(raw: bytes) -> TronTransaction:
    """Return what raw data say. Raises `NotATransaction`."""
    try:
        outer = protobuf.fields(raw)
        contract = protobuf.fields(_bytes(outer, 11))
        parameter = protobuf.fields(_bytes(contract, 2))
        inner = protobuf.fields(_bytes(parameter, 2))
        number = _number(contract, 1)
        kind = _KINDS.get(number)
        if kind is None:
            raise NotATransaction(f"contracts of type {number} are not carried out here")
        if set(inner) - {1, 2, 3, 4}:
            raise NotATransaction("tokens of TRC-10 are not moved here")
        return TronTransaction(
            kind=kind,
            owner=_address(inner, 1),
            to=_address(inner, 2),
            amount=_number(inner, 3),
            data=_bytes(inner, 4),
            memo=_bytes(outer, 10),
            ref_bytes=_bytes(outer, 1),
            ref_hash=_bytes(outer, 4),
            expiration=_number(outer, 8),
            timestamp=_number(outer, 14),
            fee_limit=_number(outer, 18),
        )
    except protobuf.NotProtobuf as error:
        raise NotATransaction(str(error)) from None


def parts_of(raw: bytes) -> tuple[bytes, list[bytes]]:
    """Return the raw data and the signatures of a whole transaction. Raises `NotATransaction`."""
    try:
        members = protobuf.fields(raw)
        return _bytes(members, 1), [each for each in members.get(2, ()) if isinstance(each, bytes)]
    except protobuf.NotProtobuf as error:
        raise NotATransaction(str(error)) from None


def joined(raw_data: bytes, signatures: list[bytes]) -> bytes:
    """Return a transaction with its signatures, as `parts_of` reads it."""
    return protobuf.encoded([(1, raw_data), *((2, signature) for signature in signatures)])


def id_of(raw_data: bytes) -> str:
    return sha256(raw_data).hexdigest()


def signer_of(raw_data: bytes, signature: bytes) -> bytes | None:
    """Return the address whose key signed raw data; None where the signature fits none.

    Raises `SigningUnavailable`.
    """
    if len(signature) != 65:
        return None
    # Wallets write 27 and 28 as Ethereum's do, or 0 and 1.
    odd = signature[64] - 27 if signature[64] >= 27 else signature[64]
    if odd not in (0, 1):
        return None
    point = secp256k1.recovered(sha256(raw_data).digest(), signature[:64], odd)
    return None if point is None else PREFIX + keccak.keccak256(point)[12:]


def _bytes(members: dict[int, list[ProtobufValue]], number: int) -> bytes:
    value = members.get(number, [b""])[-1]
    if not isinstance(value, bytes):
        raise NotATransaction(f"field {number} is no text")
    return value


def _number(members: dict[int, list[ProtobufValue]], number: int) -> int:
    value = members.get(number, [0])[-1]
    if not isinstance(value, int):
        raise NotATransaction(f"field {number} is no number")
    return value


def _address(members: dict[int, list[ProtobufValue]], number: int) -> bytes:
    raw = _bytes(members, number)
    if len(raw) != 21 or raw[:1] != PREFIX:
        raise NotATransaction("an address has 21 bytes and begins with 41")
    return raw
