"""Bodies in recording files: JSON where that gives the same bytes, else text, base64 or a file."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mockserver import content_codings, jsontext, limits, userfiles
from mockserver.errors import InvalidFile
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.http_messages import Coded
from mockserver.jsontext import FieldPath, Json

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
    # Tried and not guessed: only what gives the very bytes again may stand for them.
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
        # Not by `str`, which writes small and large numbers with an exponent.
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
            # Without a point it would be read back as an integer.
            return len(f"{value:f}") <= _MAX_DIGITS and "." in f"{value:f}"
        case int() if not isinstance(value, bool):
            return value.bit_length() <= 3 * _MAX_DIGITS
        case _:
            return True


FOLDER = "bodies"
"""Name of the folder beside a recording that holds large bodies."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

DEFAULT_LAYOUT = next(iter(LAYOUTS))


def body_members(body: bytes) -> dict[str, Json]:
    """Return the members of a request or an answer that show a body, the most readable way."""
    if not body:
        return {}
    named_layout = layout_of(body)
    if named_layout is not None:
        layout, value = named_layout
        return {"body": value} | ({} if layout == DEFAULT_LAYOUT else {"layout": layout})
    return _plain_members(body)


def _plain_members(body: bytes) -> dict[str, Json]:
    text = as_text(body)
    if text is not None:
        return {"bodyText": text}
    return {"bodyBase64": base64.b64encode(body).decode()}


def exact_members(body: bytes, shown: Json) -> dict[str, Json]:
    """Return the members that restore a body which is shown as JSON or as a text.

    There are none where the usual way to write what is shown gives the same bytes.
    """
    if isinstance(shown, str) and shown.encode("utf-8", "surrogatepass") == body:
        return {}
    usual = jsontext.encode(shown)
    # A text, and nothing, are shown of what is no JSON and of an empty body.
    if usual == body and not (shown is None or isinstance(shown, str)):
        return {}
    named_layout = layout_of(body)
    # A reader of JSON gets 1.10 as 1.1, which no layout makes longer again.
    if named_layout is not None and encode(jsontext.decode(usual), named_layout[0]) == body:
        return {"layout": named_layout[0]}
    return _plain_members(body)


def restored(shown: Json, exact: Mapping[str, Any]) -> bytes:
    """Return the body of which `exact_members` returned `exact`. Raises `ValueError`."""
    if "layout" in exact:
        return encode(shown, exact["layout"])
    if "bodyText" in exact:
        return str(exact["bodyText"]).encode("utf-8", "surrogatepass")
    if "bodyBase64" in exact:
        return base64.b64decode(exact["bodyBase64"], validate=True)
    # A body that is no JSON is shown as text.
    return (
        shown.encode("utf-8", "surrogatepass") if isinstance(shown, str) else encode(shown, "ascii")
    )


def read(document: Document, place: FieldPath, part: Mapping[str, Any]) -> bytes:
    """Return the body that the members of a request or an answer show.

    Raises `InvalidFile` where a file that holds one is missing or is not what was recorded.
    """
    if "body" in part:
        return encode(part["body"], part.get("layout", DEFAULT_LAYOUT))
    if "bodyText" in part:
        return str(part["bodyText"]).encode()
    if "bodyBase64" in part:
        return base64.b64decode(part["bodyBase64"])
    if "bodyFile" in part:
        return _from_file(document, (*place, "bodyFile"), part["bodyFile"])
    return b""


def file_members(body: bytes, files: Mapping[bytes, str]) -> dict[str, Json]:
    """Return the member that names the file of a large body; `files` has the names, by body."""
    return {"bodyFile": {"name": files[body], "sha256": checksum_of(body)}}


def coded_members(coded: Coded | None, files: Mapping[bytes, str]) -> dict[str, Json]:
    """Return the member of an answer that shows the content coding in which its body came."""
    if coded is None:
        return {}
    row: dict[str, Json] = {"coding": coded.coding}
    if coded.unasked:
        row["unasked"] = True
    if coded.omitted:
        row["omitted"] = coded.omitted
    # A large one has a file of its own, as the body that it holds.
    elif coded.body in files:
        row |= file_members(coded.body, files)
    else:
        row["bodyBase64"] = base64.b64encode(coded.body).decode()
    return {"coded": row}


def read_coded(document: Document, place: FieldPath, row: Mapping[str, Any], body: bytes) -> Coded:
    """Return the coding in which a body came, and its bytes.

    Raises `InvalidFile` where these are of another body: what is shown would not be what is sent.
    """
    coded = Coded(
        row["coding"],
        read(document, place, row),
        row.get("unasked", False),
        row.get("omitted", ""),
    )
    if reason := difference(coded, body):
        remedy = "leave 'coded' out, and the body is sent as it is shown"
        raise InvalidFile([document.problem(place, f"{reason}; {remedy}")])
    return coded


def difference(coded: Coded, body: bytes) -> str:
    """Return why bytes in a coding are not those of a body, as a sentence; empty where they are."""
    if coded.omitted:
        return ""
    try:
        unpacked = content_codings.decoded(coded.body, coded.coding, limits.RECORDED_BODY.most)
    except (content_codings.Undecodable, content_codings.TooLong):
        return f"these bytes are not {coded.coding[:40]!a}"
    return "" if unpacked == body else "these bytes hold another body than the one that is shown"


def file_name(body: bytes, checksum: str) -> str:
    """Return the name of the file that holds a large body; it ends by what is in it."""
    kind = "json" if body[:1] in (b"{", b"[") else "txt" if as_text(body) is not None else "bin"
    return f"{checksum[:32]}.{kind}"


def checksum_of(body: bytes) -> str:
    """Return the SHA-256 of a body in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def _from_file(document: Document, place: FieldPath, named: Mapping[str, str]) -> bytes:
    file = Path(document.file).parent / FOLDER / named["name"]
    try:
        body = userfiles.read(file, limits.RECORDED_BODY)
    except userfiles.NotReadable as error:
        raise InvalidFile([document.problem(place, f"{file} {error}")]) from None
    if checksum_of(body) != named["sha256"]:
        raise InvalidFile([document.problem(place, f"{file} is not what was recorded")])
    return body


def as_text(body: bytes) -> str | None:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text
