"""Whether anybody can read a secret in some bytes, in any spelling. Knows nothing of the masking code."""

from __future__ import annotations

import base64
import html
import re
import urllib.parse
import zlib
from collections.abc import Iterator

from tests.secrets_corpus.planted import Case

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){6,}")
_BYTES = re.compile(rb"[0-9]{1,3}(?:,\s*[0-9]{1,3}){5,}")
# One by one: of alternatives, each would be tried at every byte.
_PRINTABLE = (
    re.compile(rb"(?:=[0-9A-F]{2}){6,}"),
    re.compile(rb"(?:\\{1,4}x[0-9a-f]{2}){6,}"),
    re.compile(rb"(?:[0-9a-fA-F]{2}[ :]){5,}[0-9a-fA-F]{2}"),
)
_SHORTEST_RUN = 11
"""Bytes: no run of the above is shorter."""
_ESCAPE = re.compile(rb"\\u([0-9A-Fa-f]{4})")
_BETWEEN = b" \t\n\r\f\v\"',-"
_DEEPEST = 12
_SHORTEST = 6
_WINDOW = 16384
_OVERLAP = 8192
"""Bytes: no secret of a case is longer, with all of its codings."""


class Reader:
    """Everything that can be read in some bytes."""

    def __init__(self, *data: bytes) -> None:
        seen: set[bytes] = set()
        layer = set(data)
        for _ in range(_DEEPEST):
            seen |= layer
            layer = {
                part for text in layer for part in _unpacked(text) if len(part) >= _SHORTEST
            } - seen
        self._text = b"\0".join(seen).lower()
        self._joined = self._text.translate(None, _BETWEEN)

    def reads(self, secret: str) -> bool:
        """Searched for without capitals, since a secret in capitals is a secret; and as a list of its parts."""
        wanted = secret.lower().encode()
        joined = wanted.translate(None, _BETWEEN)
        # Digits of which nothing else is left stand in many numbers.
        may_be_joined = joined == wanted or not joined.isdigit()
        return wanted in self._text or (may_be_joined and joined in self._joined)


def _unpacked(data: bytes) -> Iterator[bytes]:
    yield from _runs(data)
    if len(data) > _WINDOW:
        # Each way to spell a long text would be a text as long, and so would each two together.
        yield from (data[at : at + _WINDOW] for at in range(0, len(data), _WINDOW - _OVERLAP))
        return
    if b"\n " in data:
        yield re.sub(rb"\n +", b"", data)
        yield re.sub(rb"\n +", b" ", data)
    if b"%" in data:
        yield urllib.parse.unquote_to_bytes(data)
    if b"\\" in data:
        yield (
            _ESCAPE.sub(lambda match: chr(int(match[1], 16)).encode("utf-8", "replace"), data)
            .replace(b"\\/", b"/")
            .replace(b"\\", b"")
        )
    if b"&" in data:
        # As it is but for what is escaped: in another coding it would be a new text each time.
        text = data.decode("utf-8", "surrogateescape")
        yield html.unescape(text).encode("utf-8", "surrogateescape")
    if b"\0" in data:
        yield data.replace(b"\0", b"")


def _runs(data: bytes) -> Iterator[bytes]:
    yield from _inflated(data)
    if len(data) < _SHORTEST_RUN:
        return
    # A report says the same words again and again.
    runs = set(_BASE64.findall(data))
    for run in runs:
        kept = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        yield base64.b64decode(kept[: len(kept) - (len(kept) % 4 == 1)] + b"=" * (-len(kept) % 4))
    for run in set(_HEX.findall(data)) if runs else ():  # Each is a run of base64 as well.
        yield bytes.fromhex(run.decode())
    for run in set(_BYTES.findall(data)):
        numbers = [int(number) for number in run.split(b",")]
        if max(numbers) < 256:
            yield bytes(numbers)
    for pattern in _PRINTABLE:
        for run in pattern.findall(data):
            yield re.sub(rb"[^0-9a-fA-F]", b"", run)


def _inflated(data: bytes) -> Iterator[bytes]:
    # The first bytes refuse most of what nobody has packed, without asking zlib.
    first, second, _, fourth, _ = data[:5].ljust(5, b"\0")
    may_be_headed = first & 15 == 8 or data[:2] == b"\x1f\x8b"
    kind = first >> 1 & 3
    may_be_raw = kind in (1, 2) or (kind == 0 and second ^ fourth == 255)
    for bits in [47] * may_be_headed + [-15] * may_be_raw:
        try:
            text = zlib.decompressobj(bits).decompress(data)
        except zlib.error:
            continue
        if text:
            yield text


def told_by_requests(planted: list[Case]) -> list[Case]:
    """The cases whose secret the mock can know: its own answers tell of none."""

    def is_told(case: Case) -> bool:
        first = case.exchanges[0]
        sent = repr((first.path, first.query, first.headers)).encode()
        return len(case.exchanges) == 1 or Reader(sent, first.body).reads(case.secret)

    return [*filter(is_told, planted)]
