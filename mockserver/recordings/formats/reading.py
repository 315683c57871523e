"""Reading a file of another tool, whichever it is."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from mockserver import documents, limits, userfiles
from mockserver.documents import FieldPath
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import Json
from mockserver.recordings.formats.foreign import ForeignRecording, Node
from mockserver.recordings.formats.har import is_har, read_har
from mockserver.recordings.formats.mock_journal import is_mock_journal, read_mock_journal
from mockserver.recordings.formats.vcr import is_cassette, read_cassette
from mockserver.recordings.formats.wiremock import is_wiremock, read_wiremock

_Tell = Callable[[Node], bool]
_Read = Callable[[Node], ForeignRecording]

FORMATS: Mapping[str, tuple[_Tell, _Read]] = MappingProxyType(
    {
        "har": (is_har, read_har),
        "vcr": (is_cassette, read_cassette),
        "wiremock": (is_wiremock, read_wiremock),
        "journal": (is_mock_journal, read_mock_journal),
    }
)
"""The formats by name: how a file of one is told, and how it is read."""


def read_foreign(file: Path, name: str | None = None) -> ForeignRecording:
    """Return a file of another tool; `name` is one of `FORMATS`, else it is told by what is in it.

    Raises `InvalidFile`.
    """
    root = _root(file)
    for known, (is_one, read) in FORMATS.items():
        if name == known or (name is None and is_one(root)):
            return read(root)
    reason = f"none of the formats that are read: {', '.join(FORMATS)}"
    raise InvalidFile([Problem(file, None, "", reason)])


def _root(file: Path) -> Node:
    try:
        raw = userfiles.read(file, limits.LONG_FILE).removeprefix(b"\xef\xbb\xbf")
    except userfiles.NotReadable as error:
        raise InvalidFile([Problem(file, None, "", str(error))]) from None
    if raw.lstrip()[:1] in (b"{", b"["):
        return _of_json(file, raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte offset {error.start}"
        raise InvalidFile([Problem(file, None, "", reason)]) from None
    document = documents.parse(text, file, binary=True)
    return Node(file, document.value, (), document.lines)


def _of_json(file: Path, raw: bytes) -> Node:
    try:
        return Node(file, _json(raw))
    except (ValueError, ArithmeticError, RecursionError) as error:
        entries = _lines(raw)
        if entries is not None:
            # What `crosschain-mock journal --json` prints: an entry a line.
            lines: dict[FieldPath, int] = {
                ("entries", index): index + 1 for index in range(len(entries))
            }
            return Node(file, {"entries": entries}, (), lines)
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or str(error)
        raise InvalidFile([Problem(file, line, "", f"not JSON: {reason}")]) from None


def _lines(raw: bytes) -> list[Json] | None:
    try:
        entries = [_json(line) for line in raw.splitlines()]
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return entries if all(isinstance(entry, dict) for entry in entries) else None


def _json(raw: bytes) -> Json:
    # Not as strict as with our own: browsers write stack traces of any depth into a HAR.
    return json.loads(raw, parse_float=Decimal)
