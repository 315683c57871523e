"""Reads files of other tools as recordings, after a check by `schemas/foreign/files.json`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from mockserver import file_formats, limits, userfiles
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.http_messages import Coded, Headers, Request, Response
from mockserver.jsontext import FieldPath, Json, read_loosely
from mockserver.recordings.bodies import difference, restored
from mockserver.recordings.formats.har import har_exchange
from mockserver.recordings.formats.messages import (
    NoExchange,
    Pairs,
    UnreadableMessage,
    converted,
    from_base64,
)
from mockserver.recordings.formats.vcr import vcr_exchange
from mockserver.recordings.formats.wiremock import in_their_turn, wiremock_exchange
from mockserver.recordings.recording import RecordedExchange
from mockserver.times_and_durations import parse_instant
from mockserver.validation import dotted


@dataclass(frozen=True, slots=True)
class ForeignRecording:
    """A file of another tool: its exchanges, and why others were left out, by their places in it.

    `origin` is `captured`, or `simulation` for a journal of the mock. The paths of requests are
    those of whole addresses; exchanges have neither names nor operations yet.
    """

    format: str
    exchanges: Mapping[str, RecordedExchange]
    skipped: Mapping[str, str]
    origin: str = "captured"
    source: str = ""


PlacedEntries = Iterable[tuple[FieldPath, Json]]
"""The entries of a file, each with its place there."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the name of the tool, where its entries are, and what one of them says.

    `single` are the members of which a file that is a single entry has all. `sorted` puts entries
    into the order of their requests, where that of the file is another.
    """

    title: str
    entries: FieldPath
    exchange: Callable[[Mapping[str, Any], Path], RecordedExchange]
    single: tuple[str, ...] = ()
    origin: str = "captured"
    sorted: Callable[[PlacedEntries], PlacedEntries] = list

    def recognised_in(self, value: Json) -> bool:
        alone = bool(self.single) and all(_member(value, (name,)) for name in self.single)
        return alone or _member(value, self.entries) is not None


def _journal_exchange(entry: Mapping[str, Any], _: Path) -> RecordedExchange:
    if entry.get("fault") is not None:
        raise NoExchange(f"its answer was disturbed: {entry['fault']}")
    request, response, query = entry["request"], entry["response"], entry["request"].get("query")
    body = _journal_body(entry, "response")
    return RecordedExchange.unnamed(
        Request(
            request["method"],
            quote(request["path"], safe="/%"),
            query if isinstance(query, str) else urlencode(_pairs(query)),
            Headers(_pairs(request.get("headers"))),
            _journal_body(entry, "request"),
        ),
        Response(
            response["status"],
            _pairs(response.get("headers")),
            body,
            _journal_coded(entry, body),
        ),
        converted(entry, "at", by=parse_instant),
    )


def _pairs(items: Sequence[Sequence[str]] | None) -> Pairs:
    return tuple((name, value) for name, value in items or ())


def _journal_body(entry: Mapping[str, Any], part: str) -> bytes:
    message = entry[part]
    shown, exact = message.get("body"), message.get("exact") or {}
    if shown is None and not exact:
        return b""
    try:
        return restored(shown, exact)
    except ValueError:
        raise UnreadableMessage((part, "exact", "bodyBase64"), "expected base64") from None


def _journal_coded(entry: Mapping[str, Any], body: bytes) -> Coded | None:
    row = (entry["response"].get("exact") or {}).get("coded")
    if row is None:
        return None
    path = ("response", "exact", "coded")
    came = row.get("bodyBase64")
    packed = b"" if came is None else converted(entry, *path, "bodyBase64", by=from_base64)
    coded = Coded(row["coding"], packed, row.get("unasked", False), row.get("omitted", ""))
    # Bytes that hold something else would reach the disk without a search for secrets.
    if reason := difference(coded, body):
        raise UnreadableMessage(path, reason)
    return coded


RECORDING = "crosschain-mock/recording@"
"""What the format of our own recordings begins with."""

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "har": Format("HAR", ("log", "entries"), har_exchange),
        "vcr": Format("VCR.py cassette", ("interactions",), vcr_exchange),
        "wiremock": Format(
            "WireMock mappings",
            ("mappings",),
            wiremock_exchange,
            ("request", "response"),
            sorted=in_their_turn,
        ),
        "journal": Format(
            "journal of the mock", ("entries",), _journal_exchange, origin="simulation"
        ),
    }
)
"""The formats by the names that users give them."""


def read_foreign(file: Path, name: str | None = None) -> ForeignRecording:
    """Return a file of another tool; `name` is one of `FORMATS`, by default the one that fits.

    Raises `InvalidFile`.
    """
    document = _document(file)
    fitting = (known for known, format_ in FORMATS.items() if format_.recognised_in(document.value))
    name = name or next(fitting, None)
    # Told apart from what nobody knows: the file is fine, only its import is needless.
    if name is None and str(_member(document.value, ("format",))).startswith(RECORDING):
        raise _invalid(file, "is a recording already, and needs no import")
    if name is None:
        known, own = ", ".join((*FORMATS, "conform")), _member(document.value, ("format",))
        stated = f"a file of the format {own[:60]!r}, and " if isinstance(own, str) else ""
        raise _invalid(file, f"{stated}none of the formats that are read: {known}")
    violations = file_formats.foreign_check(name).violations(document.value)
    if violations:
        raise InvalidFile(
            [document.problem(violation.path, violation.message) for violation in violations]
        )
    return _recording(document, FORMATS[name])


def read_text(text: str, name: str) -> ForeignRecording:
    """Return what a text says in a format of `FORMATS`. Raises `InvalidFile`."""
    return _recording(_parsed(text.encode(), Path(name)), FORMATS[name])


def read_entries(entries: Sequence[Json]) -> ForeignRecording:
    """Return the entries of a journal of the mock, which were checked."""
    return _recording(Document(Path("journal"), "", {"entries": entries}, dict), FORMATS["journal"])


def _recording(document: Document, form: Format) -> ForeignRecording:
    exchanges, skipped = {}, {}
    for path, entry in form.sorted(_entries(document.value, form.entries)):
        place = dotted(path) or "the mapping"
        try:
            exchanges[place] = form.exchange(entry, document.file)
        except NoExchange as reason:
            skipped[place] = str(reason)
        except UnreadableMessage as error:
            raise InvalidFile([document.problem((*path, *error.path), str(error))]) from None
    return ForeignRecording(form.title, exchanges, skipped, form.origin)


def _entries(value: Json, path: FieldPath) -> PlacedEntries:
    entries = _member(value, path)
    if entries is None:
        return [((), value)]
    return (((*path, index), entry) for index, entry in enumerate(entries))


def _member(value: Json, path: FieldPath) -> Json:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _document(file: Path) -> Document:
    try:
        return _parsed(userfiles.read(file, limits.LONG_FILE), file)
    except userfiles.NotReadable as error:
        raise _invalid(file, str(error)) from None


def _parsed(content: bytes, file: Path) -> Document:
    # Editors of Windows put a byte order mark in front, which no parser of JSON takes.
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.lstrip()[:1] not in (b"{", b"["):
        return file_formats.parse(file_formats.decoded(content, file), file, binary=True)
    try:
        return Document(file, "", _json(content), dict)
    except (ValueError, ArithmeticError) as error:
        entries = _json_lines(content)
        if entries is None:
            reason = getattr(error, "msg", None) or str(error)
            line = getattr(error, "lineno", None)
            raise InvalidFile([Problem(file, line, "", f"not JSON: {reason}")]) from None
        # What `crosschain-mock journal --json` prints: an entry a line.
        lines: dict[FieldPath, int] = {
            ("entries", index): index + 1 for index in range(len(entries))
        }
        return Document(file, "", {"entries": entries}, lambda: lines)


def _json_lines(raw: bytes) -> list[Json] | None:
    try:
        entries = [_json(line) for line in raw.splitlines()]
    except (ValueError, ArithmeticError):
        return None
    return entries if all(isinstance(entry, dict) for entry in entries) else None


def _json(raw: bytes) -> Json:
    # Not as strict as with our own: browsers write stack traces of many levels into a HAR.
    text = raw.decode(json.detect_encoding(raw), "surrogatepass")
    return read_loosely(text, depth=limits.PARSER_DEPTH, parse_float=Decimal)


def _invalid(file: Path, message: str) -> InvalidFile:
    return InvalidFile([Problem(file, None, "", message)])
