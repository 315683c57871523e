"""Contracts by dialect, and the erratum that explains why a request does not fit."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from mockserver.contract import Contract, ContractSource, Erratum, Operation
from mockserver.contract.fast_request_reading import is_note
from mockserver.fast_dataclass import keep
from mockserver.http_messages import Request
from mockserver.jsontext import Schema
from mockserver.validation import Violation

SchemaPlace = tuple[str | int, ...]
"""Where a part of a request schema stands, by keys and indexes; without any it is all of it."""

_COMPARED_APART = ("properties", "required", "allOf")
# How long the place of a part is: `properties`, a location, a keyword, and a name or an index.
_PART_LENGTH = 4


def places_of(violations: Iterable[Violation]) -> frozenset[SchemaPlace]:
    """Return the parts of a schema, of which one must change for a violation to go away."""
    return frozenset([(), *map(_part, violations)])


def _part(violation: Violation) -> SchemaPlace:
    path, place = violation.path, violation.schema_path
    if not place:
        # An error of the reader itself, such as an input that is given twice.
        return ("properties", *path[:1], "properties", *path[1:2])
    if place[-1] == "required" and len(place) < _PART_LENGTH:
        return (*place, path[-1])
    named = place[2:3] in (("properties",), ("allOf",))
    return place[: _PART_LENGTH if named else _PART_LENGTH - 1]


def changed(schema: Schema, second_schema: Schema) -> frozenset[SchemaPlace]:
    """Return the parts of one request schema that are different or missing in another one.

    Only violations of these parts may be accepted by the other schema.
    """
    parts, others = schema.get("properties", {}), second_schema.get("properties", {})
    if _rest(schema) != _rest(second_schema) or parts.keys() != others.keys():
        return frozenset({()})
    return frozenset(
        place for location in parts for place in _parts(location, parts[location], others[location])
    ) | {("required", name) for name in _freed(schema, second_schema)}


def _parts(location: str, schema: Schema, second_schema: Schema) -> Iterator[SchemaPlace]:
    inputs, others = schema.get("properties", {}), second_schema.get("properties", {})
    names = [name for name in inputs if inputs[name] != others.get(name)]
    # Conditions see the typed value, which changes where the type of an input changes.
    retyped = location != "body" and inputs != others
    for index, part in enumerate(schema.get("allOf", ())):
        if retyped or part not in second_schema.get("allOf", ()):
            yield "properties", location, "allOf", index
    if retyped or inputs.keys() != others.keys() or _rest(schema) != _rest(second_schema):
        yield from (("properties", location, key) for key in _rest(schema))
    yield from (("properties", location, "properties", name) for name in names)
    for name in _freed(schema, second_schema):
        yield "properties", location, "required", name


def _freed(schema: Schema, second_schema: Schema) -> list[str]:
    """Return the names that one schema requires and the other does not."""
    return [
        name for name in schema.get("required", ()) if name not in second_schema.get("required", ())
    ]


def _rest(schema: Schema) -> dict[str, Any]:
    return {
        key: value
        for key, value in schema.items()
        if key not in _COMPARED_APART and not is_note(key)
    }


# An erratum, an operation under its other reading, and the parts that then differ.
_Turned = tuple[Erratum, Operation, frozenset[SchemaPlace]]

# Explaining reads a request once for each erratum.
_MOST_EXPLAINED_BYTES = 65_536
_MOST_CONTRACTS = 256
# How long the path to an input is: a location and a name.
_INPUT_LENGTH = 2


class Contracts:
    """The contract in every requested dialect, each made once."""

    def __init__(self, source: ContractSource | None = None) -> None:
        """Make contracts from the shipped data, or from another source."""
        self.source = source or ContractSource()
        self._made: OrderedDict[str, Contract] = OrderedDict()
        self._others: dict[Operation, tuple[_Turned, ...]] = {}

    def get(self, spec: str) -> Contract:
        """Return the contract in a dialect. Raises `UnknownDialect`."""
        if spec not in self._made:
            self._made[spec] = self.source.contract(spec)
            if len(self._made) > _MOST_CONTRACTS:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(spec)
        return self._made[spec]

    def explanation(self, contract: Contract, operation: Operation, request: Request) -> str:
        """Return which errata explain a request that breaks the contract; empty where none does.

        A long body is not read again for each of them: those of real clients are short.
        """
        if len(request.body) > _MOST_EXPLAINED_BYTES:
            return ""
        return "; ".join(
            _sentence(erratum, applied=contract.dialect.applies(erratum.id))
            for erratum in self._explaining(contract, operation, request)
        )

    def where_path_exists(self, contract: Contract, method: str, path: str) -> str:
        """Return which erratum adds a path that this dialect does not have; empty where none."""
        operation = self.get("observed").find(method, path)
        if operation is None:
            return ""
        row = f"/operations/{operation.id}"
        for erratum in contract.errata:
            adds = any(change["path"] == row for change in erratum.changes)
            if adds and not contract.dialect.applies(erratum.id):
                return _sentence(erratum, applied=False)
        return ""

    def _explaining(
        self, contract: Contract, operation: Operation, request: Request
    ) -> Iterator[Erratum]:
        """Yield the errata that, turned the other way, leave fewer violations."""
        violations = operation.read(request).violations
        others = self._others.get(operation)
        if others is None:
            others = tuple(self._turned(contract, operation))
            keep(self._others, operation, others, _MOST_CONTRACTS)
        explained = places_of(violations)
        for erratum, dialect_operation, places in others:
            if places.isdisjoint(explained):
                continue
            owed = violations
            if contract.dialect.applies(erratum.id):
                # The value of an input that only the erratum has cannot be explained by it.
                owed = tuple(
                    violation
                    for violation in violations
                    if _knows_input(dialect_operation, violation)
                )
            if len(dialect_operation.violations(request)) < len(owed):
                yield erratum

    def _turned(self, contract: Contract, operation: Operation) -> Iterator[_Turned]:
        """Yield the errata that change an operation, and what it is with each turned."""
        applied = contract.dialect.errata
        for erratum in contract.errata:
            if operation.id not in erratum.operations or not erratum.changes:
                continue
            turned = [name for name in applied if name != erratum.id]
            if erratum.id not in applied:
                turned.append(erratum.id)
            dialect_operation = self.get(",".join(turned) or "documented").get(operation.id)
            if dialect_operation is not None:
                places = changed(operation.request_schema, dialect_operation.request_schema)
                if places:
                    yield erratum, dialect_operation, places


def _knows_input(operation: Operation, violation: Violation) -> bool:
    if len(violation.path) < _INPUT_LENGTH or violation.keyword == "required":
        return True
    location, name = violation.path[:_INPUT_LENGTH]
    inputs = operation.request_schema.get("properties", {}).get(location, {})
    return name in inputs.get("properties", {})


def _sentence(erratum: Erratum, *, applied: bool) -> str:
    if applied:
        form, wanted = "documented", "without that erratum"
    else:
        form, wanted = "observed", f"with --dialect observed or --erratum {erratum.id}"
    return f"this is the {form} form of erratum {erratum.id} ({erratum.title}), served {wanted}"
