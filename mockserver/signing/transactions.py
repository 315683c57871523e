"""Signed EVM transactions: who sent what where. Needs the library of the extra `signing`."""

from dataclasses import dataclass
from typing import Any

from mockserver.signing import rlp, wallet


class NotATransaction(ValueError):
    """Bytes that are no signed transaction; the text says why."""


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A signed transaction: `value` in smallest units of the base coin, addresses in lower case.

    `chain_id` is None where an old one names no chain; `to` is empty where a contract is made.
    """

    hash: str
    sender: str
    chain_id: int | None
    nonce: int
    to: str
    value: int
    data: bytes


def decoded(raw: bytes) -> SignedTransaction:
    """Return the transaction that bytes hold: a legacy one, or one of type 1 or 2.

    Raises `NotATransaction`, and `SigningUnavailable` where the library is missing.
    """
    account, utils = wallet.libraries()
    parts = _parts(raw)
    typed = raw[0] in (1, 2)
    # Type 1 has one price of gas, type 2 has two; what comes before is chain id and nonce.
    first = {1: 4, 2: 5}[raw[0]] if typed else 3
    try:
        sender = str(account.Account.recover_transaction(raw))
    except Exception as error:  # noqa: BLE001 (the library raises many kinds for broken input)
        raise NotATransaction(f"its signature fits no key: {error}") from None
    return SignedTransaction(
        hash=f"0x{utils.keccak(raw).hex()}",
        sender=sender.lower(),
        chain_id=_number(parts[0]) if typed else _legacy_chain(_number(parts[6])),
        nonce=_number(parts[1 if typed else 0]),
        to=f"0x{parts[first].hex()}" if parts[first] else "",
        value=_number(parts[first + 1]),
        data=parts[first + 2],
    )


def _parts(raw: bytes) -> list[bytes]:
    body, wanted = (raw[1:], {1: 11, 2: 12}[raw[0]]) if raw[:1] in (b"\1", b"\2") else (raw, 9)
    try:
        items: Any = rlp.decoded(body)
    except rlp.NotRlp as error:
        raise NotATransaction(f"no RLP: {error}") from None
    if not isinstance(items, list) or len(items) != wanted:
        raise NotATransaction(f"expected a list of {wanted} items")
    # The list of addresses to warm up is of no interest here.
    return [item if isinstance(item, bytes) else b"" for item in items]


def _legacy_chain(v: int) -> int | None:
    return (v - 35) // 2 if v >= 35 else None


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
