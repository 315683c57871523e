"""Codings in which a text may stand in another: undone, and done again in the same way."""

import base64
import codecs
import gzip
import re
import zlib
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import quote, unquote

from mockserver.fast_dataclass import dataclass

DEEPEST = 8
"""How many codings on top of another are undone; what is packed deeper is left out."""

_MOST_BYTES = 16 * 1024 * 1024
_HEX = re.compile(r"(0x)?((?:[0-9a-fA-F]{2}){6,})")
_HEX_APART = re.compile(r"(?<!\w)[0-9a-fA-F]{2}([ :])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4,}(?!\w)")
_BETWEEN_MARKS = re.compile(r"[ :][0-9a-fA-F]{2}[ :]")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_BASE64_OF_ADDRESSES = re.compile(r"[A-Za-z0-9_-]{12,}={0,2}")
_SHORT_BASE64 = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{8,11}={0,2}(?![\w+/=-])")
SHORT = 9
"""Characters: shorter texts have a base64 that looks like any word."""
_BASE64_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n)+[A-Za-z0-9+/]{1,76}={0,2}")
_PRINTED = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_FEWEST = 6
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Packed:
    """What is in a coding: `inner`, and how something else is put in its place."""

    inner: bytes | str
    packed: Callable[[bytes], str]


# UTF-16 of other programs may have half a pair of surrogates.
WIDE = "surrogatepass"


def encoding_of(raw: bytes, declared: str = "") -> str | None:
    """Return the encoding of a text; None where the bytes are none."""
    for mark, name in _MARKS:
        if raw.startswith(mark) and _is_text(raw, name, marked=True):
            return name
    if raw.startswith(_GZIP) and inflated(raw) is not None:
        # A short one may be letters of UTF-16 as well.
        return None
    if b"\0" in raw[:64]:
        for name in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
            if _is_text(raw, name):
                return name
        return None
    return next((name for name in ("utf-8", declared) if name and _is_text(raw, name)), None)


def _is_text(raw: bytes, name: str, *, marked: bool = False) -> bool:
    try:
        text, _ = text_and_rest(raw, name)
    except (UnicodeDecodeError, LookupError):
        return False
    # Nearly any two bytes are a character of UTF-16; most texts of a protocol are ASCII.
    return (
        marked
        or name == "utf-8"
        or "utf" not in name
        or 2 * sum(map(str.isascii, text[:200])) > len(text[:200])
    )


def text_and_rest(raw: bytes, name: str) -> tuple[str, bytes]:
    """Return the text that bytes are, and those of a character that is cut off at its end.

    A text of UTF-16 that lost its last byte can be read all the same, and so can its secrets.
    Raises `UnicodeDecodeError` and `LookupError`.
    """
    width = next((width for bits, width in (("32", 4), ("16", 2)) if f"utf-{bits}" in name), 1)
    end = len(raw) - len(raw) % width
    return raw[:end].decode(name, "strict" if width == 1 else WIDE), raw[end:]


def inflated(raw: bytes) -> tuple[bytes, Callable[[bytes], bytes]] | None:
    """Return what gzip, zlib or bare deflate hold, and how it is packed again; None for others."""
    ways: tuple[tuple[int, Callable[[bytes], bytes]], ...] = (
        (31, lambda data: gzip.compress(data, mtime=0)),
        (15, zlib.compress),
        (-15, lambda data: zlib.compress(data)[2:-4]),
    )
    for bits, again in ways:
        unpacker = zlib.decompressobj(bits)
        try:
            unpacked = unpacker.decompress(raw, _MOST_BYTES)
        except zlib.error:
            continue
        # Random bytes are sometimes deflate; then what they hold is no text.
        if (
            unpacked
            and unpacker.eof
            and (bits > 0 or (not unpacker.unused_data and encoding_of(unpacked)))
        ):
            return unpacked, again
    return None


def is_packed_text(raw: bytes) -> bool:
    """Tell whether bytes are a text, or hold one."""
    if inflated(raw) is not None:
        return True
    name = encoding_of(raw)
    return (
        name is not None
        and len(raw) >= _FEWEST
        and _PRINTED.fullmatch(text_and_rest(raw, name)[0]) is not None
    )


def unpacked_runs(
    text: str, change: Callable[[Packed, str], str | None], *, short: bool = False
) -> str:
    """Return a text with changed runs of hexadecimal digits and base64; None leaves a run.

    `change` gets a run unpacked, and as it is; short words too where a secret is as short.
    """

    def changed(match: re.Match[str]) -> str:
        for packed in (_hex(match[0]), _base64(match[0])):
            if packed is not None and (repacked := change(packed, match[0])) is not None:
                return repacked
        return match[0]

    if "\n" in text:
        text = _BASE64_LINES.sub(lambda match: _lines(match[0], change) or match[0], text)
    # A run with `-` or `_` is one of its own alphabet, of which the first one sees only pieces.
    text = _BASE64_OF_ADDRESSES.sub(changed, text)
    if _BETWEEN_MARKS.search(text):
        text = _HEX_APART.sub(lambda match: _apart(match[0], match[1], change) or match[0], text)
    text = _BASE64.sub(changed, text) if "/" in text or "+" in text else text
    return _SHORT_BASE64.sub(changed, text) if short else text


def unescaped(text: str) -> Packed | None:
    """Return a text without percent or HTML escapes; None where it has none."""
    if "%" in text and (plain := unquote(text, errors="replace")) != text:
        return Packed(
            plain,
            lambda raw: quote(
                raw.decode("utf-8", "surrogatepass"), safe="/:?&=", errors="surrogatepass"
            ),
        )
    if "&" in text and (plain := unescape(text)) != text:
        return Packed(plain, lambda raw: escape(raw.decode("utf-8", "surrogatepass")))
    return None


def is_hex(text: str) -> bool:
    """Tell whether a text is bytes in hexadecimal digits."""
    return _HEX.fullmatch(text) is not None


def _hex(text: str) -> Packed | None:
    match = _HEX.fullmatch(text)
    if match is None:
        return None
    raw, prefix, upper = bytes.fromhex(match[2]), match[1] or "", match[2].isupper()
    return Packed(raw, lambda data: prefix + (data.hex().upper() if upper else data.hex()))


def _apart(run: str, mark: str, change: Callable[[Packed, str], str | None]) -> str | None:
    raw = bytes.fromhex(run.replace(mark, ""))
    return change(Packed(raw, lambda data: data.hex(mark)), run)


def _lines(run: str, change: Callable[[Packed, str], str | None]) -> str | None:
    packed = _base64("".join(run.split()))
    changed = None if packed is None else change(packed, run)
    if changed is None:
        return None
    width, end = len(run.split(None, 1)[0]), "\r\n" if "\r\n" in run else "\n"
    return end.join(changed[at : at + width] for at in range(0, len(changed), width))


def _base64(text: str) -> Packed | None:
    core = text.rstrip("=")
    # A run of one character more than whole groups is no base64.
    if len(core) % 4 == 1:
        return None
    signs = b"-_" if "-" in core or "_" in core else None
    try:
        raw = base64.b64decode(core + "=" * (-len(core) % 4), signs, validate=True)
    except ValueError:
        return None

    def again(data: bytes) -> str:
        coded = base64.b64encode(data, signs).decode()
        return coded if text.endswith("=") or len(core) % 4 == 0 else coded.rstrip("=")

    return Packed(raw, again)
