"""Contracts by dialect, and the erratum that explains why a request does not fit."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mockserver.contract import Contract, ContractSource, Erratum, Operation, Source
from mockserver.contract.quickreading import tied_names
from mockserver.contract.reading import LOCATIONS
from mockserver.exchange import Request
from mockserver.validation import Violation
from mockserver.values import keep

Place = tuple[str, str]
"""A location and the name of an input; `*` stands for all."""

_ALL = "*"
_OWN = ("properties", "required")


def may_undo(changed: frozenset[Place], violations: Iterable[Violation]) -> bool:
    """Tell whether a reading that differs in some inputs may have nothing against a violation."""
    if (_ALL, _ALL) in changed:
        return True
    for violation in violations:
        location, name = (*map(str, violation.path[:2]), _ALL, _ALL)[:2]
        if (location, name) in changed or (location, _ALL) in changed:
            return True
        # What is wrong with all of a location may hang on any of its inputs.
        if name == _ALL and any(place == location for place, _ in changed):
            return True
    return False


def changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> frozenset[Place]:
    """Return the inputs that one request schema reads differently from another one."""
    parts, others = one.get("properties", {}), other.get("properties", {})
    if _rest(one) != _rest(other) or ("body" in parts) is not ("body" in others):
        return frozenset({(_ALL, _ALL)})
    return frozenset(
        (location, name)
        for location in LOCATIONS
        for name in _names(location, parts.get(location, {}), others.get(location, {}))
    )


def _names(location: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in a location of which two schemas say different things, or `*`."""
    inputs, others = one.get("properties", {}), other.get("properties", {})
    names = {name for name in {**inputs, **others} if inputs.get(name) != others.get(name)}
    names |= set(one.get("required", ())) ^ set(other.get("required", ()))
    yield from names
    # A text in a header or a query becomes what its input says, and conditions look at that.
    conditions = location != "body" and (
        tied_names(one) != frozenset() or tied_names(other) != frozenset()
    )
    if _rest(one) != _rest(other) or (names and conditions):
        yield _ALL


def _rest(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _OWN}


_EXPLAINED = 65_536
_KEPT = 256
_KEPT_CHANGES = 1_024
_INPUT = 2
"""How long the path to an input is: a location and a name."""


class Contracts:
    """The contract in every dialect that was asked for, each made once."""

    def __init__(self, source: Source | None = None) -> None:
        """Make contracts from the shipped data, or from another source."""
        self.source: Source = source or ContractSource()
        self._made: OrderedDict[str, Contract] = OrderedDict()
        self._others: dict[tuple[Operation, str], tuple[Operation | None, frozenset[Place]]] = {}

    def get(self, spec: str) -> Contract:
        """Return the contract in a dialect. Raises `UnknownDialect`."""
        if spec not in self._made:
            self._made[spec] = self.source.contract(spec)
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(spec)
        return self._made[spec]

    def explanation(self, contract: Contract, operation: Operation, request: Request) -> str:
        """Return which errata explain a request that breaks the contract; empty where none does.

        A long body is not read again for each of them: no client's own is.
        """
        if len(request.body) > _EXPLAINED:
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
        for erratum in contract.errata:
            if operation.id not in erratum.operations or not erratum.changes:
                continue
            other, places = self._other(contract, operation, erratum.id)
            if other is None or not may_undo(places, violations):
                continue
            owed = violations
            if contract.dialect.applies(erratum.id):
                # A value of an input that the erratum itself brings has no other form without it.
                owed = tuple(one for one in violations if _known(other, one))
            if len(other.violations(request)) < len(owed):
                yield erratum

    def _other(
        self, contract: Contract, operation: Operation, erratum: str
    ) -> tuple[Operation | None, frozenset[Place]]:
        """Return an operation with an erratum turned, and what that changes; worked out once."""
        key = operation, erratum
        found = self._others.get(key)
        if found is None:
            other = self._turned(contract, erratum).get(operation.id)
            schema = {} if other is None else other.request_schema
            found = other, changed(operation.request_schema, schema)
            keep(self._others, key, found, _KEPT_CHANGES)
        return found

    def _turned(self, contract: Contract, erratum: str) -> Contract:
        applied = contract.dialect.errata
        turned = [one for one in applied if one != erratum]
        if erratum not in applied:
            turned.append(erratum)
        return self.get(",".join(turned) or "documented")


def _known(operation: Operation, violation: Violation) -> bool:
    """Tell whether an operation knows the input whose value a violation is about, if it is one."""
    if len(violation.path) < _INPUT or violation.keyword == "required":
        return True
    location, name = violation.path[:_INPUT]
    inputs = operation.request_schema.get("properties", {}).get(location, {})
    return name in inputs.get("properties", {})


def _sentence(erratum: Erratum, *, applied: bool) -> str:
    if applied:
        form, wanted = "documented", "without that erratum"
    else:
        form, wanted = "observed", f"with --dialect observed or --erratum {erratum.id}"
    return f"this is the {form} form of erratum {erratum.id} ({erratum.title}), served {wanted}"
