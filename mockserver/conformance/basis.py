"""The basis of a keyword of a schema that is broken: the nearest one above it in the schema."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mockserver.contract import Basis, BasisKind, Field, Operation, shipped_facts
from mockserver.contract.facts import basis_along, nodes_along
from mockserver.jsontext import Schema
from mockserver.validation import Violation, dotted

_ARTICLES = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

# How people write what stands for each item of a list, and each value of a map.
_GENERAL: Mapping[str | int, str] = {"items": "[]", "additionalProperties": "*"}

SchemaPath = tuple[str | int, ...]


def basis_of(operation: Operation, violation: Violation, side: str = "answer") -> Basis:
    """Return the basis of the keyword that an answer, or a `request`, breaks, and what it says."""
    says = _keyword_says(_schema(operation, side), violation.schema_path, dotted(violation.path))
    what = (place_of(violation), violation.keyword)
    return basis_at(operation, side, violation.schema_path, what, says)


def basis_of_required(operation: Operation, field: Field) -> Basis:
    root: SchemaPath = ("properties", field.location)
    part = operation.request_schema["properties"][field.location]
    path: SchemaPath = (*root, "required")
    for number, branch in enumerate(part.get("allOf", ())):
        if field.name in branch.get("required", ()) and field.name not in part.get("required", ()):
            path = (*root, "allOf", number, "required")
    what = (f"{field.location}.{field.name}", "required")
    return basis_at(operation, "request", path, what, f"{field.name} is required")


def basis_of_input(operation: Operation, field: Field) -> Basis:
    path = ("properties", field.location, "properties", field.name, "description")
    place = f"{field.location}.{field.name}"
    return basis_at(operation, "request", path, (place, "description"), place)


def basis_of_row(operation: Operation) -> Basis:
    return shipped_facts().of_row(operation.section).basis


def basis_at(
    operation: Operation, side: str, path: Sequence[str | int], what: tuple[str, str], says: str
) -> Basis:
    """Return the basis of a keyword of a schema; `what` is its place, for people, and its name.

    What stands inside something observed or assumed is no more than that itself. A documented basis
    has the text of its fact, any other one `says`.
    """
    return stated(basis_along(_schema(operation, side), path), operation, side, what, says)


def _schema(operation: Operation, side: str) -> Schema:
    return operation.response_schema if side == "answer" else operation.request_schema


def stated(
    basis: Basis, operation: Operation, side: str, what: tuple[str, str], says: str
) -> Basis:
    """Return a basis with what it says: that of its fact, where it is documented."""
    if basis.kind is not BasisKind.DOCUMENTED:
        return replace(basis, says=says)
    if fact := shipped_facts().behind(operation.id, side, *what):
        return fact.basis
    # A contract of the user's own may have more than the shipped register of facts.
    section = basis.section or operation.section or operation.generation.section
    return Basis(BasisKind.DOCUMENTED, section, "", says)


def place_of(violation: Violation) -> str:
    """Return where a violation is, for all items of a list and all keys of a map alike."""
    names = list(general(violation.schema_path))
    if violation.keyword == "required" and violation.path:
        names.append(str(violation.path[-1]))
    return joined(names)


def general(path: Sequence[str | int]) -> Iterator[str]:
    """Yield the names on the way to a keyword: `[]` for a list's items, `*` for a map's values."""
    rest = deque(path)
    while rest:
        part = rest.popleft()
        if part == "properties":
            # With its name, so that a member called `items` is no keyword.
            yield str(rest.popleft()) if rest else ""
        elif part in _GENERAL and rest:
            yield _GENERAL[part]


def joined(names: Sequence[str]) -> str:
    """Return general names as people write them: `data.list[].symbol`."""
    return ".".join(names).replace(".[]", "[]")


def _keyword_says(schema: Schema, path: SchemaPath, place: str) -> str:
    *_, node = nodes_along(schema, path[:-1])
    keyword = str(path[-1]) if path else ""
    about = node.get("description")
    more = f" ({about})" if isinstance(about, str) else ""
    if keyword == "required":
        return f"{place} is required"
    if keyword == "type":
        kinds = node.get("type", ())
        wanted = [kinds] if isinstance(kinds, str) else list(kinds)
        return f"{place} is {' or '.join(_ARTICLES.get(kind, kind) for kind in wanted)}{more}"
    words = node.get("x-expects")
    if isinstance(words, str):
        return f"{place} is {words}"
    if keyword == "enum":
        return f"{place} is one of {', '.join(map(str, node.get('enum', ())))}"
    return f"{place}{more}" if more else place
