"""Call data read back: the method by its selector, the arguments by their types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Value: TypeAlias = "int | bool | str | list[Value]"
"""An argument: numbers, truth values, addresses and bytes as `0x` and hex, lists of values."""

_WORD = 32
_MOST_ITEMS = 1_000
_MOST_DEPTH = 8


class NotThisCall(ValueError):
    """Bytes that are no arguments of the method."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a contract: its name, and its parameters as name and type."""

    name: str
    parameters: tuple[tuple[str, str], ...]


def _method(signature: str) -> Method:
    name, _, rest = signature.partition("(")
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
        "a9059cbb": _method("transfer(address to,uint256 amount)"),
        "095ea7b3": _method("approve(address spender,uint256 amount)"),
        "23b872dd": _method("transferFrom(address from,address to,uint256 amount)"),
        "3f163c47": _method("vaultOut(address token,uint256 amount,bool isBurn,bytes order)"),
        "565bc234": _method(
            "swap(address tokenIn,uint256 amountIn,address router,address tokenOut,"
            "address receiver,uint256 minimum,bytes data,bytes order)"
        ),
        "38ed1739": _method(
            "swapExactTokensForTokens(uint256 amountIn,uint256 amountOutMin,address[] path,"
            "address to,uint256 deadline)"
        ),
        "12aa3caf": _method(f"swap(address executor,{_INCH} desc,bytes permit,bytes data)"),
        "e21fd0e9": _method(f"swap({_EXECUTION} execution)"),
        "90411a32": _method(
            f"swap(address caller,{_OCEAN} desc,(uint256,uint256,uint256,bytes)[] calls)"
        ),
    }
)
"""Methods by selector in hex: ERC-20, the service's proxies (SOL) and the aggregators' routers."""


def arguments(method: Method, raw: bytes) -> dict[str, Value]:
    """Return the arguments of a call by name. Raises `NotThisCall` where the bytes are others."""
    kinds = [kind for _, kind in method.parameters]
    values = _tuple(kinds, raw, 0, 0)
    return {name: value for (name, _), value in zip(method.parameters, values, strict=True)}


def _tuple(kinds: Sequence[str], raw: bytes, base: int, depth: int) -> list[Value]:
    if depth > _MOST_DEPTH:
        raise NotThisCall("nested too deeply")
    place = base
    values: list[Value] = []
    for kind in kinds:
        if _dynamic(kind):
            values.append(_value(kind, raw, base + _number(raw, place), depth + 1))
        else:
            values.append(_value(kind, raw, place, depth + 1))
        place += _size(kind)
    return values


def _value(kind: str, raw: bytes, place: int, depth: int) -> Value:
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
    found = raw[place : place + length]
    if len(found) != length:
        raise NotThisCall("the bytes end too early")
    return found
