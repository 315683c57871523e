"""Overlays: what was learned of a service, laid over the contract without editing it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mockserver import documents
from mockserver.documents import Document
from mockserver.errors import InvalidFile, Problem
from mockserver.values import dataclass

MARK = "+"
"""What stands between a dialect and the file of an overlay, as in `observed+learned.yaml`."""


@dataclass(frozen=True, slots=True)
class LearnedField:
    """A member of an operation's answers that the contract does not mention; `types` are JSON's."""

    operation: str
    place: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overlay:
    """Errata that a service follows, and members that its answers have."""

    file: Path
    errata: tuple[str, ...] = ()
    fields: tuple[LearnedField, ...] = ()

    def laid_over(self, operation: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of an operation's data with the members that it does not mention.

        What the schema says stays as it is. Raises `InvalidFile` for a member that it mentions, and
        for one of an object that it does not know.
        """
        found = dict(schema)
        for field in self.fields:
            if field.operation == operation:
                names = field.place.replace("[]", ".[]").split(".")[1:]
                found = self._with(found, names, field)
        return found

    def _with(
        self, schema: Mapping[str, Any], names: Sequence[str], field: LearnedField
    ) -> dict[str, Any]:
        name, rest = names[0], names[1:]
        keyword = {"[]": "items", "*": "additionalProperties"}.get(name, "properties")
        branch = _branch(schema, keyword, name if rest else "")
        if branch is not None:
            inner = self._with(schema["allOf"][branch], names, field)
            branches = [*schema["allOf"]]
            branches[branch] = inner
            return {**schema, "allOf": branches}
        below = schema.get(keyword)
        if not isinstance(below, Mapping):
            raise self._refused(field, "stands in an object that the contract does not know")
        if keyword != "properties":
            return {**schema, keyword: self._with(below, rest, field)}
        if rest and name in below:
            return {**schema, keyword: {**below, name: self._with(below[name], rest, field)}}
        if rest or name in below:
            why = "is in the contract already" if not rest else "stands in what it does not know"
            raise self._refused(field, why)
        return {**schema, keyword: {**below, name: _member(field)}}

    def _refused(self, field: LearnedField, why: str) -> InvalidFile:
        message = f"{field.place} of {field.operation} {why}; an overlay only adds"
        return InvalidFile([Problem(self.file, None, "fields", message)])


def load_overlay(file: Path) -> Overlay:
    """Return the overlay of a file. Raises `InvalidFile`."""
    document: Document = documents.read(file, "overlay")
    rows: Iterable[Mapping[str, Any]] = document.value.get("fields", ())
    fields = (documents.value_of(LearnedField, row) for row in rows)
    return Overlay(file, tuple(document.value.get("errata", ())), tuple(fields))


def _branch(schema: Mapping[str, Any], keyword: str, name: str) -> int | None:
    """Return which branch of a schema speaks of what stands behind a keyword; None for itself."""
    own = schema.get(keyword)
    if isinstance(own, Mapping) and (not name or keyword != "properties" or name in own):
        return None
    for number, branch in enumerate(schema.get("allOf", ())):
        below = branch.get(keyword)
        fits = isinstance(below, Mapping) and (not name or keyword != "properties" or name in below)
        if fits or _branch(branch, keyword, name) is not None:
            return number
    return None


def _member(field: LearnedField) -> dict[str, Any]:
    kinds = list(field.types)
    return {
        "type": kinds[0] if len(kinds) == 1 else kinds,
        "description": "seen in recordings",
        "x-basis": "observed",
        "x-source": "recordings",
    }
