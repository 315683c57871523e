"""Schemas of many branches put into one node: `allOf`, references and what stands beside them."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from mockserver.contract.basis import Basis
from mockserver.contract.diff.canonical import canonical, comparable, in_words, kind
from mockserver.contract.diff.nodes import Condition, Fact, Forms, Node, Part, Parts
from mockserver.contract.diff.references import References
from mockserver.jsontext import Json

_TYPES = {"number": frozenset(["integer", "fraction"])}
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_COUNTS = [f"{end}{what}" for end in ("min", "max") for what in ("Length", "Items", "Properties")]
_BOUNDS = frozenset(["minimum", "maximum", *_EXCLUSIVE, *_COUNTS])
# What a text means to the mock, beyond its form; the rest of `x-` and these are words for people.
_MEANINGS = ("default", "x-absent", "x-once", "x-reading", "x-repeatable")
_WORDS = ("title", "description", "x-expects")
_SILENT = frozenset(
    [
        *("$anchor", "$comment", "$defs", "$id", "$ref", "$schema", "allOf", "else", "example"),
        *("examples", "then", "x-assumption", "x-basis", "x-section", "x-source"),
    ]
)


def aimed(parts: Parts, references: References) -> Parts:
    """Return the parts without those that say nothing, and with what a mere reference names."""
    followed = (
        Part(references.followed(part.schema, ""), part.basis)
        if isinstance(part.schema, Mapping) and set(part.schema) == {"$ref"}
        else part
        for part in parts
    )
    return tuple(part for part in followed if part.schema is not True and part.schema != {})


def flatten(parts: Iterable[Part], references: References) -> Node:
    """Return all that the parts state together. Raises `InvalidFile` for a lost reference."""
    given = tuple(parts)
    collector = _Collector(references, given)
    waiting = list(given)
    seen: set[int] = set()
    while waiting:
        part = waiting.pop(0)
        if isinstance(part.schema, bool) or id(part.schema) not in seen:
            seen.add(id(part.schema))
            waiting[:0] = collector.add(part)
    return collector.finished()


class _Collector:
    """Puts the keywords of many schemas into one node."""

    def __init__(self, references: References, parts: Parts) -> None:
        self._references = references
        self._node = Node(parts)
        self._first = True

    def finished(self) -> Node:
        node = self._node
        if node.values is not None and (kinds := node.types & set(map(kind, node.values.values()))):
            node.types = kinds
        if node.closed is not None:
            # A branch that is closed refuses also what another branch declares.
            node.properties = {
                name: parts for name, parts in node.properties.items() if name in node.closed.value
            }
        return node

    def add(self, part: Part) -> list[Part]:
        """Take a schema in; return the schemas that hold at the same place."""
        node, schema = self._node, part.schema
        if isinstance(schema, bool):
            node.types = node.types if schema else frozenset()
            return []
        basis = part.basis.below(schema)
        if self._first and schema:
            node.basis, self._first = basis, False
        for keyword, value in schema.items():
            self._keyword(keyword, value, basis, schema)
        more = [Part(branch, basis) for branch in schema.get("allOf", ())]
        if "$ref" in schema:
            more.insert(0, Part(self._references.target(schema["$ref"], ""), basis))
        return more

    def _keyword(self, keyword: str, value: Any, basis: Basis, schema: Mapping[str, Any]) -> None:
        node = self._node
        match keyword:
            case "type":
                self._narrow(_types(value), basis)
            case "enum":
                self._limit({canonical(one): one for one in value}, basis)
            case "const":
                self._limit({canonical(value): value}, basis)
            case "properties":
                for name, child in value.items():
                    known = node.properties.get(name, ())
                    node.properties[name] = (*known, Part(child, basis))
            case "required":
                for name in value:
                    node.required.setdefault(name, basis)
            case "items":
                node.items = (*node.items, Part(value, basis))
            case "additionalProperties":
                self._additional(value, basis, schema)
            case "anyOf" | "oneOf":
                self._forms(keyword, value, basis)
            case "if":
                self._condition(schema, basis)
            case _:
                self._other(keyword, value, basis)

    def _other(self, keyword: str, value: Any, basis: Basis) -> None:
        node = self._node
        if keyword in _BOUNDS:
            self._bound(keyword, Decimal(value), basis)
        elif keyword in _MEANINGS:
            node.meanings.setdefault(keyword, canonical(value))
        elif keyword in _WORDS:
            words = (node.words.get(keyword), str(value))
            node.words[keyword] = "; ".join(filter(None, words))
        elif keyword == "x-role":
            node.role = node.role or str(value)
        elif keyword == "deprecated":
            node.deprecated = node.deprecated or value is True
        elif keyword == "not" and value in ({}, True):
            node.types = frozenset()
        elif keyword in _SILENT or (keyword == "uniqueItems" and value is False):
            return
        elif keyword in ("pattern", "format"):
            node.sets.setdefault(keyword, {}).setdefault(value, basis)
        else:
            text = comparable(value, self._references)
            node.sets.setdefault(keyword, {}).setdefault(text, basis)

    def _narrow(self, types: frozenset[str], basis: Basis) -> None:
        node = self._node
        if node.types - types:
            node.types, node.types_basis = node.types & types, basis

    def _bound(self, keyword: str, value: Decimal, basis: Basis) -> None:
        name, bounds = _EXCLUSIVE.get(keyword, keyword), self._node.bounds
        # `-x` would round to the precision of the context.
        is_least = name.startswith("min")
        found = (value if is_least else value.copy_negate(), keyword in _EXCLUSIVE)
        # A least count of zero limits nothing.
        tells = value or not is_least or name == "minimum"
        if tells and (name not in bounds or found > bounds[name].value):
            bounds[name] = Fact(found, basis)

    def _limit(self, values: dict[str, Json], basis: Basis) -> None:
        node = self._node
        if node.values is None:
            node.values, node.values_basis = values, basis
        elif node.values.keys() - values.keys():
            kept = {key: value for key, value in node.values.items() if key in values}
            node.values, node.values_basis = kept, basis

    def _additional(self, value: Any, basis: Basis, schema: Mapping[str, Any]) -> None:
        node = self._node
        if value is False and "patternProperties" not in schema:
            names = frozenset(schema.get("properties", {}))
            if node.closed is not None:
                names &= node.closed.value
            node.closed = Fact(names, basis)
        elif value is False:
            node.sets.setdefault("additionalProperties", {}).setdefault("false", basis)
        elif value is not True and value != {}:
            node.additional = (*node.additional, Part(value, basis))

    def _forms(self, keyword: str, branches: list[Any], basis: Basis) -> None:
        plain = [
            set(branch) <= {"type", "description"}
            for branch in branches
            if isinstance(branch, Mapping)
        ]
        types = [
            _types(branch["type"])
            for branch in branches
            if isinstance(branch, Mapping) and "type" in branch
        ]
        apart = keyword == "anyOf" or len(frozenset().union(*types)) == sum(map(len, types))
        if branches and len(plain) == len(types) == len(branches) and all(plain) and apart:
            self._narrow(frozenset().union(*types), basis)
            return
        parts = tuple((Part(branch, basis),) for branch in branches)
        self._node.forms.append(Forms(keyword, parts, basis))

    def _condition(self, schema: Mapping[str, Any], basis: Basis) -> None:
        then, otherwise = (
            (Part(schema[name], basis),) if name in schema else () for name in ("then", "else")
        )
        if then or otherwise:
            test = schema["if"]
            made = Condition(
                comparable(test, self._references), in_words(test), then, otherwise, basis
            )
            self._node.conditions.append(made)


def _types(value: str | list[str]) -> frozenset[str]:
    names = [value] if isinstance(value, str) else value
    return frozenset().union(*(_TYPES.get(name, frozenset([name])) for name in names))
