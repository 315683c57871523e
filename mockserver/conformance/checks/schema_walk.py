"""Schemas walked beside a value: which parts of them apply, and what they do not speak about."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mockserver.conformance.basis import SchemaPath, joined
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck
from mockserver.values import dataclass

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AppliedSchema:
    """A part of a schema that applies to a value.

    `path` leads to it in the schema; `place` are the names that lead to the value, `[]` for any
    item of a list and `*` for any value of a map.
    """

    path: SchemaPath
    schema: Schema
    place: tuple[str, ...]
    value: Json


@dataclass(frozen=True, slots=True)
class UndeclaredMember:
    """A member of an object whose other members the schema declares, but not this one."""

    place: tuple[str, ...]
    value: Json


SchemaPart = AppliedSchema | UndeclaredMember


def walk(schema: Schema, value: Json) -> Iterator[SchemaPart]:
    """Yield every part of an inlined schema that applies to a value, and what none speaks about.

    Where no part declares the members of an object, they are open, and none is undeclared.
    """
    yield from _walk([((), schema)], value, ())


@cached
def parts_of(exchange: Exchange) -> tuple[SchemaPart, ...]:
    """Return the parts of an answer, by the schema of its operation."""
    return tuple(walk(exchange.operation.response_schema, exchange.body))


def first_parts(
    exchanges: Iterable[Exchange],
    which: Callable[[Exchange, SchemaPart], bool],
) -> dict[str, tuple[Exchange, Json]]:
    """Return the parts that `which` tells of: by place, the first answer with one, and its value.

    Answers that are no JSON have no parts.
    """
    found: dict[str, tuple[Exchange, Json]] = {}
    for exchange in exchanges:
        for part in () if exchange.unreadable else parts_of(exchange):
            if which(exchange, part):
                found.setdefault(joined(part.place), (exchange, part.value))
    return found


def _walk(
    roots: Sequence[tuple[SchemaPath, Schema]], value: Json, place: tuple[str, ...]
) -> Iterator[SchemaPart]:
    here = roots
    for _, schema in roots:
        if "allOf" in schema or "if" in schema:
            here = [part for path, schema in roots for part in _here(path, schema, value)]
            break
    for path, schema in here:
        yield AppliedSchema(path, schema, place, value)
    kind = type(value)
    if kind is dict:
        yield from _members(here, value, place)
    elif kind is list:
        items, below = _under(here, "items"), (*place, "[]")
        for item in value if items else ():
            yield from _walk(items, item, below)


def _members(
    here: Sequence[tuple[SchemaPath, Schema]], value: Mapping[str, Json], place: tuple[str, ...]
) -> Iterator[SchemaPart]:
    declared: dict[str, list[tuple[SchemaPath, Schema]]] = {}
    for path, schema in here:
        for name, member in schema.get("properties", {}).items():
            declared.setdefault(name, []).append(((*path, "properties", name), member))
    others = _under(here, "additionalProperties")
    for name, inner in value.items():
        if name in declared:
            yield from _walk(declared[name], inner, (*place, name))
        elif others:
            yield from _walk(others, inner, (*place, "*"))
        elif declared:
            yield UndeclaredMember((*place, name), inner)


def _under(
    here: Sequence[tuple[SchemaPath, Schema]], keyword: str
) -> list[tuple[SchemaPath, Schema]]:
    return [
        ((*path, keyword), schema[keyword])
        for path, schema in here
        if isinstance(schema.get(keyword), Mapping)
    ]


def _here(path: SchemaPath, schema: Schema, value: Json) -> Iterator[tuple[SchemaPath, Schema]]:
    """Yield a schema and all that it demands of the same value."""
    yield path, schema
    for number, branch in enumerate(schema.get("allOf", ())):
        yield from _here((*path, "allOf", number), branch, value)
    if "if" in schema:
        branch = "then" if fits(schema["if"], value) else "else"
        if branch in schema:
            yield from _here((*path, branch), schema[branch], value)


def fits(condition: Schema, value: Json) -> bool:
    """Tell whether a value fulfils the condition of an `if`."""
    if not set(condition) <= {"required", "properties"} or not isinstance(value, Mapping):
        return SchemaCheck(condition).accepts(value)
    if not all(name in value for name in condition.get("required", ())):
        return False
    return all(
        name not in value or _is(member, value[name])
        for name, member in condition.get("properties", {}).items()
    )


def _is(member: Schema, value: Json) -> bool:
    if set(member) != {"const"}:
        return SchemaCheck(member).accepts(value)
    wanted = member["const"]
    # A boolean is no number in JSON, though it is one here.
    return isinstance(wanted, bool) is isinstance(value, bool) and bool(wanted == value)
