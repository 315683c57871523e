"""Lists all violations of a schema. Imported only when a value breaks one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple, TypeGuard

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from mockserver import limits
from mockserver.compiledschema import Compiled
from mockserver.jsontext import FieldPath, Json, Schema
from mockserver.suggestions import did_you_mean
from mockserver.violations import Violation, excerpt, kind_of, with_article
from mockserver.wording import counted


class Explainer:
    """A schema as `jsonschema` reads it: slow, and with a reason for everything.

    With `quick`, the same schema compiled, only those keywords are looked at that `jsonschema-rs`
    finds broken: most of a request that is refused is right.
    """

    def __init__(self, schema: Schema, quick: Compiled | None) -> None:
        self._validator: Validator = _STRICT(schema)
        # A part that refers to others cannot be looked at without them.
        self._broken = None if quick is None or _refers(schema) else _BrokenKeywords(schema, quick)

    def accepts(self, value: Json) -> bool:
        return bool(self._validator.is_valid(value))

    def violations(self, value: Json, *, long: bool = False) -> tuple[Violation, ...]:
        """Return everything that is wrong with the value, in the order of its fields.

        `jsonschema-rs` is not used for a `long` one: it copies parts of it for each violation.
        """
        every = None if long or self._broken is None else self._broken.violations(value)
        if every is None:
            every = []
            for error in self._validator.iter_errors(value):
                every += _violations(error, tuple(error.path), tuple(error.schema_path))
        violations: dict[tuple[FieldPath, str], Violation] = {}
        for violation in every:
            key = (violation.path, violation.message)
            before = violations.setdefault(key, violation)
            # A repeated violation of a branch is cited from the outermost place.
            if len(violation.schema_path) < len(before.schema_path):
                violations[key] = violation
        return tuple(sorted(violations.values(), key=lambda violation: _order(violation.path)))


def _refers(node: Json) -> bool:
    if isinstance(node, Mapping):
        return "$ref" in node or any(map(_refers, node.values()))
    return isinstance(node, list | tuple) and any(map(_refers, node))


class _Error(NamedTuple):
    """The part of a `ValidationError` that is needed for a keyword that only says it is broken."""

    validator: str
    validator_value: Json
    instance: Json
    schema: Schema
    context: Sequence[ValidationError] = ()
    message: str = ""


class _Keyword(NamedTuple):
    """A keyword at a place in a schema, ready to be explained.

    `number` tells when it is its turn. `path` leads to the value that it is about.
    """

    number: int
    name: str
    place: FieldPath
    path: FieldPath
    schema: Schema
    validator: Validator

    def violations(self, instance: Json) -> list[Violation]:
        """Return what is wrong with what is in a whole value, which breaks this keyword."""
        name, schema = self.name, self.schema
        value, wanted = reduce(getitem, self.path, instance), schema[name]
        if name in _ALONE or (wanted is False and name == "additionalProperties"):
            return _violations(_Error(name, wanted, value, schema), self.path, self.place)
        violations: list[Violation] = []
        for error in _STRICT.VALIDATORS[name](self.validator, wanted, value, schema) or ():
            path, place = (*self.path, *error.path), (*self.place, *error.schema_path)
            if not error.schema_path and error.validator is not None:
                error.validator, error.validator_value = name, wanted
                error.instance, error.schema = value, schema
            violations += _violations(error, path, place)
        return violations


class _BrokenKeywords:
    """What is wrong with a value by the keywords that `jsonschema-rs` finds broken.

    The library would get each part of a schema ready each time that it looks at it, which takes
    longer than the look itself.
    """

    def __init__(self, schema: Schema, quick: Compiled) -> None:
        self._quick = quick
        self._keywords: dict[FieldPath, _Keyword | None] = {}
        self._enter(schema, (), ())

    def violations(self, value: Json) -> list[Violation] | None:
        """Return the violations; None where the full validator has to find them."""
        broken: dict[int, _Keyword] = {}
        try:
            for error in self._quick.iter_errors(value):
                keyword = self._keyword(tuple(error.schema_path))
                if keyword is None:
                    return None
                broken[keyword.number] = keyword
        except ValueError:
            # Half a surrogate pair, which is no text for the compiled library.
            return None
        return [
            violation for number in sorted(broken) for violation in broken[number].violations(value)
        ]

    def _keyword(self, place: FieldPath) -> _Keyword | None:
        """Return the keyword at a place, or above it; None where there is none."""
        known = self._keywords
        if place not in known:
            above = (place[:end] for end in range(len(place), 0, -1))
            known[place] = next((known[path] for path in above if path in known), None)
        return known[place]

    def _enter(self, schema: Schema, place: FieldPath, path: FieldPath) -> None:
        """Note the keywords of a part of the schema, in the order in which they are looked at."""
        validator = _STRICT(schema)
        for name in filter(_STRICT.VALIDATORS.__contains__, schema):
            for steps, part in _parts(schema, name):
                if not isinstance(part, bool):
                    inner = (*path, *steps[1:]) if name == "properties" else path
                    self._enter(part, (*place, *steps), inner)
                    continue
                # The library reports no keyword for a condition itself.
                at = place if name == "if" else (*place, name)
                number = len(self._keywords)
                keyword = _Keyword(number, name, at, path, schema, validator)
                self._keywords[*place, *steps] = keyword
                if name == "pattern":
                    # What a pattern counts is compiled apart (`compiledschema.py`).
                    for counted in ("minLength", "maxLength"):
                        self._keywords.setdefault((*place, counted), keyword)


# Keywords of which there is no more to tell than that a value breaks them.
_ALONE = frozenset(
    {
        *("const", "enum", "pattern", "required", "type"),
        *("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"),
        *("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"),
    }
)


def _parts(schema: Schema, name: str) -> list[tuple[FieldPath, Schema | bool]]:
    """Return the parts behind a keyword that are looked at one by one, with the steps there."""
    # Nothing more can be told of a boolean, nor behind other keywords: those are looked at whole.
    wanted = schema[name]
    match name:
        case "properties":
            return [((name, inner), part) for inner, part in wanted.items()]
        case "allOf":
            return [((name, index), part) for index, part in enumerate(wanted)]
        case "if":
            return [((name,), schema[name]) for name in ("then", "else") if name in schema]
        case _:
            return [((name,), True)]


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    # Nearly all are plain dictionaries, and that check is faster than the one for `Mapping`.
    return type(value) is dict or isinstance(value, Mapping)


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


def _order(path: FieldPath) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (-1, part) for part in path)


def _violations(
    error: ValidationError | _Error, path: FieldPath, place: FieldPath
) -> list[Violation]:
    """Return an error of the value at a path, by what stands at a place in the schema."""
    keyword = str(error.validator)
    return [Violation(where, message, keyword, place) for where, message in _messages(error, path)]


def _messages(error: ValidationError | _Error, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
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
            unknown = [name for name in value if name not in schema.get("properties", {})]
            # A near name is sought for each, which would take seconds for thousands of them.
            for name in unknown[: limits.UNKNOWN_NAMES.most]:
                yield (*path, name), _unknown(name, known)
            if len(unknown) > limits.UNKNOWN_NAMES.most:
                more = len(unknown) - limits.UNKNOWN_NAMES.most
                yield path, f"and {counted(more, 'more unknown name')}"
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


def _alternatives(error: ValidationError | _Error) -> str:
    texts = [text for child in error.context or () for _, text in _messages(child, ())]
    return "; or ".join(dict.fromkeys(texts)) or error.message


def _got(value: Json) -> str:
    if isinstance(value, str):
        return excerpt(value)
    if value is None:
        return "null"
    # Messages about an object or an array begin with the same words.
    sized = isinstance(value, Mapping | list | tuple)
    return excerpt(value) if sized else f"{kind_of(value)}, {excerpt(value)}"


def _expected(error: ValidationError | _Error, schema: Schema) -> str:
    """Return what the broken keyword asks for, in the schema's own words where it has some."""
    words = schema.get("x-expects")
    if isinstance(words, str) and error.validator != "type":
        return words
    wanted: Json = error.validator_value
    match error.validator:
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else list(wanted)
            return " or ".join(map(with_article, kinds))
        case "enum":
            near = did_you_mean(str(error.instance), [str(item) for item in wanted])
            return f"one of {', '.join(map(excerpt, wanted))}{near.removesuffix('?')}"
        case "const":
            return excerpt(wanted)
        case "pattern":
            return f"text that matches {wanted}"
        case keyword:
            return _LIMITS.get(str(keyword), f"{keyword} {{}}").format(excerpt(wanted))


def _mapping(schema: object) -> Schema:
    return schema if _is_object(schema) else {}


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
