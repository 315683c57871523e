"""Signed EVM transactions: who sent what where. Needs the extra `signing`."""

from mockserver.signing import curve, rlp, wallet
from mockserver.values import dataclass


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


_OLDEST_V = 27


def decoded(raw: bytes) -> SignedTransaction:
    """Return the transaction that bytes hold: a legacy one, or one of type 1 or 2.

    Raises `NotATransaction`, and `SigningUnavailable` where the libraries are missing.
    """
    kind = raw[:1] if raw[:1] in (b"\1", b"\2") else b""
    parts = _parts(raw, kind)
    body = [part if isinstance(part, bytes) else b"" for part in parts]
    # Type 1 has one price of gas, type 2 has two; what comes before is chain id and nonce.
    first = {b"\1": 4, b"\2": 5}.get(kind, 3)
    if len(body[first]) not in (0, 20):
        raise NotATransaction(f"an address has 20 bytes, not {len(body[first])}")
    v = _number(body[-3])
    if v > 1 if kind else v < _OLDEST_V:
        raise NotATransaction(f"its signature fits no key: none of its type has v {v}")
    legacy = (v - 35) // 2 if v >= 35 else None
    chain = _number(body[0]) if kind else legacy
    unsigned = parts[:-3] if kind or chain is None else [*parts[:-3], rlp.number(chain), b"", b""]
    return SignedTransaction(
        hash=f"0x{curve.keccak256(raw).hex()}",
        sender=_sender(curve.keccak256(kind + rlp.encoded(unsigned)), v, body[-2:]),
        chain_id=chain,
        nonce=_number(body[1 if kind else 0]),
        to=f"0x{body[first].hex()}" if body[first] else "",
        value=_number(body[first + 1]),
        data=body[first + 2],
    )


def _sender(digest: bytes, v: int, halves: list[bytes]) -> str:
    """Return who signed; the halves are r and s, each without the zeros that it begins with."""
    odd, raw = wallet.parity(v), b"".join(half.rjust(32, b"\0") for half in halves)
    point = None if odd is None or len(raw) != 64 else curve.recovered(digest, raw, odd)
    if point is None:
        raise NotATransaction("its signature fits no key")
    return wallet.address_at(point).lower()


def _parts(raw: bytes, kind: bytes) -> list[rlp.Item]:
    wanted = {b"\1": 11, b"\2": 12}.get(kind, 9)
    try:
        items = rlp.decoded(raw[len(kind) :])
    except rlp.NotRlp as error:
        raise NotATransaction(f"no RLP: {error}") from None
    if not isinstance(items, list) or len(items) != wanted:
        raise NotATransaction(f"expected a list of {wanted} items")
    return items


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big")
