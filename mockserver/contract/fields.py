"""The inputs that a request schema declares: where each travels, and how its texts are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass  # noqa: TID251 - with room for what is worked out
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from mockserver.jsontext import Json
from mockserver.validation import Violation

LOCATIONS = ("headers", "query", "body")
_CALLED = {"headers": "header", "query": "query parameter", "body": "body field"}
CHAIN_ROLES = ("chain", "fromChain", "toChain")
"""The inputs that name a chain."""
AMOUNT_ROLES = ("amount", "fromAmount")
"""The inputs that say how much; no operation has both."""


@dataclass(frozen=True)
class Field:
    """One input of an operation: where it travels, its wire name, and the name code reads it by."""

    location: str
    name: str
    role: str
    required: bool
    schema: Mapping[str, Any]

    @cached_property
    def reading(self) -> str:
        """How the dialect reads a text, such as `deposit`; empty where any form is taken."""
        return str(self.schema.get("x-reading", ""))

    @cached_property
    def once(self) -> bool:
        """Whether the dialect takes what the input names only once."""
        return self.schema.get("x-once") is True

    @cached_property
    def absent(self) -> Sequence[str]:
        """The texts of a query parameter that count as left out."""
        return tuple(self.schema.get("x-absent", ()))

    @cached_property
    def repeatable(self) -> bool:
        """Whether it may be given more than once; the first counts."""
        return bool(self.schema.get("x-repeatable"))

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types the contract allows; empty where it allows any."""
        kind = self.schema.get("type", ())
        return (kind,) if isinstance(kind, str) else tuple(kind)

    @property
    def values(self) -> tuple[Json, ...]:
        """The only values that the contract allows; empty where it does not list them."""
        nodes = (self.schema, *self.schema.get("allOf", ()))
        return next((tuple(node["enum"]) for node in nodes if "enum" in node), ())

    @property
    def is_amount(self) -> bool:
        """Whether it says how much is to be transferred, swapped or quoted."""
        return self.role in AMOUNT_ROLES

    @cached_property
    def typed(self) -> Callable[[str], Json] | None:
        """Makes a value of the field's type of a text; None where texts stay as they are.

        Any other text stays a text, which the schema then reports.
        """
        types = self.types
        if "string" in types or not types:
            return None

        def typed(text: str) -> Json:
            # Only as JSON spells them: what `True` or `1` means is not for us to say.
            if "boolean" in types and text in ("true", "false"):
                return text == "true"
            digits = text.removeprefix("-")
            # Bounded, since Python's `int` of a text takes time by the square of its length.
            if "integer" in types and digits.isdecimal() and digits.isascii() and len(digits) < 100:
                return int(text)
            return _number(text) if "number" in types else text

        return typed


def fields_of(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the inputs that a request schema declares, headers first, in their own order."""
    fields = []
    for location in LOCATIONS:
        part = schema.get("properties", {}).get(location, {})
        required = {
            name for branch in (part, *part.get("allOf", ())) for name in branch.get("required", ())
        }
        for name, node in part.get("properties", {}).items():
            role = node.get("x-role", name)
            fields.append(Field(location, name, role, name in required, node))
    return tuple(fields)


def describe(path: tuple[str | int, ...]) -> str:
    """Return a place in a request as people call it: `header 'appKey'`, `body field 'token'`."""
    if len(path) < 2:
        return str(path[0]) if path else "request"
    return f"{_CALLED.get(str(path[0]), str(path[0]))} {'.'.join(map(str, path[1:]))!r}"


def sentence(violation: Violation) -> str:
    return f"{describe(violation.path)}: {violation.message}"


def _number(text: str) -> Json:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text
