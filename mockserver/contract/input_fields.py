"""The inputs that a request schema declares: where each travels, and how its texts are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass  # noqa: TID251 - with room for what is worked out
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from mockserver.jsontext import Json, plain
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


class Inputs(dict[str, Json]):
    """What an operation was called with: values by role, wherever they travelled.

    `violations` tell what is wrong with it. `refusal` names a refusal that comes before the schema,
    such as for a body that is no JSON, and `reason` says why.
    """

    __slots__ = ("fields",)

    fields: Mapping[str, Field]
    """The inputs that the dialect has, by role."""
    violations: tuple[Violation, ...] = ()
    refusal: str | None = None
    reason: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Json], fields: Mapping[str, Field]) -> "Inputs":
        """Return inputs that keep the contract."""
        inputs = cls(values)
        inputs.fields = fields
        return inputs

    def text(self, role: str) -> str:
        """Return an input as text; numbers come as plain digits."""
        value = self[role]
        if type(value) is str:
            return value
        return plain(value) if isinstance(value, Decimal) else str(value)

    def optional(self, role: str) -> str | None:
        """Return an input as text, or None where the client left it out."""
        value = self.get(role)
        return value if value is None or type(value) is str else self.text(role)

    def decimal(self, role: str) -> Decimal:
        """Return a number of whole tokens, exact."""
        return Decimal(self[role])

    def integer(self, role: str) -> int:
        return int(self[role])

    def flag(self, role: str) -> bool:
        """Return a boolean; one that was left out is false."""
        return self.get(role) in (True, "true")

    def has(self, role: str) -> bool:
        return role in self

    def offers(self, role: str) -> bool:
        """Tell whether the dialect has the input, sent or not."""
        return role in self.fields

    def reading(self, role: str) -> str:
        """Return how the dialect reads a text, such as `deposit`; empty where any form is taken."""
        field = self.fields.get(role)
        return field.reading if field else ""

    def once(self, role: str) -> bool:
        """Tell whether the dialect takes what the input names only once."""
        field = self.fields.get(role)
        return field.once if field else False

    def wire_name(self, role: str) -> str:
        """Return how the client calls it: `query parameter 'fromChain'`."""
        field = self.fields.get(role)
        return describe((field.location, field.name)) if field else repr(role)


def sentence(violation: Violation) -> str:
    return f"{describe(violation.path)}: {violation.message}"


def _number(text: str) -> Json:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text
