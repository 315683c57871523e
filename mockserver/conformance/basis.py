"""What a broken keyword stands on: the nearest basis upwards in its schema."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mockserver.conformance.verdict import Basis, assumed, documented, observed
from mockserver.contract import Field, Operation
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

Schema = Mapping[str, Any]
SchemaPath = tuple[str | int, ...]


def basis_of(operation: Operation, violation: Violation) -> Basis:
    """Return the basis of the keyword that an answer breaks, with what it says."""
    schema = operation.response_schema
    fallback = operation.section or operation.generation.section
    says = _told(schema, violation.schema_path, dotted(violation.path))
    return basis_at(schema, violation.schema_path, fallback, says)


def basis_of_request(operation: Operation, violation: Violation) -> Basis:
    """Return the basis of the keyword that a request breaks, with what it says."""
    location = str(violation.path[0]) if violation.path else ""
    schema = operation.request_schema
    says = _told(schema, violation.schema_path, dotted(violation.path))
    return basis_at(schema, violation.schema_path, section_of(operation, location), says, ())


def basis_of_required(operation: Operation, field: Field) -> Basis:
    """Return the basis of an input being required."""
    says = f"{field.name} is required"
    section = section_of(operation, field.location)
    root: SchemaPath = ("properties", field.location)
    part = operation.request_schema["properties"][field.location]
    if field.name in part.get("required", ()):
        return basis_at(operation.request_schema, (*root, "required"), section, says, ())
    for number, branch in enumerate(part.get("allOf", ())):
        if field.name in branch.get("required", ()):
            path = (*root, "allOf", number, "required")
            return basis_at(operation.request_schema, path, section, says, ())
    return documented(section, says)


def basis_at(
    schema: Schema,
    path: Sequence[str | int],
    fallback: str,
    says: str = "",
    section_keys: Sequence[str] = ("x-section",),
) -> Basis:
    """Return the basis of the keyword at a place of a schema.

    What is documented carries a section; what stands inside something observed or assumed is no
    more than that, whatever is written further up. `fallback` is the section where none is given.
    """
    section, found = fallback, None
    for node in nodes_along(schema, path):
        match node.get("x-basis"):
            case "observed":
                found = observed(str(node.get("x-source", "")), says)
            case "assumed":
                found = assumed(str(node.get("x-assumption", "")), says)
        for key in section_keys:
            section = str(node.get(key, section))
    return found or documented(section, says)


def section_of(operation: Operation, location: str) -> str:
    """Return the section that publishes the inputs of an operation at a location."""
    if location == "headers" and operation.auth != "none":
        return "5"
    if operation.id == "v2.submitOrder" and location == "body":
        return "4.2 submitOrder body"
    if operation.generation.id == "v1" and location in ("body", "query"):
        return "2.2"
    return operation.section or operation.generation.section


def nodes_along(schema: Schema, path: Sequence[str | int]) -> Iterator[Schema]:
    """Yield the objects of a schema on the way to a place, the outermost first."""
    node: Any = schema
    for part in (None, *path):
        if part is not None:
            try:
                node = node[part]
            except (KeyError, IndexError, TypeError):
                return
        if isinstance(node, Mapping):
            yield node


def place_of(violation: Violation) -> str:
    """Return where a violation is, for all items of a list and all keys of a map alike."""
    names = list(general(violation.schema_path))
    if violation.keyword == "required" and violation.path:
        names.append(str(violation.path[-1]))
    return joined(names)


def general(path: Sequence[str | int]) -> Iterator[str]:
    """Yield the names on the way to a keyword: `[]` for a list's items, `*` for a map's values."""
    parts = iter(path)
    last = len(path) - 1
    for number, part in enumerate(parts):
        if part == "properties":
            yield str(next(parts, ""))
            # The name was taken as well, so that a member called `items` is no keyword.
            yield from general(path[number + 2 :])
            return
        if part == "items" and number < last:
            yield "[]"
        elif part == "additionalProperties" and number < last:
            yield "*"


def joined(names: Sequence[str]) -> str:
    """Return general names as people write them: `data.list[].symbol`."""
    return ".".join(names).replace(".[]", "[]")


def _told(schema: Schema, path: SchemaPath, place: str) -> str:
    """Return what a keyword says, in words."""
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
