"""Dialects: which errata are applied to the contract before anything is made from it."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import field
from typing import Any

from mockserver.contract.basis import Basis, BasisKind
from mockserver.errors import CrosschainMockError
from mockserver.values import dataclass
from mockserver.violations import did_you_mean

DOCUMENTED = "documented"
OBSERVED = "observed"
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
        """The basis of what stands on it: what public clients show."""
        says = f"{self.title}: {self.observed}"
        return Basis(BasisKind.OBSERVED, "", self.source[0], says, self.id)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A reading of the contract: the description itself, or with errata applied to it."""

    name: str
    errata: tuple[str, ...] = field(default=())

    def applies(self, erratum: str) -> bool:
        """Tell whether the erratum of that id is part of this reading."""
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
    ordered = tuple(one for one in every if one in chosen)
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
            if name not in copied:
                patched[name] = deepcopy(patched[name])
                copied.add(name)
            _change(patched[name], change, f"{erratum.id}, {name}")
    return patched


def places(change: Mapping[str, Any]) -> list[str]:
    """Return the pointers of the places that a change touches."""
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
        case other:
            raise ValueError(f"{where}: unknown change {other!r}")


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
    except (KeyError, IndexError):
        raise ValueError(f"{where}: there is no {part!r} to take away") from None
