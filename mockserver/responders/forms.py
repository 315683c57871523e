"""The forms that requests to control a world are written in: durations, times, counts, names."""

from collections.abc import Mapping, Sequence
from typing import Any

from mockserver.clock import ClockRefused, parse_duration, parse_instant
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck, Violation, did_you_mean, shown

Schema = Mapping[str, Any]

LONGEST_MS = 36_500 * 86_400_000
"""The longest duration that is taken, in milliseconds: a hundred years."""


class BadControl(CrosschainMockError):
    """A request to control a world that cannot be carried out; nothing has changed."""


def described(schema: Schema, text: str) -> Schema:
    """Return a form with a description of what it is for."""
    return {**schema, "description": text}


def choice(values: Sequence[str], text: str = "") -> Schema:
    """Return the form of a text out of a few."""
    found: dict[str, Any] = {"enum": list(values)}
    return {**found, "description": text} if text else found


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
    wrong = [
        f"{where} field {violation.field!r}: {_told(branch, violation)}"
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


def _told(schema: Schema, violation: Violation) -> str:
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
    raise BadControl(f"{where} field {by!r}: expected one of {allowed}, got {shown(told)}{near}")
