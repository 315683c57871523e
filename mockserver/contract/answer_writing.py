"""Answers as JSON text: of what an operation returns, the dialect decides what is shown, and how.

Members that a schema does not declare are left out, members without value stay out, and a number
becomes text (or text a number) where the dialect publishes the other type.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from typing import Any

from mockserver import jsontext
from mockserver.jsontext import Json, plain

Writer = Callable[[Json], str]
"""Returns the JSON text of a value, in ASCII."""


def body_writer(schema: Mapping[str, Any], before: str, after: str) -> Callable[[Json], bytes]:
    """Return a function that writes what a schema declares between the ends of an envelope."""
    parts = _parts(schema)
    writer = _object_writer(parts) if parts else writer_of(schema)

    def write(data: Json) -> bytes:
        return f"{before}{writer(data)}{after}".encode("ascii")

    if not parts:
        return write
    return _compiled(f"({_object_code(parts, before, after)}).encode('ascii')", parts, write)


def writer_of(schema: Mapping[str, Any]) -> Writer:
    """Return a function that writes what a schema declares, in its types."""
    parts = _parts(schema)
    if parts:
        return _compiled(_object_code(parts), parts, _object_writer(parts))
    items = schema.get("items")
    if isinstance(items, Mapping):
        return _array_writer(writer_of(items))
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return _map_writer(writer_of(values))
    types = frozenset(_types(schema))
    return _scalar_writer(types) if types else _as_it_is


# A member: its name, the same as JSON with the colon, whether it is a text, and what writes it.
_Written = tuple[str, str, bool, Writer]


def _parts(schema: Mapping[str, Any]) -> Sequence[_Written]:
    """Return the members that a schema declares."""
    members: dict[str, dict[str, Any]] = {}
    for node in (schema, *schema.get("allOf", ())):
        for name, member in node.get("properties", {}).items():
            known = members.setdefault(name, {})
            # A second branch about the same member adds keywords that the first does not have.
            for key, value in member.items():
                known.setdefault(key, value)
    return [
        (name, f"{encode_basestring_ascii(name)}:", _is_text(node), writer_of(node))
        for name, node in members.items()
    ]


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    for node in (schema, *schema.get("allOf", ())):
        kind = node.get("type", ())
        yield from (kind,) if isinstance(kind, str) else kind


def _object_writer(parts: Sequence[_Written]) -> Writer:
    def write(value: Json) -> str:
        if type(value) is not dict and not isinstance(value, Mapping):
            return _as_it_is(value)
        written = []
        for name, key, text, inner in parts:
            if name in value:
                value_of_member = value[name]
                written.append(
                    key
                    + (
                        encode_basestring_ascii(value_of_member)
                        if text and type(value_of_member) is str
                        else inner(value_of_member)
                    )
                )
        return f"{{{','.join(written)}}}"

    return write


def _is_text(schema: Mapping[str, Any]) -> bool:
    inside = ("properties", "items", "additionalProperties")
    return "string" in _types(schema) and not any(key in schema for key in inside)


_CODE = """
def write(value):
    try:
        return {expression}
    except (KeyError, TypeError):
        return otherwise(value)
"""


def _compiled(
    expression: str, parts: Sequence[_Written], otherwise: Callable[[Json], Any]
) -> Callable[[Json], Any]:
    """Return a function that writes an object which has, as nearly always, all of its members.

    `otherwise` writes one that lacks a member, or has a text that is none.
    """
    # The code is our own, and its names are numbers (docs/decisions/validation.md).
    names: dict[str, Any] = {"otherwise": otherwise}
    for number, (name, _, text, inner) in enumerate(parts):
        names[f"name{number}"] = name
        names[f"write{number}"] = encode_basestring_ascii if text else inner
    exec(_CODE.format(expression=expression), names)  # noqa: S102
    write: Callable[[Json], Any] = names["write"]
    return write


def _object_code(parts: Sequence[_Written], before: str = "", after: str = "") -> str:
    """Return the expression of an object as a single formatted string."""
    code, text = [], f"{before}{{"
    for number, (_, key, _, _) in enumerate(parts):
        code.append(f"{text + key!r} f'{{write{number}(value[name{number}])}}'")
        text = ","
    return " ".join([*code, repr(f"}}{after}")])


def _array_writer(item: Writer) -> Writer:
    def write(value: Json) -> str:
        if not isinstance(value, list | tuple):
            return _as_it_is(value)
        return f"[{','.join(map(item, value))}]"

    return write


def _map_writer(item: Writer) -> Writer:
    def write(value: Json) -> str:
        if not isinstance(value, Mapping):
            return _as_it_is(value)
        written = [
            f"{encode_basestring_ascii(name)}:{item(value_of_member)}"
            for name, value_of_member in value.items()
        ]
        return f"{{{','.join(written)}}}"

    return write


def _scalar_writer(types: frozenset[str]) -> Writer:
    text = "string" in types
    as_text = text and not {"integer", "number"} & types

    def write(value: Json) -> str:
        kind = type(value)
        if kind is str and text:
            return encode_basestring_ascii(value)
        # By type: True is an integer as well, and would be written as a number.
        if kind is int and not as_text:
            return str(value)
        if isinstance(value, str):
            # An empty text stays one: it says that there is no number.
            if text or not value:
                return encode_basestring_ascii(value)
            return _as_it_is(_number(value, types))
        if as_text and isinstance(value, int | Decimal) and not isinstance(value, bool):
            return f'"{plain(Decimal(value))}"'
        return _as_it_is(value)

    return write


def _number(text: str, types: frozenset[str]) -> Json:
    if "integer" in types and text.removeprefix("-").isdecimal():
        return int(text)
    return Decimal(text) if "number" in types else text


def _as_it_is(value: Json) -> str:
    return jsontext.encode(value).decode("ascii")
