"""Two lists whose items are found in each other by what names them, never by their position."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from mockserver.contract.diff.nodes import canonical
from mockserver.jsontext import Json
from mockserver.values import dataclass

_MOST_MEMBERS = 12
_MOST_TOGETHER = 3
_LONG = 2000

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """What two lists have in common, and what only one of them has; keys are told to people."""

    pairs: tuple[tuple[str, Json, Json], ...]
    lost: tuple[tuple[str, Json], ...]
    gained: tuple[tuple[str, Json], ...]


def match(left: Sequence[Json], right: Sequence[Json], usable: Callable[[str], bool]) -> Matched:
    """Return which items of two lists belong together.

    Items that are objects are known by the fewest members that name each of them and find most of
    them on the other side; `usable` tells which members may be among them. Others are compared as
    they are.
    """
    names = _naming(left, right, usable)
    if names is None:
        return _as_they_are(left, right)
    mine = {_key(item, names): item for item in left}
    other = {_key(item, names): item for item in right}
    return Matched(
        tuple((_told(key), mine[key], other[key]) for key in mine if key in other),
        tuple((_told(key), item) for key, item in mine.items() if key not in other),
        tuple((_told(key), item) for key, item in other.items() if key not in mine),
    )


def _naming(
    left: Sequence[Json], right: Sequence[Json], usable: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the members that name every item of both lists, or None where none do."""
    if not all(isinstance(item, Mapping) for item in (*left, *right)):
        return None
    best: tuple[str, ...] | None = None
    most = -1
    for names in _candidates(left, right, usable):
        mine = {_key(item, names) for item in left}
        other = {_key(item, names) for item in right}
        if len(mine) != len(left) or len(other) != len(right):
            continue
        common = len(mine & other)
        if common > most:
            best, most = names, common
        # No other members could find more, and those with more names would be told worse.
        if common == min(len(mine), len(other)):
            break
    return best


def _candidates(
    left: Sequence[Mapping[str, Json]],
    right: Sequence[Mapping[str, Json]],
    usable: Callable[[str], bool],
) -> Iterator[tuple[str, ...]]:
    every = (*left, *right)
    if not every:
        return
    names = [
        name
        for name in every[0]
        if usable(name) and all(isinstance(item.get(name), str | int) for item in every)
    ][:_MOST_MEMBERS]
    together = _MOST_TOGETHER if len(every) < _LONG else 2
    for size in range(1, together + 1):
        yield from combinations(names, size)


def _key(item: Mapping[str, Json], names: Sequence[str]) -> Key:
    # Addresses are written in either case, and mean the same.
    return tuple(str(item[name]).lower() for name in names)


def _told(key: Key) -> str:
    return " ".join(key)[:80]


def _as_they_are(left: Sequence[Json], right: Sequence[Json]) -> Matched:
    known = {canonical(item): item for item in (*left, *right)}
    mine, other = (Counter(map(canonical, items)) for items in (left, right))
    lost, gained = mine - other, other - mine
    if len(left) == len(right) == 1 and lost:
        return Matched((("0", left[0], right[0]),), (), ())
    return Matched(
        (),
        tuple((text[:80], known[text]) for text in lost.elements()),
        tuple((text[:80], known[text]) for text in gained.elements()),
    )
