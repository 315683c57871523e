"""What is wrong with a value by its schema, told in full. Imported where something is wrong."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeGuard

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from mockserver.compiledschema import compiled
from mockserver.jsontext import Json
from mockserver.violations import Violation, did_you_mean, kind_of, shown

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]
"""Where something stands in a value or in a schema, by keys and indexes."""


class Explainer:
    """A schema as `jsonschema` reads it: slow, and with a reason for everything.

    With `skipping`, parts of a value that `jsonschema-rs` finds nothing wrong with are not looked
    at again: most of a request that is refused is right.
    """

    def __init__(self, schema: Schema, *, skipping: bool = False) -> None:
        """Compile a schema."""
        self._schema = schema
        self._validator: Validator = _STRICT(schema)
        # A part that refers to others cannot be compiled without them.
        self._parts = _Parts() if skipping and not _refers(schema) else None

    def accepts(self, value: Json) -> bool:
        """Tell whether the value keeps the schema."""
        return bool(self._validator.is_valid(value))

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Return everything that is wrong with the value, in the order of its fields."""
        told: list[Violation] = []
        if self._parts is not None:
            self._parts.look(told, self._schema, value, (), ())
        else:
            for error in self._validator.iter_errors(value):
                told += _violations(error, (), ())
        found: dict[tuple[Path, str], Violation] = {}
        for violation in told:
            key = (violation.path, violation.message)
            before = found.setdefault(key, violation)
            # What a branch says once more is cited where it stands first, which is further out.
            if len(violation.schema_path) < len(before.schema_path):
                found[key] = violation
        return tuple(sorted(found.values(), key=lambda violation: _order(violation.path)))


def _refers(node: Json) -> bool:
    """Tell whether a schema has a reference anywhere."""
    if isinstance(node, Mapping):
        return "$ref" in node or any(map(_refers, node.values()))
    return isinstance(node, list | tuple) and any(map(_refers, node))


_Check = Callable[[Validator, Any, Json, Schema], Iterable[ValidationError] | None]
"""What is wrong with a value by a keyword, its value and the schema that it stands in."""
_Look = Callable[[list[Violation], Any, Json, Schema, Path, Path], None]
"""Adds what is wrong with a value by a keyword that leads to parts; see `_Parts.look`."""


class _Parts:
    """The parts of one schema, each of them compiled and got ready to be explained once.

    The library would get a part ready each time that it looks at it, which takes longer than the
    look itself, and hand each error through as many iterators as the part is deep.
    """

    def __init__(self) -> None:
        self._looks: dict[str, _Look] = {
            "properties": self._properties,
            "allOf": self._all_of,
            "if": self._if,
        }
        # The parts belong to the schema, so that none of these identities is given away.
        self._compiled: dict[int, Callable[[Json], bool]] = {}
        self._ready: dict[int, tuple[Validator, list[tuple[str, Any, _Check, _Look | None]]]] = {}

    def look(
        self, told: list[Violation], part: Schema, value: Json, path: Path, place: Path
    ) -> None:
        """Add what is wrong with the value at a path by the part at a place in the schema."""
        validator, checks = self._ready.get(id(part)) or self._made_ready(part)
        for keyword, wanted, check, look in checks:
            if look is not None:
                look(told, wanted, value, part, path, place)
                continue
            for error in check(validator, wanted, value, part) or ():
                if not error.schema_path and error.validator is not None:
                    error.validator, error.validator_value = keyword, wanted
                    error.instance, error.schema = value, part
                told += _violations(error, path, (*place, keyword))

    def _made_ready(
        self, part: Schema
    ) -> tuple[Validator, list[tuple[str, Any, _Check, _Look | None]]]:
        known = _STRICT.VALIDATORS
        checks = [
            (keyword, wanted, known[keyword], self._looks.get(keyword))
            for keyword, wanted in part.items()
            if keyword in known
        ]
        found = self._ready[id(part)] = (_STRICT(part), checks)
        return found

    def _keeps(self, part: Schema, value: Json) -> bool | None:
        """Tell whether a value keeps a part; None where that is not told quickly."""
        accepts = self._compiled.get(id(part))
        if accepts is None:
            accepts = self._compiled[id(part)] = compiled(part)
        try:
            return accepts(value)
        except ValueError:
            return None

    def _properties(
        self,
        told: list[Violation],
        parts: Schema,
        value: Json,
        schema: Schema,
        path: Path,
        place: Path,
    ) -> None:
        for name, part in parts.items() if _is_object(value) else ():
            if name not in value or self._keeps(part, value[name]):
                continue
            if isinstance(part, bool):
                told += _of_nothing(part, value[name], path, (*place, "properties"))
            else:
                self.look(told, part, value[name], (*path, name), (*place, "properties", name))

    def _all_of(
        self,
        told: list[Violation],
        parts: Sequence[Schema],
        value: Json,
        schema: Schema,
        path: Path,
        place: Path,
    ) -> None:
        for index, part in enumerate(parts):
            if self._keeps(part, value):
                continue
            if isinstance(part, bool):
                told += _of_nothing(part, value, path, (*place, "allOf"))
            else:
                self.look(told, part, value, path, (*place, "allOf", index))

    def _if(
        self,
        told: list[Violation],
        condition: Schema,
        value: Json,
        schema: Schema,
        path: Path,
        place: Path,
    ) -> None:
        kept = self._keeps(condition, value)
        if kept is None:
            kept = _STRICT(condition).is_valid(value)
        branch = "then" if kept else "else"
        if isinstance(schema.get(branch, True), bool):
            told += _of_nothing(schema.get(branch, True), value, path, place)
        else:
            self.look(told, schema[branch], value, path, (*place, branch))


def _of_nothing(part: bool, value: Json, path: Path, place: Path) -> Iterator[Violation]:
    """Yield what is wrong by a schema that everything keeps, or nothing.

    The library tells no place of it, and None as its keyword.
    """
    for error in _STRICT(part).iter_errors(value):
        yield from _violations(error, path, place)


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    # Nearly all are plain dictionaries, which is sooner seen than what else is a mapping.
    return type(value) is dict or isinstance(value, Mapping)


_PLAIN = {str: "string", dict: "object", list: "array", bool: "boolean", type(None): "null"}
"""The types of which JSON Schema and Python tell the same."""


def _type(
    validator: Validator, wanted: Any, value: Json, schema: Schema
) -> Iterable[ValidationError]:
    """Return what is wrong with the type of a value; nearly always that is nothing."""
    if wanted == _PLAIN.get(type(value)):
        return ()
    found: Iterable[ValidationError] = Draft202012Validator.VALIDATORS["type"](
        validator, wanted, value, schema
    )
    return found


def _is_integer(_: object, value: Json) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(_: Validator, pattern: str, value: Json, __: Schema) -> Iterator[ValidationError]:
    # JSON Schema means ECMAScript's patterns, where `$` is the very end. Classes such as `\\d` and
    # `\\s` differ as well; no schema of ours uses them.
    strict = f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern
    if isinstance(value, str) and not re.search(strict, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_STRICT = validators.extend(  # type: ignore[no-untyped-call]  # untyped in the library's stubs
    Draft202012Validator,
    {"pattern": _pattern, "type": _type},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def _order(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (-1, part) for part in path)


def _violations(error: ValidationError, path: Path, place: Path) -> list[Violation]:
    """Return an error of the value at a path, by what stands at a place in the schema."""
    if error.path:
        path = (*path, *error.path)
    if error.schema_path:
        place = (*place, *error.schema_path)
    keyword = str(error.validator)
    return [Violation(where, message, keyword, place) for where, message in _messages(error, path)]


def _messages(error: ValidationError, path: Path) -> Iterator[tuple[Path, str]]:
    schema: Schema = _mapping(error.schema)
    value: Json = error.instance
    wanted: Json = error.validator_value
    match error.validator:
        case "required":
            for name in wanted:
                if name not in value:
                    yield (*path, name), f"missing, it is required{_purpose(schema, name)}"
        case "additionalProperties":
            known = sorted(schema.get("properties", {}))
            for name in value:
                if name not in known:
                    yield (*path, name), _unknown(name, known)
        case "anyOf" | "oneOf" if "x-expects" not in schema:
            yield path, f"fits none of the allowed forms: {_alternatives(error)}"
        case _:
            yield path, f"expected {_expected(error, schema)}, got {_got(value)}"


def _unknown(name: str, known: Sequence[str]) -> str:
    allowed = ", ".join(known) if known else "none"
    return f"unknown name{did_you_mean(name, known)} (allowed: {allowed})"


def _purpose(schema: Schema, name: str) -> str:
    described = _mapping(schema.get("properties", {})).get(name, {})
    text = described.get("description") if isinstance(described, Mapping) else None
    return f" ({text})" if text else ""


def _alternatives(error: ValidationError) -> str:
    texts = [text for child in error.context or () for _, text in _messages(child, ())]
    return "; or ".join(dict.fromkeys(texts)) or error.message


def _got(value: Json) -> str:
    if isinstance(value, str):
        return shown(value)
    return f"{kind_of(value)}, {shown(value)}" if value is not None else "null"


def _expected(error: ValidationError, schema: Schema) -> str:
    """Return what the broken keyword asks for, in the schema's own words where it has some."""
    words = schema.get("x-expects")
    if isinstance(words, str) and error.validator != "type":
        return words
    wanted: Json = error.validator_value
    match error.validator:
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else list(wanted)
            return " or ".join(_WITH_ARTICLE.get(kind, kind) for kind in kinds)
        case "enum":
            near = did_you_mean(str(error.instance), [str(item) for item in wanted])
            return f"one of {', '.join(map(shown, wanted))}{near.removesuffix('?')}"
        case "const":
            return shown(wanted)
        case "pattern":
            return f"text that matches {wanted}"
        case keyword:
            return _LIMITS.get(str(keyword), f"{keyword} {{}}").format(shown(wanted))


def _mapping(schema: object) -> Schema:
    return schema if _is_object(schema) else {}


_WITH_ARTICLE = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

_LIMITS = {
    "exclusiveMaximum": "less than {}",
    "exclusiveMinimum": "more than {}",
    "maxItems": "at most {} items",
    "maxLength": "at most {} characters",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "minLength": "at least {} characters",
    "minProperties": "at least {} members",
    "minimum": "at least {}",
    "uniqueItems": "no item twice",
}
