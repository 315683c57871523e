"""Dialects: which errata are applied to the contract before anything is made from it.

An overlay adds what was learned of a service, without editing the contract.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import field
from pathlib import Path
from typing import Any

from mockserver import file_formats
from mockserver.contract.facts import Basis, BasisKind
from mockserver.errors import CrosschainMockError, InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.suggestions import did_you_mean

DOCUMENTED = "documented"
OBSERVED = "observed"
DIALECTS = (DOCUMENTED, OBSERVED)
"""The readings that are shipped."""
_IDENTITY = ("id", "name")


class UnknownDialect(CrosschainMockError):
    """A dialect or an erratum that is not in the register."""


@dataclass(frozen=True, slots=True)
class Erratum:
    """One place where the description and the clients in the field contradict each other."""

    id: str
    title: str
    documented: str
    observed: str
    source: tuple[str, ...]
    section: str = ""
    operations: tuple[str, ...] = ()
    changes: tuple[Mapping[str, Any], ...] = ()

    @property
    def basis(self) -> Basis:
        """The basis of what follows from it: observed in public clients."""
        says = f"{self.title}: {self.observed}"
        return Basis(BasisKind.OBSERVED, "", self.source[0], says, self.id)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A reading of the contract: the description itself, or with errata applied to it."""

    name: str
    errata: tuple[str, ...] = field(default=())

    def applies(self, erratum: str) -> bool:
        return erratum in self.errata


def dialect_of(spec: str, register: Sequence[Erratum]) -> Dialect:
    """Return the dialect for `documented`, `observed`, or a comma-separated list of errata.

    Raises `UnknownDialect` for an id that is not registered.
    """
    every = tuple(erratum.id for erratum in register)
    if spec == DOCUMENTED:
        return Dialect(DOCUMENTED)
    if spec == OBSERVED:
        return Dialect(OBSERVED, every)
    chosen = [part.strip() for part in spec.split(",") if part.strip()]
    unknown = [part for part in chosen if part not in every]
    if unknown or not chosen:
        near = did_you_mean(spec, [DOCUMENTED, OBSERVED])
        known = (
            "; expected 'documented', 'observed', or errata such as 'E-01,E-03', "
            "which `crosschain-mock errata` lists"
        )
        raise UnknownDialect(f"unknown dialect {spec!r}{near or known}")
    # The register's order, since a later erratum may build on an earlier one.
    ordered = tuple(name for name in every if name in chosen)
    return Dialect(",".join(ordered), ordered)


def apply(
    documents: Mapping[str, Any], register: Iterable[Erratum], dialect: Dialect
) -> dict[str, Any]:
    """Return the raw documents with the changes of the dialect's errata; the input is kept."""
    patched = dict(documents)
    copied: set[str] = set()
    for erratum in register:
        if not dialect.applies(erratum.id):
            continue
        for change in erratum.changes:
            name = change["document"]
            # Only what is changed is copied: the other documents are shared by all dialects.
            if name not in copied:
                patched[name] = deepcopy(patched[name])
                copied.add(name)
            _change(patched[name], change, f"{erratum.id}, {name}")
    return patched


def places(change: Mapping[str, Any]) -> list[str]:
    return [change["from"], change["path"]] if change["op"] == "move" else [change["path"]]


def value_at(document: Any, pointer: str, missing: Any) -> Any:
    """Return the value at a place of a document, or `missing` where there is none."""
    for part in _pointer(pointer):
        try:
            document = document[_key(document, part)]
        except (KeyError, IndexError, TypeError):
            return missing
    return document


def _change(document: Any, change: Mapping[str, Any], where: str) -> None:
    *parents, last = _pointer(change["path"])
    target = _walk(document, parents, f"{where}{change['path']}")
    match change["op"]:
        case "add" | "replace":
            _put(target, last, deepcopy(change["value"]))
        case "remove":
            _take(target, last, where)
        case "move":
            *from_parents, from_last = _pointer(change["from"])
            source = _walk(document, from_parents, f"{where}{change['from']}")
            _put(target, last, _take(source, from_last, where))
        case unknown:
            raise ValueError(f"{where}: unknown change {unknown!r}")


def _pointer(text: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _walk(document: Any, parts: Sequence[str], where: str) -> Any:
    for part in parts:
        try:
            document = document[_key(document, part)]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"{where}: there is no {part!r}") from None
    return document


def _key(container: Any, part: str) -> Any:
    """Return the key of a mapping, or the index of a list's item by number, id, name or value."""
    if not isinstance(container, list):
        return part
    for index, item in enumerate(container):
        named = isinstance(item, Mapping) and part in [item.get(key) for key in _IDENTITY]
        if named or item == part:
            return index
    # Names before numbers: an id of digits is found as an id.
    return int(part) if part.isdecimal() else len(container)


def _put(container: Any, part: str, value: Any) -> None:
    if not isinstance(container, list):
        container[part] = value
        return
    index = len(container) if part == "-" else _key(container, part)
    if index < len(container):
        container[index] = value
    else:
        container.append(value)


def _take(container: Any, part: str, where: str) -> Any:
    try:
        return container.pop(_key(container, part))
    # An erratum that changes nothing any more is a mistake in the register.
    except (KeyError, IndexError):
        raise ValueError(f"{where}: there is no {part!r} to take away") from None


MARK = "+"
"""Separates a dialect from the file of an overlay, as in `observed+learned.yaml`."""


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
        schema_so_far = dict(schema)
        for learned in self.fields:
            if learned.operation == operation:
                names = learned.place.replace("[]", ".[]").split(".")[1:]
                schema_so_far = self._with(schema_so_far, names, learned)
        return schema_so_far

    def _with(
        self, schema: Mapping[str, Any], names: Sequence[str], learned: LearnedField
    ) -> dict[str, Any]:
        name, rest = names[0], names[1:]
        keyword = {"[]": "items", "*": "additionalProperties"}.get(name, "properties")
        branch = _branch(schema, keyword, name if rest else "")
        if branch is not None:
            inner = self._with(schema["allOf"][branch], names, learned)
            branches = [*schema["allOf"]]
            branches[branch] = inner
            return {**schema, "allOf": branches}
        below = schema.get(keyword)
        if not isinstance(below, Mapping):
            raise self._refused(learned, "stands in an object that the contract does not know")
        if keyword != "properties":
            return {**schema, keyword: self._with(below, rest, learned)}
        if rest and name in below:
            return {**schema, keyword: {**below, name: self._with(below[name], rest, learned)}}
        if rest or name in below:
            why = "is in the contract already" if not rest else "stands in what it does not know"
            raise self._refused(learned, why)
        return {**schema, keyword: {**below, name: _member(learned)}}

    def _refused(self, learned: LearnedField, why: str) -> InvalidFile:
        message = f"{learned.place} of {learned.operation} {why}; an overlay only adds"
        return InvalidFile([Problem(self.file, None, "fields", message)])


def load_overlay(file: Path) -> Overlay:
    """Return the overlay of a file. Raises `InvalidFile`."""
    document: Document = file_formats.read(file, "overlay")
    rows: Iterable[Mapping[str, Any]] = document.value.get("fields", ())
    fields = (file_formats.value_of(LearnedField, row) for row in rows)
    return Overlay(file, tuple(document.value.get("errata", ())), tuple(fields))


def _branch(schema: Mapping[str, Any], keyword: str, name: str) -> int | None:
    """Return the branch of a schema that declares a name under a keyword; None for itself."""
    own = schema.get(keyword)
    if isinstance(own, Mapping) and (not name or keyword != "properties" or name in own):
        return None
    for number, branch in enumerate(schema.get("allOf", ())):
        below = branch.get(keyword)
        fits = isinstance(below, Mapping) and (not name or keyword != "properties" or name in below)
        if fits or _branch(branch, keyword, name) is not None:
            return number
    return None


def _member(learned: LearnedField) -> dict[str, Any]:
    kinds = list(learned.types)
    return {
        "type": kinds[0] if len(kinds) == 1 else kinds,
        "description": "seen in recordings",
        "x-basis": "observed",
        "x-source": "recordings",
    }
