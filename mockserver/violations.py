"""A violation of a schema: where, what came, what would be right."""

from collections.abc import Mapping, Sequence

from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json, type_of
from mockserver.wording import counted

_LONGEST = 60


@value_class(frozen=True, slots=True)
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


def dotted(path: Sequence[str | int]) -> str:
    """Return a path of keys and indexes as people write it: `outages[0].chain`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def excerpt(value: Json) -> str:
    """Return a value as it is quoted in a message: cut short, and never with a line break."""
    text = ascii(value) if isinstance(value, str) else _unquoted(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}... ({len(text)} characters)"


def kind_of(value: Json) -> str:
    """Return the JSON type of a value, with its article: `a string`, `an integer`, `null`."""
    return with_article(type_of(value))


def with_article(kind: str) -> str:
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _unquoted(value: Json) -> str:
    match value:
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case Mapping():
            return f"an object with {counted(len(value), 'member')}"
        case list() | tuple():
            return f"an array with {counted(len(value), 'item')}"
        case int() if value.bit_length() > 4 * _LONGEST:
            return "an integer of many digits"
        case _:
            return str(value)
