"""Our own file formats: read with line numbers, checked against their schema in `schemas/meta`."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mockserver import limits, resources, userfiles
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import Json
from mockserver.validation import SchemaCheck, dotted

_MAX_DEPTH = limits.FILE_DEPTH.most
_SHALLOW = 500
"""Nesting of which libyaml is no danger: it calls itself for each level, on the C stack."""
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

FieldPath = tuple[str | int, ...]
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})\.[0-9]{1,100}(?:[eE][-+]?[0-9]{1,3})?")
_FORMAT = re.compile(r"crosschain-mock/([a-z-]+)@(\d+)")


@dataclass(frozen=True, slots=True)
class Document:
    """A file's content and the line on which each of its fields stands."""

    file: Path
    kind: str
    value: Any
    lines: Mapping[FieldPath, int]

    def problem(self, path: FieldPath, message: str) -> Problem:
        """Return a problem at a field, or at its nearest enclosing field that is in the file."""
        near = path
        while near and near not in self.lines:
            near = near[:-1]
        return Problem(self.file, self.lines.get(near), dotted(path), message)


def read(file: Path, kind: str | None = None) -> Document:
    """Return a YAML or JSON file of ours, checked against the schema of its format.

    The file names its format in its first key, as in `format: crosschain-mock/scenario@1`. `kind`
    asks for one format. Raises `InvalidFile` with every problem, each with its line.
    """
    document = _parsed(file)
    found = _kind(document, kind)
    document = Document(file, found, document.value, document.lines)
    problems = [
        document.problem(violation.path, violation.message)
        for violation in _meta(found).violations(document.value)
    ]
    if problems:
        raise InvalidFile(problems)
    return document


def kinds() -> list[str]:
    """Return the names of the file formats there are."""
    return sorted(path.stem for path in (resources.schemas() / "meta").glob("*.json"))


@cache
def _meta(kind: str) -> SchemaCheck:
    path = resources.schemas() / "meta" / f"{kind}.json"
    return SchemaCheck(json.loads(path.read_text("utf-8")))


def _forms(kind: str) -> list[str]:
    """Return the versions of a format that are read, the newest last."""
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


def _parsed(file: Path) -> Document:
    try:
        text = userfiles.read(file).decode("utf-8")
    except userfiles.NotReadable as error:
        raise InvalidFile([Problem(file, None, "", str(error))]) from None
    except UnicodeDecodeError as error:
        raise InvalidFile(
            [Problem(file, None, "", f"not UTF-8 at byte offset {error.start}")]
        ) from None
    return parse(text, file)


def parse(text: str, file: Path, *, binary: bool = False) -> Document:
    """Return the content of a YAML or JSON text with its lines; `file` names it in errors.

    With `binary`, values tagged `!!binary` are bytes, as other tools write them.
    """
    try:
        _limit_depth(text, file)
        root = yaml.compose(text, _Loader)
    except yaml.YAMLError as error:
        raise InvalidFile([Problem(file, _line_of(error), "", _yaml_reason(error))]) from None
    except RecursionError:
        raise InvalidFile([Problem(file, None, "", "nested too deep to be read")]) from None
    if root is None:
        raise InvalidFile([Problem(file, 1, "", "the file is empty")])
    builder = _Builder(file, binary=binary)
    value = builder.build(root, ())
    if builder.problems:
        raise InvalidFile(builder.problems)
    return Document(file, "", value, builder.lines)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads only what is unambiguous: `no`, `on`, `0x10`, dates and octal numbers stay text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own attribute)


for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+0123456789")),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
    )


class _Builder:
    """Turns YAML nodes into plain values, noting lines and what is not allowed."""

    def __init__(self, file: Path, *, binary: bool = False) -> None:
        self.file = file
        self._binary = binary
        self.lines: dict[FieldPath, int] = {}
        self.problems: list[Problem] = []
        self._seen: set[int] = set()

    def build(self, node: yaml.Node, path: FieldPath) -> Json:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > _MAX_DEPTH:
            self._report(node, path, f"nested deeper than {_MAX_DEPTH} levels")
            return None
        if id(node) in self._seen:
            self._report(node, path, "aliases are not read; write the value out")
            return None
        self._seen.add(id(node))
        if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN_TAGS:
            self._report(node, path, f"the tag {node.tag[:60]!r} is not read; write plain values")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: FieldPath) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._report(key_node, path, "a key is a plain text, not a list or a mapping")
                continue
            key = str(key_node.value)
            if key in found:
                self._report(key_node, (*path, key), "the key is given twice")
            self.lines[*path, key] = key_node.start_mark.line + 1
            found[key] = self.build(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.Node, path: FieldPath) -> Json:
        text = str(node.value)
        match node.tag.rpartition(":")[2]:
            case "str":
                return text
            case "bool":
                return text == "true"
            case "null":
                return None
            case "binary" if self._binary:
                return self._bytes(node, path, text)
            case "int" if _INTEGER.fullmatch(text):
                return int(text)
            case "float" if _DECIMAL.fullmatch(text):
                return Decimal(text)
            case _:
                self._report(node, path, f"the value {text[:40]!r} has a form that is not read")
                return None

    def _bytes(self, node: yaml.Node, path: FieldPath, text: str) -> bytes:
        try:
            return base64.b64decode("".join(text.split()), validate=True)
        except ValueError:
            self._report(node, path, "expected base64")
            return b""

    def _report(self, node: yaml.Node, path: FieldPath, message: str) -> None:
        line = node.start_mark.line + 1
        self.problems.append(Problem(self.file, line, dotted(path), message))


def _limit_depth(text: str, file: Path) -> None:
    """Raise `InvalidFile` for nesting that would be too deep for the parser itself."""
    flow = text.count("[") + text.count("{")
    block = max(map(_levels, text.splitlines()), default=0)
    if flow + block <= _SHALLOW:
        return
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _SHALLOW:
                message = f"nested deeper than {_MAX_DEPTH} levels"
                raise InvalidFile([Problem(file, _line_at(event.start_mark), "", message)])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _levels(line: str) -> int:
    """Return how many levels a line of block style may at most be deep in."""
    indent = len(line) - len(line.lstrip(" "))
    return 2 * (indent + line.count("-") + line.count("?") + line.count(":"))


def _line_of(error: yaml.YAMLError) -> int | None:
    return _line_at(getattr(error, "problem_mark", None))


def _line_at(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1


def _yaml_reason(error: yaml.YAMLError) -> str:
    parts: Iterator[str | None] = (getattr(error, name, None) for name in ("problem", "context"))
    return f"not YAML: {', '.join(filter(None, parts)) or error}"
