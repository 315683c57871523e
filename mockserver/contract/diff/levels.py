"""How a difference is judged: which level it gets, and why it matters to a client."""

from dataclasses import replace

from mockserver.contract.basis import Basis
from mockserver.contract.diff.values import Change, Difference, Effect, Level, Role

_HARM = {Role.REQUEST: Effect.NARROWER, Role.ANSWER: Effect.WIDER}

_WHY = {
    (Role.REQUEST, Effect.NARROWER): {
        "required": "clients that leave it out are refused",
        "input-added": "clients that do not know it are refused",
        "input-removed": "clients that send it are refused, or it has no effect any more",
        "values": "clients that send the value are refused",
        "closed": "clients that send further names are refused",
    },
    (Role.REQUEST, Effect.WIDER): {
        "required": "clients may leave it out, and need not",
        "input-added": "clients may send it, and need not",
        "closed": "further names are passed over",
    },
    (Role.ANSWER, Effect.WIDER): {
        "required": "clients that count on it may find it missing",
        "field-removed": "clients that read it find nothing",
        "field-added": "the old version ruled out further fields; a client that holds it to that "
        "stops",
        "values": "clients may meet a value that they do not know",
        "closed": "further fields may come; a client that refuses unknown ones stops",
    },
    (Role.ANSWER, Effect.NARROWER): {
        "required": "clients can count on it",
        "field-added": "clients pass over what they do not know",
    },
    (Role.REQUEST, Effect.OTHER): {
        "type": "clients that send the old type are refused",
    },
    (Role.ANSWER, Effect.OTHER): {
        "type": "clients that read the old type cannot read the new one",
        "success-code": "clients that look for the old code take each success for a refusal",
        "refusal-status": "clients that look for refusals under the old status miss them",
    },
    (Role.REQUEST, Effect.UNDECIDED): {
        "default": "clients that leave it out get another behaviour",
    },
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
        or _WHY.get((role, effect), {}).get(difference.kind)
        or _GENERAL[role, effect]
    )
    return f"{words} ({difference.reason})" if difference.reason else words


def _basis(old: Basis | None, new: Basis | None) -> str:
    words = [str(basis) for basis in (old, new) if basis is not None]
    return " -> ".join(dict.fromkeys(words))
