"""Two JSON bodies, compared member by member and item by item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal

from mockserver.conformance.comparison.difference import NOTHING, Difference, Kind, shown
from mockserver.conformance.comparison.items import match
from mockserver.conformance.comparison.roles import Place, Role, Roles
from mockserver.conformance.comparison.values import Band, equal, same_kind
from mockserver.jsontext import Json
from mockserver.values import dataclass

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
