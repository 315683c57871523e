"""Two answers to the same request, compared from the outside in, member by member."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from enum import StrEnum
from itertools import chain, combinations

from mockserver import jsontext
from mockserver.conformance.comparison.value_differences import (
    Band,
    Place,
    Role,
    Roles,
    equal,
    same_kind,
)
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, pairs_or
from mockserver.jsontext import Json, canonical

NOTHING = object()
"""Stands where one side has no value at all."""
SILENT = "side did not answer"
"""Part of the reason why requests are not compared: the one to mend first."""
_NEVER_CAME = (NoAnswer.UNREACHABLE, NoAnswer.TLS, NoAnswer.TIMED_OUT)
# Moving prices stay within this; errors of units do not.
_WIDE = Band(Decimal(50))
_UNNAMING = (Role.AMOUNT, Role.TIME, Role.VERSION, Role.WORDS, Role.OPAQUE)
_LONGEST_TEXT = 120
# Combinations of members are tried: a few name any item, and more take too long.
_MOST_MEMBERS = 12
_MOST_TOGETHER = 3
_LONG = 2000


class DifferenceKind(StrEnum):
    """In what two answers differ."""

    OUTCOME = "outcome"
    """One side has a success, the other a refusal or neither."""
    CODE = "refusal-code"
    STATUS = "http-status"
    MEDIA_TYPE = "media-type"
    NO_ANSWER = "no-answer"
    """One side's answer broke off, or is no HTTP."""
    NO_JSON = "no-json"
    TYPE = "type"
    MISSING = "member-missing"
    EXTRA = "member-extra"
    SOMETIMES = "member-sometimes"
    """In some answers only."""
    EMPTY = "list-empty"
    FORM = "form"
    """A value that is written in another way."""
    GONE = "gone"
    """What was submitted in the past."""
    LOST = "item-lost"
    GAINED = "item-gained"
    VALUE = "value"


OF_THE_WORLD = (DifferenceKind.VALUE, DifferenceKind.LOST, DifferenceKind.GAINED)
"""Kinds of differences that arise by themselves where the world moves between two reads."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the two sides answer differently.

    `left` and `right` are the two values, as text; `item` names the item of a list.
    """

    kind: DifferenceKind
    place: Place = ()
    left: str = ""
    right: str = ""
    item: str = ""

    @property
    def where(self) -> str:
        """The place as people write it: `data.list[].decimals`."""
        return dotted(self.place)


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How two answers are read: the roles of places, and which of them move by themselves.

    Texts for people, such as the message of a refusal, are compared with `words` only. `echoes` are
    texts of the request on each side: a value that repeats one has to do so on both.
    """

    roles: Roles
    band: Band
    refused: bool = False
    words: bool = False
    moving: frozenset[Place] = frozenset()
    echoes: tuple[frozenset[str], frozenset[str]] = field(default=(frozenset(), frozenset()))

    def role(self, place: Place) -> Role:
        """Return the role of a place; with `words`, those for people count like any other."""
        role = self.roles.at(place, refused=self.refused)
        return Role.PLAIN if self.words and role is Role.WORDS else role


def missing_answer(left: Exchange, right: Exchange, *, complete: bool = False) -> str:
    """Return why two exchanges cannot be compared; empty where they can.

    An answer that broke off is a difference, unless answers have to be whole.
    """
    for name, answer in (("left", left.answer), ("right", right.answer)):
        if answer.trouble in _NEVER_CAME or (complete and answer.trouble):
            return f"the {name} {SILENT}: {answer.reason or answer.trouble}"
    return ""


def compared(left: Exchange, right: Exchange, reading: AnswerReading) -> Iterator[Difference]:
    """Yield where two answers differ."""
    both = (left, right)
    if left.answer.trouble or right.answer.trouble:
        if left.answer.trouble != right.answer.trouble:
            texts = (str(exchange.answer.trouble or "an answer") for exchange in both)
            yield Difference(DifferenceKind.NO_ANSWER, (), *texts)
        return
    statuses = [str(exchange.answer.status) for exchange in both]
    if statuses[0] != statuses[1]:
        yield Difference(DifferenceKind.STATUS, (), *statuses)
    if outcome_of(left) != outcome_of(right):
        yield Difference(DifferenceKind.OUTCOME, (), *map(_outcome_in_words, both))
        return
    media = [media_type(exchange) for exchange in both]
    if media[0] != media[1]:
        yield Difference(DifferenceKind.MEDIA_TYPE, ("Content-Type",), *media)
    if bool(left.unreadable) is not bool(right.unreadable):
        faults = (exchange.unreadable or "JSON" for exchange in both)
        yield Difference(DifferenceKind.NO_JSON, (), *faults)
        return
    left_body, right_body = left.body, right.body
    if not left.succeeded and isinstance(left_body, Mapping) and isinstance(right_body, Mapping):
        if left.code != right.code:
            codes = (_short_text(body.get("code", NOTHING)) for body in (left_body, right_body))
            yield Difference(DifferenceKind.CODE, ("code",), *codes)
        left_body, right_body = (
            {name: value for name, value in body.items() if name != "code"}
            for body in (left_body, right_body)
        )
    echoes = (_inputs_of(left.request), _inputs_of(right.request))
    reading = replace(reading, refused=not left.succeeded, echoes=echoes)
    yield from differences(left_body, right_body, reading)


def _inputs_of(request: Request) -> frozenset[str]:
    """Return the texts that a request carries as inputs, in lower case."""
    values = [value for _, value in pairs_or(request.query)]
    values += [value for value in request.members.values() if isinstance(value, str)]
    return frozenset(text.lower() for text in values if text)


def outcome_of(exchange: Exchange) -> str:
    """Return whether an answer is a success, a refusal or neither."""
    if exchange.succeeded:
        return "success"
    return "refusal" if exchange.refused else "neither"


def _outcome_in_words(exchange: Exchange) -> str:
    code = f", code {exchange.code}" if exchange.code is not None else ""
    message = exchange.member("msg")
    words = f": {message[:100]}" if isinstance(message, str) and not exchange.succeeded else ""
    return f"{outcome_of(exchange)} (HTTP {exchange.answer.status}{code}){words}"


def media_type(exchange: Exchange) -> str:
    """Return the media type of an answer as differences name it."""
    is_named = exchange.answer.header("Content-Type")
    return exchange.answer.media_type if is_named else "none"


def differences(
    left: Json, right: Json, reading: AnswerReading, place: Place = (), item: str = ""
) -> Iterator[Difference]:
    """Yield where two values differ, with all that is inside them."""
    role = reading.role(place)
    if not same_kind(left, right, role):
        yield Difference(DifferenceKind.TYPE, place, _short_text(left), _short_text(right), item)
    elif isinstance(left, Mapping):
        yield from _in_members(left, right, reading, place, item)
    elif isinstance(left, list | tuple):
        yield from _in_items(left, right, reading, place, item)
    elif not _same(left, right, role, reading, place):
        yield Difference(DifferenceKind.VALUE, place, _short_text(left), _short_text(right), item)


def _same(left: Json, right: Json, role: Role, reading: AnswerReading, place: Place) -> bool:
    if left == right:
        return True
    if _echoed(left, reading.echoes[0]) is not _echoed(right, reading.echoes[1]):
        return False
    if place in reading.moving:
        # Prices move, but not by orders of magnitude.
        return role is not Role.AMOUNT or equal(left, right, role, _WIDE)
    return equal(left, right, role, reading.band)


def _echoed(value: Json, inputs: frozenset[str]) -> bool:
    return isinstance(value, str) and len(value) > 2 and value.lower() in inputs


def _in_members(
    left: Mapping[str, Json],
    right: Mapping[str, Json],
    reading: AnswerReading,
    place: Place,
    item: str,
) -> Iterator[Difference]:
    is_map = reading.roles.is_map(place)
    for name in dict.fromkeys((*left, *right)):
        inside = (*place, "{}" if is_map else name)
        named = f"{item} {name}".strip() if is_map else item
        left_value, right_value = left.get(name, NOTHING), right.get(name, NOTHING)
        if left_value is not NOTHING and right_value is not NOTHING:
            yield from differences(left_value, right_value, reading, inside, named)
        elif not (is_map and inside in reading.moving):
            is_lost = right_value is NOTHING
            kind = DifferenceKind.MISSING if is_lost else DifferenceKind.EXTRA
            if is_map:
                kind = DifferenceKind.LOST if is_lost else DifferenceKind.GAINED
            yield Difference(kind, inside, _short_text(left_value), _short_text(right_value), named)


def _in_items(
    left: Sequence[Json], right: Sequence[Json], reading: AnswerReading, place: Place, item: str
) -> Iterator[Difference]:
    inside = (*place, "[]")

    def names_items(member: str) -> bool:
        here = (*inside, member)
        return here not in reading.moving and reading.role(here) not in _UNNAMING

    for key, first, second in matched(left, right, names_items):
        named = f"{item} {key}".strip()
        if first is not NOTHING and second is not NOTHING:
            yield from differences(first, second, reading, inside, named)
        elif inside not in reading.moving:
            kind = DifferenceKind.LOST if second is NOTHING else DifferenceKind.GAINED
            yield Difference(kind, inside, _short_text(first), _short_text(second), named)


def matched(
    left: Sequence[Json], right: Sequence[Json], usable: Callable[[str], bool]
) -> Iterator[tuple[str, Json, Json]]:
    """Yield the items of two lists that belong together, then those of one only.

    Each comes with the words that name it. Items that are objects are known by the fewest members
    that name each of them and find most of them on the other side, never by their position;
    `usable` tells which members may be among them. Others are compared as they are.
    """
    if (names := _naming(left, right, usable)) is None:
        yield from _matched_as_counts(left, right)
        return
    mine = {_key(item, names): item for item in left}
    theirs = {_key(item, names): item for item in right}
    in_both_first = sorted(mine, key=lambda key: key not in theirs)
    for key in (*in_both_first, *(key for key in theirs if key not in mine)):
        yield " ".join(key)[:80], mine.get(key, NOTHING), theirs.get(key, NOTHING)


def _naming(
    left: Sequence[Json], right: Sequence[Json], usable: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the members that name every item of both lists, or None where none do."""
    every = (*left, *right)
    if not every or not all(isinstance(item, Mapping) for item in every):
        return None
    members = [
        name
        for name in every[0]
        if usable(name) and all(isinstance(item.get(name), str | int) for item in every)
    ][:_MOST_MEMBERS]
    together = _MOST_TOGETHER if len(every) < _LONG else 2
    best: tuple[str, ...] | None = None
    most = -1
    for names in chain.from_iterable(combinations(members, n) for n in range(1, together + 1)):
        mine = {_key(item, names) for item in left}
        theirs = {_key(item, names) for item in right}
        if len(mine) != len(left) or len(theirs) != len(right):
            continue
        common = len(mine & theirs)
        if common > most:
            best, most = names, common
        # All items are matched: more members could not match more.
        if common == min(len(mine), len(theirs)):
            return best
    return best


def _key(item: Mapping[str, Json], names: Sequence[str]) -> tuple[str, ...]:
    # The case of an address means nothing.
    return tuple(str(item[name]).lower() for name in names)


def _matched_as_counts(
    left: Sequence[Json], right: Sequence[Json]
) -> Iterator[tuple[str, Json, Json]]:
    known = {canonical(item): item for item in (*left, *right)}
    mine, theirs = (Counter(map(canonical, items)) for items in (left, right))
    lost, gained = mine - theirs, theirs - mine
    if len(left) == len(right) == 1 and lost:
        yield "0", left[0], right[0]
        return
    yield from ((text[:80], known[text], NOTHING) for text in lost.elements())
    yield from ((text[:80], NOTHING, known[text]) for text in gained.elements())


def dotted(place: Place) -> str:
    text = "".join(part if part in ("[]", "{}") else f".{part}" for part in place)
    return text.removeprefix(".")


def _short_text(value: Json) -> str:
    if value is NOTHING:
        return "nothing"
    try:
        text = jsontext.encode(value).decode("ascii")
    except (TypeError, RecursionError):
        text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
