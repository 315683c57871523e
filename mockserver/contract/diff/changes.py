"""What a comparison finds: differences, judged as changes for the clients of the service."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from mockserver import documents, resources
from mockserver.contract.facts import Basis
from mockserver.errors import CrosschainMockError
from mockserver.values import dataclass

T = TypeVar("T")
U = TypeVar("U")
Words = tuple[str, str]
"""What the old version states and what the new one states."""
Bases = tuple[Basis | None, Basis | None]
"""The bases of both sides; None where a side states nothing."""

DOCUMENTED = Basis()
NOT_THERE = "not there"


class CannotCompare(CrosschainMockError):
    """Two versions that cannot be compared: one is not found, or is beyond what is followed."""


class Level(StrEnum):
    """What a change does to clients that were written for the old version."""

    BREAKING = "breaking"
    MAY_BREAK = "may-break"
    HARMLESS = "harmless"

    @property
    def or_worse(self) -> tuple["Level", ...]:
        """The levels that are as bad as this one, or worse; the worst is first."""
        return tuple(Level)[: tuple(Level).index(self) + 1]


class Role(StrEnum):
    """Who writes a value: the client (a request) or the service (an answer)."""

    REQUEST = "request"
    ANSWER = "answer"


class Effect(StrEnum):
    """What a difference does to the set of values that are allowed."""

    NARROWER = "narrower"
    WIDER = "wider"
    OTHER = "other"
    UNDECIDED = "undecided"
    FIRMER = "firmer"
    WEAKER = "weaker"
    NEUTRAL = "neutral"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two versions; `place` starts at what is compared: `.list[].symbol`.

    `expected` marks a difference that clients should be prepared for. `reason` says why a
    difference could not be decided, `example` is a value that only one of the two versions allows.
    """

    kind: str
    effect: Effect
    words: Words
    bases: Bases = (None, None)
    place: str = ""
    expected: bool = False
    reason: str = ""
    example: str = ""
    role_name: str = ""


def both(of: Callable[[T], U], old: T, new: T) -> tuple[U, U]:
    """Return what a function returns for the old side and for the new."""
    return of(old), of(new)


def effect_of(lost: object, gained: object) -> Effect:
    """Return the effect of values that are lost, gained, or both."""
    if lost and gained:
        return Effect.OTHER
    return Effect.NARROWER if lost else Effect.WIDER


def under(prefix: str, found: Iterable[Difference], condition: str = "") -> Iterator[Difference]:
    """Yield differences with a prefix of their places, and under a condition."""
    for one in found:
        reason = "; ".join(filter(None, (condition, one.reason)))
        yield replace(one, place=f"{prefix}{one.place}", reason=reason)


def required_changes(was: bool, now: bool, bases: Bases, place: str = "") -> Iterator[Difference]:
    """Yield a difference where something became required or optional."""
    if was is not now:
        effect = Effect.NARROWER if now else Effect.WIDER
        yield Difference("required", effect, both(required_words, was, now), bases, place)


def required_words(required: bool) -> str:
    """Return how a report says whether something has to be there."""
    return "required" if required else "optional"


def deprecations(was: bool, now: bool, bases: Bases) -> Iterator[Difference]:
    """Yield a difference where something became deprecated, or is no longer."""
    if was is not now:
        words = ("not deprecated", "deprecated") if now else ("deprecated", "not deprecated")
        yield Difference("deprecated", Effect.NEUTRAL, words, bases)


def rewordings(
    was: Mapping[str, str], now: Mapping[str, str], bases: Bases
) -> Iterator[Difference]:
    """Yield the texts for people that differ."""
    for name in sorted(was.keys() | now.keys()):
        words = was.get(name, ""), now.get(name, "")
        if words[0] != words[1]:
            yield Difference(name, Effect.TEXT, words, bases)


def basis_changes(was: Basis, now: Basis, about: str = "") -> Iterator[Difference]:
    """Yield a difference where an unchanged fact has another kind of basis."""
    if was.kind != now.kind:
        effect = Effect.FIRMER if now.firmness > was.firmness else Effect.WEAKER
        yield Difference("basis", effect, (f"{was}{about}", f"{now}{about}"), (was, now))


@dataclass(frozen=True, slots=True)
class Change:
    """One change between two versions of a contract, judged for the clients of the service."""

    level: Level
    kind: str
    operation: str
    place: str
    was: str
    now: str
    why: str
    basis: str
    example: str = ""
    text_only: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes from one version to another, in a stable order; of texts some may be hidden."""

    old: str
    new: str
    changes: tuple[Change, ...]
    hidden: int = 0

    def without_texts(self) -> "Comparison":
        """Return the comparison without the changes of mere wording."""
        kept = tuple(change for change in self.changes if not change.text_only)
        return replace(self, changes=kept, hidden=len(self.changes) - len(kept))

    def of(self, level: Level) -> tuple[Change, ...]:
        """Return the changes of a level."""
        return tuple(change for change in self.changes if change.level is level)


def judged(difference: Difference, role: Role, operation: str) -> Change:
    """Return a difference of a request or an answer as a change with its level."""
    difference = _in_role(difference, role)
    bases = [str(basis) for basis in difference.bases if basis is not None]
    return Change(
        level=_level(difference, role),
        kind=difference.kind,
        operation=operation,
        place=difference.place.removeprefix("."),
        was=difference.words[0],
        now=difference.words[1],
        why=_why(difference, role),
        basis=" -> ".join(dict.fromkeys(bases)),
        example=difference.example,
        text_only=difference.effect is Effect.TEXT,
    )


def _in_role(difference: Difference, role: Role) -> Difference:
    """Return a field that came or went as a wider or narrower set of messages."""
    if difference.kind == "field-added":
        if role is Role.ANSWER:
            # Clients ignore unknown fields, except where the contract had excluded them.
            effect = Effect.WIDER if difference.expected else Effect.NARROWER
            return replace(difference, effect=effect)
        effect = Effect.NARROWER if difference.words[1] == "required" else Effect.WIDER
        return replace(difference, kind="input-added", effect=effect)
    if difference.kind == "field-removed" and role is Role.REQUEST:
        # That it has no effect any more needs no other fact.
        bases = difference.bases[0], None
        return replace(difference, kind="input-removed", effect=Effect.NARROWER, bases=bases)
    return difference


def _level(difference: Difference, role: Role) -> Level:
    """Return the level of a difference: what narrows requests or widens answers breaks clients.

    A harm that rests on an assumption alone may break: no document says that it happens.
    """
    if difference.effect in (Effect.UNDECIDED, Effect.WEAKER):
        return Level.MAY_BREAK
    is_request = role is Role.REQUEST
    if difference.effect not in (Effect.OTHER, Effect.NARROWER if is_request else Effect.WIDER):
        return Level.HARMLESS
    basis = difference.bases[1 if is_request else 0]
    if (difference.expected and not is_request) or (basis is not None and basis.kind == "assumed"):
        return Level.MAY_BREAK
    return Level.BREAKING


def _why(difference: Difference, role: Role) -> str:
    texts, kind, effect = _texts(), difference.kind, difference.effect
    words = texts["kinds"].get(kind) or texts["effects"].get(effect)
    if words is None:
        row = texts[role][effect]
        words = row.get(kind, row["usually"])
    return f"{words} ({difference.reason})" if difference.reason else words


@cache
def _texts() -> Mapping[str, Any]:
    texts: dict[str, Any] = documents.read(resources.schemas() / "changes.yaml", "changes").value
    return texts
