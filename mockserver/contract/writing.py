"""Answers as JSON text: of what an operation returns, the dialect decides what is shown, and how.

Members that a schema does not declare are left out, members without value stay out, and a number
becomes text (or text a number) where the dialect publishes the other type.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from operator import call, itemgetter
from typing import Any

from mockserver import jsontext
from mockserver.jsontext import Json, plain

Writer = Callable[[Json], str]
"""Returns the JSON text of a value, in ASCII."""


def writer_of(schema: Mapping[str, Any]) -> Writer:
    """Return a function that writes what a schema declares, in its types."""
    members = dict(_members(schema))
    if members:
        writer = _members_writer if len(members) > 1 else _single_writer
        return writer(members, _object_writer(members))
    items = schema.get("items")
    if isinstance(items, Mapping):
        return _array_writer(writer_of(items))
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return _map_writer(writer_of(values))
    types = frozenset(_types(schema))
    return _scalar_writer(types) if types else _as_it_is


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    members: dict[str, dict[str, Any]] = {}
    for node in (schema, *schema.get("allOf", ())):
        for name, member in node.get("properties", {}).items():
            known = members.setdefault(name, {})
            # A second branch about the same member adds keywords that the first does not have.
            for key, value in member.items():
                known.setdefault(key, value)
    yield from members.items()


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    for node in (schema, *schema.get("allOf", ())):
        kind = node.get("type", ())
        yield from (kind,) if isinstance(kind, str) else kind


def _object_writer(members: Mapping[str, Mapping[str, Any]]) -> Writer:
    parts = [
        (name, f"{encode_basestring_ascii(name)}:", _is_text(node), writer_of(node))
        for name, node in members.items()
    ]

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


def _members_writer(members: Mapping[str, Mapping[str, Any]], otherwise: Writer) -> Writer:
    """Return a writer for objects that have, nearly always, all of their members."""
    keys = [encode_basestring_ascii(name).replace("%", "%%") for name in members]
    # One format of the whole object: filling it in takes less than joining its members.
    template = "{" + ",".join([f"{key}:%s" for key in keys]) + "}"
    values = itemgetter(*members)
    writers = [
        encode_basestring_ascii if _is_text(node) else writer_of(node) for node in members.values()
    ]
    texts_alone = all(writer is encode_basestring_ascii for writer in writers)

    def write(value: Json) -> str:
        if type(value) is dict:
            try:
                if texts_alone:
                    return template % tuple(map(encode_basestring_ascii, values(value)))
                return template % tuple(map(call, writers, values(value)))
            except (KeyError, TypeError):
                # One is missing, or should be a text and is none.
                pass
        return otherwise(value)

    return write


def _single_writer(members: Mapping[str, Mapping[str, Any]], otherwise: Writer) -> Writer:
    """Return a writer for objects that have, nearly always, their one member."""
    [(name, node)] = members.items()
    before = f"{{{encode_basestring_ascii(name)}:"
    writer = encode_basestring_ascii if _is_text(node) else writer_of(node)

    def write(value: Json) -> str:
        if type(value) is dict:
            try:
                return f"{before}{writer(value[name])}}}"
            except (KeyError, TypeError):
                # It is missing, or should be a text and is none.
                pass
        return otherwise(value)

    return write


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
