"""YAML and JSON texts of ours: plain values, the line of each, and nothing ambiguous."""

import base64
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from mockserver import limits
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import FieldPath, Json
from mockserver.violations import dotted

_MAX_DEPTH = limits.FILE_DEPTH.most
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})")
_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,99})\.[0-9]{1,100}(?:[eE][-+]?[0-9]{1,3})?")


def parsed(text: str, file: Path, *, binary: bool = False) -> tuple[Json, dict[FieldPath, int]]:
    """Return the value of a text and the line of each field; `file` names it in errors.

    With `binary`, values tagged `!!binary` are bytes. Raises `InvalidFile`.
    """
    odd = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if odd is not None:
        message = f"not YAML: the character {odd[0]!a} is not allowed"
        raise InvalidFile([Problem(file, _line_of(text, odd.start()), "", message)])
    try:
        _limit_depth(text, file)
        root = yaml.compose(text, _Loader)
    except yaml.YAMLError as error:
        line = _line_at(getattr(error, "problem_mark", None))
        raise InvalidFile([Problem(file, line, "", _yaml_reason(error))]) from None
    except RecursionError:
        raise InvalidFile([Problem(file, None, "", "nested too deep to be read")]) from None
    if root is None:
        raise InvalidFile([Problem(file, 1, "", "the file is empty")])
    builder = _DocumentBuilder(file, binary=binary)
    value = builder.build(root, ())
    if builder.problems:
        raise InvalidFile(builder.problems)
    return value, builder.lines


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


def shipped(root: Path) -> Iterator[tuple[str, Json]]:
    """Yield text and value of each YAML file that servers and conformance runs read."""
    for folder in ("schemas", "fixtures/catalog", "fixtures/scenarios"):
        for path in sorted((root / folder).glob("*.yaml")):
            text = path.read_text("utf-8")
            yield text, parsed(text, path)[0]


class _DocumentBuilder:
    """Turns YAML nodes into plain values, noting lines and what is not allowed."""

    def __init__(self, file: Path, *, binary: bool = False) -> None:
        self.file = file
        self._binary = binary
        self.lines: dict[FieldPath, int] = {}
        self.problems: list[Problem] = []
        self._visited: set[int] = set()

    def build(self, node: yaml.Node, path: FieldPath) -> Json:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > _MAX_DEPTH:
            self._report(node, path, f"nested deeper than {_MAX_DEPTH} levels")
            return None
        if id(node) in self._visited:
            self._report(node, path, "aliases are not read; write the value out")
            return None
        self._visited.add(id(node))
        if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN_TAGS:
            self._report(node, path, f"the tag {node.tag[:60]!r} is not read; write plain values")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: FieldPath) -> dict[str, Json]:
        members: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._report(key_node, path, "a key is a plain text, not a list or a mapping")
                continue
            key = str(key_node.value)
            if key in members:
                self._report(key_node, (*path, key), "the key is given twice")
            self.lines[*path, key] = key_node.start_mark.line + 1
            members[key] = self.build(value_node, (*path, key))
        return members

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
    if flow + block <= limits.PARSER_DEPTH:
        return
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > limits.PARSER_DEPTH:
                message = f"nested deeper than {_MAX_DEPTH} levels"
                raise InvalidFile([Problem(file, _line_at(event.start_mark), "", message)])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _levels(line: str) -> int:
    """Return how many levels a line of block style may at most be deep in."""
    indent = len(line) - len(line.lstrip(" "))
    return 2 * (indent + line.count("-") + line.count("?") + line.count(":"))


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _line_at(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1


def _yaml_reason(error: yaml.YAMLError) -> str:
    if "nesting depth" in str(getattr(error, "problem", "")):
        # libyaml has a limit of its own from 0.2.6 on, which texts that we refuse may meet first.
        return f"nested deeper than {_MAX_DEPTH} levels"
    parts: Iterator[str | None] = (getattr(error, name, None) for name in ("problem", "context"))
    return f"not YAML: {', '.join(filter(None, parts)) or error}"
