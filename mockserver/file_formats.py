"""Our own file formats: read with line numbers, checked against their schema in `schemas/meta`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from mockserver import compiled_yaml, resources, userfiles
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import FieldPath
from mockserver.validation import SchemaCheck, dotted

T = TypeVar("T")
Complaint = tuple[FieldPath, str]
"""A field below the root of a file, and what is wrong with it."""
_IMPORTED = "; `crosschain-mock recordings import` makes recordings of it"
# How files begin that other commands read, and what they are.
_OTHERS = (
    (rb"PK\x03\x04", "a ZIP file; if it is a capsule, `crosschain-mock capsule replay` reads it"),
    (rb'\s*\{"format": ?"crosschain-mock/run@', f"the journal of a run of conform{_IMPORTED}"),
    (rb'\s*\{\s*"(sequence|last|entries)"', f"a journal of the mock{_IMPORTED}"),
    (rb'\s*\{\s*"log"', f"a HAR file{_IMPORTED}"),
    (rb'\s*\{\s*"mappings"', f"a file of WireMock mappings{_IMPORTED}"),
    (rb"\s*interactions:|\s*\{\s*\"interactions\"", f"a cassette of VCR.py{_IMPORTED}"),
    (
        rb'\s*\{\s*"format": ?"crosschain-mock/world@',
        "the dump of a world; `crosschain-mock world load` reads it",
    ),
)
_FORMAT = re.compile(r"crosschain-mock/([a-z-]+)@(\d+)")


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file, with the line of each field.

    `within` is where in the file the content stands, for a part of another document.
    """

    file: Path
    kind: str
    value: Any
    lines: Callable[[], Mapping[FieldPath, int]]
    within: FieldPath = ()

    def problem(self, path: FieldPath, message: str) -> Problem:
        """Return a problem at a field, or at its nearest enclosing field that is in the file."""
        near = path_in_file = (*self.within, *path)
        lines = self.lines()
        while near and near not in lines:
            near = near[:-1]
        return Problem(self.file, lines.get(near), dotted(path_in_file), message)


def read(file: Path, kind: str | None = None) -> Document:
    """Return a YAML or JSON file of ours, checked against the schema of its format.

    The file names its format in its first key, as in `format: crosschain-mock/scenario@1`. `kind`
    asks for one format. Raises `InvalidFile` with every problem, each with its line.
    """
    try:
        document = parse(text_of(file), file)
        known_kind = _kind(document, kind)
    except InvalidFile:
        if reason := _of_another_use(file):
            raise InvalidFile([Problem(file, None, "", reason)]) from None
        raise
    return _checked(Document(file, known_kind, document.value, document.lines))


def part_of(document: Document, kind: str, value: Mapping[str, Any], within: FieldPath) -> Document:
    """Return a part of a document as one of another format, whose name the part does not repeat.

    Raises `InvalidFile` as `read` does.
    """
    value = {**value, "format": _forms(kind)[-1]}
    return _checked(Document(document.file, kind, value, document.lines, within))


def _checked(document: Document) -> Document:
    problems = [
        document.problem(violation.path, violation.message)
        for violation in _meta(document.kind).violations(document.value)
    ]
    if problems:
        raise InvalidFile(problems)
    return document


def value_of(kind: type[T], row: Mapping[str, Any], **more: Any) -> T:
    """Return a value of a dataclass from a row that was checked: lists become tuples.

    What has no field is left out, and what is missing has its default; `more` goes before the row.
    """
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    row_values = {name: value for name, value in row.items() if name in names} | more
    lists = {name: tuple(value) for name, value in row_values.items() if isinstance(value, list)}
    return kind(**(row_values | lists))


def item_checks(kind: str, name: str) -> dict[str, SchemaCheck]:
    items = _meta(kind).schema["properties"][name]["items"]
    return {field: SchemaCheck(schema) for field, schema in items["properties"].items()}


@cache
def foreign_check(name: str) -> SchemaCheck:
    """Return the check of files of another tool, by its name in `schemas/foreign`."""
    forms = json.loads((resources.schemas() / "foreign" / "files.json").read_text("utf-8"))
    return SchemaCheck({**forms, "$ref": f"#/$defs/{name}"})


def kinds() -> list[str]:
    return sorted(path.stem for path in (resources.schemas() / "meta").glob("*.json"))


@cache
def _meta(kind: str) -> SchemaCheck:
    path = resources.schemas() / "meta" / f"{kind}.json"
    return SchemaCheck(json.loads(path.read_text("utf-8")))


def _of_another_use(file: Path) -> str:
    """Return what a file is that another command reads, and which; empty where unknown."""
    try:
        with userfiles.opened(file) as stream:
            return _use_of(stream.read(4096))
    except userfiles.NotReadable:
        return ""


def _use_of(start: bytes) -> str:
    return next((text for pattern, text in _OTHERS if re.match(pattern, start)), "")


def _forms(kind: str) -> list[str]:
    named = _meta(kind).schema["properties"]["format"]
    return list(named["enum"]) if "enum" in named else [named["const"]]


def _kind(document: Document, wanted: str | None) -> str:
    value = document.value
    if not isinstance(value, Mapping):
        raise InvalidFile([document.problem((), "expected a mapping of keys to values")])
    name = value.get("format")
    match = _FORMAT.fullmatch(name) if isinstance(name, str) else None
    if match is None or match[1] not in kinds() or (wanted is not None and match[1] != wanted):
        allowed = [wanted] if wanted else kinds()
        forms = ", ".join(_forms(kind)[-1] for kind in allowed)
        raise InvalidFile([document.problem(("format",), f"expected one of {forms}, got {name!r}")])
    if name not in _forms(match[1]):
        known = " and ".join(form.rpartition("@")[2] for form in _forms(match[1]))
        text = f"version {match[2]} of the format is not known here"
        text += f"; this release reads version {known}"
        raise InvalidFile([document.problem(("format",), text)])
    return match[1]


def text_of(file: Path) -> str:
    """Return the text of a file. Raises `InvalidFile` where it cannot be read or is not UTF-8."""
    try:
        raw = userfiles.read(file)
    except userfiles.NotReadable as error:
        raise InvalidFile([Problem(file, None, "", str(error))]) from None
    return decoded(raw, file)


def decoded(raw: bytes, file: Path) -> str:
    """Return the text of a file's bytes. Raises `InvalidFile` where they are no UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if reason := _use_of(raw):
            raise InvalidFile([Problem(file, None, "", reason)]) from None
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 at byte offset {error.start}"
        raise InvalidFile([Problem(file, line, "", message)]) from None


def parse(text: str, file: Path, *, binary: bool = False) -> Document:
    """Return the content of a YAML or JSON text with its lines; `file` names it in errors.

    With `binary`, values tagged `!!binary` are bytes, as other tools write them.
    """
    ready = compiled_yaml.value_of(text)
    if ready is not None:
        return Document(file, "", ready, cache(lambda: _lines_of(text, file)))
    from mockserver.yamltext import parsed  # noqa: PLC0415 - not for files that are compiled

    value, lines = parsed(text, file, binary=binary)
    return Document(file, "", value, lambda: lines)


def _lines_of(text: str, file: Path) -> Mapping[FieldPath, int]:
    """Return the lines of a compiled text, read only when an error needs one."""
    from mockserver.yamltext import parsed  # noqa: PLC0415 - seldom needed

    return parsed(text, file)[1]
