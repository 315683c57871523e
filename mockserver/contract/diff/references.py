"""Schemas of a document: their references followed, and broken ones named with their place."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from mockserver.errors import InvalidFile, Problem
from mockserver.validation import kind_of, shown
from mockserver.values import dataclass

_MISSING = object()
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ONE_SCHEMA = """
    additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties
    """.split()
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("$defs", "dependentSchemas", "patternProperties", "properties")
"""Keywords whose value has schemas by their names."""
_MOST_DIGITS = 400


@dataclass(frozen=True, slots=True)
class References:
    """The document that local references are looked up in."""

    document: Any
    file: PurePath | str

    def target(self, reference: object, place: str) -> Any:
        """Return what a reference names. Raises `InvalidFile` where it leads nowhere."""
        if not isinstance(reference, str):
            raise self.broken(place, f"expected a reference as text, got {shown(reference)}")
        if reference != "#" and not reference.startswith("#/"):
            text = f"the reference {shown(reference)} is not followed; expected one such as '#/...'"
            raise self.broken(place, f"{text} inside the document")
        found = self.document
        for part in reference.split("/")[1:]:
            found = _member(found, unquote(part).replace("~1", "/").replace("~0", "~"))
            if found is _MISSING:
                raise self.broken(place, f"the reference {shown(reference)} leads nowhere")
        return found

    def followed(self, value: Any, place: str) -> Any:
        """Return a value, or what it refers to. Raises `InvalidFile` for a circle of references."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and "$ref" in value:
            reference = value["$ref"]
            value = self.target(reference, place)
            if reference in seen:
                raise self.broken(place, f"the reference {shown(reference)} leads back to itself")
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
        if isinstance(node, bool) or id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, Mapping):
            yield _wrong(references, at, "a schema, that is an object or a boolean", node)
            continue
        for name in ("$dynamicRef", "$recursiveRef"):
            if name in node:
                text = f"{name} is not followed; expected $ref"
                yield references.problem(f"{at}.{name}", text)
        for name, (fits, expected) in _VALUES.items():
            if name in node and not fits(node[name]):
                yield _wrong(references, f"{at}.{name}", expected, node[name])
        if "$ref" in node:
            waiting.append((references.followed(node, f"{at}.$ref"), str(node["$ref"])))
        waiting.extend(reversed(list(_children(node, at))))


def _wrong(references: References, place: str, expected: str, value: Any) -> Problem:
    text = f"expected {expected}, got {kind_of(value)}, {shown(value)}"
    return references.problem(place, text)


def _children(schema: Mapping[str, Any], place: str) -> Iterator[tuple[Any, str]]:
    for name in _ONE_SCHEMA:
        if name in schema:
            yield schema[name], f"{place}.{name}"
    for name in _LISTS:
        if isinstance(schema.get(name), list):
            for index, child in enumerate(schema[name]):
                yield child, f"{place}.{name}[{index}]"
    for name in MAPS:
        if isinstance(schema.get(name), Mapping):
            for key, child in schema[name].items():
                yield child, f"{place}.{name}.{key}"


def _is_number(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS
    return isinstance(value, int) and not isinstance(value, bool)


def _is_type(value: Any) -> bool:
    named = [value] if isinstance(value, str) else value
    return isinstance(named, list) and bool(named) and all(one in _TYPES for one in named)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


_COUNTS = [f"{end}{what}" for end in ("min", "max") for what in ("Length", "Items", "Properties")]
# What the value of a keyword has to be, and how a report says it.
_VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_is_type, f"one of {', '.join(_TYPES)}, or a list of these"),
    "required": (
        lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
        "a list of names",
    ),
    "enum": (_is(list), "a list of values"),
    "pattern": (_is(str), "a text"),
    "format": (_is(str), "a text"),
    "uniqueItems": (_is(bool), "true or false"),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (_is_number, "a number")
    ),
    **dict.fromkeys(
        _COUNTS,
        (
            lambda value: _is_number(value) and value >= 0 and value == int(value),
            "a whole number that is not negative",
        ),
    ),
    **dict.fromkeys(_LISTS, (_is(list), "a list of schemas")),
    **dict.fromkeys(MAPS, (_is(Mapping), "schemas by their names")),
}
