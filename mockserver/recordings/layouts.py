"""How JSON was written, so that a body kept as JSON comes back byte for byte."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from types import MappingProxyType

from mockserver import jsontext
from mockserver.jsontext import Json

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_MAX_DEPTH = 40
_MAX_DIGITS = 90


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to write JSON: what stands between items and after a key, and how texts are quoted."""

    item: str
    key: str
    quote: Callable[[str], str]
    indent: str = ""


LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "compact": Layout(",", ":", encode_basestring),
        "ascii": Layout(",", ":", encode_basestring_ascii),
        "spaced": Layout(", ", ": ", encode_basestring_ascii),
        "lines": Layout(",", ": ", encode_basestring, "  "),
    }
)
"""The usual ways, by the name that a file gives them; the first is that of a file that says none:

`compact` as Java, Go and JavaScript write it, `ascii` with every other character escaped, `spaced`
as Python writes it, `lines` with two blanks a level.
"""


def layout_of(raw: bytes) -> tuple[str, Json] | None:
    """Return the layout and the value of a JSON text, or None where no layout gives these bytes."""
    try:
        value = jsontext.decode(raw)
    except jsontext.NotJson:
        return None
    if not _readable(value, 0):
        return None
    for name in LAYOUTS:
        if encode(value, name) == raw:
            return name, value
    return None


def encode(value: Json, layout: str) -> bytes:
    """Return the JSON text of a value in a layout; numbers keep every digit, `1.00` is `1.00`."""
    parts: list[str] = []
    _write(value, LAYOUTS[layout], "\n", parts.append)
    return "".join(parts).encode("utf-8", "backslashreplace")


def _write(value: Json, layout: Layout, line: str, out: Callable[[str], None]) -> None:
    if isinstance(value, str):
        out(layout.quote(value))
    elif isinstance(value, Mapping):
        _write_items(
            [(layout.quote(key) + layout.key, item) for key, item in value.items()],
            "{}",
            layout,
            line,
            out,
        )
    elif isinstance(value, list | tuple):
        _write_items([("", item) for item in value], "[]", layout, line, out)
    elif isinstance(value, Decimal):
        out(f"{value:f}")
    else:
        out(jsontext.encode(value).decode())


def _write_items(
    items: list[tuple[str, Json]],
    brackets: str,
    layout: Layout,
    line: str,
    out: Callable[[str], None],
) -> None:
    inner = line + layout.indent if layout.indent else ""
    separator = brackets[0]
    for key, item in items:
        out(separator + inner + key)
        _write(item, layout, inner, out)
        separator = layout.item
    out(brackets if not items else (line if layout.indent else "") + brackets[1])


def _readable(value: Json, depth: int) -> bool:
    """Tell whether our files can carry a value: not too deep, no long numbers, no half pairs."""
    match value:
        case str():
            return _HALF_PAIR.search(value) is None
        case Mapping():
            return depth < _MAX_DEPTH and all(
                _readable(key, depth) and _readable(item, depth + 1) for key, item in value.items()
            )
        case list():
            return depth < _MAX_DEPTH and all(_readable(item, depth + 1) for item in value)
        case Decimal():
            return len(f"{value:f}") <= _MAX_DIGITS and "." in f"{value:f}"
        case int() if not isinstance(value, bool):
            return value.bit_length() <= 3 * _MAX_DIGITS
        case _:
            return True
