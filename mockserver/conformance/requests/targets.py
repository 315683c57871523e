"""Requests at the edges of every input, each of which differs in one thing from the usual one.

Where a service goes wrong for some values only, the usual request shows nothing. The targets are
computed from the contract (bounds, enumerations, optional inputs) and from what the service lists
(every chain, every class of token); no chance is involved but in which token stands for its class.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    amount_text,
    reading_of,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.routes import (
    Route,
    bridges,
    cross_routes,
    plain_tokens,
    swaps,
    usable_tokens,
    usual_amount,
    v1_bridges,
)
from mockserver.conformance.requests import valid
from mockserver.conformance.requests.negative import signed
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Field, Operation
from mockserver.jsontext import Json

if TYPE_CHECKING:
    from mockserver.conformance.session.context import RunContext

_T = TypeVar("_T")
WORDS = "edge: "
"""How the name of each target's probe begins, behind its operation."""
ODD_WORDS = "odd edge: "
"""The same where the service may well refuse it, and only has to stay up."""

DIGITS = (1, 16, 18, 19, 20, 23, 24, 31, 38, 60, 77)
"""Numbers of digits at which amounts outgrow some type: a byte, 2**53, 64 bits, a float's
notation, 128 bits, and the 77 that the contract allows."""
_MOST_ROUTES = 24
_LONG, _VERY_LONG = 120, 400
_ODD_AMOUNTS = ("0", "01", "+1", "-1", "1.5", "1e3", "")
_ODD_NUMBERS = (Decimal("0.0000001"), Decimal("0.123456789012345678"))
_LARGE_NUMBERS = (Decimal(100_000), Decimal(2_000_000), Decimal(10) ** 12)
_SLIPPAGES = ("0", "1", "50", "500", "1000", "1001", "2001", "5000")
_FEE_LEVELS = (0, 1, 2, 5, 6, 10)
_AMOUNTS = ("amount", "fromAmount")
_NAMES = ("symbol", "token", "chain", "fromChain", "toChain", "fromToken")
_ADDRESSES = ("address", "sender", "recipient", "evmAddress")
_CONTRACTS = ("contractAddress", "fromTokenAddress", "toTokenAddress")
_IDS = ("id", "ticketId", "hash")


@dataclass(frozen=True, slots=True)
class Target:
    """A request at an edge. `sound` tells that the description lets nothing be wrong with it."""

    operation_id: str
    label: str
    draft: Draft
    sound: bool = True

    @property
    def probe(self) -> str:
        """The name of its probe."""
        return f"{self.operation_id}/{WORDS if self.sound else ODD_WORDS}{self.label}"


def is_odd_target(probe: str) -> bool:
    """Tell whether a probe is a target that a service may refuse."""
    return probe.partition("/")[2].startswith(ODD_WORDS)


def is_target(probe: str) -> bool:
    """Tell whether a probe is a target."""
    return probe.partition("/")[2].startswith((WORDS, ODD_WORDS))


def targets_of(context: "RunContext", operation: Operation) -> tuple[Target, ...]:
    """Return the targets of an operation, those that say most first; none for submissions."""
    if operation.writes:
        return ()
    found: dict[str, Target] = {}
    for target in _found(context, operation):
        found.setdefault(target.probe, target)
    return tuple(found.values())


def _found(context: "RunContext", operation: Operation) -> Iterator[Target]:
    usual = _usual(context, operation)
    if usual is not None:
        yield from _values(context, operation, usual)
    routed = _ROUTED.get(operation.id)
    if routed is not None:
        try:
            for label, draft in routed(context):
                yield Target(operation.id, label, draft)
        except (NotRun, Inconclusive):
            pass
    if usual is not None:
        yield from _odd_values(context, operation, usual)


def _usual(context: "RunContext", operation: Operation) -> Draft | None:
    for make in (valid.valid_request, valid.unknown):
        try:
            return make(context, operation.id)
        except (NotRun, Inconclusive):
            continue
    return None


def _values(context: "RunContext", operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield the usual request with one input at an edge that the contract allows."""
    for field in _inputs(operation):
        for label, value in _edges(field, usual):
            draft = _changed(context, operation, usual, field, value)
            yield Target(operation.id, f"{field.name} {label}", draft)
    yield from _combinations(context, operation, usual)


def _odd_values(context: "RunContext", operation: Operation, usual: Draft) -> Iterator[Target]:
    for field in _inputs(operation):
        for label, value in _odd_edges(field, usual):
            draft = _changed(context, operation, usual, field, value)
            yield Target(operation.id, f"{field.name} {label}", draft, sound=False)
    roles = {field.role: field for field in operation.fields}
    for one, other in (("fromChain", "toChain"), ("fromTokenAddress", "toTokenAddress")):
        if one in roles and other in roles:
            value = usual.part(roles[one].location).get(roles[one].name)
            draft = _changed(context, operation, usual, roles[other], value)
            yield Target(operation.id, f"{roles[other].name} as {one}", draft, sound=False)


def _inputs(operation: Operation) -> Iterator[Field]:
    """Yield the inputs that are not about who asks."""
    signed_headers = ("appKey", "expireTime", "timestamp", "signature", "userAddress")
    return (field for field in operation.fields if field.role not in signed_headers)


def _edges(field: Field, usual: Draft) -> Iterator[tuple[str, Json]]:
    before = usual.part(field.location).get(field.name)
    if "boolean" in field.types:
        yield from ((f"is {str(value).lower()}", value) for value in (True, False))
    elif choices := _choices(field):
        yield from ((f"is {value}", value) for value in choices)
    elif field.role in _AMOUNTS and "number" in field.types:
        yield from ((f"is {value}", value) for value in _LARGE_NUMBERS)
    elif field.role in _AMOUNTS:
        yield from ((f"of {count} digits", _digits(count)) for count in DIGITS)
    elif field.role == "slippage":
        yield from ((f"is {value}", value) for value in _SLIPPAGES)
    elif field.role == "feeLevel":
        yield from ((f"is {value}", value) for value in _FEE_LEVELS)
    elif field.role in (*_ADDRESSES, *_CONTRACTS, "hash") and _is_hex(before):
        yield from _cases_of_hex(str(before))


def _odd_edges(field: Field, usual: Draft) -> Iterator[tuple[str, Json]]:
    before = str(usual.part(field.location).get(field.name, ""))
    if field.role in _AMOUNTS and "number" in field.types:
        yield from ((f"is {value}", value) for value in _ODD_NUMBERS)
        yield "as a text", before
    elif field.role in _AMOUNTS:
        yield from ((f"is {value!r}", value) for value in _ODD_AMOUNTS)
    elif field.role in ("fromDecimal", "toDecimal"):
        yield from ((f"is {value!r}", value) for value in ("-1", "018", "1000"))
    elif field.role == "slippage":
        yield from ((f"is {value!r}", value) for value in ("1.5", "-1", "10001"))
    elif field.role == "feeLevel":
        yield "as a text", before
    elif field.role in _IDS:
        yield from _odd_ids(before)
    if "string" in field.types and field.role in (*_NAMES, *_ADDRESSES):
        yield from _odd_texts(before, field)


def _odd_ids(before: str) -> Iterator[tuple[str, Json]]:
    yield from ((f"is {value}", value) for value in ("-1", "0", str(2**32), str(2**63)))
    yield "in letters", "abcdef"
    yield f"of {_LONG} characters", "9" * _LONG
    if before.startswith("0x"):
        yield "without 0x", before[2:]


def _odd_texts(before: str, field: Field) -> Iterator[tuple[str, Json]]:
    yield f"of {_VERY_LONG} characters", (before + "x" * _VERY_LONG)[:_VERY_LONG]
    if field.location != "headers":
        yield "that is not ASCII", f"{before}é漢"
        yield "with a control character", f"{before}\x01"
    if field.role in _NAMES:
        yield "in lower case", before.lower()
        yield "with a quotation mark", f"{before}'\""
        yield "with blanks around it", f" {before} "
    else:
        yield "that is short", before[:6]


def _combinations(context: "RunContext", operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield every combination of optional inputs, and of those with a choice of two."""
    given = {
        field.name: value
        for field in _inputs(operation)
        if not field.required and (value := _optional_value(operation, field, usual)) is not None
    }
    optional = [field for field in _inputs(operation) if field.name in given]
    flags = [field for field in operation.fields if "boolean" in field.types]
    if not optional:
        return
    for present in product((True, False), repeat=len(optional)):
        for values in product((True, False), repeat=len(flags)):
            draft = usual
            words = []
            for field, is_there in zip(optional, present, strict=True):
                if is_there:
                    draft = draft.having(field.location, field.name, given[field.name])
                    words.append(f"with {field.name}")
                else:
                    draft = draft.without(field.location, field.name)
                    words.append(f"without {field.name}")
            for field, value in zip(flags, values, strict=True):
                draft = draft.having(field.location, field.name, value)
                words.append(f"{field.name} {str(value).lower()}")
            draft = signed(draft, operation, context.caller)
            yield Target(operation.id, ", ".join(words), draft)


def _optional_value(operation: Operation, field: Field, usual: Draft) -> Json:
    """Return a value of an optional input: the usual one, the example's, or a long text.

    None where nothing is known that would keep to what the contract asks of it.
    """
    example = operation.row.get("example", {}).get(field.location, {})
    known = usual.part(field.location).get(field.name, example.get(field.name))
    is_free = "string" in field.types and not {"allOf", "pattern", "enum"} & set(field.schema)
    return known or (f'{{"route":"{"a" * _VERY_LONG}"}}' if is_free else None)


def _changed(
    context: "RunContext", operation: Operation, usual: Draft, field: Field, value: Json
) -> Draft:
    draft = usual.having(field.location, field.name, value)
    if {"evmAddress", "fromAddress"} <= {one.role for one in operation.fields} and (
        field.role == "evmAddress"
    ):
        # They are equal where the source is an EVM chain (interface.md 2.2).
        other = next(one for one in operation.fields if one.role == "fromAddress")
        if "string" in other.types:
            draft = draft.having(other.location, other.name, value)
    return signed(draft, operation, context.caller)


def _choices(field: Field) -> tuple[Json, ...]:
    nodes = [field.schema, *field.schema.get("allOf", ())]
    return next((tuple(node["enum"]) for node in nodes if "enum" in node), ())


def _digits(count: int) -> str:
    return ("1234567890" * 8)[:count]


def _is_hex(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("0x") and len(value) > len("0x")


def _cases_of_hex(value: str) -> Iterator[tuple[str, Json]]:
    yield "in upper-case hex", f"0x{value[2:].upper()}"
    yield "in lower-case hex", value.lower()


def _covering(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[Hashable]], most: int = _MOST_ROUTES
) -> Iterator[tuple[str, _T]]:
    """Yield items until each feature was met once, with the features that an item adds."""
    met: set[Hashable] = set()
    count = 0
    for item in items:
        new = [one for one in features_of(item) if one not in met]
        if not new or count >= most:
            continue
        met.update(new)
        count += 1
        yield ", ".join(map(str, new)), item


def _features(context: "RunContext", token: Token, side: str) -> tuple[str, ...]:
    """Return what sets a token apart: its chain, EVM or not, coin or contract, its decimals."""
    evm = "EVM" if plain_tokens(context)(token) else "not EVM"
    kind = "coin" if token.is_native else "contract"
    return (f"{side}{kind} of {token.decimals} decimals, {evm}", f"{side}chain {token.chain}")


def _route_features(context: "RunContext") -> Callable[[Route], tuple[str, ...]]:
    return lambda route: (
        *_features(context, route.source, "from "),
        *_features(context, route.target, "to "),
        "within one chain" if route.source.chain == route.target.chain else "between chains",
    )


def _drawn(context: "RunContext", what: str, items: Sequence[_T]) -> list[_T]:
    return context.draw(f"targets of {what}").sample(list(items), len(items))


def _bridged(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    reading = reading_of(context, BRIDGE)
    routes = _drawn(context, BRIDGE, bridges(context))
    for label, route in _covering(routes, _route_features(context)):
        amount = amount_text(usual_amount(context, route.source), route.source, reading)
        yield label, valid.bridge(context, route, amount)


def _swapped(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    reading = reading_of(context, SWAP_QUOTE)
    routes = _drawn(context, SWAP_QUOTE, [*swaps(context), *cross_routes(context)])
    for label, route in _covering(routes, _route_features(context)):
        amount = amount_text(usual_amount(context, route.source), route.source, reading)
        yield label, valid.aggregate(context, route, amount)


def _called(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    one = valid.quoted_attempt(context)
    here = [route for route in swaps(context) if route.source.chain == route.target.chain]
    routes = _drawn(context, "calls", here)
    for label, route in _covering(routes, _route_features(context)):
        draft = valid.swap(context, replace(one, route=route, probe="v2.getAggregateQuote/none"))
        yield label, draft
    usual = valid.swap(context, one)
    yield (
        "recipient other than the sender",
        usual.having("query", "recipient", valid.fresh_address(context, "recipient at an edge")),
    )


def _tokens(context: "RunContext", what: str) -> Iterator[tuple[str, Token]]:
    tokens = [one for one in usable_tokens(context) if one.address]
    return _covering(_drawn(context, what, tokens), lambda one: _features(context, one, ""))


def _priced(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    return ((label, valid.price(context, one)) for label, one in _tokens(context, "prices"))


def _held(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    address = context.caller.address
    for label, one in _tokens(context, "balances"):
        yield label, valid.balance(context, one, address)


def _listed(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    inventory = inventory_of(context)
    for chain in inventory.chains[:_MOST_ROUTES]:
        if chain.offered:
            asked = {"chain": inventory.asked_as(chain.name)}
            yield chain.name, valid.filled(context, "v2.getAssetsByChain", asked)


def _v1_listed(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    for chain in inventory_of(context).v1_chains[:_MOST_ROUTES]:
        if chain.offered:
            yield chain.name, valid.filled(context, "v1.getSupportTokens", {"chain": chain.name})


def _v1_quoted(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    routes = _drawn(context, V1_QUOTE, v1_bridges(context))
    for label, route in _covering(routes, _route_features(context)):
        yield label, valid.v1_quote(context, route, usual_amount(context, route.source))


def _v1_raw(context: "RunContext") -> Iterator[tuple[str, Draft]]:
    tokens = _drawn(
        context, "v1 raw", [one for one in inventory_of(context).v1_tokens if one.chain]
    )
    for label, one in _covering(tokens, lambda one: _features(context, one, "")):
        yield label, valid.v1_raw(context, one, usual_amount(context, one))


_ROUTED: dict[str, Callable[["RunContext"], Iterator[tuple[str, Draft]]]] = {
    BRIDGE: _bridged,
    SWAP_QUOTE: _swapped,
    "v2.getAggregateSwap": _called,
    "v2.getPrice": _priced,
    "v2.getBalance": _held,
    "v2.getAssetsByChain": _listed,
    "v1.getSupportTokens": _v1_listed,
    V1_QUOTE: _v1_quoted,
    "v1.getTransferToMinterRaw": _v1_raw,
}
