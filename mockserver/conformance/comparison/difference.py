"""A difference between two answers, as a value."""

from enum import StrEnum

from mockserver import jsontext
from mockserver.conformance.comparison.roles import Place
from mockserver.conformance.session.exchange import Exchange
from mockserver.jsontext import Json
from mockserver.values import dataclass

NOTHING = object()
"""Stands where one side has no value at all."""
_SHOWN = 120


class Kind(StrEnum):
    """In what two answers differ."""

    OUTCOME = "outcome"
    """One side says yes, the other no, or neither."""
    CODE = "refusal-code"
    STATUS = "http-status"
    MEDIA_TYPE = "media-type"
    NO_ANSWER = "no-answer"
    """One side's answer broke off, or is no HTTP."""
    NO_JSON = "no-json"
    TYPE = "type"
    MISSING = "member-missing"
    EXTRA = "member-extra"
    LOST = "item-lost"
    GAINED = "item-gained"
    VALUE = "value"


OF_THE_WORLD = (Kind.VALUE, Kind.LOST, Kind.GAINED)
"""Kinds that come by themselves where the world moves between two reads."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the right side answers otherwise than the left one.

    `left` and `right` are what the two say, as text; `item` names the item of a list.
    """

    kind: Kind
    place: Place = ()
    left: str = ""
    right: str = ""
    item: str = ""

    @property
    def where(self) -> str:
        """The place as people write it: `data.list[].decimals`."""
        return dotted(self.place)


@dataclass(frozen=True, slots=True)
class Found:
    """A difference, with the exchanges that show it."""

    difference: Difference
    left: Exchange
    right: Exchange

    @property
    def probe(self) -> str:
        """The name of the probe that asked both sides."""
        return self.left.probe


def dotted(place: Place) -> str:
    """Return a place as people write it."""
    text = ""
    for part in place:
        text += part if part in ("[]", "{}") else f".{part}"
    return text.removeprefix(".")


def shown(value: Json) -> str:
    """Return a value as a short text."""
    if value is NOTHING:
        return "nothing"
    try:
        text = jsontext.encode(value).decode("ascii")
    except (TypeError, RecursionError):
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
