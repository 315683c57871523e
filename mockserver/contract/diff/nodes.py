"""Schemas in a neutral form: everything about one place, from all branches and references."""

from collections.abc import Callable, Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any, NamedTuple

from mockserver.contract.diff.changes import DOCUMENTED, CannotCompare
from mockserver.contract.diff.references import MAPS, References
from mockserver.contract.facts import Basis
from mockserver.jsontext import Json, canonical, type_of
from mockserver.validation import excerpt
from mockserver.values import dataclass

ANY_TYPE = frozenset(["null", "boolean", "object", "array", "string", "integer", "fraction"])
# References to references can grow without end.
_MOST_NODES = 50_000
_NUMBER = frozenset(["integer", "fraction"])
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


class Part(NamedTuple):
    """A raw schema and the basis that it inherits."""

    schema: Any
    basis: Basis


Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a schema states, with its basis."""

    value: Any
    basis: Basis


@dataclass(frozen=True, slots=True)
class Condition:
    """An `if` in words and in a comparable form, with what holds where it is met and where not."""

    test: str
    words: str
    then: Parts
    otherwise: Parts


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The branches of an `anyOf` or `oneOf`."""

    keyword: str
    branches: tuple[Parts, ...]
    basis: Basis


@dataclass(slots=True)
class Node:
    """Everything that holds for the value at one place."""

    parts: Parts = ()
    basis: Basis = DOCUMENTED
    types: frozenset[str] = ANY_TYPE
    types_basis: Basis = DOCUMENTED
    values: dict[str, Json] | None = None
    values_basis: Basis = DOCUMENTED
    bounds: dict[str, Fact] = field(default_factory=dict)
    """By name (`minimum`, `maxLength`): a number, negated where it is the most, and `exclusive`."""
    sets: dict[str, dict[str, Basis]] = field(default_factory=dict)
    """The statements of keywords that may occur many times, as texts."""
    items: Parts = ()
    properties: dict[str, Parts] = field(default_factory=dict)
    required: dict[str, Basis] = field(default_factory=dict)
    closed: Fact | None = None
    additional: Parts = ()
    alternatives: list[Alternatives] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    role: str = ""
    deprecated: bool = False

    @property
    def never(self) -> bool:
        """Tell whether no value is right here."""
        return not self.types or self.values == {}

    def bound(self, name: str) -> int | None:
        """Return a bound of a length; None where there is none."""
        return int(abs(self.bounds[name].value[0])) if name in self.bounds else None

    def strings(self, name: str) -> dict[str, Basis]:
        """Return the statements of a keyword that may occur many times."""
        return self.sets.get(name, {})

    def narrow(self, types: frozenset[str], basis: Basis) -> None:
        """Allow these types only."""
        if self.types - types:
            self.types, self.types_basis = self.types & types, basis


def basis_of(stated: Fact | Alternatives | None) -> Basis | None:
    """Return what a statement stands on; None where there is none."""
    return None if stated is None else stated.basis


def kind(value: Json) -> str:
    """Return the type of a value, where numbers are `integer` or `fraction`."""
    found = type_of(value)
    if found == "number":
        return "integer" if value == int(value) else "fraction"
    return found


def without_empty(parts: Parts, references: References) -> Parts:
    """Return the parts without those that say nothing, and with what a mere reference names."""
    followed = (
        Part(references.followed(part.schema, ""), part.basis)
        if isinstance(part.schema, Mapping) and set(part.schema) == {"$ref"}
        else part
        for part in parts
    )
    return tuple(part for part in followed if part.schema is not True and part.schema != {})


def flatten(parts: Parts, references: References) -> Node:
    """Return all that the parts state together. Raises `InvalidFile` for a lost reference."""
    node = Node(parts)
    waiting = list(parts)
    seen: set[int] = set()
    has_basis = False
    while waiting:
        schema, inherited = waiting.pop(0)
        if isinstance(schema, bool):
            node.types = node.types if schema else frozenset()
            continue
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        basis = inherited.below(schema)
        if schema and not has_basis:
            node.basis, has_basis = basis, True
        for keyword, value in schema.items():
            read = _READERS.get(keyword, _read_other)
            read(node, keyword, value, KeywordScope(schema, basis, references))
        more = [Part(branch, basis) for branch in schema.get("allOf", ())]
        if "$ref" in schema:
            more.insert(0, Part(references.target(schema["$ref"], ""), basis))
        waiting[:0] = more
    if node.values is not None:
        node.types = node.types & set(map(kind, node.values.values())) or node.types
    if node.closed is not None:
        # A closed branch also refuses names that another branch declares.
        names = node.closed.value
        node.properties = {name: one for name, one in node.properties.items() if name in names}
    return node


class KeywordScope(NamedTuple):
    """The schema that a keyword stands in."""

    schema: Mapping[str, Any]
    basis: Basis
    references: References


def _types(value: str | list[str]) -> frozenset[str]:
    names = [value] if isinstance(value, str) else value
    return frozenset().union(*(_NUMBER if name == "number" else [name] for name in names))


def _read_values(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    values = {canonical(one): one for one in (value if keyword == "enum" else [value])}
    known = values if node.values is None else node.values
    if node.values is None or known.keys() - values.keys():
        node.values = {text: one for text, one in known.items() if text in values}
        node.values_basis = inside.basis


def _read_bound(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    name, number = _EXCLUSIVE.get(keyword, keyword), Decimal(value)
    is_least = name.startswith("min")
    # `-x` would round to the precision of the context.
    found = (number if is_least else number.copy_negate(), keyword in _EXCLUSIVE)
    # A least count of zero limits nothing.
    limits = number or not is_least or name == "minimum"
    if limits and (name not in node.bounds or found > node.bounds[name].value):
        node.bounds[name] = Fact(found, inside.basis)


def _read_properties(node: Node, _: str, value: Any, inside: KeywordScope) -> None:
    for name, child in value.items():
        known = node.properties.get(name, ())
        node.properties[name] = (*known, Part(child, inside.basis))


def _read_required(node: Node, _: str, value: Any, inside: KeywordScope) -> None:
    for name in value:
        node.required.setdefault(name, inside.basis)


def _read_items(node: Node, _: str, value: Any, inside: KeywordScope) -> None:
    node.items = (*node.items, Part(value, inside.basis))


def _read_additional(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    schema, basis, _ = inside
    if value is False and "patternProperties" not in schema:
        names = frozenset(schema.get("properties", {}))
        node.closed = Fact(names if node.closed is None else names & node.closed.value, basis)
    elif value is False:
        node.sets.setdefault(keyword, {}).setdefault("false", basis)
    elif value is not True and value != {}:
        node.additional = (*node.additional, Part(value, basis))


def _read_alternatives(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    schemas = [branch for branch in value if isinstance(branch, Mapping)]
    types = [_types(branch["type"]) for branch in schemas if "type" in branch]
    allowed: frozenset[str] = frozenset().union(*types)
    # Alternatives that name a type each and nothing else are one list of types.
    only_types = all(set(branch) <= {"type", "description"} for branch in schemas)
    apart = keyword == "anyOf" or len(allowed) == sum(map(len, types))
    if value and len(types) == len(value) and only_types and apart:
        node.narrow(allowed, inside.basis)
        return
    branches = tuple((Part(branch, inside.basis),) for branch in value)
    node.alternatives.append(Alternatives(keyword, branches, inside.basis))


def _read_condition(node: Node, _: str, value: Any, inside: KeywordScope) -> None:
    schema, basis, references = inside
    then, otherwise = (
        (Part(schema[name], basis),) if name in schema else () for name in ("then", "else")
    )
    if then or otherwise:
        test = comparable(value, references)
        node.conditions.append(Condition(test, _in_words(value), then, otherwise))


def _read_words(node: Node, keyword: str, value: Any, _: KeywordScope) -> None:
    node.words[keyword] = "; ".join(filter(None, (node.words.get(keyword), str(value))))


def _read_role(node: Node, _: str, value: Any, __: KeywordScope) -> None:
    node.role = node.role or str(value)


def _read_deprecated(node: Node, _: str, value: Any, __: KeywordScope) -> None:
    node.deprecated = node.deprecated or value is True


def _read_text(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    node.sets.setdefault(keyword, {}).setdefault(value, inside.basis)


def _read_other(node: Node, keyword: str, value: Any, inside: KeywordScope) -> None:
    if keyword == "not" and value in ({}, True):
        node.types = frozenset()
    elif keyword != "uniqueItems" or value is not False:
        _read_text(node, keyword, comparable(value, inside.references), inside)


def _skip(*_: Any) -> None:
    """Skip what is read elsewhere, or states nothing about values."""


def _keep_meaning(node: Node, keyword: str, value: Any, _: KeywordScope) -> None:
    node.meanings.setdefault(keyword, canonical(value))


_READERS: Mapping[str, Callable[[Node, str, Any, KeywordScope], None]] = {
    "type": lambda node, _, value, inside: node.narrow(_types(value), inside.basis),
    "properties": _read_properties,
    "required": _read_required,
    "items": _read_items,
    "additionalProperties": _read_additional,
    "if": _read_condition,
    "x-role": _read_role,
    "deprecated": _read_deprecated,
    **dict.fromkeys(("enum", "const"), _read_values),
    **dict.fromkeys(("anyOf", "oneOf"), _read_alternatives),
    **dict.fromkeys(("pattern", "format"), _read_text),
    **dict.fromkeys(("minimum", "maximum", *_EXCLUSIVE), _read_bound),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), _read_bound),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), _read_bound),
    # What a text means to the mock, beyond its form.
    **dict.fromkeys(("default", "x-absent", "x-once", "x-reading", "x-repeatable"), _keep_meaning),
    **dict.fromkeys(("title", "description", "x-expects"), _read_words),
    **dict.fromkeys(("$anchor", "$comment", "$defs", "$id", "$ref", "$schema", "allOf"), _skip),
    **dict.fromkeys(("then", "else", "example", "examples"), _skip),
    **dict.fromkeys(("x-assumption", "x-basis", "x-section", "x-source"), _skip),
}


def comparable(value: Any, references: References) -> str:
    """Return a text that is equal for equal schemas: references followed, words left out.

    Raises `CannotCompare` where a schema grows too large by its references.
    """
    left = _MOST_NODES

    def expanded(value: Any, above: tuple[str, ...]) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise CannotCompare(
                f"{references.file}: a schema grows beyond {_MOST_NODES} nodes "
                "where its references are followed"
            )
        if isinstance(value, list):
            return [expanded(one, above) for one in value]
        if not isinstance(value, Mapping):
            return value
        stated = {key: one for key, one in value.items() if not _is_for_people(key, one)}
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return {key: member(key, one, above) for key, one in stated.items()}
        if reference in above:
            # By its distance, since the names may differ between the documents.
            return {"circle": len(above) - above.index(reference)}
        inner = expanded(references.target(reference, ""), (*above, reference))
        del stated["$ref"]
        return [inner, expanded(stated, above)] if stated else inner

    def member(key: str, value: Any, above: tuple[str, ...]) -> Any:
        if key == "required" and isinstance(value, list):
            return sorted(value, key=str)
        if key in MAPS and isinstance(value, Mapping):
            # The keys are names of fields here, which may look like keywords.
            return {name: expanded(one, above) for name, one in value.items()}
        return expanded(value, above)

    return canonical(expanded(value, ()))


def _is_for_people(key: str, value: Any) -> bool:
    if key in ("title", "description", "$comment", "example", "examples"):
        # A field may have such a name; then a schema stands below it.
        return not isinstance(value, Mapping)
    return key.startswith("x-")


def _in_words(test: Any) -> str:
    """Return a condition as people say it: `where orderType is '1'`."""
    parts = [
        f"{name} is {' or '.join(map(excerpt, values))}"
        for name, node in _object(_object(test).get("properties")).items()
        if (values := [node["const"]] if "const" in _object(node) else _object(node).get("enum"))
    ]
    return f"where {' and '.join(parts)}" if parts else f"where {excerpt(canonical(test))} is met"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
