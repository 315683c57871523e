"""Finds what the user names as OLD or NEW, and reads it into the neutral form."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from mockserver import documents, jsontext
from mockserver.contract.dialect import DOCUMENTED, OBSERVED, UnknownDialect, apply
from mockserver.contract.diff.changes import CannotCompare
from mockserver.contract.diff.nodes import Part, Parts
from mockserver.contract.diff.openapidocs import read_document
from mockserver.contract.diff.references import references_in
from mockserver.contract.diff.sides import Side, SideOperation
from mockserver.contract.facts import Basis, basis_of_row
from mockserver.contract.load import ENDPOINTS, ERRATA, REFUSALS, Contract, ContractSource, resolved
from mockserver.contract.openapi import document
from mockserver.contract.operation import Operation
from mockserver.errors import InvalidFile, Problem
from mockserver.validation import excerpt


def read_side(name: str, dialect: str = DOCUMENTED) -> Side:
    """Return one version: a folder (in a dialect), a document, or a dialect of ours by its name.

    Raises `CannotCompare`, `InvalidFile` or `UnknownDialect` with a sentence that says what is
    wrong, in which file and where.
    """
    if name not in (DOCUMENTED, OBSERVED):
        path = Path(name)
        try:
            there, is_folder = bool(name) and path.exists(), path.is_dir()
        except (OSError, ValueError):
            there = is_folder = False
        if there:
            return _folder(path, dialect) if is_folder else read_document(_read(path), path, name)
    try:
        return _side(_StrictSource(), name, f"dialect {name!r}")
    except UnknownDialect:
        raise CannotCompare(
            f"{name!r} is not there: expected a folder of schemas, an OpenAPI 3.1 document, "
            "or a dialect: 'documented', 'observed' or errata such as 'E-01,E-05'"
        ) from None


def _read(file: Path) -> Any:
    """Return the value of a JSON or YAML file, read as strictly as a message."""
    text, suffix = documents.text_of(file), file.suffix.lower()
    looks_like_json = suffix == ".json" or text.lstrip()[:1] in ("{", "[")
    if suffix in (".yaml", ".yml") or not looks_like_json:
        return documents.parse(text, file).value
    try:
        return jsontext.decode(text.encode())
    except jsontext.NotJson as error:
        raise _invalid(file, "", f"not JSON: {error}") from None


def _invalid(file: Path, place: str, message: str) -> InvalidFile:
    return InvalidFile([Problem(file, None, place, message)])


class _StrictSource(ContractSource):
    """A contract source whose files are read as strictly as messages are."""

    def _read(self, path: Path) -> Any:
        value = _read(path)
        if path.suffix == ".json" and not isinstance(value, dict):
            raise _invalid(path, "", "expected a schema, that is a JSON object")
        return value


def _folder(root: Path, dialect: str) -> Side:
    if not (root / ENDPOINTS).is_file():
        text = f"expected a folder of the form of `schemas/`, with {ENDPOINTS} in it"
        raise _invalid(root, "", text)
    source = _StrictSource(root)
    for name in (ENDPOINTS, REFUSALS, *((ERRATA,) if dialect != DOCUMENTED else ())):
        documents.read(root / name, name.removesuffix(".yaml"))
    schemas = [name for name in source.raw if name.endswith(".json")]
    found = [
        Problem(root / name, None, one.field, one.message)
        for name in schemas
        for one in documents.foreign_check("schema").violations(source.raw[name])
    ]
    found += _lost_names(source)
    # Only in valid schemas: others are reported already.
    found = found or [one for name in schemas for one in _lost_references(source, name)]
    if found:
        raise InvalidFile(found)
    return _side(source, dialect, str(root) if dialect == DOCUMENTED else f"{root} ({dialect})")


def _side(source: ContractSource, dialect: str, label: str) -> Side:
    raw, contract = _in_dialect(source, dialect)
    side = read_document(document(contract, None, version="0"), source.root, label)
    return replace(
        side,
        operations=tuple(_completed(one, contract.operation(one.id)) for one in side.operations),
        refusals=contract.refusals,
        unknown_names=str(raw[ENDPOINTS]["unknown_names"]),
        success={name: one.success for name, one in contract.generations.items()},
        failure={name: one.failure for name, one in contract.generations.items()},
        wording={
            (name, fact["field"]): basis_of_row(fact, str(row["section"]))
            for name, row in raw[ENDPOINTS]["generations"].items()
            for fact in row.get("basis", ())
        },
    )


def _in_dialect(source: ContractSource, dialect: str) -> tuple[dict[str, Any], Contract]:
    """Return the documents in a dialect and the contract of them. Raises `InvalidFile`."""
    named, raw = source.dialect(dialect), source.raw
    try:
        if named.errata:
            raw = apply(raw, source.errata, named)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise _invalid(source.root / ERRATA, "errata", str(error)) from None
    try:
        return raw, source.contract(dialect)
    except (KeyError, RecursionError) as error:
        # Errata may name a file that is not there, or close a circle of references.
        text = f"in the dialect {dialect!r} a schema is missing or refers to itself: {error}"
        raise _invalid(source.root / ERRATA, "errata", text) from None


def _completed(side: SideOperation, operation: Operation) -> SideOperation:
    """Return an operation with the data that only a folder has, and no document."""
    return replace(
        side,
        generation=operation.generation.id,
        auth=frozenset([operation.auth]),
        effect=operation.row["effect"],
        basis=side.basis.below(operation.row),
        together=dict(_together(operation, side.section)),
    )


def _together(operation: Operation, basis: Basis) -> Iterator[tuple[str, Parts]]:
    """Yield what holds for the headers or the query as a whole."""
    # Which names there are is reported of the parameters themselves.
    names = ("additionalProperties", "allOf", "description")
    for location, name in (("headers", "header"), ("query", "query")):
        part = operation.request_schema.get("properties", {}).get(location, {})
        branches = [
            _without(part, (*names, "properties")),
            *(_without(one, names) for one in part.get("allOf", ())),
        ]
        yield name, tuple(Part(one, basis.below(part)) for one in branches if one)


def _without(schema: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in names}


def _lost_references(source: ContractSource, name: str) -> Iterator[Problem]:
    """Yield the references of a file that lead nowhere or, over other files, back to it."""
    folder = PurePosixPath(name).parent
    for place, reference in references_in(source.raw[name], ""):
        target = resolved(folder, reference)
        if target not in source.raw:
            text = f"the reference {excerpt(reference)} leads nowhere"
            yield Problem(source.root / name, None, place, text)
        elif name in _reached(source, target):
            text = f"the reference {excerpt(reference)} leads back to the file itself"
            yield Problem(source.root / name, None, place, text)


def _reached(source: ContractSource, name: str) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        current = waiting.pop()
        folder = PurePosixPath(current).parent
        targets = {resolved(folder, one) for _, one in references_in(source.raw[current], "")}
        waiting.extend(targets & source.raw.keys() - found)
        found |= targets
    return found


def _lost_names(source: ContractSource) -> Iterator[Problem]:
    """Yield the schemas and generations that the table names, and nobody has."""
    table, file = source.raw[ENDPOINTS], source.root / ENDPOINTS
    for name, row in table["generations"].items():
        if row["envelope"] not in source.raw:
            place = f"generations.{name}.envelope"
            yield Problem(file, None, place, f"there is no file {excerpt(row['envelope'])}")
    for index, row in enumerate(table["operations"]):
        place = f"operations[{index}]"
        if row["generation"] not in table["generations"]:
            text = f"there is no generation {excerpt(row['generation'])}"
            yield Problem(file, None, f"{place}.generation", text)
        for key in ("request", "data"):
            if row[key] not in source.raw:
                yield Problem(file, None, f"{place}.{key}", f"there is no file {excerpt(row[key])}")
