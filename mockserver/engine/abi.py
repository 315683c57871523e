"""Call data in the encoding of Solidity's contract ABI: read, and written for the routers of swaps.

The selectors are the first four bytes of the keccak-256 hash of the methods' signatures; those of
ChaingeDex and 1inch are observed in the vendor's examples.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from mockserver.fast_dataclass import dataclass

AbiValue: TypeAlias = "int | bool | str | list[AbiValue]"
"""An argument: numbers, truth values, addresses and bytes as `0x` and hex, lists of values."""

_WORD = 32
# Call data comes from clients: its counts and nesting must not cost much.
_MOST_ITEMS = 1_000
_MOST_DEPTH = 8

TRANSFER, APPROVE = bytes.fromhex("a9059cbb"), bytes.fromhex("095ea7b3")
TRANSFER_FROM = bytes.fromhex("23b872dd")
"""The methods of ERC-20 that change something."""

GAS_OF_ALL = 21_000
"""What any transaction costs in gas before anything is executed."""

SWAP_EXACT_TOKENS = bytes.fromhex("38ed1739")
"""`swapExactTokensForTokens(uint256,uint256,address[],address,uint256)` (GB2-swap)."""

ONE_INCH_SWAP = bytes.fromhex("12aa3caf")
"""`swap(address,(address,address,address,address,uint256,uint256,uint256),bytes,bytes)` (DEMO)."""

UNISWAP_V3_SWAP = bytes.fromhex("e449022e")
"""`uniswapV3Swap(uint256,uint256,uint256[])` of 1inch's router (SDK2)."""

KYBER_SWAP = bytes.fromhex("e21fd0e9")
"""`swap((address,address,bytes,(…),bytes))` of Kyber's meta aggregation router, version 2."""

OPEN_OCEAN_SWAP = bytes.fromhex("90411a32")
"""`swap(address,(…),(uint256,uint256,uint256,bytes)[])` of OpenOcean's exchange, version 2."""


@dataclass(frozen=True, slots=True)
class AbiCall:
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

    @property
    def path(self) -> bytes:
        """The route as routers pack it: the deadline keeps two calls apart as theirs do."""
        return self.route + uint(self.deadline_s)


Encoder = Callable[[AbiCall], bytes]
"""Turns a call into the bytes a router expects: the selector and the encoded arguments."""


class NotThisCall(ValueError):
    """Bytes that are no arguments of the method."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a contract: its name, and its parameters as name and type."""

    name: str
    parameters: tuple[tuple[str, str], ...]


def _method(signature: str) -> Method:
    name, _, rest = signature.partition("(")
    # The name is behind the last blank: a tuple's type has none.
    parts = [part.strip().rpartition(" ") for part in _split(rest[:-1])]
    return Method(name, tuple((name, kind) for kind, _, name in parts))


def _split(text: str) -> list[str]:
    """Return the parts between the commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if text else []


_EXECUTION = (
    "(address,address,bytes,"
    "(address,address,address[],uint256[],address[],uint256[],address,uint256,uint256,uint256,bytes),"
    "bytes)"
)
_INCH = "(address,address,address,address,uint256,uint256,uint256)"
_OCEAN = "(address,address,address,address,uint256,uint256,uint256,uint256,address,bytes)"

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        TRANSFER.hex(): _method("transfer(address to,uint256 amount)"),
        APPROVE.hex(): _method("approve(address spender,uint256 amount)"),
        TRANSFER_FROM.hex(): _method("transferFrom(address from,address to,uint256 amount)"),
        "3f163c47": _method("vaultOut(address token,uint256 amount,bool isBurn,bytes order)"),
        "565bc234": _method(
            "swap(address tokenIn,uint256 amountIn,address router,address tokenOut,"
            "address receiver,uint256 minimum,bytes data,bytes order)"
        ),
        SWAP_EXACT_TOKENS.hex(): _method(
            "swapExactTokensForTokens(uint256 amountIn,uint256 amountOutMin,address[] path,"
            "address to,uint256 deadline)"
        ),
        ONE_INCH_SWAP.hex(): _method(
            f"swap(address executor,{_INCH} desc,bytes permit,bytes data)"
        ),
        KYBER_SWAP.hex(): _method(f"swap({_EXECUTION} execution)"),
        OPEN_OCEAN_SWAP.hex(): _method(
            f"swap(address caller,{_OCEAN} desc,(uint256,uint256,uint256,bytes)[] calls)"
        ),
    }
)
"""Methods by selector in hex: ERC-20, the service's proxies (SOL) and the aggregators' routers."""


def arguments(method: Method, raw: bytes) -> dict[str, AbiValue]:
    """Return the arguments of a call by name. Raises `NotThisCall` where the bytes are others."""
    kinds = [kind for _, kind in method.parameters]
    values = _tuple(kinds, raw, 0, 0)
    return {name: value for (name, _), value in zip(method.parameters, values, strict=True)}


def values(kinds: Sequence[str], raw: bytes) -> list[Any]:
    """Return the values of these types. Raises `NotThisCall` where the bytes are others."""
    return _tuple(kinds, raw, 0, 0)


def _tuple(kinds: Sequence[str], raw: bytes, base: int, depth: int) -> list[AbiValue]:
    if depth > _MOST_DEPTH:
        raise NotThisCall("nested too deeply")
    place = base
    values: list[AbiValue] = []
    for kind in kinds:
        if _dynamic(kind):
            # Offsets count from the beginning of their own tuple, not of the call.
            values.append(_value(kind, raw, base + _number(raw, place), depth + 1))
        else:
            values.append(_value(kind, raw, place, depth + 1))
        place += _size(kind)
    return values


def _value(kind: str, raw: bytes, place: int, depth: int) -> AbiValue:
    # Lists before tuples: a list of tuples begins with a bracket as well.
    if kind.endswith("[]"):
        count = _number(raw, place)
        if count > _MOST_ITEMS:
            raise NotThisCall("a list that is too long")
        return _tuple([kind[:-2]] * count, raw, place + _WORD, depth)
    if kind.startswith("("):
        return _tuple(_split(kind[1:-1]), raw, place, depth)
    if kind == "bytes":
        return f"0x{_slice(raw, place + _WORD, _number(raw, place)).hex()}"
    if kind == "address":
        return f"0x{_slice(raw, place, _WORD)[12:].hex()}"
    return bool(_number(raw, place)) if kind == "bool" else _number(raw, place)


def _dynamic(kind: str) -> bool:
    if kind == "bytes" or kind.endswith("[]"):
        return True
    return kind.startswith("(") and any(map(_dynamic, _split(kind[1:-1])))


def _size(kind: str) -> int:
    """Return how many bytes a value takes in the head: its own, or those of an offset."""
    if kind.startswith("(") and not _dynamic(kind):
        return sum(map(_size, _split(kind[1:-1])))
    return _WORD


def _number(raw: bytes, place: int) -> int:
    return int.from_bytes(_slice(raw, place, _WORD), "big")


def _slice(raw: bytes, place: int, length: int) -> bytes:
    piece = raw[place : place + length]
    if len(piece) != length:
        raise NotThisCall("the bytes end too early")
    return piece


def encoded(selector: bytes, *arguments: Any) -> bytes:
    """Return a call of a method, its arguments by their types: `bytes` as such, tuples as lists."""
    kinds = [kind for _, kind in METHODS[selector.hex()].parameters]
    return selector + packed(kinds, arguments)


def uint(value: int) -> bytes:
    return value.to_bytes(_WORD, "big")


def address(text: str) -> bytes:
    """Return a 20-byte address as one word; a text of another form becomes the zero address."""
    try:
        raw = bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raw = b""
    return (raw if len(raw) == 20 else bytes(20)).rjust(_WORD, b"\0")


def packed(kinds: Sequence[str], values: Sequence[Any]) -> bytes:
    """Return values by their types as heads and tails: dynamic ones stand behind, by offset."""
    length, heads, tails = sum(map(_size, kinds)), b"", b""
    for kind, value in zip(kinds, values, strict=True):
        raw = _encoded(kind, value)
        if _dynamic(kind):
            heads += uint(length + len(tails))
            tails += raw
        else:
            heads += raw
    return heads + tails


def _encoded(kind: str, value: Any) -> bytes:
    # Lists before tuples, as in `_value`.
    if kind.endswith("[]"):
        return uint(len(value)) + packed([kind[:-2]] * len(value), value)
    if kind.startswith("("):
        return packed(_split(kind[1:-1]), value)
    if kind == "bytes":
        raw: bytes = value
        return uint(len(raw)) + raw + bytes(-len(raw) % _WORD)
    return address(value) if kind == "address" else uint(value)


def swap_exact_tokens(call: AbiCall) -> bytes:
    """Return a call of a Uniswap-like router, as ChaingeDex uses it."""
    path = (call.source_token, call.target_token)
    arguments = (call.amount, call.minimum, path, call.recipient, call.deadline_s)
    return encoded(SWAP_EXACT_TOKENS, *arguments)


def one_inch(call: AbiCall) -> bytes:
    """Return a call of 1inch's aggregation router, version 5."""
    ends = (call.source_token, call.target_token, call.router, call.recipient)
    description = (*ends, call.amount, call.minimum, call.partial_fill)
    return encoded(ONE_INCH_SWAP, call.router, description, b"", call.path)


def kyber(call: AbiCall) -> bytes:
    """Return a call of Kyber's meta aggregation router, version 2."""
    tokens, pools = (call.source_token, call.target_token), ((call.router,), (call.amount,))
    last = (call.recipient, call.amount, call.minimum, call.partial_fill, b"")
    description = (*tokens, *pools, (), (), *last)
    return encoded(KYBER_SWAP, (call.router, call.router, call.path, description, b""))


def open_ocean(call: AbiCall) -> bytes:
    """Return a call of OpenOcean's exchange, version 2."""
    ends = (call.source_token, call.target_token, call.router, call.recipient)
    # The minimum twice: as the least and as the guaranteed amount, which are never set apart here.
    amounts = (call.amount, call.minimum, call.minimum, call.partial_fill)
    steps = ((0, 0, 0, call.path),)
    return encoded(OPEN_OCEAN_SWAP, call.router, (*ends, *amounts, call.sender, b""), steps)
