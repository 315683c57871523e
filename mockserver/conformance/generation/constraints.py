"""The constraints on each input of a request, each with its own basis.

And known values of inputs whose domain is not published: those of examples and earlier exchanges.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from mockserver.conformance.basis import basis_of_required, stated
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Basis, BasisKind, Field, Operation, fact_basis
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.jsontext import Json, Schema

UNKNOWN_DOMAINS = (
    "feeLevel",
    "channel",
    "aggregator",
    "routeSummary",
    "execStrategy",
    "extra",
    "timeout",
    "triggerPrice",
)
"""Inputs whose type is published, but neither their values nor what these mean."""

HANDED_OUT = ("hash", "certHash", "sourceCerts", "id", "ticketId", "sn")
"""Inputs whose values mean something only if they come from earlier requests or answers."""

_MOST_VALUES = 12
_LONGEST = 400
OF_TEXTS = ("pattern", "minLength", "maxLength")


@dataclass(frozen=True, slots=True)
class Constraint:
    """One keyword about an input, and what it stands on. `expects` is the constraint in words."""

    keyword: str
    value: Json
    expects: str
    basis: Basis

    @property
    def is_documented(self) -> bool:
        return self.basis.kind is BasisKind.DOCUMENTED


@dataclass(frozen=True, slots=True)
class Condition:
    """A constraint on one body field that holds where another has a value.

    `wanted` are the values that are right, or where `excluded` is true those that are wrong.
    """

    when: str
    values: tuple[Json, ...]
    field: str
    wanted: tuple[Json, ...]
    excluded: bool
    expects: str
    basis: Basis

    def applies(self, values: Mapping[str, Json]) -> bool:
        """Tell whether it holds for a request with some values, by place."""
        return values.get(f"body.{self.when}") in self.values


def constraints_of(operation: Operation, field: Field) -> tuple[Constraint, ...]:
    place, constraints = f"{field.location}.{field.name}", list[Constraint]()
    for branch, inherited in _branches(field.schema, Basis().below(operation.request_schema)):
        for keyword in filter(branch.__contains__, KEYWORDS):
            expects = _expects(branch, keyword)
            basis = stated(inherited, operation, "request", (place, keyword), expects)
            if field.location == "headers" and keyword == "type":
                # A header is a text: that a service reads it as another type is published for none.
                basis = fact_basis("inputs.header-types")
            constraints.append(Constraint(keyword, branch[keyword], expects, basis))
    return tuple(constraints)


def requirement(operation: Operation, field: Field) -> Basis | None:
    """Return the basis of an input being required; None where it is optional."""
    if field.required:
        return basis_of_required(operation, field)
    for branch, basis in _branches_of(operation, field.location):
        ways = branch.get("anyOf", ())[:1]
        if any(field.name in way.get("required", ()) for way in ways):
            return replace(basis, says=f"{field.name} is required")
    return None


def forbidden(operation: Operation, field: Field) -> Basis | None:
    """Return the basis of an input being forbidden; None where it may be sent."""
    if field.schema.get("not") != {}:
        return None
    _, basis = next(_branches_of(operation, field.location))
    return replace(basis.below(field.schema), says=str(field.schema.get("x-expects", "")))


def is_alternative_input(operation: Operation, field: Field) -> bool:
    """Tell whether an input belongs to a second way of saying what a first one says already."""
    return any(
        field.name in alternative.get("required", ())
        for branch, _ in _branches_of(operation, field.location)
        for alternative in branch.get("anyOf", ())[1:]
    )


def closed(operation: Operation, location: str) -> Basis | None:
    """Return the basis of a location taking declared names only; None where it takes any."""
    for branch, basis in _branches_of(operation, location):
        if branch.get("additionalProperties") is False:
            return replace(basis, says="names that are not declared are refused")
    return None


def conditions(operation: Operation) -> Iterator[Condition]:
    """Yield the constraints that hold in the company of another field's value."""
    for branch, inherited in _branches_of(operation, "body"):
        premises = branch.get("if", {}).get("properties", {})
        then = branch.get("then", {}).get("properties", {})
        for (when, test), (name, node) in product(premises.items(), then.items()):
            values, wanted = _choices(test), _choices(node.get("not", node))
            if values and wanted:
                expects = str(node.get("x-expects", wanted[0]))
                what = (f"body.{name}", "const")
                basis = stated(inherited, operation, "request", what, expects)
                yield Condition(when, values, name, wanted, "not" in node, expects, basis)


def breaks(constraint: Constraint, value: Json) -> bool:
    """Tell whether a typed value breaks a constraint of a keyword other than `type`."""
    if constraint.keyword == "enum":
        return value not in constraint.value
    kinds = (str,) if constraint.keyword in OF_TEXTS else (int, Decimal)
    is_tested = isinstance(value, kinds) and not isinstance(value, bool)
    test = _TESTS.get(constraint.keyword) if is_tested else None
    return test is not None and not test(value, constraint.value)


def strict(pattern: str) -> str:
    """Return a pattern in which `$` is the very end, as JSON Schema means it."""
    return f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern


def _branches_of(operation: Operation, location: str) -> Iterator[tuple[Schema, Basis]]:
    part = operation.request_schema.get("properties", {}).get(location, {})
    return _branches(part, Basis().below(operation.request_schema))


def _branches(node: Schema, inherited: Basis) -> Iterator[tuple[Schema, Basis]]:
    basis = inherited.below(node)
    yield node, basis
    for branch in node.get("allOf", ()):
        yield from _branches(branch, basis)


def _choices(node: Schema) -> tuple[Json, ...]:
    return (node["const"],) if "const" in node else tuple(node.get("enum", ()))


def _expects(node: Schema, keyword: str) -> str:
    if keyword == "type":
        kinds = node["type"]
        return f"type {kinds if isinstance(kinds, str) else ' or '.join(kinds)}"
    if "x-expects" in node:
        return str(node["x-expects"])
    if keyword == "enum":
        return f"one of {', '.join(map(repr, node['enum']))}"
    return f"{keyword} {node[keyword]}"


_TESTS: Mapping[str, Callable[[Json, Json], bool]] = {
    "pattern": lambda value, wanted: re.search(strict(wanted), value) is not None,
    "minimum": lambda value, wanted: bool(value >= wanted),
    "exclusiveMinimum": lambda value, wanted: bool(value > wanted),
    "maximum": lambda value, wanted: bool(value <= wanted),
    "exclusiveMaximum": lambda value, wanted: bool(value < wanted),
    "minLength": lambda value, wanted: len(value) >= wanted,
    "maxLength": lambda value, wanted: len(value) <= wanted,
}
KEYWORDS = ("type", "enum", *_TESTS)
"""The keywords that bound a single value."""


def assumed_domains(operation: Operation) -> tuple[str, ...]:
    """Return the inputs of an operation whose values are taken from examples only."""
    return tuple(field.name for field in operation.fields if field.role in UNKNOWN_DOMAINS)


def pool(
    context: RunContext, operation: Operation, field: Field, constraints: Sequence[Constraint]
) -> list[Json]:
    """Return the values of an input that are known to be valid, the example's first."""
    by_text: dict[str, Json] = {}
    for value in _candidates(context, operation, field):
        fits = isinstance(value, str | int) and not isinstance(value, bool)
        if fits and len(str(value)) <= _LONGEST:
            typed = _typed(value, field)
            if typed is not None and not any(breaks(each, typed) for each in constraints):
                by_text.setdefault(str(typed), typed)
    return list(by_text.values())[:_MOST_VALUES]


def _candidates(context: RunContext, operation: Operation, field: Field) -> Iterable[Json]:
    example = operation.row.get("example", {}).get(field.location, {})
    if field.name in example:
        yield example[field.name]
    for exchange in context.exchanges:
        if exchange.succeeded:
            if field.role in (*UNKNOWN_DOMAINS, *HANDED_OUT):
                yield exchange.data.get(field.role)
            if exchange.operation is operation:
                yield parts_of(exchange.request)[field.location].get(field.name)


def parts_of(request: Request) -> Mapping[str, Mapping[str, Json]]:
    """Return what a request carries by location; nothing where that cannot be read."""
    return {"query": request.parameters, "body": request.members, "headers": request.headers}


def _typed(value: Json, field: Field) -> Json:
    """Return a value as the type of its input, None where it cannot be one."""
    text = str(value)
    if "string" in field.types or not field.types:
        return text
    is_number = {"integer", "number"} & set(field.types) and text.isdecimal() and len(text) < 40
    return int(text) if is_number else None
