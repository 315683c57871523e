"""Answers cut to the contract: an operation offers all it knows, the dialect says what is shown."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver.jsontext import Json, plain

Shape = Callable[[Json], Json]


def shape_of(schema: Mapping[str, Any]) -> Shape:
    """Return a function that keeps the members a schema declares, in its types.

    Members without declaration are left out, members without value stay out, and a number becomes
    text (or text a number) where the dialect publishes the other type.
    """
    members = dict(_members(schema))
    if members:
        return _object_shape({name: shape_of(node) for name, node in members.items()})
    items = schema.get("items")
    if isinstance(items, Mapping):
        return _array_shape(shape_of(items))
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return _map_shape(shape_of(values))
    types = tuple(_types(schema))
    return _scalar_shape(types) if types else _unchanged


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found: dict[str, dict[str, Any]] = {}
    for node in (schema, *schema.get("allOf", ())):
        for name, member in node.get("properties", {}).items():
            known = found.setdefault(name, {})
            # A second branch about the same member adds what the first did not say.
            for key, value in member.items():
                known.setdefault(key, value)
    yield from found.items()


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    for node in (schema, *schema.get("allOf", ())):
        kind = node.get("type", ())
        yield from (kind,) if isinstance(kind, str) else kind


def _object_shape(members: Mapping[str, Shape]) -> Shape:
    def shape(value: Json) -> Json:
        if not isinstance(value, Mapping):
            return value
        return {name: cut(value[name]) for name, cut in members.items() if name in value}

    return shape


def _array_shape(item: Shape) -> Shape:
    def shape(value: Json) -> Json:
        return [item(one) for one in value] if isinstance(value, list | tuple) else value

    return shape


def _map_shape(item: Shape) -> Shape:
    def shape(value: Json) -> Json:
        if not isinstance(value, Mapping):
            return value
        return {name: item(one) for name, one in value.items()}

    return shape


def _scalar_shape(types: tuple[str, ...]) -> Shape:
    def shape(value: Json) -> Json:
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | Decimal) and not {"integer", "number"} & set(types):
            return plain(Decimal(value)) if "string" in types else value
        if isinstance(value, str) and value and "string" not in types:
            return _number(value, types)
        return value

    return shape


def _number(text: str, types: tuple[str, ...]) -> Json:
    if "integer" in types and text.removeprefix("-").isdecimal():
        return int(text)
    return Decimal(text) if "number" in types else text


def _unchanged(value: Json) -> Json:
    return value
