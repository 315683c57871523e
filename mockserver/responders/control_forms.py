"""The forms that requests to control a world are written in, as `schemas/control.yaml` has them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mockserver import file_formats, limits, resources
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json, Schema
from mockserver.suggestions import did_you_mean
from mockserver.tables import UnknownTableName
from mockserver.times_and_durations import ClockRefused, parse_duration, parse_instant
from mockserver.validation import SchemaCheck, Violation, excerpt

LONGEST_MS = 36_500 * 86_400_000
"""The longest duration that is taken, in milliseconds: a hundred years."""


class BadControl(CrosschainMockError):
    """A request to control a world that cannot be carried out; nothing has changed."""


def members(properties: Mapping[str, Schema], *required: str, least: int = 0) -> Schema:
    """Return the form of an object with these members and no others."""
    form: dict[str, Any] = {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "additionalProperties": False,
    }
    if required:
        form["required"] = list(required)
    if least:
        form["minProperties"] = least
    return form


def variants(schemas: Mapping[str, Schema], by: str) -> Schema:
    """Return the form of an object that is one of several, distinguished by a member."""
    return {
        "type": "object",
        "oneOf": [_variant(schema, by, name) for name, schema in schemas.items()],
        "discriminator": {"propertyName": by},
    }


def check(schema: Schema, value: Json, where: str) -> None:
    """Raise `BadControl` with every place where a value breaks a form; `where` is its name."""
    branch = _branch(schema, value, where)
    part = "query parameter" if where == "query" else f"{where} field"
    wrong = [
        f"{part} {violation.field!r}: {_message(branch, violation)}"
        if violation.path
        else f"{where}: {violation.message}"
        for violation in SchemaCheck(branch, compiled=False).violations(value)
    ]
    if wrong:
        raise BadControl("; ".join(wrong[:4]))


def duration_ms(text: str) -> int:
    """Return a duration in milliseconds. Raises `ClockRefused` for more than a hundred years."""
    duration = parse_duration(text)
    if duration > LONGEST_MS:
        raise ClockRefused(f"{text!r} is more than a hundred years; '36500d' is the most")
    return duration


def instant_ms(text: str) -> int:
    """Return a time in milliseconds since 1970. Raises `ClockRefused` where it is none."""
    try:
        return parse_instant(text)
    except OverflowError:
        raise ClockRefused(
            f"{text!r} is no time; write for example '2026-01-01T00:00:00Z'"
        ) from None


def _message(schema: Schema, violation: Violation) -> str:
    """Return what is wrong with a field; the value of a secret is not repeated."""
    field = schema.get("properties", {}).get(violation.path[0], {})
    if not field.get("writeOnly"):
        return violation.message
    return f"expected {field['x-expects']}; what came is not repeated"


def _variant(schema: Schema, by: str, name: str) -> Schema:
    return {
        **schema,
        "title": name,
        "properties": {by: {"const": name}, **schema["properties"]},
        "required": [by, *schema.get("required", ())],
    }


def _branch(schema: Schema, value: Json, where: str) -> Schema:
    """Return the variant that a value names, so that errors are about that one alone."""
    if "discriminator" not in schema or not isinstance(value, Mapping):
        return schema
    by = schema["discriminator"]["propertyName"]
    branches: dict[str, Schema] = {
        branch["properties"][by]["const"]: branch for branch in schema["oneOf"]
    }
    named = value.get(by)
    if isinstance(named, str) and named in branches:
        return branches[named]
    allowed = ", ".join(branches)
    if by not in value:
        raise BadControl(f"{where} field {by!r}: missing, it is one of {allowed}")
    near = did_you_mean(named, list(branches)) if isinstance(named, str) else ""
    raise BadControl(f"{where} field {by!r}: expected one of {allowed}, got {excerpt(named)}{near}")


_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_NAMED = re.compile(r"\{([\w.]+:\w+)\}")


def named_code(name: str) -> Any:
    """Return what is called `module:NAME`, the module below `mockserver`."""
    module, _, inner = name.partition(":")
    try:
        return getattr(import_module(f"mockserver.{module}"), inner)
    except (ImportError, AttributeError):
        raise UnknownTableName(f"{name!r} is nothing") from None


def filled(value: Json) -> Json:
    """Return a text with bounds and lists in place of their names; a bound alone is a number."""
    if not isinstance(value, str):
        return value
    alone = _NAMED.fullmatch(value)
    return int(_named_bound(alone)) if alone else _NAMED.sub(_named_bound, value)


def _named_bound(name: re.Match[str]) -> str:
    bound = named_code(name[1])
    return str(bound.most) if isinstance(bound, limits.Limit) else ", ".join(bound)


class FormTable:
    """Makes JSON Schemas of the fields of the table."""

    def __init__(self, named: Mapping[str, Json]) -> None:
        self.named = named

    def message(self, spec: Json, make: Callable[[Mapping[str, Json]], Schema]) -> Schema:
        """Return the form of a body or an answer: one with a name, or `make` of its fields."""
        if isinstance(spec, Mapping) and "schema" not in spec:
            return make(spec)
        return self.field(spec["schema"] if isinstance(spec, Mapping) else spec)

    def fields(self, spec: Json) -> Mapping[str, Schema]:
        """Return the forms of parameters, those of a list in its order."""
        if isinstance(spec, list):
            return {name: form for part in spec for name, form in self.fields(part).items()}
        if isinstance(spec, str):
            spec = self.takes(spec)
        return {name.removesuffix("!"): self.field(field_spec) for name, field_spec in spec.items()}

    def takes(self, name: str) -> Mapping[str, Json]:
        """Return the fields that an object of a name takes, as the table has them, if any."""
        named: Mapping[str, Json] = self.named.get(name, {}).get("takes", {})
        return named

    def taken(self, spec: Mapping[str, Json], *, least: int = 0) -> Schema:
        """Return the form of an object in requests: these fields alone, some required."""
        required = (name[:-1] for name in spec if name.endswith("!"))
        return members(self.fields(spec), *required, least=least)

    def answer(self, spec: Mapping[str, Json]) -> Schema:
        """Return the form of an object in answers: all of these fields, and no others."""
        return {
            "type": "object",
            "properties": {
                name.removesuffix("?"): self.field(field_spec) for name, field_spec in spec.items()
            },
            "required": [name for name in spec if not name.endswith("?")],
            "additionalProperties": False,
        }

    def _answered(self, spec: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the fields of an answer, behind those of the forms that it repeats."""
        own: Mapping[str, Json] = spec["answers"]
        names = {name.removesuffix("?") for name in own}
        repeated: dict[str, Json] = {}
        for form_name in spec.get("answers-of", ()):
            # What a request may leave out may be missing where it is repeated.
            taken = {
                f"{name.removesuffix('!')}?": field for name, field in self.takes(form_name).items()
            }
            repeated |= taken or self.named[form_name]["answers"]
        kept = {
            name: field for name, field in repeated.items() if name.removesuffix("?") not in names
        }
        return {**kept, **own}

    def field(self, spec: Json) -> Schema:
        if isinstance(spec, str):
            return self._by_name(spec)
        if isinstance(spec, list):
            return {**self.field(spec[0]), "description": filled(spec[1])}
        if "answers" in spec:
            answer = self.answer(self._answered(spec))
            return {**answer, "description": spec["is"]} if "is" in spec else answer
        if "takes" in spec:
            above = self.takes(spec["takes-of"]) if "takes-of" in spec else {}
            taken = self.taken({**above, **spec["takes"]}, least=spec.get("least", 0))
            return {**taken, "description": spec["is"]} if "is" in spec else taken
        if "words" in spec:
            words = spec["words"]
            known = named_code(words) if isinstance(words, str) else words
            form = {"enum": [str(word) for word in known]}
            return {**form, "description": spec["is"]} if spec.get("is") else form
        return {name: self._part(name, part) for name, part in spec.items()}

    def _part(self, keyword: str, value: Json) -> Json:
        if keyword == "properties":
            return {name: self.field(field_spec) for name, field_spec in value.items()}
        if keyword == "anyOf":
            return [self.field(alternative) for alternative in value]
        return self.field(value) if keyword in ("items", "x-client") else filled(value)

    def _by_name(self, name: str) -> Schema:
        if name in self.named:
            form = self.field(self.named[name])
            # Generators of clients make a type of each object, and call it so.
            is_object = form.get("type") == "object" and "x-name" not in form
            return {"x-name": _title(name), **form} if is_object else form
        if name.startswith("list of "):
            return {"type": "array", "items": self._by_name(name.removeprefix("list of "))}
        if name.endswith("?") and name[:-1] in self.named:
            return {"anyOf": [self._by_name(name[:-1]), {"type": "null"}]}
        if ":" in name:
            made: Schema = named_code(name)()
            return made
        plain = name.removesuffix("?")
        if plain not in _TYPES:
            raise UnknownTableName(f"{name!r} is nothing")
        return {"type": plain if plain == name else [plain, "null"]}


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


@cache
def shipped_forms() -> FormTable:
    path = resources.schemas() / "control.yaml"
    return FormTable(file_formats.parse(path.read_text("utf-8"), path).value["forms"])


@cache
def form(name: str) -> Schema:
    return shipped_forms().field(name)
