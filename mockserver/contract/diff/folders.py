"""Folders of the form of `schemas/`, and the shipped contract, read into the neutral form."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from mockserver import documents
from mockserver.contract.basis import Basis, kind_of
from mockserver.contract.contract import Contract
from mockserver.contract.dialect import DOCUMENTED, UnknownDialect, apply
from mockserver.contract.diff.files import read_file, read_schema
from mockserver.contract.diff.nodes import Part, Parts
from mockserver.contract.diff.openapidocs import read_document
from mockserver.contract.diff.references import References
from mockserver.contract.diff.sides import Saying, Side, SideOperation
from mockserver.contract.diff.wellformed import problems
from mockserver.contract.load import ENDPOINTS, ERRATA, REFUSALS, ContractSource, resolved
from mockserver.contract.openapi import document
from mockserver.contract.operation import Operation
from mockserver.errors import InvalidFile, Problem
from mockserver.validation import shown

_GENERATIONS = ("v1", "v2")


class StrictSource(ContractSource):
    """A contract source whose files are read as strictly as messages are."""

    def _read(self, path: Path) -> Any:
        return read_schema(path) if path.suffix == ".json" else read_file(path)


def read_shipped(dialect: str) -> Side:
    """Return the shipped contract in a dialect as one version. Raises `UnknownDialect`."""
    source = StrictSource()
    return _side(source, source.dialect(dialect).name, dialect, f"dialect {dialect!r}")


def read_folder(root: Path, dialect: str) -> Side:
    """Return a folder in a dialect as one version. Raises `InvalidFile` or `UnknownDialect`."""
    if not (root / ENDPOINTS).is_file():
        text = f"expected a folder of the form of `schemas/`, with {ENDPOINTS} in it"
        raise InvalidFile([Problem(root, None, "", text)])
    source = StrictSource(root)
    for name in (ENDPOINTS, REFUSALS, *((ERRATA,) if dialect != DOCUMENTED else ())):
        documents.read(root / name, name.removesuffix(".yaml"))
    found = [*_broken_schemas(source), *_lost_names(source)]
    if found:
        raise InvalidFile(found)
    label = str(root) if dialect == DOCUMENTED else f"{root} ({dialect})"
    return _side(source, dialect, dialect, label)


def _side(source: StrictSource, name: str, dialect: str, label: str) -> Side:
    raw, contract = _patched(source, name), _contract(source, dialect)
    side = read_document(document(contract, None, version="0"), source.root, label)
    operations = tuple(_completed(one, contract.operation(one.id)) for one in side.operations)
    return replace(
        side,
        operations=operations,
        refusals=dict(_sayings(raw[REFUSALS]["refusals"])),
        unknown_names=str(raw[ENDPOINTS]["unknown_names"]),
        success={name: one.success for name, one in contract.generations.items()},
        failure={name: one.failure for name, one in contract.generations.items()},
        wording=dict(_wording(raw[ENDPOINTS]["generations"])),
    )


def _wording(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], Basis]]:
    for name, row in rows.items():
        for fact in row.get("basis", ()):
            source = str(fact.get("source", fact.get("assumption", "")))
            yield (name, fact["field"]), Basis(kind_of(fact["basis"]), str(row["section"]), source)


def _completed(side: SideOperation, operation: Operation) -> SideOperation:
    return replace(
        side,
        generation=operation.generation.id,
        auth=frozenset([operation.auth]),
        effect=operation.row["effect"],
        basis=side.basis.below(operation.row),
        together=dict(_together(operation, side.section)),
    )


def _together(operation: Operation, basis: Basis) -> Iterator[tuple[str, Parts]]:
    """Yield what holds for inputs together, which a document cannot say of its parameters."""
    for location, name in (("headers", "header"), ("query", "query")):
        part = operation.request_schema.get("properties", {}).get(location, {})
        branches = [_joint(part, without="properties"), *map(_joint, part.get("allOf", ()))]
        yield name, tuple(Part(one, basis.below(part)) for one in branches if one)


def _joint(schema: Mapping[str, Any], without: str = "") -> dict[str, Any]:
    # Which names there are is told of the parameters themselves.
    left = ("additionalProperties", "allOf", "description", without)
    return {key: value for key, value in schema.items() if key not in left}


def _patched(source: StrictSource, dialect: str) -> dict[str, Any]:
    named = source.dialect(dialect)
    if not named.errata:
        return source.raw
    try:
        return apply(source.raw, source.errata, named)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidFile([Problem(source.root / ERRATA, None, "errata", str(error))]) from None


def _contract(source: StrictSource, dialect: str) -> Contract:
    try:
        return source.contract(dialect)
    except (KeyError, RecursionError) as error:
        # Errata may name a file that is not there, or close a circle of references.
        text = f"in the dialect {dialect!r} a schema is missing or refers to itself: {error}"
        raise InvalidFile([Problem(source.root / ERRATA, None, "errata", text)]) from None


def _sayings(rows: list[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], Saying]]:
    for row in rows:
        for generation in _GENERATIONS:
            told = row[generation]
            source = str(told.get("source", told.get("assumption", "")))
            basis = Basis(kind_of(told.get("basis", "documented")), "", source)
            http, status = int(row.get("http", 200)), told.get("status")
            saying = Saying(int(told["code"]), str(told["msg"]), http, status, basis)
            yield (row["name"], generation), saying


def _broken_schemas(source: StrictSource) -> Iterator[Problem]:
    for name, schema in source.raw.items():
        if name.endswith(".json"):
            # References lead to other files here, so that they are looked at apart.
            references = References(schema, source.root / name)
            yield from problems(_unreferred(schema), references, "", set())
            yield from _lost_references(source, name)


def _unreferred(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _unreferred(value) for key, value in node.items() if key != "$ref"}
    return [_unreferred(one) for one in node] if isinstance(node, list) else node


def _lost_references(source: StrictSource, name: str) -> Iterator[Problem]:
    """Yield the references of a file that lead nowhere or, over other files, back to it."""
    folder = PurePosixPath(name).parent
    for place, reference in _references(source.raw[name], ""):
        target = resolved(folder, reference)
        if target not in source.raw:
            text = f"the reference {shown(reference)} leads nowhere"
            yield Problem(source.root / name, None, place, text)
        elif name in _reached(source, target):
            text = f"the reference {shown(reference)} leads back to the file itself"
            yield Problem(source.root / name, None, place, text)


def _reached(source: StrictSource, name: str) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        current = waiting.pop()
        folder = PurePosixPath(current).parent
        targets = {resolved(folder, one) for _, one in _references(source.raw[current], "")}
        waiting.extend(targets & source.raw.keys() - found)
        found |= targets
    return found


def _references(node: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            at = f"{place}.{key}" if place else str(key)
            if key == "$ref":
                yield at, value
            else:
                yield from _references(value, at)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _references(value, f"{place}[{index}]")


def _lost_names(source: StrictSource) -> Iterator[Problem]:
    """Yield the schemas and generations that the table names, and nobody has."""
    table, file = source.raw[ENDPOINTS], source.root / ENDPOINTS
    for name, row in table["generations"].items():
        if row["envelope"] not in source.raw:
            place = f"generations.{name}.envelope"
            yield Problem(file, None, place, f"there is no file {shown(row['envelope'])}")
    for index, row in enumerate(table["operations"]):
        place = f"operations[{index}]"
        if row["generation"] not in table["generations"]:
            text = f"there is no generation {shown(row['generation'])}"
            yield Problem(file, None, f"{place}.generation", text)
        for key in ("request", "data"):
            if row[key] not in source.raw:
                yield Problem(file, None, f"{place}.{key}", f"there is no file {shown(row[key])}")


def is_dialect(name: str) -> bool:
    """Tell whether a word names a dialect of the shipped contract."""
    try:
        StrictSource().dialect(name)
    except UnknownDialect:
        return False
    return True
