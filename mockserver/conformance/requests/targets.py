"""Requests at the edges of every input, each of which differs in one thing from the usual one.

Where a service goes wrong for some values only, the usual request shows nothing. The targets are
computed from the contract (bounds, enumerations, optional inputs) and from what the service lists
(every chain, every class of token); no chance is involved but in which token stands for its class.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import product

from mockserver.conformance.requests.negative import WRONG_VALUES, missing_inputs, signed
from mockserver.conformance.requests.subjects import (
    About,
    deposit_of,
    known_elsewhere,
    other_subjects,
    subjects,
    submissions,
)
from mockserver.conformance.requests.valid import usual_or_unknown, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.names import Edge, EdgeKind, ProbeName
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Field, Operation
from mockserver.jsontext import Json
from mockserver.values import dataclass

DIGITS = (1, 2, 3, 16, 18, 19, 20, 23, 24, 31, 38, 60, 77)
"""Numbers of digits at which amounts outgrow some type: a byte, 2**53, 64 bits, a float's
notation, 128 bits, and the 77 that the contract allows."""
_LONG, _VERY_LONG = 120, 400
_OF_HEX = ("in upper-case hex", "in lower-case hex")
_ODD_AMOUNTS = ("0", "01", "+1", "-1", "1.5", "1e3", "")
_ODD_NUMBERS = (Decimal("0.0000001"), Decimal("0.123456789012345678"))
_LARGE_NUMBERS = (Decimal(100_000), Decimal(2_000_000), Decimal(10) ** 12)
_ALLOWED = {
    "slippage": ("0", "1", "50", "500", "1000", "1001", "2001", "5000"),
    "feeLevel": (0, 1, 2, 5, 6, 10),
}
_NOT_ALLOWED = {
    **dict.fromkeys(("fromDecimal", "toDecimal"), ("-1", "018", "1000")),
    "slippage": ("1.5", "-1", "10001"),
}
"""Values of inputs by role, where the contract does not say them."""
NAMES = ("symbol", "token", "chain", "fromChain", "toChain", "fromToken")
_ADDRESSES = ("address", "sender", "recipient", "evmAddress")
_CONTRACTS = ("contractAddress", "fromTokenAddress", "toTokenAddress")
_IDS = ("id", "ticketId", "hash")
_FROM_A_QUOTE = ("aggregator", "routeSummary")


@dataclass(frozen=True, slots=True)
class Target:
    """A request at an edge."""

    operation_id: str
    edge: Edge
    draft: Draft

    @property
    def probe(self) -> ProbeName:
        """The name of its probe."""
        return ProbeName.at(self.operation_id, self.edge)


def targets_of(context: RunContext, operation: Operation) -> tuple[Target, ...]:
    """Return the targets of an operation, those that say most first."""
    found: dict[str, Target] = {}
    for target in (_submissions if operation.writes else _reads)(context, operation):
        found.setdefault(target.probe, target)
    return tuple(found.values())


def _submissions(context: RunContext, operation: Operation) -> Iterator[Target]:
    with suppress(NotRun, Inconclusive):
        for edge, about in submissions(context, operation.id):
            deposit = deposit_of(context, edge.label)
            draft = valid_request(context, operation.id, deposit=deposit, **about)
            yield Target(operation.id, edge, draft)


def _reads(context: RunContext, operation: Operation) -> Iterator[Target]:
    usual = usual_or_unknown(context, operation)
    if usual is not None:
        yield from _sound(context, operation, usual)
    yield from _about(context, operation, subjects(context, operation.id))
    yield from _wrong_elsewhere(context, operation)
    yield from _about(context, operation, known_elsewhere(context, operation.id))
    if usual is not None:
        yield from _doubtful(context, operation, usual)


def _about(
    context: RunContext, operation: Operation, about: Iterable[tuple[Edge, About]]
) -> Iterator[Target]:
    with suppress(NotRun, Inconclusive):
        for edge, one in about:
            yield Target(operation.id, edge, valid_request(context, operation.id, **one))


def _wrong_elsewhere(context: RunContext, operation: Operation) -> Iterator[Target]:
    """Yield requests that are wrong like the usual one, and about something else.

    A service that puts a value of its own in the place of a wrong one may refuse the usual request
    all the same, since the rest does not fit that value: it has another coin, or other decimals.
    """
    for case in (*missing_inputs(operation), *WRONG_VALUES.of(operation)):
        with suppress(NotRun, Inconclusive):
            for label, about in other_subjects(context, operation.id, case.place.partition(".")[2]):
                base = valid_request(context, operation.id, **about)
                draft = signed(case.change(base, context), operation, context.caller)
                words = f"{case.words} of {label}"
                edge = Edge(words, EdgeKind.WRONG, sound=False, of=case.words)
                yield Target(operation.id, edge, draft)


def _sound(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield the usual request with one input at an edge that the contract allows."""
    yield Target(operation.id, Edge("once more", EdgeKind.ONCE_MORE), usual)
    if len(usual.query) > 1 or len(usual.body or ()) > 1:
        turned = signed(reversed_inputs(usual), operation, context.caller)
        edge = Edge("parameters in reverse order", EdgeKind.SAME_MEANING)
        yield Target(operation.id, edge, turned)
    for field in inputs(operation):
        for label, value in _allowed(field, usual):
            draft = _changed(context, operation, usual, field, value)
            yield Target(operation.id, _edge_of(field, label), draft)
    afterwards = Edge("once more, after other forms of it", EdgeKind.AFTERWARDS)
    yield Target(operation.id, afterwards, usual)
    yield from _combinations(context, operation, usual)


def _doubtful(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield the usual request with one input at an edge that a service may refuse."""
    roles = {field.role: field for field in operation.fields}
    values = [(f, label, value) for f in inputs(operation) for label, value in _odd(f, usual)]
    for one, other in (("fromChain", "toChain"), ("fromTokenAddress", "toTokenAddress")):
        if one in roles and other in roles:
            value = usual.part(roles[one].location).get(roles[one].name)
            values.append((roles[other], f"as {one}", value))
    for field, label, value in values:
        draft = _changed(context, operation, usual, field, value)
        yield Target(operation.id, _edge_of(field, label, sound=False), draft)


def _edge_of(field: Field, label: str, *, sound: bool = True) -> Edge:
    kind = EdgeKind.SLIPPAGE if field.role == "slippage" else EdgeKind.OTHER
    kind = EdgeKind.SAME_MEANING if label in _OF_HEX else kind
    return Edge(f"{field.name} {label}", kind, sound)


def reversed_inputs(draft: Draft) -> Draft:
    """Return a request with its parameters, and the members of its body, in reverse order."""
    query = dict(reversed(list(draft.query.items())))
    body = None if draft.body is None else dict(reversed(list(draft.body.items())))
    return replace(draft, query=query, body=body)


def inputs(operation: Operation) -> Iterator[Field]:
    """Yield the inputs that are not about who asks."""
    signed_headers = ("appKey", "expireTime", "timestamp", "signature", "userAddress")
    return (field for field in operation.fields if field.role not in signed_headers)


def _allowed(field: Field, usual: Draft) -> Iterable[tuple[str, Json]]:
    before = usual.part(field.location).get(field.name)
    values: Iterable[Json] = field.values
    if "boolean" in field.types:
        return [("is true", True), ("is false", False)]
    if field.is_amount and not values:
        if "number" not in field.types:
            return [(f"of {count} digits", ("1234567890" * 8)[:count]) for count in DIGITS]
        values = _LARGE_NUMBERS
    values = values or _ALLOWED.get(field.role, ())
    if not values and field.role in (*_ADDRESSES, *_CONTRACTS, "hash") and is_hex(before):
        text = str(before)
        return list(zip(_OF_HEX, (f"0x{text[2:].upper()}", text.lower()), strict=True))
    return [(f"is {value}", value) for value in values]


def _odd(field: Field, usual: Draft) -> Iterator[tuple[str, Json]]:
    before, is_number = str(usual.part(field.location).get(field.name, "")), "number" in field.types
    if field.is_amount and is_number:
        yield from ((f"is {value}", value) for value in _ODD_NUMBERS)
    elif field.is_amount or field.role in _NOT_ALLOWED:
        values = _ODD_AMOUNTS if field.is_amount else _NOT_ALLOWED[field.role]
        yield from ((f"is {value!r}", value) for value in values)
    elif field.role in _IDS:
        yield from ((f"is {value}", value) for value in ("-1", "0", str(2**32), str(2**63)))
        yield "in letters", "abcdef"
        yield f"of {_LONG} characters", "9" * _LONG
        if before.startswith("0x"):
            yield "without 0x", before[2:]
    if (field.is_amount and is_number) or field.role == "feeLevel":
        yield "as a text", before
    if field.location == "body" and {"number", "integer"} & set(field.types):
        yield "in letters", "abc"
    elif field.role in _FROM_A_QUOTE:
        yield "of nobody", "Nobody"
        yield f"of {_VERY_LONG} characters", "a" * _VERY_LONG
    if "string" not in field.types or field.role not in (*NAMES, *_ADDRESSES):
        return
    yield f"of {_VERY_LONG} characters", (before + "x" * _VERY_LONG)[:_VERY_LONG]
    if field.location != "headers":
        yield "that is not ASCII", f"{before}é漢"
        yield "with a control character", f"{before}\x01"
    if field.role in NAMES:
        yield "in lower case", before.lower()
        yield "with a quotation mark", f"{before}'\""
        yield "with blanks around it", f" {before} "
    else:
        yield "that is short", before[:6]


def _combinations(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield every combination of optional inputs, and of those with a choice of two."""
    # One name may be taken in two places, and means the same in both.
    known = {
        field.name: value
        for field in inputs(operation)
        if not field.required and (value := _optional_value(operation, field, usual)) is not None
    }
    optional = [(one, known[one.name]) for one in inputs(operation) if one.name in known]
    if not optional:
        return
    flags = [(field, (True, False)) for field in operation.fields if "boolean" in field.types]
    choices = [*((field, (value, None)) for field, value in optional), *flags]
    for chosen in product(*(values for _, values in choices)):
        draft, words = usual, []
        for (field, _), value in zip(choices, chosen, strict=True):
            if value is None:
                draft = draft.without(field.location, field.name)
                words.append(f"without {field.name}")
            else:
                draft = draft.having(field.location, field.name, value)
                is_flag = isinstance(value, bool)
                said = f"{field.name} {str(value).lower()}" if is_flag else f"with {field.name}"
                words.append(said)
        draft = signed(draft, operation, context.caller)
        yield Target(operation.id, Edge(", ".join(words), EdgeKind.COMBINATION), draft)


def _optional_value(operation: Operation, field: Field, usual: Draft) -> Json:
    """Return a value of an optional input: the usual one, the example's, or a long text.

    None where nothing is known that would keep to what the contract asks of it.
    """
    example = operation.row.get("example", {}).get(field.location, {})
    known = usual.part(field.location).get(field.name, example.get(field.name))
    is_free = "string" in field.types and not {"allOf", "pattern", "enum"} & set(field.schema)
    return known or (f'{{"route":"{"a" * _VERY_LONG}"}}' if is_free else None)


def _changed(
    context: RunContext, operation: Operation, usual: Draft, field: Field, value: Json
) -> Draft:
    draft = usual.having(field.location, field.name, value)
    if field.role == "evmAddress":
        for other in operation.fields:
            # They are equal where the source is an EVM chain (interface.md 2.2).
            if other.role == "fromAddress" and "string" in other.types:
                draft = draft.having(other.location, other.name, value)
    return signed(draft, operation, context.caller)


def is_hex(value: Json) -> bool:
    """Tell whether a value is a text of hex digits behind 0x."""
    return isinstance(value, str) and value.startswith("0x") and len(value) > len("0x")
