"""Signed EVM transactions: who sent what where. Needs the extra `signing`."""

from mockserver.fast_dataclass import dataclass
from mockserver.signing import keccak, rlp, secp256k1, wallet_signatures


class NotATransaction(ValueError):
    """Bytes that are no signed transaction; the text says why."""


class BadSignature(NotATransaction):
    """A transaction whose signature is of nobody, or could be of anybody who has seen it."""


@dataclass(frozen=True, slots=True)
class TransactionFields:
    """What a signed transaction says: `value` and prices in smallest units of the base coin.

    `kind` is 0 for a legacy one, whose price of gas is `max_fee` and `tip` alike. `chain_id` is
    None where an old one names no chain; `to` is empty where a contract is made. Addresses are in
    lower case.
    """

    kind: int
    chain_id: int | None
    nonce: int
    tip: int
    max_fee: int
    gas: int
    to: str
    value: int
    data: bytes
    access_list: tuple[tuple[str, tuple[str, ...]], ...]
    v: int
    r: int
    s: int


@dataclass(frozen=True, slots=True)
class SignedTransaction(TransactionFields):
    """A signed transaction with its hash and who signed it."""

    hash: str
    sender: str


_OLDEST_V = 27
_BAD_VALUES = "invalid transaction v, r, s values"


def fields_of(raw: bytes) -> TransactionFields:
    """Return what bytes say without finding out who signed. Raises `NotATransaction`."""
    kind = raw[0] if raw[:1] in (b"\1", b"\2") else 0
    return _fields(kind, _parts(raw, kind))


def _fields(kind: int, parts: list[rlp.Item]) -> TransactionFields:
    body = [part if isinstance(part, bytes) else b"" for part in parts]
    # Type 1 has one price of gas, type 2 has two; what comes before is chain id and nonce.
    first = {1: 4, 2: 5}.get(kind, 3)
    if len(body[first]) not in (0, 20):
        raise NotATransaction(f"an address has 20 bytes, not {len(body[first])}")
    v = _number(body[-3])
    # Typed ones give the parity itself, legacy ones add 27, or 35 and twice the chain id (EIP-155).
    if v > 1 if kind else v < _OLDEST_V:
        raise BadSignature(f"{_BAD_VALUES}: none of its type has v {v}")
    tip, max_fee = map(_number, body[2:4] if kind == 2 else [body[2 if kind else 1]] * 2)
    return TransactionFields(
        kind=kind,
        chain_id=_number(body[0]) if kind else (v - 35) // 2 if v >= 35 else None,
        nonce=_number(body[1 if kind else 0], 8),
        tip=tip,
        max_fee=max_fee,
        gas=_number(body[first - 1], 8),
        to=f"0x{body[first].hex()}" if body[first] else "",
        value=_number(body[first + 1]),
        data=body[first + 2],
        access_list=_access_list(parts[first + 3]) if kind else (),
        v=v,
        r=_number(body[-2]),
        s=_number(body[-1]),
    )


def _access_list(part: rlp.Item) -> tuple[tuple[str, tuple[str, ...]], ...]:
    listed = []
    for entry in part if isinstance(part, list) else [part]:
        match entry:
            case [bytes(address), list(keys)] if len(address) == 20:
                texts = [f"0x{key.hex()}" for key in keys if isinstance(key, bytes)]
            case _:
                texts = [""]
        if any(len(text) != 66 for text in texts):
            raise NotATransaction("its access list is none of addresses and their keys")
        listed.append((f"0x{address.hex()}", tuple(texts)))
    return tuple(listed)


def decoded(raw: bytes) -> SignedTransaction:
    """Return the transaction that bytes hold: a legacy one, or one of type 1 or 2.

    Raises `NotATransaction`, and `SigningUnavailable` where the libraries are missing.
    """
    kind = raw[0] if raw[:1] in (b"\1", b"\2") else 0
    parts = _parts(raw, kind)
    fields = _fields(kind, parts)
    chain = fields.chain_id
    # With EIP-155 a legacy one is signed with the chain id in place of its signature.
    unsigned = parts[:-3] if kind or chain is None else [*parts[:-3], rlp.number(chain), b"", b""]
    halves = [part if isinstance(part, bytes) else b"" for part in parts[-2:]]
    digest = keccak.keccak256((bytes([kind]) if kind else b"") + rlp.encoded(unsigned))
    return SignedTransaction(
        **{name: getattr(fields, name) for name in _FIELDS},
        hash=f"0x{keccak.keccak256(raw).hex()}",
        sender=_sender(digest, fields.v, halves),
    )


_FIELDS = tuple(TransactionFields.__dataclass_fields__)


def _sender(digest: bytes, v: int, halves: list[bytes]) -> str:
    """Return who signed; the halves are r and s, each without the zeros that it begins with."""
    # RLP drops leading zeros, which a signature of fixed width needs.
    odd, raw = wallet_signatures.parity(v), b"".join(half.rjust(32, b"\0") for half in halves)
    if odd is None or not all(map(any, halves)) or _number(halves[1]) > secp256k1.MOST_S:
        raise BadSignature(_BAD_VALUES)
    point = secp256k1.recovered(digest, raw, odd)
    if point is None:
        raise BadSignature("its signature fits no key")
    return wallet_signatures.address_at(point).lower()


def _parts(raw: bytes, kind: int) -> list[rlp.Item]:
    wanted = {1: 11, 2: 12}.get(kind, 9)
    try:
        items = rlp.decoded(raw[1:] if kind else raw)
    except rlp.NotRlp as error:
        raise NotATransaction(f"no RLP: {error}") from None
    if not isinstance(items, list) or len(items) != wanted:
        raise NotATransaction(f"expected a list of {wanted} items")
    return items


def _number(raw: bytes, most: int = 32) -> int:
    """Return a number of at most so many bytes. Raises `NotATransaction`."""
    if raw[:1] == b"\0":
        raise NotATransaction("non-canonical integer (leading zero bytes)")
    if len(raw) > most:
        raise NotATransaction(f"input string too long: a number of {len(raw)} bytes, not {most}")
    return int.from_bytes(raw, "big")
