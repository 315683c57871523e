"""Forms of what is sent to control a world, as `schemas/control.yaml` has them by name."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mockserver import documents, limits, resources
from mockserver.jsontext import Json
from mockserver.responders.forms import Schema, choice, described, members
from mockserver.tables import UnknownName

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_NAMED = re.compile(r"\{([\w.]+:\w+)\}")


def named_code(name: str) -> Any:
    """Return what is called `module:NAME`, the module below `mockserver`."""
    module, _, inner = name.partition(":")
    try:
        return getattr(import_module(f"mockserver.{module}"), inner)
    except (ImportError, AttributeError):
        raise UnknownName(f"{name!r} is nothing") from None


def filled(value: Json) -> Json:
    """Return a text with bounds and lists in place of their names; a bound alone is a number."""
    if not isinstance(value, str):
        return value
    alone = _NAMED.fullmatch(value)
    return int(_said(alone)) if alone else _NAMED.sub(_said, value)


def _said(name: re.Match[str]) -> str:
    found = named_code(name[1])
    return str(found.most) if isinstance(found, limits.Limit) else ", ".join(found)


class FormTable:
    """Makes JSON Schemas of the fields of the table."""

    def __init__(self, named: Mapping[str, Json]) -> None:
        """Take the table's own forms."""
        self.named = named

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
            told = self.takes(told)
        return {name.removesuffix("!"): self.field(one) for name, one in told.items()}

    def takes(self, name: str) -> Mapping[str, Json]:
        """Return the fields that an object of a name takes, as they are told; none of no name."""
        found: Mapping[str, Json] = self.named.get(name, {}).get("takes", {})
        return found

    def taken(self, told: Mapping[str, Json], *, least: int = 0) -> Schema:
        """Return the form of an object that is sent: none but these fields, some of them."""
        required = (name[:-1] for name in told if name.endswith("!"))
        return members(self.fields(told), *required, least=least)

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
            return described(self.field(told[0]), filled(told[1]))
        if "answers" in told:
            return self.answer(told["answers"])
        if "takes" in told:
            above = self.takes(told["takes-of"]) if "takes-of" in told else {}
            taken = self.taken({**above, **told["takes"]}, least=told.get("least", 0))
            return described(taken, told["is"]) if "is" in told else taken
        if "words" in told:
            words = told["words"]
            known = named_code(words) if isinstance(words, str) else words
            return choice([str(one) for one in known], told.get("is", ""))
        return {name: self._part(name, part) for name, part in told.items()}

    def _part(self, keyword: str, value: Json) -> Json:
        if keyword == "properties":
            return {name: self.field(one) for name, one in value.items()}
        return self.field(value) if keyword == "items" else filled(value)

    def _by_name(self, name: str) -> Schema:
        if name in self.named:
            return self.field(self.named[name])
        if name.startswith("list of "):
            return {"type": "array", "items": self._by_name(name.removeprefix("list of "))}
        if ":" in name:
            found: Schema = named_code(name)()
            return found
        plain = name.removesuffix("?")
        if plain not in _TYPES:
            raise UnknownName(f"{name!r} is nothing")
        return {"type": plain if plain == name else [plain, "null"]}


@cache
def shipped_forms() -> FormTable:
    """Return the forms that are shipped."""
    path = resources.schemas() / "control.yaml"
    return FormTable(documents.parse(path.read_text("utf-8"), path).value["forms"])


@cache
def form(name: str) -> Schema:
    """Return the shipped form of a name."""
    return shipped_forms().field(name)
