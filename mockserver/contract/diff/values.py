"""What a comparison is made of: levels, effects, bases, differences and the changes they become."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from mockserver.contract.basis import Basis
from mockserver.errors import CrosschainMockError
from mockserver.values import dataclass


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


DOCUMENTED = Basis()


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two versions; `place` starts at what is compared: `.list[].symbol`.

    `soft` marks a difference that clients were told to expect. `reason` says why a difference could
    not be decided, `example` is a value that only one of the two versions takes.
    """

    kind: str
    effect: Effect
    was: str
    now: str
    old: Basis | None = None
    new: Basis | None = None
    place: str = ""
    soft: bool = False
    reason: str = ""
    example: str = ""
    role_name: str = ""

    def under(self, prefix: str, condition: str = "") -> "Difference":
        """Return the difference as it is seen from a schema above, under a condition."""
        reason = "; ".join(filter(None, (condition, self.reason)))
        return replace(self, place=f"{prefix}{self.place}", reason=reason)


def under(prefix: str, found: Iterable[Difference], condition: str = "") -> Iterator[Difference]:
    """Yield differences as they are seen from above, under a condition."""
    return (one.under(prefix, condition) for one in found)


def told(
    kind: str,
    effect: Effect,
    words: Sequence[str],
    bases: Sequence[Basis | None] = (None, None),
    **more: Any,
) -> Difference:
    """Return a difference whose words and bases are pairs: of the old side and of the new."""
    return Difference(kind, effect, words[0], words[1], bases[0], bases[1], **more)


def required_changes(
    was: bool, now: bool, bases: Sequence[Basis | None], place: str = ""
) -> Iterator[Difference]:
    """Yield that something is required now, or is no longer."""
    if was is not now:
        words = ["required" if one else "optional" for one in (was, now)]
        effect = Effect.NARROWER if now else Effect.WIDER
        yield told("required", effect, words, bases, place=place)


def deprecations(was: bool, now: bool, bases: Sequence[Basis | None]) -> Iterator[Difference]:
    """Yield that something is deprecated now, or is no longer."""
    if was is not now:
        words = ["deprecated" if one else "not deprecated" for one in (was, now)]
        yield told("deprecated", Effect.NEUTRAL, words, bases)


def basis_changes(was: Basis, now: Basis, about: str = "") -> Iterator[Difference]:
    """Yield that a fact that stays stands on another kind of evidence."""
    if was.kind != now.kind:
        effect = Effect.FIRMER if now.firmness > was.firmness else Effect.WEAKER
        yield Difference("basis", effect, f"{was}{about}", f"{now}{about}", was, now)


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
