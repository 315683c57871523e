"""How a difference is judged: which level it gets, and why it matters to a client."""

from dataclasses import replace

from mockserver.contract.basis import Basis
from mockserver.contract.diff.values import Change, Difference, Effect, Level, Role

_HARM = {Role.REQUEST: Effect.NARROWER, Role.ANSWER: Effect.WIDER}

_WHY = {
    ("required", Role.REQUEST, Effect.NARROWER): "clients that leave it out are refused",
    ("required", Role.REQUEST, Effect.WIDER): "clients may leave it out, and need not",
    ("required", Role.ANSWER, Effect.WIDER): "clients that count on it may find it missing",
    ("required", Role.ANSWER, Effect.NARROWER): "clients can count on it",
    ("input-added", Role.REQUEST, Effect.NARROWER): "clients that do not know it are refused",
    ("input-added", Role.REQUEST, Effect.WIDER): "clients may send it, and need not",
    (
        "input-removed",
        Role.REQUEST,
        Effect.NARROWER,
    ): "clients that send it are refused, or it has no effect any more",
    ("field-removed", Role.ANSWER, Effect.WIDER): "clients that read it find nothing",
    ("field-added", Role.ANSWER, Effect.NARROWER): "clients pass over what they do not know",
    (
        "field-added",
        Role.ANSWER,
        Effect.WIDER,
    ): "the old version ruled out further fields; a client that holds it to that stops",
    ("values", Role.ANSWER, Effect.WIDER): "clients may meet a value that they do not know",
    ("values", Role.REQUEST, Effect.NARROWER): "clients that send the value are refused",
    ("closed", Role.REQUEST, Effect.NARROWER): "clients that send further names are refused",
    ("closed", Role.REQUEST, Effect.WIDER): "further names are passed over",
    (
        "closed",
        Role.ANSWER,
        Effect.WIDER,
    ): "further fields may come; a client that refuses unknown ones stops",
    ("type", Role.REQUEST, Effect.OTHER): "clients that send the old type are refused",
    ("type", Role.ANSWER, Effect.OTHER): "clients that read the old type cannot read the new one",
    (
        "success-code",
        Role.ANSWER,
        Effect.OTHER,
    ): "clients that look for the old code take each success for a refusal",
    (
        "refusal-status",
        Role.ANSWER,
        Effect.OTHER,
    ): "clients that look for refusals under the old status miss them",
    ("default", Role.REQUEST, Effect.UNDECIDED): "clients that leave it out get another behaviour",
}

_GENERAL = {
    (Role.REQUEST, Effect.NARROWER): "a request that was right may be refused",
    (Role.REQUEST, Effect.WIDER): "every request that was right stays right",
    (Role.REQUEST, Effect.OTHER): "requests in the old form are refused",
    (Role.REQUEST, Effect.UNDECIDED): "a request that was right may be refused",
    (Role.ANSWER, Effect.NARROWER): "every answer stays one that clients know",
    (Role.ANSWER, Effect.WIDER): "answers may come that clients were told not to expect",
    (Role.ANSWER, Effect.OTHER): "answers come in a form that clients do not know",
    (Role.ANSWER, Effect.UNDECIDED): "answers may come that clients were told not to expect",
}

_ANY_ROLE = {
    Effect.FIRMER: "the fact stays and stands on firmer ground",
    Effect.WEAKER: "the fact stays, but clients can rely on it less",
    Effect.TEXT: "only words changed",
    Effect.NEUTRAL: "it works as before",
}
_NOTES = {
    "deprecated": "it works as before; clients should look at what is to go",
    "header-case": "headers are read whatever their case",
    "operation-id": "only clients generated from the document get another name to call",
}


def judged(difference: Difference, role: Role, operation: str, place: str) -> Change:
    """Return a difference of a request or an answer as a change with its level."""
    difference = _in_role(difference, role)
    return Change(
        level=level_of(difference, role),
        kind=difference.kind,
        operation=operation,
        place=place,
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
    effect = difference.effect
    words = (
        _NOTES.get(difference.kind)
        or _ANY_ROLE.get(effect)
        or _WHY.get((difference.kind, role, effect))
        or _GENERAL[role, effect]
    )
    return f"{words} ({difference.reason})" if difference.reason else words


def _basis(old: Basis | None, new: Basis | None) -> str:
    words = [str(basis) for basis in (old, new) if basis is not None]
    return " -> ".join(dict.fromkeys(words))
