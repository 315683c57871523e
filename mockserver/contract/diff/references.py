"""Schemas of a document: their references followed, and broken ones named with their place."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from mockserver.documents import foreign_check
from mockserver.errors import InvalidFile, Problem
from mockserver.validation import excerpt, kind_of
from mockserver.values import dataclass

_MISSING = object()
_ONE_SCHEMA = """
    additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties
    """.split()
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("$defs", "dependentSchemas", "patternProperties", "properties")
"""Keywords whose value has schemas by their names."""


@dataclass(frozen=True, slots=True)
class References:
    """The document that local references are looked up in."""

    document: Any
    file: PurePath | str

    def target(self, reference: object, place: str) -> Any:
        """Return what a reference names. Raises `InvalidFile` where it leads nowhere."""
        if not isinstance(reference, str):
            raise self.broken(place, f"expected a reference as text, got {excerpt(reference)}")
        if reference != "#" and not reference.startswith("#/"):
            text = f"the reference {excerpt(reference)} is not followed; expected one such as"
            raise self.broken(place, f"{text} '#/...' inside the document")
        found = self.document
        for part in reference.split("/")[1:]:
            found = _member(found, unquote(part).replace("~1", "/").replace("~0", "~"))
            if found is _MISSING:
                raise self.broken(place, f"the reference {excerpt(reference)} leads nowhere")
        return found

    def followed(self, value: Any, place: str) -> Any:
        """Return a value, or what it refers to. Raises `InvalidFile` for a circle of references."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and "$ref" in value:
            reference = value["$ref"]
            value = self.target(reference, place)
            if reference in seen:
                raise self.broken(place, f"the reference {excerpt(reference)} leads back to itself")
            seen.add(reference)
        return value

    def broken(self, place: str, message: str) -> InvalidFile:
        """Return the error that says what is wrong at a place of the document."""
        return InvalidFile([self.problem(place, message)])

    def problem(self, place: str, message: str) -> Problem:
        """Return what is wrong at a place of the document."""
        return Problem(self.file, None, place.removeprefix("."), message)

    def mapping(self, value: Any, place: str) -> Mapping[str, Any]:
        """Return an object, or the one that is referred to. Raises `InvalidFile`."""
        value = self.followed(value, place)
        if not isinstance(value, Mapping):
            raise self.broken(place, f"expected an object, got {kind_of(value)}")
        return value

    def list(self, value: Any, place: str) -> list[Any]:
        """Return a list. Raises `InvalidFile`."""
        if not isinstance(value, list):
            raise self.broken(place, f"expected a list, got {kind_of(value)}")
        return value


def _member(container: Any, name: str) -> Any:
    if isinstance(container, Mapping):
        return container.get(name, _MISSING)
    if isinstance(container, list) and name.isdecimal() and name.isascii() and len(name) < 9:
        return container[int(name)] if int(name) < len(container) else _MISSING
    return _MISSING


def problems(schema: Any, references: References, place: str, seen: set[int]) -> Iterator[Problem]:
    """Yield what keeps a schema, and every schema that it refers to, from being one.

    `seen` are the schemas that were looked over before, by identity.
    """
    waiting = [(schema, place)]
    while waiting:
        node, at = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        wrong = foreign_check("schema").violations(node)
        for one in wrong:
            inside = f"{at}.{one.field}" if one.path else at
            yield references.problem(inside, one.message)
        if not wrong:
            waiting += [
                (references.followed({"$ref": reference}, inside), str(reference))
                for inside, reference in references_in(node, at)
            ]


def references_in(schema: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the references in a schema that is one, each with its place."""
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        yield f"{place}.$ref", schema["$ref"]
    for name in _ONE_SCHEMA:
        yield from references_in(schema.get(name), f"{place}.{name}")
    for name in _LISTS:
        for index, child in enumerate(schema.get(name, ())):
            yield from references_in(child, f"{place}.{name}[{index}]")
    for name in MAPS:
        for key, child in schema.get(name, {}).items():
            yield from references_in(child, f"{place}.{name}.{key}")
