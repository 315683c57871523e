"""Requests at the edges of every input, each of which differs in one thing from the usual one.

Where a service goes wrong for some values only, the usual request shows nothing. The targets are
computed from the contract (bounds, enumerations, optional inputs) and from what the service lists
(every chain, every class of token); no chance is involved but in which token stands for its class.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import product

from mockserver.conformance.requests.negative import WRONG_VALUES, missing_inputs, signed
from mockserver.conformance.requests.subjects import (
    deposit_of,
    known_elsewhere,
    other_subjects,
    subjects,
    submissions,
)
from mockserver.conformance.requests.valid import usual_or_unknown, valid_request
from mockserver.conformance.requests.words import (
    AFTERWARDS,
    AS_USUAL,
    LOWER_HEX,
    REVERSED,
    UPPER_HEX,
    edge,
    wrong_elsewhere,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Field, Operation
from mockserver.jsontext import Json
from mockserver.values import dataclass

DIGITS = (1, 2, 3, 16, 18, 19, 20, 23, 24, 31, 38, 60, 77)
"""Numbers of digits at which amounts outgrow some type: a byte, 2**53, 64 bits, a float's
notation, 128 bits, and the 77 that the contract allows."""
_LONG, _VERY_LONG = 120, 400
_ODD_AMOUNTS = ("0", "01", "+1", "-1", "1.5", "1e3", "")
_ODD_NUMBERS = (Decimal("0.0000001"), Decimal("0.123456789012345678"))
_LARGE_NUMBERS = (Decimal(100_000), Decimal(2_000_000), Decimal(10) ** 12)
_SLIPPAGES = ("0", "1", "50", "500", "1000", "1001", "2001", "5000")
_FEE_LEVELS = (0, 1, 2, 5, 6, 10)
NAMES = ("symbol", "token", "chain", "fromChain", "toChain", "fromToken")
_ADDRESSES = ("address", "sender", "recipient", "evmAddress")
_CONTRACTS = ("contractAddress", "fromTokenAddress", "toTokenAddress")
_IDS = ("id", "ticketId", "hash")
_FROM_A_QUOTE = ("aggregator", "routeSummary")


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
        return f"{self.operation_id}/{edge(self.label, sound=self.sound)}"


def targets_of(context: RunContext, operation: Operation) -> tuple[Target, ...]:
    """Return the targets of an operation, those that say most first."""
    found: dict[str, Target] = {}
    for target in _found(context, operation):
        found.setdefault(target.probe, target)
    return tuple(found.values())


def _found(context: RunContext, operation: Operation) -> Iterator[Target]:
    if operation.writes:
        with suppress(NotRun, Inconclusive):
            for label, about, sound in submissions(context, operation.id):
                deposit = deposit_of(context, label)
                draft = valid_request(context, operation.id, deposit=deposit, **about)
                yield Target(operation.id, label, draft, sound)
        return
    usual = usual_or_unknown(context, operation)
    if usual is not None:
        yield from _values(context, operation, usual)
    with suppress(NotRun, Inconclusive):
        for label, about in subjects(context, operation.id):
            yield Target(operation.id, label, valid_request(context, operation.id, **about))
    yield from _wrong_elsewhere(context, operation)
    with suppress(NotRun, Inconclusive):
        for label, about in known_elsewhere(context, operation.id):
            draft = valid_request(context, operation.id, **about)
            yield Target(operation.id, label, draft, sound=False)
    if usual is not None:
        yield from _odd_values(context, operation, usual)


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
                name = wrong_elsewhere(case.words, label)
                yield Target(operation.id, name, draft, sound=False)


def _values(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield the usual request with one input at an edge that the contract allows."""
    yield Target(operation.id, AS_USUAL, usual)
    if len(usual.query) > 1 or len(usual.body or ()) > 1:
        turned = signed(reversed_inputs(usual), operation, context.caller)
        yield Target(operation.id, REVERSED, turned)
    for field in inputs(operation):
        for label, value in _edges(field, usual):
            draft = _changed(context, operation, usual, field, value)
            yield Target(operation.id, f"{field.name} {label}", draft)
    yield Target(operation.id, AFTERWARDS, usual)
    yield from _combinations(context, operation, usual)


def reversed_inputs(draft: Draft) -> Draft:
    """Return a request with its parameters, and the members of its body, in reverse order."""
    query = dict(reversed(list(draft.query.items())))
    body = None if draft.body is None else dict(reversed(list(draft.body.items())))
    return replace(draft, query=query, body=body)


def _odd_values(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    for field in inputs(operation):
        for label, value in _odd_edges(field, usual):
            draft = _changed(context, operation, usual, field, value)
            yield Target(operation.id, f"{field.name} {label}", draft, sound=False)
    roles = {field.role: field for field in operation.fields}
    for one, other in (("fromChain", "toChain"), ("fromTokenAddress", "toTokenAddress")):
        if one in roles and other in roles:
            value = usual.part(roles[one].location).get(roles[one].name)
            draft = _changed(context, operation, usual, roles[other], value)
            yield Target(operation.id, f"{roles[other].name} as {one}", draft, sound=False)


def inputs(operation: Operation) -> Iterator[Field]:
    """Yield the inputs that are not about who asks."""
    signed_headers = ("appKey", "expireTime", "timestamp", "signature", "userAddress")
    return (field for field in operation.fields if field.role not in signed_headers)


def _edges(field: Field, usual: Draft) -> Iterator[tuple[str, Json]]:
    before = usual.part(field.location).get(field.name)
    if "boolean" in field.types:
        yield from ((f"is {str(value).lower()}", value) for value in (True, False))
    elif choices := _choices(field):
        yield from ((f"is {value}", value) for value in choices)
    elif field.is_amount and "number" in field.types:
        yield from ((f"is {value}", value) for value in _LARGE_NUMBERS)
    elif field.is_amount:
        yield from ((f"of {count} digits", _digits(count)) for count in DIGITS)
    elif field.role == "slippage":
        yield from ((f"is {value}", value) for value in _SLIPPAGES)
    elif field.role == "feeLevel":
        yield from ((f"is {value}", value) for value in _FEE_LEVELS)
    elif field.role in (*_ADDRESSES, *_CONTRACTS, "hash") and is_hex(before):
        yield from _cases_of_hex(str(before))


def _odd_edges(field: Field, usual: Draft) -> Iterator[tuple[str, Json]]:
    before = str(usual.part(field.location).get(field.name, ""))
    if field.is_amount and "number" in field.types:
        yield from ((f"is {value}", value) for value in _ODD_NUMBERS)
        yield "as a text", before
    elif field.is_amount:
        yield from ((f"is {value!r}", value) for value in _ODD_AMOUNTS)
    elif field.role in ("fromDecimal", "toDecimal"):
        yield from ((f"is {value!r}", value) for value in ("-1", "018", "1000"))
    elif field.role == "slippage":
        yield from ((f"is {value!r}", value) for value in ("1.5", "-1", "10001"))
    elif field.role == "feeLevel":
        yield "as a text", before
    elif field.role in _IDS:
        yield from _odd_ids(before)
    if field.location == "body" and {"number", "integer"} & set(field.types):
        yield "in letters", "abc"
    elif field.role in _FROM_A_QUOTE:
        yield "of nobody", "Nobody"
        yield f"of {_VERY_LONG} characters", "a" * _VERY_LONG
    if "string" in field.types and field.role in (*NAMES, *_ADDRESSES):
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
    if field.role in NAMES:
        yield "in lower case", before.lower()
        yield "with a quotation mark", f"{before}'\""
        yield "with blanks around it", f" {before} "
    else:
        yield "that is short", before[:6]


def _combinations(context: RunContext, operation: Operation, usual: Draft) -> Iterator[Target]:
    """Yield every combination of optional inputs, and of those with a choice of two."""
    given = {
        field.name: value
        for field in inputs(operation)
        if not field.required and (value := _optional_value(operation, field, usual)) is not None
    }
    optional = [field for field in inputs(operation) if field.name in given]
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
    context: RunContext, operation: Operation, usual: Draft, field: Field, value: Json
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


def is_hex(value: Json) -> bool:
    """Tell whether a value is a text of hex digits behind 0x."""
    return isinstance(value, str) and value.startswith("0x") and len(value) > len("0x")


def _cases_of_hex(value: str) -> Iterator[tuple[str, Json]]:
    yield UPPER_HEX, f"0x{value[2:].upper()}"
    yield LOWER_HEX, value.lower()
