"""Values whose domain nobody shows: only what examples, recordings and earlier exchanges carry."""

from collections.abc import Iterable, Mapping, Sequence

from mockserver.conformance.generation.constraints import Demand, breaks
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Field, Operation
from mockserver.exchange import Request
from mockserver.jsontext import Json

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
"""Inputs of which the description shows a type, and neither the values nor what they mean."""

HANDED_OUT = ("hash", "certHash", "sourceCerts", "id", "ticketId", "sn")
"""Inputs that only earlier requests and answers make mean something."""

_MOST = 12
_LONGEST = 400


def assumed_domains(operation: Operation) -> tuple[str, ...]:
    """Return the inputs of an operation whose values are taken from examples only."""
    return tuple(field.name for field in operation.fields if field.role in UNKNOWN_DOMAINS)


def pool(
    context: RunContext, operation: Operation, field: Field, demands: Sequence[Demand]
) -> list[Json]:
    """Return the values of an input that are known to mean something, the example's first."""
    found: dict[str, Json] = {}
    for value in _candidates(context, operation, field):
        fits = isinstance(value, str | int) and not isinstance(value, bool)
        if fits and len(str(value)) <= _LONGEST:
            typed = _typed(value, field)
            if typed is not None and not any(breaks(one, typed) for one in demands):
                found.setdefault(str(typed), typed)
    return list(found.values())[:_MOST]


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
    """Return a value in the type of its input, None where it has none of it."""
    if "string" in field.types or not field.types:
        return str(value)
    text = str(value)
    if {"integer", "number"} & set(field.types) and text.isdecimal() and len(text) < 40:
        return int(text)
    return None
