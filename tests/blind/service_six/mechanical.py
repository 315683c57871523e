"""Fifteen mechanical faults, each for every member that it fits: KIND@OPERATION.MEMBER."""

from collections.abc import Callable
from typing import Any

from tests.blind.service_six.flaws import Data, Flaw
from tests.blind.service_six.service import Call

# Members by operation, each with its class: a(mount), d(ecimal), i(nteger), b(oolean), t(ext),
# e (text that may be empty), x (hex), l(ist). `list.` stands for each item of the list.
MEMBERS = {
    "getChain": "version:i list:l list.nickName:t",
    "getAssets": "version:i list:l list.symbol:t list.index:i",
    "getAssetsByChain": "version:i list:l list.symbol:t list.index:i list.decimals:i"
    " list.contractAddress:t",
    "getBridgeQuote": "price:d outAmount:a outAmountUsd:d serviceFee:a gasFee:a",
    "getAggregateQuote": "chain:t chainDecimal:i aggregator:t outAmount:a outAmountUsd:d"
    " minOutAmount:e serviceFee:a gasFee:a priceImpact:s",
    "getAggregateSwap": "amountOut:a from:t to:t gas:a value:a data:x",
    "submitOrder": "id:t",
    "checkOrder": "status:t timestamp:i execHash:e reason:e amountOut:a",
    "getBalance": "balance:a hrpBalance:d",
    "getPrice": "price:d updateTime:t source:t",
    "submitTicket": "ticketId:i",
    "getAllTicketByAddress": "list:l list.ticketId:i list.address:t list.chain:t list.hash:t"
    " list.succeeded:b list.solution:e",
    "checkTicket": "succeeded:b solution:e",
}
STRINGS = "adtesx"


def as_number(value: Any) -> Any:
    try:
        return float(value) if "." in value else int(value, 0)
    except ValueError:
        return 0


# kind: classes of members, and what it makes of a value
KINDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "null": ("adtesxibl", lambda value: None),
    "number": (STRINGS, as_number),
    "text": ("ib", str),
    "empty": ("adtx", lambda value: ""),
    "negative": ("adi", lambda value: f"-{value}" if isinstance(value, str) else -value - 1),
    "array": ("adtesxib", lambda value: [value]),
    "object": ("adtesxibl", lambda value: {"value": value}),
    "boolean": ("adtesxi", bool),
    "exponent": ("a", lambda value: f"{int(value):.3e}"),
    "fraction": ("a", lambda value: f"{value}.0"),
    "words": ("adsx", lambda value: "not available"),
    "grouped": ("a", lambda value: f"{int(value):,}" if int(value) > 999 else f"{value},0"),
}
# These three look at more than the value; the classes are those of the members.
WIDER = {"missing": "adtesxibl", "renamed": "adtesxibl", "previous": "ad"}


def places() -> list[tuple[str, str, str]]:
    """Return operation, member and class of every member."""
    return [
        (operation, *member.split(":"))  # type: ignore[misc]
        for operation, members in MEMBERS.items()
        for member in members.split()
    ]


def names() -> list[str]:
    classes = {kind: entry[0] for kind, entry in KINDS.items()} | WIDER
    return [
        f"{kind}@{operation}.{member}"
        for kind in classes
        for operation, member, letter in places()
        if letter in classes[kind]
    ]


def changed(holder: Data, key: str, kind: str, call: Call) -> None:
    if kind == "missing":
        del holder[key]
    elif kind == "renamed":
        holder[key.upper() if key.upper() != key else key.lower()] = holder.pop(key)
    elif kind == "previous":
        before = call.service.memory.get("previous", holder[key])
        call.service.memory["previous"], holder[key] = holder[key], before
    else:
        holder[key] = KINDS[kind][1](holder[key])


def flaw(name: str) -> Flaw:
    """Return the fault of this name; raise KeyError where there is none."""
    if name not in names():
        raise KeyError(name)
    kind, _, place = name.partition("@")
    operation, _, member = place.partition(".")

    def apply(call: Call, data: Data) -> None:
        key = member.removeprefix("list.")
        holders = data["list"] if member.startswith("list.") else [data]
        for holder in holders:
            changed(holder, key, kind, call)

    return Flaw(name, frozenset({operation}), {"data": apply})
