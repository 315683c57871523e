"""Schemas looked over before they are compared: a broken one is told with its place."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver.contract.diff.references import References
from mockserver.errors import Problem
from mockserver.validation import kind_of, shown

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
ONE = tuple(
    """
    additionalProperties contains contentSchema else if items not propertyNames then
    unevaluatedItems unevaluatedProperties
    """.split()
)
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
MAPS = ("$defs", "dependentSchemas", "patternProperties", "properties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_MOST_DIGITS = 400


def _number(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return _number(value) and value >= 0 and value == int(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _types(value: Any) -> bool:
    named = [value] if isinstance(value, str) else value
    return isinstance(named, list) and bool(named) and all(one in TYPES for one in named)


_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_types, f"one of {', '.join(TYPES)}, or a list of these"),
    "required": (_texts, "a list of names"),
    "enum": (lambda value: isinstance(value, list), "a list of values"),
    "pattern": (_text, "a text"),
    "format": (_text, "a text"),
    "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
    "multipleOf": (lambda value: _number(value) and value > 0, "a number above 0"),
    **dict.fromkeys(_BOUNDS, (_number, "a number")),
    **{
        f"{end}{what}": (_count, "a whole number that is not negative")
        for end in ("min", "max")
        for what in ("Length", "Items", "Properties")
    },
}


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
        yield from _own(node, references, at)
        if "$ref" in node:
            waiting.append((references.followed(node, f"{at}.$ref"), str(node["$ref"])))
        for name in (*LISTS, *MAPS):
            expected = list if name in LISTS else Mapping
            if name in node and not isinstance(node[name], expected):
                words = "a list of schemas" if name in LISTS else "schemas by their names"
                yield _wrong(references, f"{at}.{name}", words, node[name])
        waiting.extend(reversed(list(_children(node, at))))


def _own(schema: Mapping[str, Any], references: References, place: str) -> Iterator[Problem]:
    for name in ("$dynamicRef", "$recursiveRef"):
        if name in schema:
            text = f"{name} is not followed; expected $ref"
            yield Problem(references.file, None, f"{place}.{name}".removeprefix("."), text)
    for name, (fits, words) in _FORMS.items():
        if name in schema and not fits(schema[name]):
            yield _wrong(references, f"{place}.{name}", words, schema[name])


def _children(schema: Mapping[str, Any], place: str) -> Iterator[tuple[Any, str]]:
    for name in ONE:
        if name in schema:
            yield schema[name], f"{place}.{name}"
    for name in LISTS:
        value = schema.get(name)
        for index, child in enumerate(value if isinstance(value, list) else ()):
            yield child, f"{place}.{name}[{index}]"
    for name in MAPS:
        value = schema.get(name)
        for key, child in value.items() if isinstance(value, Mapping) else ():
            yield child, f"{place}.{name}.{key}"


def _wrong(references: References, place: str, expected: str, value: Any) -> Problem:
    text = f"expected {expected}, got {kind_of(value)}, {shown(value)}"
    return Problem(references.file, None, place.removeprefix("."), text)
