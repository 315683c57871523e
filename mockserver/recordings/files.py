"""Recording files in YAML: where they are found, read, and written the same byte for byte."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import yaml

from mockserver import file_formats, resources
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.http_messages import BadEncoding, Headers, Request, Response, folded, query_pairs
from mockserver.jsontext import FieldPath, Json
from mockserver.recordings import bodies
from mockserver.recordings.recording import RecordedExchange, Recording, StandIns
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import (
    ClockRefused,
    duration,
    iso,
    parse_duration,
    parse_instant,
)

FORMAT = "crosschain-mock/recording@2"


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _signed(text: str) -> int:
    return -parse_duration(text[1:]) if text.startswith("-") else parse_duration(text)


def _time_as_written(text: str) -> str:
    parse_instant(text)
    return text


_Convert = Callable[[Any], Any]
# Fields of a value: their names, the keys of a file, and how they are read and written there.
_FileMembers = tuple[tuple[str, str, _Convert, _Convert], ...]

_HEAD: _FileMembers = (
    ("title", "title", str, str),
    ("description", "description", str, str),
    ("origin", "origin", str, str),
    ("source", "source", str, str),
    ("dialect", "dialect", _joined, lambda name: name.split(",") if name[:2] == "E-" else name),
    ("scenario", "scenario", str, str),
    ("start", "start", _time_as_written, str),
    ("clock_skew_ms", "clockSkew", _signed, duration),
    (
        "stand_ins",
        "standIns",
        lambda value: StandIns(tuple(value.get("of", ())), value.get("salt", "")),
        lambda chosen: {"of": list(chosen.of), "salt": chosen.salt} if chosen.of else {},
    ),
    ("remarks", "remarks", tuple, list),
)
_EXCHANGE: _FileMembers = (
    ("name", "name", str, str),
    ("operation", "operation", str, str),
    ("note", "note", str, str),
    ("advance_ms", "advance", parse_duration, lambda ms: duration(ms) if ms else ""),
    ("origin", "origin", str, str),
    ("time_ms", "time", parse_instant, iso),
    ("duration_ms", "duration", parse_duration, duration),
    ("removed", "removed", tuple, list),
    ("masked", "masked", lambda rows: tuple(map(tuple, rows)), lambda rows: list(map(list, rows))),
)


def _read(
    document: Document, place: FieldPath, members: _FileMembers, row: Mapping[str, Any]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, key, read, _ in members:
        try:
            values |= {name: read(row[key])} if key in row else {}
        except ClockRefused as error:
            # The schema checks the form of a time, but not that it exists: 30th of February.
            raise InvalidFile([document.problem((*place, key), str(error))]) from None
    return values


def _written(members: _FileMembers, value: object) -> dict[str, Json]:
    """Return the members of a file; what is None or written as nothing is left out."""
    parts = ((key, getattr(value, field), write) for field, key, _, write in members)
    written = {key: write(value) for key, value, write in parts if value is not None}
    return {key: value for key, value in written.items() if value}


def load(file: Path) -> Recording:
    """Return a recording file. Raises `InvalidFile` with file and line of every problem."""
    document = file_formats.read(file, "recording")
    head = _read(document, (), _HEAD, document.value)
    # What the mock has recorded says its dialect only where that is another one.
    if head["origin"] == "simulation":
        head.setdefault("dialect", "documented")
    return Recording(**head, exchanges=exchanges_of(document, head["origin"]), file=file)


def load_folder(folder: Path) -> tuple[Recording, ...]:
    """Return every recording below a folder, by their paths, and numbered ones as counted."""
    # Some systems leave files of their own beside each, such as `._flow.yaml`.
    inside = (file for file in folder.rglob("*.yaml") if not file.name.startswith("."))
    files = sorted(inside, key=_as_counted) if folder.is_dir() else []
    if not files:
        there = folder.is_dir()
        reason = "no recording (*.yaml) in this folder" if there else "there is no such folder"
        raise InvalidFile([Problem(folder, None, "", reason)])
    return tuple(load(file) for file in files)


def _as_counted(file: Path) -> list[str]:
    """Sort `flow.yaml`, `flow-2.yaml` and `flow-10.yaml` in this order: a full file goes on so."""
    parts = file.with_suffix("").parts
    # As texts of one width, numbers sort as they count.
    return [re.sub("[0-9]+", lambda digits: digits[0].zfill(20), part) for part in parts]


def text_of(recording: Recording) -> str:
    rows = "".join(exchange_text(exchange, recording.origin) for exchange in recording.exchanges)
    return head_text(recording) + rows


def head_text(recording: Recording) -> str:
    """Return the text of a recording's file up to its first exchange."""
    members = _written(_HEAD, recording)
    if recording.origin != "simulation":
        members.pop("scenario", None)
    return yaml_text({"format": FORMAT, **members}) + "exchanges:\n"


def exchange_text(
    exchange: RecordedExchange, origin: str, files: Mapping[bytes, str] | None = None
) -> str:
    """Return an exchange as it stands in a file of the given origin.

    `files` names the files that hold large bodies, by body.
    """
    row = _written(_EXCHANGE, exchange)
    if exchange.origin == origin:
        row.pop("origin", None)
    request, response = exchange.request, exchange.response
    row["request"] = {
        "method": request.method,
        "path": request.path,
        **_query_row(request.query),
        **_headers_row(request.headers.items_sent),
        **_body_row(request.body, exchange.request_omitted, files or {}),
    }
    row["response"] = {
        "status": response.status,
        **_headers_row(response.headers),
        **_body_row(response.body, exchange.response_omitted, files or {}),
        **bodies.coded_members(response.coded, files or {}),
    }
    return yaml_text([row])


def exchanges_of(document: Document, origin: str) -> tuple[RecordedExchange, ...]:
    """Return the exchanges of a recording file that was read. Raises `InvalidFile`."""
    rows = document.value["exchanges"]
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        if seen.setdefault(row["name"], index) != index:
            place = ("exchanges", index, "name")
            message = f"{row['name']!r} is the name of an earlier exchange of this file"
            raise InvalidFile([document.problem(place, message)])
    return tuple(
        _exchange(document, ("exchanges", index), row, origin) for index, row in enumerate(rows)
    )


def _exchange(
    document: Document, place: FieldPath, row: Mapping[str, Any], origin: str
) -> RecordedExchange:
    request, response = row["request"], row["response"]
    return RecordedExchange(
        request=Request(
            request["method"],
            quote(request["path"], safe="/%:@!$&'()*+,;=~"),
            request.get("rawQuery", urlencode(_spread(request.get("query", {})))),
            Headers(tuple(_spread(request.get("headers", {})))),
            bodies.read(document, (*place, "request"), request),
        ),
        response=_response(document, (*place, "response"), response),
        request_omitted=request.get("bodyOmitted", ""),
        response_omitted=response.get("bodyOmitted", ""),
        **{"origin": origin, **_read(document, place, _EXCHANGE, row)},
    )


def _response(document: Document, place: FieldPath, row: Mapping[str, Any]) -> Response:
    body = bodies.read(document, place, row)
    coded = None
    # After the body, against which it is checked.
    if "coded" in row:
        coded = bodies.read_coded(document, (*place, "coded"), row["coded"], body)
    return Response(row["status"], tuple(_spread(row.get("headers", {}))), body, coded)


def _spread(members: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, values in members.items()
        for value in ([values] if isinstance(values, str) else values)
    ]


def _query_row(query: str) -> dict[str, Json]:
    try:
        pairs = query_pairs(query)
    except BadEncoding:
        return {"rawQuery": query}
    members = folded(pairs)
    # Folding by name loses the order among different names, and that of a query is kept.
    if not query or _spread(members) == pairs:
        return {"query": members} if members else {}
    return {"rawQuery": query}


def _headers_row(pairs: Iterable[tuple[str, str]]) -> dict[str, Json]:
    # Other tools let lines into a value; HTTP reads them as blanks (RFC 9110, section 5.5).
    headers = folded((name, re.sub(r"[\r\n\0]", " ", value)) for name, value in pairs)
    return {"headers": headers} if headers else {}


def _body_row(body: bytes, omitted: str, files: Mapping[bytes, str]) -> dict[str, Json]:
    if omitted:
        return {"bodyOmitted": omitted}
    if body in files:
        return bodies.file_members(body, files)
    return bodies.body_members(body)


def yaml_text(value: Json) -> str:
    """Return a value as the text of a file of ours: no aliases, exact numbers, lines as lines."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes decimal numbers as they are, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _decimal(dumper: yaml.SafeDumper, number: Decimal) -> yaml.ScalarNode:
    text = f"{number:f}"
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


# Texts that are written as lines: not those that blank lines end, since libyaml then writes the
# end of the document, and the next exchange would stand behind that.
_LINES = re.compile(r"(?!\n\Z)[^\r\x85\u2028\u2029]*\n[^\r\x85\u2028\u2029]*(?<!\n\n)")


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if _LINES.fullmatch(text) else '"' if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(Decimal, _decimal)
_Dumper.add_representer(str, _text)
# Our reader reads 1.5e5 as a number, YAML 1.1 as text: such a text must be quoted.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][-+]?[0-9]+)?$"),
    list("-+0123456789"),
)


_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Source:
    """A recording, and its name where several are served together."""

    label: str
    recording: Recording

    def labelled(self) -> Iterator[tuple[str, RecordedExchange]]:
        """Yield its exchanges, each with the label that reports call it by."""
        for recorded_exchange in self.recording.exchanges:
            yield f"{self.label}#{recorded_exchange.name}", recorded_exchange


def shipped_names() -> list[str]:
    """Return the names of the shipped recordings, each a folder or a file below one."""
    root = resources.fixtures() / "recordings"
    files = sorted(root.rglob("*.yaml"))
    folders = sorted({file.parent.relative_to(root).as_posix() for file in files} - {"."})
    return [*folders, *(file.relative_to(root).with_suffix("").as_posix() for file in files)]


def gather(named: Iterable[str | Path]) -> tuple[Source, ...]:
    """Return the recordings that shipped names, files and folders stand for.

    A path that exists goes before a shipped name. Raises `InvalidFile`.
    """
    # Each once: a folder and a file in it may both be named.
    files = dict.fromkeys(pair for path in named for pair in _files(path))
    return tuple(Source(label, load(file)) for label, file in files)


def digest(named: Iterable[str | Path]) -> bytes:
    """Return a digest of the files that `gather` would read now. Raises `InvalidFile`."""
    checksum = hashlib.sha256()
    for path in named:
        for label, file in _files(path):
            content = file_formats.text_of(file).encode()
            # With its length, so that two files never give the digest of one joined.
            checksum.update(repr((label, len(content))).encode() + content)
    return checksum.digest()


def _files(named: str | Path) -> Iterator[tuple[str, Path]]:
    path = Path(named)
    try:
        folder, file = path.is_dir(), path.exists()
    # A shipped name may be too long for a path, or hold what none may hold.
    except (OSError, ValueError):
        folder = file = False
    if folder:
        yield from _in_folder(path, path)
    elif file:
        yield path.name, path
    else:
        yield from _shipped(str(named))


def _shipped(name: str) -> Iterator[tuple[str, Path]]:
    root, names = resources.fixtures() / "recordings", shipped_names()
    if name not in names:
        kind = "folder" if name.endswith("/") else "file, folder or shipped recording"
        near = did_you_mean(name, names)
        shipped = ", ".join(ending for ending in names if "/" not in ending)
        message = f"there is no such {kind}{near} (shipped: {shipped})"
        raise InvalidFile([Problem(name, None, "", message)])
    if (root / name).is_dir():
        yield from _in_folder(root / name, root)
    else:
        yield f"{name}.yaml", root / f"{name}.yaml"


def _in_folder(folder: Path, root: Path) -> Iterator[tuple[str, Path]]:
    inside = (file for file in folder.rglob("*") if _is_recording(file, folder))
    files = sorted(inside, key=_as_counted)
    if not files:
        message = "no recording (*.yaml, *.yml or *.json) in this folder"
        raise InvalidFile([Problem(folder, None, "", message)])
    for file in files:
        yield file.relative_to(root).as_posix(), file


def _is_recording(file: Path, folder: Path) -> bool:
    """Whether a file is meant to be one: not a large body, nor a file that begins with a dot."""
    inside = file.relative_to(folder).parts
    hidden = any(part.startswith(".") for part in inside) or "bodies" in inside[:-1]
    return file.suffix in _ENDINGS and not hidden and file.is_file()
