"""What is wrong with a value by its schema, told in full. Imported where something is wrong."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, TypeGuard

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from mockserver.compiledschema import compiled
from mockserver.jsontext import Json
from mockserver.violations import Violation, did_you_mean, kind_of, shown

Schema = Mapping[str, Any]


class Explainer:
    """A schema as `jsonschema` reads it: slow, and with a reason for everything.

    With `skipping`, parts of a value that `jsonschema-rs` finds nothing wrong with are not looked
    at again: most of a request that is refused is right.
    """

    def __init__(self, schema: Schema, *, skipping: bool = False) -> None:
        """Compile a schema."""
        self._validator: Validator = _STRICT(schema)
        # A part that refers to others cannot be compiled without them.
        quick = skipping and not _refers(schema)
        self._errors = partial(_Parts().errors, schema) if quick else self._validator.iter_errors

    def accepts(self, value: Json) -> bool:
        """Tell whether the value keeps the schema."""
        return bool(self._validator.is_valid(value))

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Return everything that is wrong with the value, in the order of its fields."""
        found: dict[tuple[tuple[str | int, ...], str], Violation] = {}
        for error in self._errors(value):
            for violation in _violations(error):
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


class _Parts:
    """The parts of one schema, each of them compiled and got ready to be explained once.

    The library would get a part ready each time that it looks at it, which takes longer than the
    look itself.
    """

    def __init__(self) -> None:
        self._checks: dict[str, _Check] = {
            **_STRICT.VALIDATORS,
            "properties": self._properties,
            "allOf": self._all_of,
            "if": self._if,
        }
        # The parts belong to the schema, so that none of these identities is given away.
        self._compiled: dict[int, Callable[[Json], bool]] = {}
        self._ready: dict[int, tuple[Validator, list[tuple[str, Any, _Check]]]] = {}

    def errors(self, part: Schema, value: Json) -> Iterator[ValidationError]:
        """Yield what is wrong with a value by a part, as the library does."""
        ready = self._ready.get(id(part))
        if ready is None:
            known = [
                (key, it, self._checks[key]) for key, it in part.items() if key in self._checks
            ]
            ready = self._ready[id(part)] = (_STRICT(part), known)
        validator, checks = ready
        for keyword, wanted, check in checks:
            for error in check(validator, wanted, value, part) or ():
                if not error.schema_path and error.validator is not None:
                    error.validator, error.validator_value = keyword, wanted
                    error.instance, error.schema = value, part
                if keyword != "if":
                    error.schema_path.appendleft(keyword)
                yield error

    def _keeps(self, part: Schema, value: Json) -> bool | None:
        """Tell whether a value keeps a part; None where that is not told quickly."""
        accepts = self._compiled.get(id(part))
        if accepts is None:
            accepts = self._compiled[id(part)] = compiled(part)
        try:
            return accepts(value)
        except ValueError:
            return None

    def _below(
        self, part: Schema | bool, value: Json, place: str | int, name: str | None = None
    ) -> Iterator[ValidationError]:
        """Yield what is wrong by a part at a place in the schema, with a member of the value."""
        if isinstance(part, bool):
            # The library tells no place of what nothing keeps, and None as its keyword.
            yield from _STRICT(part).iter_errors(value)
            return
        for error in self.errors(part, value):
            if name is not None:
                error.path.appendleft(name)
            error.schema_path.appendleft(place)
            yield error

    def _properties(
        self, _: Validator, parts: Schema, value: Json, schema: Schema
    ) -> Iterator[ValidationError]:
        for name, part in parts.items() if _is_object(value) else ():
            if name in value and not self._keeps(part, value[name]):
                yield from self._below(part, value[name], name, name)

    def _all_of(
        self, _: Validator, parts: Sequence[Schema], value: Json, schema: Schema
    ) -> Iterator[ValidationError]:
        for index, part in enumerate(parts):
            if not self._keeps(part, value):
                yield from self._below(part, value, index)

    def _if(
        self, validator: Validator, condition: Schema, value: Json, schema: Schema
    ) -> Iterator[ValidationError]:
        kept = self._keeps(condition, value)
        if kept is None:
            kept = validator.evolve(schema=condition).is_valid(value)
        branch = "then" if kept else "else"
        if branch in schema:
            yield from self._below(schema[branch], value, branch)


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


def _order(path: tuple[str | int, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (-1, part) for part in path)


def _violations(error: ValidationError) -> Iterator[Violation]:
    path = tuple(error.absolute_path)
    for place, message in _messages(error, path):
        yield Violation(place, message, str(error.validator), tuple(error.absolute_schema_path))


def _messages(
    error: ValidationError, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
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
