"""A schema in its neutral form: all that holds at one place, whichever branch says it."""

from dataclasses import field
from typing import Any, NamedTuple

from mockserver.contract.basis import Basis
from mockserver.contract.diff.values import DOCUMENTED
from mockserver.jsontext import Json
from mockserver.values import dataclass

ANY_TYPE = frozenset(["null", "boolean", "object", "array", "string", "integer", "fraction"])


class Part(NamedTuple):
    """A raw schema and the basis that it inherits."""

    schema: Any
    basis: Basis


Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a schema states, with its basis."""

    value: Any
    basis: Basis


def basis_of(stated: "Fact | Forms | None") -> Basis | None:
    """Return what a statement stands on; None where there is none."""
    return None if stated is None else stated.basis


def bases_of(
    old: "Fact | Forms | None", new: "Fact | Forms | None"
) -> tuple[Basis | None, Basis | None]:
    """Return what the statements of both sides stand on."""
    return basis_of(old), basis_of(new)


@dataclass(frozen=True, slots=True)
class Condition:
    """An `if` in words and in a comparable form, with what holds where it is met and where not."""

    test: str
    words: str
    then: Parts
    otherwise: Parts
    basis: Basis


@dataclass(frozen=True, slots=True)
class Forms:
    """Alternatives: `anyOf` or `oneOf`."""

    keyword: str
    branches: tuple[Parts, ...]
    basis: Basis


@dataclass(slots=True)
class Node:
    """Everything that holds for the value at one place."""

    parts: Parts = ()
    basis: Basis = DOCUMENTED
    types: frozenset[str] = ANY_TYPE
    types_basis: Basis = DOCUMENTED
    values: dict[str, Json] | None = None
    values_basis: Basis = DOCUMENTED
    bounds: dict[str, Fact] = field(default_factory=dict)
    """By name (`minimum`, `maxLength`): a number, negated where it is the most, and `exclusive`."""
    sets: dict[str, dict[str, Basis]] = field(default_factory=dict)
    items: Parts = ()
    properties: dict[str, Parts] = field(default_factory=dict)
    required: dict[str, Basis] = field(default_factory=dict)
    closed: Fact | None = None
    additional: Parts = ()
    forms: list[Forms] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    role: str = ""
    deprecated: bool = False

    @property
    def never(self) -> bool:
        """Tell whether no value is right here."""
        return not self.types or self.values == {}

    def bound(self, name: str) -> int | None:
        """Return a bound of a length; None where there is none."""
        return int(abs(self.bounds[name].value[0])) if name in self.bounds else None

    def strings(self, name: str) -> dict[str, Basis]:
        """Return what the schema states of a keyword that may be stated many times."""
        return self.sets.get(name, {})
