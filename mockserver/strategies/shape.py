"""What all branches of a schema say together, and what of a schema is documented."""

from collections.abc import Iterator, Mapping
from typing import Any

from mockserver.contract import Basis, BasisKind
from mockserver.jsontext import Json
from mockserver.values import dataclass

Schema = Mapping[str, Any]

_INSIDE = ("items", "additionalProperties")


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema with its branches laid together; what is empty or None is not restricted.

    `members` and `items` are schemas again; `others` is that of members which are not declared.
    """

    types: tuple[str, ...]
    choices: tuple[Json, ...] | None
    patterns: tuple[str, ...]
    least: int | None
    most: int | None
    longest: int | None
    members: Mapping[str, Schema]
    required: frozenset[str]
    items: Schema
    others: Schema

    @property
    def is_object(self) -> bool:
        """Whether values are objects."""
        return self.types == ("object",) or bool(self.members)

    @property
    def is_array(self) -> bool:
        """Whether values are arrays."""
        return self.types == ("array",)


def shape_of(schema: Schema) -> Shape:
    """Return what the branches of a schema say together."""
    branches = list(_branches(schema))
    named = [branch.get("properties", {}) for branch in branches]
    choices = [tuple(one["enum"]) for one in branches if "enum" in one]
    choices += [(one["const"],) for one in branches if "const" in one]
    return Shape(
        types=_types(branches),
        choices=tuple(v for v in choices[0] if all(v in c for c in choices)) if choices else None,
        patterns=tuple(one["pattern"] for one in branches if "pattern" in one),
        least=max((one["minimum"] for one in branches if "minimum" in one), default=None),
        most=min((one["maximum"] for one in branches if "maximum" in one), default=None),
        longest=min((one["maxLength"] for one in branches if "maxLength" in one), default=None),
        members={
            name: _all_of([one[name] for one in named if name in one])
            for name in dict.fromkeys(name for one in named for name in one)
        },
        required=frozenset(name for one in branches for name in one.get("required", ())),
        items=_all_of([one["items"] for one in branches if "items" in one]),
        others=_all_of(
            [one["additionalProperties"] for one in branches if "additionalProperties" in one]
        ),
    )


def documented(schema: Schema, inherited: Basis | None = None) -> Schema:
    """Return the part of a schema that the interface description itself demands."""
    basis = (inherited or Basis()).below(schema)
    if basis.kind is not BasisKind.DOCUMENTED:
        return {}
    kept = dict(schema)
    for name in _INSIDE:
        if isinstance(schema.get(name), Mapping):
            kept[name] = documented(schema[name], basis)
    if "properties" in schema:
        kept["properties"] = {
            name: documented(node, basis) for name, node in schema["properties"].items()
        }
    if "allOf" in schema:
        kept["allOf"] = [documented(node, basis) for node in schema["allOf"]]
    return kept


def _branches(schema: Schema) -> Iterator[Schema]:
    yield schema
    for branch in schema.get("allOf", ()):
        yield from _branches(branch)


def _types(branches: list[Schema]) -> tuple[str, ...]:
    found: tuple[str, ...] | None = None
    for branch in branches:
        kind = branch.get("type")
        if kind is not None:
            kinds = (kind,) if isinstance(kind, str) else tuple(kind)
            found = kinds if found is None else tuple(one for one in found if one in kinds)
    return found or ()


def _all_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"allOf": schemas} if schemas else {}
