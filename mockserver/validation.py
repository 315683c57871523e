"""JSON Schema validation whose findings are values: where, what came, what would be right."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from mockserver.jsontext import Json

Schema = Mapping[str, Any]
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks its schema.

    `path` leads to the place in the value, `schema_path` to the keyword in the schema, so that the
    basis of the broken fact can be looked up beside it.
    """

    path: tuple[str | int, ...]
    message: str
    keyword: str
    schema_path: tuple[str | int, ...]

    @property
    def field(self) -> str:
        """The place in the value as people write it: `list[0].symbol`; empty for the whole."""
        return dotted(self.path)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.path else self.message


class SchemaCheck:
    """A schema, compiled once, that tells what is wrong with a value.

    Where `jsonschema-rs` is installed (the extra `speed`) it says yes or no, a hundred times as
    fast; what is wrong is always told by `jsonschema`.
    """

    def __init__(self, schema: Schema, *, compiled: bool = True) -> None:
        """Keep the schema; it is compiled at its first use. `compiled` allows `jsonschema-rs`."""
        self.schema = schema
        self._compiled = compiled

    def accepts(self, value: Json) -> bool:
        """Tell whether the value keeps the schema."""
        return self._accepts(value)

    @cached_property
    def _accepts(self) -> Callable[[Json], bool]:
        if self._compiled:
            try:
                from jsonschema_rs import Draft202012Validator as Compiled  # noqa: PLC0415
            except ImportError:
                pass
            else:
                return self._with_fallback(Compiled(dict(self.schema)).is_valid)
        return self._validator.is_valid

    def _with_fallback(self, compiled: Callable[[Json], bool]) -> Callable[[Json], bool]:
        def accepts(value: Json) -> bool:
            try:
                return compiled(value)
            except ValueError:
                # Half a surrogate pair is text for Python, and none for the compiled library.
                return self._validator.is_valid(value)

        return accepts

    @cached_property
    def _validator(self) -> Validator:
        validator: Validator = _STRICT(self.schema)
        return validator

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Return everything that is wrong with the value, in the order of its fields."""
        if self.accepts(value):
            return ()
        found = {
            (violation.path, violation.message): violation
            for error in self._validator.iter_errors(value)
            for violation in _violations(error)
        }
        return tuple(sorted(found.values(), key=lambda violation: _order(violation.path)))


def dotted(path: Sequence[str | int]) -> str:
    """Return a path of keys and indexes as people write it: `outages[0].chain`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def shown(value: Json) -> str:
    """Return a value as it is quoted in a message: cut short, and never with a line break."""
    text = ascii(value) if isinstance(value, str) else _unquoted(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}... ({len(text)} characters)"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean 'X'?` for the nearest known name, or an empty text."""
    folded = {candidate.casefold(): candidate for candidate in known}
    near = get_close_matches(name.casefold()[:200], folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def kind_of(value: Json) -> str:
    """Return the JSON type of a value, with its article: `a string`, `an integer`, `null`."""
    match value:
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int():
            return "an integer"
        case None:
            return "null"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "an array"
        case _:
            return "a number"


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
    {"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def _unquoted(value: Json) -> str:
    match value:
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case Mapping():
            return f"an object with {len(value)} members"
        case list() | tuple():
            return f"an array with {len(value)} items"
        case int() if value.bit_length() > 4 * _SHOWN:
            return "an integer of many digits"
        case _:
            return str(value)


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
    return schema if isinstance(schema, Mapping) else {}


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
