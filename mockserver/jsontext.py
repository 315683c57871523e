"""JSON: read strictly, with exact numbers, and written without any float."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring_ascii
from typing import Any, Final, NoReturn

from mockserver import limits
from mockserver.fast_dataclass import dataclass

_quick_loads: Callable[[bytes], Any] | None = None
with suppress(ImportError):
    # Of the extra `speed`.
    from orjson import loads

    _quick_loads = loads

Json = Any
"""A value that JSON can carry; its numbers are `int` or `Decimal`, never `float`."""
Schema = Mapping[str, Any]
"""A JSON Schema."""
FieldPath = tuple[str | int, ...]
"""Where something stands in a JSON value or in a schema, by keys and indexes."""

MAX_DEPTH = limits.DEPTH.most
"""How deep arrays and objects may nest; the service's own messages need six levels."""

_MAX_DIGITS = limits.DIGITS.most
_MAX_EXPONENT = limits.EXPONENT.most
# Longer texts skip orjson, whose attempt would cost too much where it fails.
_MOST_QUICK = 65_536
# Characters after which a piece of a long text ends, so that others have their turn.
_PIECE = 65_536
_PLAIN = frozenset({str, int, bool, type(None)})
_FORM = re.compile(r"[\w.~%+\[\]-]{1,100}=[^\s{\"]*(&|\Z)")
# Numbers further than this from the decimal point are written with an exponent.
_PLAIN_PLACES = 100


class NotJson(ValueError):
    """A text that is not JSON in the strict reading; the message says where and why."""


def decode(raw: bytes, *, depth: int = MAX_DEPTH) -> Json:
    """Return the value of a JSON text in UTF-8.

    Stricter than the standard library: refuses NaN and Infinity, duplicate keys, nesting beyond
    `depth`, and numbers that are long when they are written out. Raises `NotJson`.
    """
    if _quick_loads is not None and len(raw) <= _MOST_QUICK:
        quick = _plain_object(raw, _quick_loads)
        if quick is not None:
            return quick
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}") from None
    objects = text.count("{")
    if objects + text.count("[") > depth:
        _limit_depth(text, depth)
    try:
        if objects == 1:
            value, end = _SCAN_FLAT(text, 0)
            # As many colons as keys: no text has a colon, and no key was repeated.
            if end == len(text) and type(value) is dict and len(value) == text.count(":"):
                return value
        value, end = _SCAN(text, 0)
        if end == len(text):
            return value
    except (StopIteration, ValueError):
        # The error is reported below, with its place from the beginning of the text.
        pass
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        if format_ := _other_format(text):
            raise NotJson(format_) from None
        place = f"line {error.lineno} column {error.colno}"
        reason = error.msg.removesuffix(" at")
        raise NotJson(f"{reason[:1].lower()}{reason[1:]} at {place}") from None
    except NotJson:
        raise
    except ValueError:
        # The interpreter refuses to read integers of several thousand digits.
        raise NotJson(f"a number with too many digits; {_MAX_DIGITS} are read") from None


def _other_format(text: str) -> str:
    """Tell what a text is that is no JSON from its first character on; empty where unknown."""
    if text.startswith("\ufeff"):
        return "begins with a byte order mark, which JSON does not have"
    if "\0" in text[:4]:
        return "not UTF-8 but UTF-16 or UTF-32"
    if _FORM.match(text):
        return "a form, as name=value"
    if text.startswith("--") and "Content-Disposition:" in text[:500]:
        return "a multipart form"
    return ""


def _plain_object(raw: bytes, loads: Callable[[bytes], Any]) -> dict[str, Json] | None:
    """Return an object of texts and small whole numbers; None for any other text."""
    # orjson reads these as we do. It reads other numbers as floats, and accepts repeated keys: with
    # as many colons as keys, no key was repeated, and no text has a colon.
    try:
        value = loads(raw)
    except ValueError:
        return None
    if type(value) is not dict or len(value) != raw.count(b":"):
        return None
    return value if _PLAIN.issuperset(map(type, value.values())) else None


def camel(name: str) -> str:
    """Return a name of ours as JSON has it: `retry_after` is `retryAfter` there."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def members_of(value: Any, *left_out: str) -> dict[str, Json]:
    """Return the fields of a dataclass as the members of an object, their values as they are."""
    names = [field.name for field in fields(value) if field.name not in left_out]
    return {camel(name): getattr(value, name) for name in names}


def picked(value: Any, *names: str) -> dict[str, Json]:
    """Return attributes of a value as the members of an object: words of an enumeration as texts,
    and tuples as lists.
    """
    return {camel(name): _plain_of(getattr(value, name)) for name in names}


def _plain_of(value: Any) -> Json:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def decode_or(raw: bytes, default: Json = None) -> Json:
    """Return the value of a JSON text, or the default where it is none."""
    try:
        return decode(raw)
    except NotJson:
        return default


def encode(value: Json) -> bytes:
    """Return the compact JSON text of a value, with `Decimal` plain where it is short.

    It is ASCII: other characters are escaped, so that even half a surrogate pair stays valid.
    """
    return _text(value).encode("ascii")


def escaped(text: str) -> str:
    """Return a text escaped as by `encode`, without the quotation marks."""
    return encode_basestring_ascii(text)[1:-1]


def canonical(value: Json) -> str:
    """Return the text of a JSON value that is equal for equal values, whatever their order."""
    return _text(_sorted(value))


def _sorted(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


@dataclass(frozen=True, slots=True, eq=False)
class LazyArray:
    """An array whose items are made while it is written, since making all first takes long.

    Where an item takes long itself, `NOT_YET` comes before it, so that others have their turn.
    """

    items: Iterable[Json]


NOT_YET: Final = object()


def pieces(value: Json, many: int = 128) -> Iterator[bytes]:
    """Yield the text that `encode` makes of a value; of an `LazyArray`, at most `many` items at
    a time, fewer where they are long.

    An `LazyArray` stands below objects only.
    """
    parts: list[str] = []
    for part in _parts(value, many):
        if part is None:
            yield "".join(parts).encode("ascii")
            parts.clear()
        elif not part:
            # How an answer is cut does not depend on how long it took.
            yield b""
        else:
            parts.append(part)
    yield "".join(parts).encode("ascii")


def texts_in(value: Json) -> Iterator[str]:
    """Yield the texts in a value, however deep, without the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts_in(member)


def kind_of(value: Json) -> str:
    """Return the JSON type of a value, where all numbers are `number`."""
    kind = type_of(value)
    return "number" if kind == "integer" else kind


def type_of(value: Json) -> str:
    """Return the JSON type of a value, where numbers are `integer` or `number`."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case Mapping():
            return "object"
        case list() | tuple():
            return "array"
        case _:
            return "number"


def plain(number: Decimal) -> str:
    """Return a decimal number without exponent and without trailing zeros: `0.0001`, `10`, `0`."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _parts(value: Json, many: int) -> Iterator[str | None]:
    """Yield the parts of a text, and None where a piece is long enough."""
    if type(value) is dict:
        separator = "{"
        for key, item in value.items():
            yield f"{separator}{encode_basestring_ascii(key)}:"
            yield from _parts(item, many)
            separator = ","
        yield "{}" if separator == "{" else "}"
    elif type(value) is LazyArray:
        separator, size = "[", 0
        for number, item in enumerate(value.items, start=1):
            if item is NOT_YET:
                yield ""
                continue
            text = _text(item)
            yield separator + text
            separator = ","
            size += len(text)
            if number % many == 0 or size > _PIECE:
                size = 0
                yield None
        yield "[]" if separator == "[" else "]"
    else:
        yield _text(value)


def _text(value: Json) -> str:
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


def _write(value: Json, out: Callable[[str], None]) -> None:
    kind = type(value)
    if kind is str:
        out(encode_basestring_ascii(value))
    elif kind is dict:
        separator = "{"
        for key, item in value.items():
            out(f"{separator}{encode_basestring_ascii(key)}:")
            _write(item, out)
            separator = ","
        out("{}" if separator == "{" else "}")
    elif kind is list or kind is tuple:
        separator = "["
        for item in value:
            out(separator)
            _write(item, out)
            separator = ","
        out("[]" if separator == "[" else "]")
    elif kind is int:
        out(str(value))
    elif value is None or kind is bool:
        out("null" if value is None else "true" if value else "false")
    elif kind is Decimal:
        out(plain(value) if -_PLAIN_PLACES <= value.adjusted() <= _PLAIN_PLACES else str(value))
    else:
        _write_other(value, out)


def _write_other(value: Json, out: Callable[[str], None]) -> None:
    """Write subclasses and relatives of JSON values: enumeration members, read-only mappings."""
    match value:
        case str():
            out(encode_basestring_ascii(value))
        case int():
            out(str(int(value)))
        case Mapping():
            _write(dict(value), out)
        case _:
            raise TypeError(f"JSON has no form for {type(value).__name__}: {value!r}")


def _no_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not a JSON number")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    members = {}
    for key, value in pairs:
        if key in members:
            raise NotJson(f"the key {key!r} is given twice")
        members[key] = value
    return members


def _decimal(text: str) -> Decimal:
    if len(text) > _MAX_DIGITS:
        raise NotJson(f"a number with too many digits; {_MAX_DIGITS} are read")
    try:
        number = Decimal(text)
        if -_MAX_EXPONENT <= number.adjusted() <= _MAX_EXPONENT:
            return number
    except ArithmeticError:
        # Decimal fails as well, at exponents of nineteen digits.
        pass
    raise NotJson(f"a number with too large an exponent; {_MAX_EXPONENT} is read, up or down")


_DECODER = json.JSONDecoder(
    parse_float=_decimal, parse_constant=_no_constant, object_pairs_hook=_unique
)


_FLAT = json.JSONDecoder(parse_float=_decimal, parse_constant=_no_constant)

# The decoder without its search for blanks, which most bodies do not have.
_SCAN: Callable[[str, int], tuple[Json, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
# `_SCAN` without the check for repeated keys, several times as fast.
_SCAN_FLAT: Callable[[str, int], tuple[Json, int]] = _FLAT.scan_once  # type: ignore[attr-defined]


# Bracket by bracket, since a search of megabytes at once would hold up all other threads.
_TO_BRACKETS = re.compile(r'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+"?)*+([][{}]*)', re.DOTALL)


def read_loosely(
    text: str,
    *,
    depth: int = MAX_DEPTH,
    parse_int: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Json:
    """Return the value of a JSON text as `json.loads` reads it, nested no deeper than this.

    Raises `ValueError`.
    """
    _limit_depth(text, depth)
    return json.loads(text, parse_int=parse_int, parse_float=parse_float)


def _limit_depth(text: str, most: int) -> None:
    """Raise `NotJson` for a text that is nested deeper than this.

    Call it before a parser that relies on Python's recursion limit: libraries for signatures raise
    that limit so far that the parser of the standard library crashes first.
    """
    if text.count("{") + text.count("[") <= most:
        # The number of brackets bounds the depth: nearly all texts need no closer look.
        return
    depth = 0
    for brackets in _TO_BRACKETS.finditer(text):
        for bracket in brackets[1]:
            depth += 1 if bracket in "[{" else -1
            if depth > most:
                raise NotJson(f"nested deeper than {most} levels")


def pretty(value: Json, indent: int = 0) -> str:
    """Return the JSON text of a value for people: two blanks a level, members in their order."""
    inner = "  " * (indent + 1)
    if isinstance(value, Mapping) and value:
        lines = [
            f"{inner}{encode_basestring_ascii(key)}: {pretty(item, indent + 1)}"
            for key, item in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + "  " * indent + "}"
    if isinstance(value, list | tuple) and value:
        items = [f"{inner}{pretty(item, indent + 1)}" for item in value]
        return "[\n" + ",\n".join(items) + "\n" + "  " * indent + "]"
    return _text(value)
