"""How a difference is judged: which level it gets, and why it matters to a client."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from mockserver import documents, resources
from mockserver.contract.basis import Basis
from mockserver.contract.diff.values import Change, Difference, Effect, Level, Role

_HARM = {Role.REQUEST: Effect.NARROWER, Role.ANSWER: Effect.WIDER}


@cache
def _texts() -> Mapping[str, Any]:
    texts: dict[str, Any] = documents.read(resources.schemas() / "changes.yaml", "changes").value
    return texts


def judged(difference: Difference, role: Role, operation: str) -> Change:
    """Return a difference of a request or an answer as a change with its level."""
    difference = _in_role(difference, role)
    return Change(
        level=level_of(difference, role),
        kind=difference.kind,
        operation=operation,
        place=difference.place.removeprefix("."),
        was=difference.was,
        now=difference.now,
        why=_why(difference, role),
        basis=_basis(difference.old, difference.new),
        example=difference.example,
        text_only=difference.effect is Effect.TEXT,
    )


def level_of(difference: Difference, role: Role) -> Level:
    """Return the level of a difference: what narrows requests or widens answers breaks clients.

    A harm that rests on an assumption alone may break: no document says that it happens.
    """
    if difference.effect in (Effect.UNDECIDED, Effect.WEAKER):
        return Level.MAY_BREAK
    if difference.effect not in (Effect.OTHER, _HARM[role]):
        return Level.HARMLESS
    told = difference.new if role is Role.REQUEST else difference.old
    expected = difference.soft and role is Role.ANSWER
    if expected or (told is not None and told.kind == "assumed"):
        return Level.MAY_BREAK
    return Level.BREAKING


def _in_role(difference: Difference, role: Role) -> Difference:
    """Return a field that came or went as what it is to those who write it."""
    if difference.kind == "field-added":
        if role is Role.ANSWER:
            # Clients pass over unknown fields, save where the contract ruled them out.
            effect = Effect.WIDER if difference.soft else Effect.NARROWER
            return replace(difference, effect=effect)
        effect = Effect.NARROWER if difference.now == "required" else Effect.WIDER
        return replace(difference, kind="input-added", effect=effect)
    if difference.kind == "field-removed" and role is Role.REQUEST:
        # That it has no effect any more needs no other fact.
        return replace(difference, kind="input-removed", effect=Effect.NARROWER, new=None)
    return difference


def _why(difference: Difference, role: Role) -> str:
    texts, kind, effect = _texts(), difference.kind, difference.effect
    words = texts["kinds"].get(kind) or texts["effects"].get(effect)
    if words is None:
        row = texts[role][effect]
        words = row.get(kind, row["usually"])
    return f"{words} ({difference.reason})" if difference.reason else words


def _basis(old: Basis | None, new: Basis | None) -> str:
    words = [str(basis) for basis in (old, new) if basis is not None]
    return " -> ".join(dict.fromkeys(words))
