"""The forms that requests to control a world are written in, as `schemas/control.yaml` has them."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mockserver import documents, limits, resources
from mockserver.clock import ClockRefused, parse_duration, parse_instant
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.tables import UnknownName
from mockserver.validation import SchemaCheck, Violation, did_you_mean, excerpt

Schema = Mapping[str, Any]

LONGEST_MS = 36_500 * 86_400_000
"""The longest duration that is taken, in milliseconds: a hundred years."""


class BadControl(CrosschainMockError):
    """A request to control a world that cannot be carried out; nothing has changed."""


def members(properties: Mapping[str, Schema], *required: str, least: int = 0) -> Schema:
    """Return the form of an object with these members and no others."""
    found: dict[str, Any] = {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "additionalProperties": False,
    }
    if required:
        found["required"] = list(required)
    if least:
        found["minProperties"] = least
    return found


def variants(schemas: Mapping[str, Schema], by: str) -> Schema:
    """Return the form of an object that is one of several, told apart by a member."""
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
    found = parse_duration(text)
    if found > LONGEST_MS:
        raise ClockRefused(f"{text!r} is more than a hundred years; '36500d' is the most")
    return found


def instant_ms(text: str) -> int:
    """Return a time in milliseconds since 1970. Raises `ClockRefused` where it is none."""
    try:
        return parse_instant(text)
    except OverflowError:
        raise ClockRefused(
            f"{text!r} is no time; write for example '2026-01-01T00:00:00Z'"
        ) from None


def _message(schema: Schema, violation: Violation) -> str:
    """Return what is wrong with a field; what came under the name of a secret is not repeated."""
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
    """Return the variant that a value says it is, so that what is wrong is told of it alone."""
    if "discriminator" not in schema or not isinstance(value, Mapping):
        return schema
    by = schema["discriminator"]["propertyName"]
    found: dict[str, Schema] = {
        branch["properties"][by]["const"]: branch for branch in schema["oneOf"]
    }
    told = value.get(by)
    if isinstance(told, str) and told in found:
        return found[told]
    allowed = ", ".join(found)
    if by not in value:
        raise BadControl(f"{where} field {by!r}: missing, it is one of {allowed}")
    near = did_you_mean(told, list(found)) if isinstance(told, str) else ""
    raise BadControl(f"{where} field {by!r}: expected one of {allowed}, got {excerpt(told)}{near}")


_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_NAMED = re.compile(r"\{([\w.]+:\w+)\}")


def named_code(name: str) -> Any:
    """Return what is called `module:NAME`, the module below `mockserver`."""
    module, _, inner = name.partition(":")
    try:
        return getattr(import_module(f"mockserver.{module}"), inner)
    except (ImportError, AttributeError):
        raise UnknownName(f"{name!r} is nothing") from None


def filled(value: Json) -> Json:
    """Return a text with bounds and lists in place of their names; a bound alone is a number."""
    if not isinstance(value, str):
        return value
    alone = _NAMED.fullmatch(value)
    return int(_named_bound(alone)) if alone else _NAMED.sub(_named_bound, value)


def _named_bound(name: re.Match[str]) -> str:
    found = named_code(name[1])
    return str(found.most) if isinstance(found, limits.Limit) else ", ".join(found)


class FormTable:
    """Makes JSON Schemas of the fields of the table."""

    def __init__(self, named: Mapping[str, Json]) -> None:
        """Take the table's own forms."""
        self.named = named

    def whole(self, told: Json, make: Callable[[Mapping[str, Json]], Schema]) -> Schema:
        """Return the form of a body or an answer: one with a name, or `make` of its fields."""
        if isinstance(told, Mapping) and "schema" not in told:
            return make(told)
        return self.field(told["schema"] if isinstance(told, Mapping) else told)

    def fields(self, told: Json) -> Mapping[str, Schema]:
        """Return the forms of parameters, those of a list in its order."""
        if isinstance(told, list):
            return {name: form for part in told for name, form in self.fields(part).items()}
        if isinstance(told, str):
            told = self.takes(told)
        return {name.removesuffix("!"): self.field(one) for name, one in told.items()}

    def takes(self, name: str) -> Mapping[str, Json]:
        """Return the fields that an object of a name takes, as they are told; none of no name."""
        found: Mapping[str, Json] = self.named.get(name, {}).get("takes", {})
        return found

    def taken(self, told: Mapping[str, Json], *, least: int = 0) -> Schema:
        """Return the form of an object that is sent: none but these fields, some of them."""
        required = (name[:-1] for name in told if name.endswith("!"))
        return members(self.fields(told), *required, least=least)

    def answer(self, told: Mapping[str, Json]) -> Schema:
        """Return the form of an object that is answered: these fields, and no others."""
        return {
            "type": "object",
            "properties": {name.removesuffix("?"): self.field(one) for name, one in told.items()},
            "required": [name for name in told if not name.endswith("?")],
            "additionalProperties": False,
        }

    def field(self, told: Json) -> Schema:
        """Return the form of a field."""
        if isinstance(told, str):
            return self._by_name(told)
        if isinstance(told, list):
            return {**self.field(told[0]), "description": filled(told[1])}
        if "answers" in told:
            return self.answer(told["answers"])
        if "takes" in told:
            above = self.takes(told["takes-of"]) if "takes-of" in told else {}
            taken = self.taken({**above, **told["takes"]}, least=told.get("least", 0))
            return {**taken, "description": told["is"]} if "is" in told else taken
        if "words" in told:
            words = told["words"]
            known = named_code(words) if isinstance(words, str) else words
            found = {"enum": [str(one) for one in known]}
            return {**found, "description": told["is"]} if told.get("is") else found
        return {name: self._part(name, part) for name, part in told.items()}

    def _part(self, keyword: str, value: Json) -> Json:
        if keyword == "properties":
            return {name: self.field(one) for name, one in value.items()}
        return self.field(value) if keyword == "items" else filled(value)

    def _by_name(self, name: str) -> Schema:
        if name in self.named:
            return self.field(self.named[name])
        if name.startswith("list of "):
            return {"type": "array", "items": self._by_name(name.removeprefix("list of "))}
        if ":" in name:
            found: Schema = named_code(name)()
            return found
        plain = name.removesuffix("?")
        if plain not in _TYPES:
            raise UnknownName(f"{name!r} is nothing")
        return {"type": plain if plain == name else [plain, "null"]}


@cache
def shipped_forms() -> FormTable:
    """Return the forms that are shipped."""
    path = resources.schemas() / "control.yaml"
    return FormTable(documents.parse(path.read_text("utf-8"), path).value["forms"])


@cache
def form(name: str) -> Schema:
    """Return the shipped form of a name."""
    return shipped_forms().field(name)
