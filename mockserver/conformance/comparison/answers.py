"""Two answers to the same request, compared from the outside in, member by member."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal

from mockserver.conformance.comparison.difference import NOTHING, Difference, Kind, shown
from mockserver.conformance.comparison.items import match
from mockserver.conformance.comparison.roles import Place, Role, Roles
from mockserver.conformance.comparison.values import Band, equal, same_kind
from mockserver.conformance.session.exchange import Exchange, Trouble
from mockserver.exchange import Request, pairs_or
from mockserver.jsontext import Json
from mockserver.values import dataclass

_NEVER_CAME = (Trouble.UNREACHABLE, Trouble.TLS, Trouble.TIMED_OUT)
_WIDE = Band(Decimal(50))
_UNNAMING = (Role.AMOUNT, Role.TIME, Role.VERSION, Role.WORDS, Role.OPAQUE)


@dataclass(frozen=True, slots=True)
class Reading:
    """How two answers are read: the roles of places, and which of them move by themselves.

    Texts for people are compared with `words` only. Of a refusal its words are for people.
    `echoes` are texts of the request on each side: a value that repeats one has to on both.
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


def missing_answer(left: Exchange, right: Exchange) -> str:
    """Return why two exchanges cannot be compared; empty where they can."""
    for name, one in (("left", left), ("right", right)):
        if one.answer.trouble in _NEVER_CAME:
            return f"the {name} side did not answer: {one.answer.reason or one.answer.trouble}"
    return ""


def compared(left: Exchange, right: Exchange, reading: Reading) -> Iterator[Difference]:
    """Yield where two answers differ."""
    troubles = [_trouble(one) for one in (left, right)]
    if any(troubles):
        if troubles[0] != troubles[1]:
            yield Difference(Kind.NO_ANSWER, (), *(text or "an answer" for text in troubles))
        return
    if left.answer.status != right.answer.status:
        yield Difference(Kind.STATUS, (), str(left.answer.status), str(right.answer.status))
    outcomes = [_outcome(one) for one in (left, right)]
    if outcomes[0] != outcomes[1]:
        yield Difference(Kind.OUTCOME, (), *map(_told, (left, right)))
        return
    media = [_media_type(one) for one in (left, right)]
    if media[0] != media[1]:
        yield Difference(Kind.MEDIA_TYPE, ("Content-Type",), *media)
    if bool(left.unreadable) is not bool(right.unreadable):
        texts = (one.unreadable or "JSON" for one in (left, right))
        yield Difference(Kind.NO_JSON, (), *texts)
        return
    yield from _bodies(left, right, reading)


def _bodies(left: Exchange, right: Exchange, reading: Reading) -> Iterator[Difference]:
    refused, echoes = not left.succeeded, (inputs_of(left.request), inputs_of(right.request))
    one, other = left.body, right.body
    if refused and isinstance(one, Mapping) and isinstance(other, Mapping):
        if left.code != right.code:
            codes = (shown(body.get("code", NOTHING)) for body in (one, other))
            yield Difference(Kind.CODE, ("code",), *codes)
        one, other = (_without_code(body) for body in (one, other))
    yield from differences(one, other, replace(reading, refused=refused, echoes=echoes))


def inputs_of(request: Request) -> frozenset[str]:
    """Return the texts that a request carries as inputs, in lower case."""
    found = [value for _, value in pairs_or(request.query)]
    found += [value for value in request.members.values() if isinstance(value, str)]
    return frozenset(text.lower() for text in found if text)


def _without_code(body: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in body.items() if name != "code"}


def _trouble(exchange: Exchange) -> str:
    return str(exchange.answer.trouble) if exchange.answer.trouble else ""


def _outcome(exchange: Exchange) -> str:
    if exchange.succeeded:
        return "success"
    return "refusal" if exchange.refused else "neither"


def _told(exchange: Exchange) -> str:
    code = f", code {exchange.code}" if exchange.code is not None else ""
    said = exchange.member("msg")
    words = f": {said[:100]}" if isinstance(said, str) and not exchange.succeeded else ""
    return f"{_outcome(exchange)} (HTTP {exchange.answer.status}{code}){words}"


def _media_type(exchange: Exchange) -> str:
    text = exchange.answer.header("Content-Type") or "none"
    return text.partition(";")[0].strip().lower()


def differences(
    left: Json, right: Json, reading: Reading, place: Place = (), item: str = ""
) -> Iterator[Difference]:
    """Yield where two values differ, with all that is inside them."""
    role = reading.role(place)
    if not same_kind(left, right, role):
        yield Difference(Kind.TYPE, place, shown(left), shown(right), item)
    elif isinstance(left, Mapping):
        yield from _members(left, right, reading, place, item)
    elif isinstance(left, list | tuple):
        yield from _lists(left, right, reading, place, item)
    elif not _same(left, right, role, reading, place):
        yield Difference(Kind.VALUE, place, shown(left), shown(right), item)


def _same(left: Json, right: Json, role: Role, reading: Reading, place: Place) -> bool:
    if left == right:
        return True
    if _echoed(left, reading.echoes[0]) is not _echoed(right, reading.echoes[1]):
        return False
    if place in reading.moving:
        # A price that moves is still a price: it is not a thousand times another.
        return role is not Role.AMOUNT or equal(left, right, role, _WIDE)
    return equal(left, right, role, reading.band)


def _echoed(value: Json, inputs: frozenset[str]) -> bool:
    return isinstance(value, str) and len(value) > 2 and value.lower() in inputs


def _members(
    left: Mapping[str, Json], right: Mapping[str, Json], reading: Reading, place: Place, item: str
) -> Iterator[Difference]:
    is_map = reading.roles.is_map(place)
    for name in [*left, *(name for name in right if name not in left)]:
        inside = (*place, "{}" if is_map else name)
        named = f"{item} {name}".strip() if is_map else item
        one, other = left.get(name, NOTHING), right.get(name, NOTHING)
        if one is not NOTHING and other is not NOTHING:
            yield from differences(one, other, reading, inside, named)
        elif not (is_map and inside in reading.moving):
            lost, gained = (Kind.LOST, Kind.GAINED) if is_map else (Kind.MISSING, Kind.EXTRA)
            kind = lost if other is NOTHING else gained
            yield Difference(kind, inside, shown(one), shown(other), named)


def _lists(
    left: Sequence[Json], right: Sequence[Json], reading: Reading, place: Place, item: str
) -> Iterator[Difference]:
    inside = (*place, "[]")

    def names_items(member: str) -> bool:
        here = (*inside, member)
        return here not in reading.moving and reading.role(here) not in _UNNAMING

    matched = match(left, right, names_items)
    for key, one, other in matched.pairs:
        yield from differences(one, other, reading, inside, f"{item} {key}".strip())
    if inside in reading.moving:
        return
    for key, value in matched.lost:
        yield Difference(Kind.LOST, inside, shown(value), shown(NOTHING), f"{item} {key}".strip())
    for key, value in matched.gained:
        yield Difference(Kind.GAINED, inside, shown(NOTHING), shown(value), f"{item} {key}".strip())
