"""The one table of the control API, as `schemas/control.yaml` has it.

Routing, checks, document, page and examples follow from its rows. Functions and forms are looked up
by name when it is read, so that a wrong name is told of with its line.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from mockserver import documents, limits, resources
from mockserver.documents import FieldPath
from mockserver.errors import InvalidFile
from mockserver.jsontext import Json
from mockserver.responders import forms
from mockserver.responders.forms import Schema, choice, described, members
from mockserver.server.control.row import KEPT_DEPTH, Example, Row

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_SHARED: Mapping[str, Schema] = {
    "duration": forms.DURATION,
    "instant": forms.INSTANT,
    "flag": forms.FLAG,
    "text": forms.TEXT,
    "name": forms.NAME,
}
_NAMED = re.compile(r"\{([\w.]+:\w+)\}")


class _UnknownName(Exception):
    """A name in the table that nothing has."""


def read(file: Path) -> Iterator[Row]:
    """Yield the rows of a file. Raises `InvalidFile` for a name that nothing has."""
    document = documents.read(file, "control")
    table = document.value
    found = _Forms(table["forms"])
    for line, told in table["rows"].items():
        try:
            yield _row(line, told, found, table["requests"])
        except _UnknownName as error:
            where: FieldPath = ("rows", line)
            raise InvalidFile([document.problem(where, f"{error} is nothing")]) from None


def _row(line: str, told: Mapping[str, Json], found: "_Forms", requests: Mapping[str, Json]) -> Row:
    method, _, path = line.partition(" ")
    example = dict(told.get("example", {}))
    before = example.pop("before", ())
    return Row(
        method=method,
        path=path,
        summary=told["is"],
        action=_action(told["does"]),
        answer=found.whole(told["answer"], found.answer),
        body=found.whole(told["body"], found.taken) if "body" in told else None,
        query=found.fields(told.get("query", {})),
        example=Example(
            target=example.get("target", path),
            body=example.get("body"),
            before=tuple((requests[one]["line"], requests[one].get("body")) for one in before),
            body_from=example.get("body-from", ""),
            depth=example.get("depth", 6),
        ),
        open=told.get("open", False),
        adds=told.get("adds", False),
        most=_filled(told.get("most", limits.BODY.most)),
        depth=_filled(told.get("depth", KEPT_DEPTH)),
        streams=told.get("streams", False),
    )


def _action(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(".")
    found: Callable[..., Any] = _code(f"server.control.{module}:{function}")
    return found


def _code(name: str) -> Any:
    """Return what is called `module:NAME`, the module below `mockserver`."""
    module, _, inner = name.partition(":")
    try:
        return getattr(import_module(f"mockserver.{module}"), inner)
    except (ImportError, AttributeError):
        raise _UnknownName(repr(name)) from None


def _filled(value: Json) -> Json:
    """Return a text with bounds and lists in place of their names; a bound alone is a number."""
    if not isinstance(value, str):
        return value
    alone = _NAMED.fullmatch(value)
    return int(_said(alone)) if alone else _NAMED.sub(_said, value)


def _said(name: re.Match[str]) -> str:
    found = _code(name[1])
    return str(found.most) if isinstance(found, limits.Limit) else ", ".join(found)


class _Forms:
    """Makes JSON Schemas of the fields of the table."""

    def __init__(self, named: Mapping[str, Json]) -> None:
        """Take the table's own forms."""
        self._named = named

    def whole(self, told: Json, make: Callable[[Mapping[str, Json]], Schema]) -> Schema:
        """Return the form of a body or an answer: one with a name, or `make` of its fields."""
        if isinstance(told, Mapping) and "schema" not in told:
            return make(told)
        return self.field(told["schema"] if isinstance(told, Mapping) else told)

    def fields(self, told: Json) -> Mapping[str, Schema]:
        """Return the forms of parameters, those of a list in its order."""
        if isinstance(told, list):
            return {name: form for part in told for name, form in self.fields(part).items()}
        if isinstance(told, str):
            if told not in self._named:
                return dict(_code(told))
            told = self._named[told]["takes"]
        return {name.removesuffix("!"): self.field(one) for name, one in told.items()}

    def taken(self, told: Mapping[str, Json]) -> Schema:
        """Return the form of an object that is sent: none but these fields, some of them."""
        return members(self.fields(told), *(name[:-1] for name in told if name.endswith("!")))

    def answer(self, told: Mapping[str, Json]) -> Schema:
        """Return the form of an object that is answered: these fields, and no others."""
        return {
            "type": "object",
            "properties": {name.removesuffix("?"): self.field(one) for name, one in told.items()},
            "required": [name for name in told if not name.endswith("?")],
            "additionalProperties": False,
        }

    def field(self, told: Json) -> Schema:
        """Return the form of a field."""
        if isinstance(told, str):
            return self._by_name(told)
        if isinstance(told, list):
            return described(self.field(told[0]), _filled(told[1]))
        if "answers" in told:
            return self.answer(told["answers"])
        if "takes" in told:
            taken = self.taken(told["takes"])
            return described(taken, told["is"]) if "is" in told else taken
        if "words" in told:
            words = told["words"]
            known = _code(words) if isinstance(words, str) else words
            return choice([str(one) for one in known], told.get("is", ""))
        return {name: self._part(name, part) for name, part in told.items()}

    def _part(self, keyword: str, value: Json) -> Json:
        if keyword == "properties":
            return {name: self.field(one) for name, one in value.items()}
        return self.field(value) if keyword == "items" else _filled(value)

    def _by_name(self, name: str) -> Schema:
        if name in self._named:
            return self.field(self._named[name])
        if name in _SHARED:
            return _SHARED[name]
        if name.startswith("list of "):
            return {"type": "array", "items": self._by_name(name.removeprefix("list of "))}
        if ":" in name:
            found: Schema = _code(name)
            return found
        plain = name.removesuffix("?")
        if plain not in _TYPES:
            raise _UnknownName(repr(name))
        return {"type": plain if plain == name else [plain, "null"]}


ROWS: tuple[Row, ...] = tuple(read(resources.schemas() / "control.yaml"))
"""The rows, in the order of the document."""
