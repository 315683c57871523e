"""Call data of the aggregators' routers, in the encoding of Solidity's contract ABI.

The selectors are the first four bytes of the keccak-256 hash of the methods' signatures; those of
ChaingeDex and 1inch are observed in the vendor's examples (service-facts §1.2-6).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

SWAP_EXACT_TOKENS = bytes.fromhex("38ed1739")
"""`swapExactTokensForTokens(uint256,uint256,address[],address,uint256)` (GB2-swap)."""
ONE_INCH_SWAP = bytes.fromhex("12aa3caf")
"""`swap(address,(address,address,address,address,uint256,uint256,uint256),bytes,bytes)` (DEMO)."""
KYBER_SWAP = bytes.fromhex("e21fd0e9")
"""`swap((address,address,bytes,(…),bytes))` of Kyber's meta aggregation router, version 2."""
OPEN_OCEAN_SWAP = bytes.fromhex("90411a32")
"""`swap(address,(…),(uint256,uint256,uint256,bytes)[])` of OpenOcean's exchange, version 2."""

_PARTIAL_FILL = 1


@dataclass(frozen=True, slots=True)
class Call:
    """What a swap call carries: amounts in smallest units, the deadline in seconds since 1970."""

    amount: int
    minimum: int
    source_token: str
    target_token: str
    sender: str
    recipient: str
    router: str
    deadline_s: int
    partial_fill: bool = False
    route: bytes = b""


@dataclass(frozen=True, slots=True)
class Dynamic:
    """An encoded value whose length is not known from its type: its place holds an offset."""

    body: bytes


class Encoder(Protocol):
    """Something that turns a call into the bytes a router expects."""

    def __call__(self, call: Call, /) -> bytes:
        """Return the selector and the encoded arguments."""
        ...


def uint(value: int) -> bytes:
    """Return an unsigned integer as one word."""
    return value.to_bytes(32, "big")


def address(text: str) -> bytes:
    """Return a 20-byte address as one word; a text of another form becomes the zero address."""
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raw = b""
    return (raw if len(raw) == 20 else bytes(20)).rjust(32, b"\0")


def blob(raw: bytes) -> Dynamic:
    """Return `bytes`: the length, then the bytes padded to whole words."""
    return Dynamic(uint(len(raw)) + raw + bytes(-len(raw) % 32))


def array(words: Sequence[bytes]) -> Dynamic:
    """Return a list of values of fixed length."""
    return Dynamic(uint(len(words)) + b"".join(words))


def pack(*parts: bytes | Dynamic) -> bytes:
    """Return values as ABI heads and tails: fixed ones in place, dynamic ones by offset."""
    head_length = sum(32 if isinstance(part, Dynamic) else len(part) for part in parts)
    heads, tails = [], b""
    for part in parts:
        if isinstance(part, Dynamic):
            heads.append(uint(head_length + len(tails)))
            tails += part.body
        else:
            heads.append(part)
    return b"".join(heads) + tails


def swap_exact_tokens(call: Call) -> bytes:
    """Return a call of a Uniswap-like router, as ChaingeDex uses it."""
    path = array([address(call.source_token), address(call.target_token)])
    return SWAP_EXACT_TOKENS + pack(
        uint(call.amount), uint(call.minimum), path, address(call.recipient), uint(call.deadline_s)
    )


def one_inch(call: Call) -> bytes:
    """Return a call of 1inch's aggregation router, version 5."""
    description = (
        address(call.source_token)
        + address(call.target_token)
        + address(call.router)
        + address(call.recipient)
        + uint(call.amount)
        + uint(call.minimum)
        + uint(_PARTIAL_FILL if call.partial_fill else 0)
    )
    return ONE_INCH_SWAP + pack(address(call.router), description, blob(b""), blob(_route(call)))


def kyber(call: Call) -> bytes:
    """Return a call of Kyber's meta aggregation router, version 2."""
    description = pack(
        address(call.source_token),
        address(call.target_token),
        array([address(call.router)]),
        array([uint(call.amount)]),
        array([]),
        array([]),
        address(call.recipient),
        uint(call.amount),
        uint(call.minimum),
        uint(_PARTIAL_FILL if call.partial_fill else 0),
        blob(b""),
    )
    execution = pack(
        address(call.router),
        address(call.router),
        blob(_route(call)),
        Dynamic(description),
        blob(b""),
    )
    return KYBER_SWAP + pack(Dynamic(execution))


def open_ocean(call: Call) -> bytes:
    """Return a call of OpenOcean's exchange, version 2."""
    description = pack(
        address(call.source_token),
        address(call.target_token),
        address(call.router),
        address(call.recipient),
        uint(call.amount),
        uint(call.minimum),
        uint(call.minimum),
        uint(_PARTIAL_FILL if call.partial_fill else 0),
        address(call.sender),
        blob(b""),
    )
    step = Dynamic(pack(uint(0), uint(0), uint(0), blob(_route(call))))
    steps = Dynamic(uint(1) + pack(step))
    return OPEN_OCEAN_SWAP + pack(address(call.router), Dynamic(description), steps)


def _route(call: Call) -> bytes:
    # Real routes are private to each router; the deadline keeps two calls apart as theirs do.
    return call.route + uint(call.deadline_s)
