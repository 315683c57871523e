"""A service and its past: whether its answers still have the forms that were recorded.

Values may differ freely. The form of an operation's answers is which members there are, of which
types, and how their values are written.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from mockserver.conformance.comparison.answer_differences import (
    Difference,
    DifferenceKind,
    media_type,
    outcome_of,
)
from mockserver.conformance.comparison.mirrored_requests import Pair
from mockserver.conformance.comparison.result import Level
from mockserver.conformance.comparison.value_differences import Place, Roles
from mockserver.conformance.session.caller import SECRET_HEADERS
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation, ids
from mockserver.fast_dataclass import grouped
from mockserver.jsontext import Json, type_of
from mockserver.recordings import RequestForm, load_rules, read_request

Change = tuple[Level, Difference, Exchange]
"""How bad a difference is, and the newer exchange that shows it."""

_SUCCESS = "success"
# The operations about what was submitted, which a service that was restarted may not know.
_LOOK_UPS = {ids.CHECK, ids.CHECK_TICKET, ids.TICKETS, *ids.V1_DETAILS}
_GONE = (DifferenceKind.MISSING, DifferenceKind.SOMETIMES, DifferenceKind.EMPTY)

# A text of eight digits is a whole number by type; a shorter one may be a price like `1`.
_NUMBERS = {"number", "whole number", "decimal number"}
_CLASSES = (
    ("address", re.compile(r"0x[0-9a-fA-F]{40}")),
    ("hash", re.compile(r"0x[0-9a-fA-F]{64}")),
    ("hexadecimal", re.compile(r"0x[0-9a-fA-F]*")),
    ("whole number", re.compile(r"-?[0-9]{8,}")),
    ("number", re.compile(r"-?[0-9]+")),
    ("decimal number", re.compile(r"-?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?")),
    ("web address", re.compile(r"https?://\S+")),
    ("time", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:Z|[-+][0-9:]+)?")),
)
# Seconds since 1970 are fewer, milliseconds more (from 1973 on).
_FIRST_MS = 10**11


def changes(
    old: Iterable[Exchange], new: Iterable[Exchange], roles: Callable[[Operation], Roles]
) -> Iterator[Change]:
    """Yield how new exchanges differ from old ones in form, by operation and outcome."""
    before, after = list(old), list(new)
    gone: set[str] = set()
    every = *_of_outcomes(before, after), *_of_answers(before, after, roles)
    for change in (*every, *_of_lists(before, after, every)):
        _, difference, exchange = change
        if not _is_gone(difference, exchange):
            yield change
        elif exchange.operation.id not in gone:
            gone.add(exchange.operation.id)
            sides = difference.left, difference.right
            yield Level.MAY_BREAK, Difference(DifferenceKind.GONE, (), *sides), exchange


def _is_gone(difference: Difference, exchange: Exchange) -> bool:
    """Whether it is only that the service does not know what was submitted in the past."""
    if exchange.operation.id not in _LOOK_UPS:
        return False
    refused = difference.kind is DifferenceKind.OUTCOME and difference.left == _SUCCESS
    emptied = difference.kind in _GONE and difference.right in ("nothing", "no items")
    # Some services answer what they do not know with success, and null in place of what was.
    is_null = difference.kind is DifferenceKind.TYPE and difference.right == "null"
    return refused or emptied or is_null


def same_operations(old: Sequence[Exchange], new: Sequence[Exchange]) -> list[Pair]:
    """Return the exchanges of two recordings by operation, each at least once if both have any."""
    pairs: list[Pair] = []
    for operation in {exchange.operation.id: None for exchange in old}:
        was, now = (
            [each for each in side if each.operation.id == operation] for side in (old, new)
        )
        sides = zip_longest(was, now) if now else ()
        pairs += [Pair(before or was[-1], after or now[-1]) for before, after in sides]
    return pairs


def unshown(pairs: Sequence[Pair]) -> set[str]:
    """Return the operations that succeeded in the past and now never do: of these nothing is shown.

    An order or a ticket of the past may be unknown by now, which is a change of its own.
    """
    was = {pair.source.operation.id for pair in pairs if pair.source.succeeded}
    return was - _LOOK_UPS - {p.counterpart.operation.id for p in pairs if p.counterpart.succeeded}


def _form_of(exchange: Exchange) -> RequestForm:
    operation, rule = exchange.operation, load_rules().of(exchange.operation.id)
    removed = frozenset(SECRET_HEADERS)
    names = operation.header_names
    return read_request(operation.id, names, exchange.request, rule, None, removed).form


def _of_outcomes(old: Sequence[Exchange], new: Sequence[Exchange]) -> Iterator[Change]:
    """Yield requests that were always answered one way, and now never are."""
    was: dict[RequestForm, set[str]] = {}
    now: dict[RequestForm, dict[str, Exchange]] = {}
    for exchange in old:
        was.setdefault(_form_of(exchange), set()).add(outcome_of(exchange))
    for exchange in new:
        now.setdefault(_form_of(exchange), {}).setdefault(outcome_of(exchange), exchange)
    named: set[tuple[str, ...]] = set()
    for form, outcomes in was.items():
        after = now.get(form, {})
        # A look-up was refused before the order was submitted.
        is_known = form.operation in _LOOK_UPS and _SUCCESS in outcomes
        before = {_SUCCESS} if is_known else outcomes
        sides = " or ".join(sorted(before)), " or ".join(sorted(after))
        if after and not before & set(after) and (form.operation, *sides) not in named:
            named.add((form.operation, *sides))
            level = Level.BREAKING if _SUCCESS in before else Level.MAY_BREAK
            yield level, Difference(DifferenceKind.OUTCOME, (), *sides), next(iter(after.values()))


def _of_answers(
    old: Sequence[Exchange], new: Sequence[Exchange], roles: Callable[[Operation], Roles]
) -> Iterator[Change]:
    was, now = grouped(old, _kind_of), grouped(new, _kind_of)
    for key, before in was.items():
        after = now.get(key, [])
        if not after:
            continue
        for kind, of in ((DifferenceKind.STATUS, _status), (DifferenceKind.MEDIA_TYPE, media_type)):
            sides = [sorted({of(exchange) for exchange in side}) for side in (before, after)]
            if set(sides[1]) - set(sides[0]):
                yield Level.MAY_BREAK, Difference(kind, (), *map(", ".join, sides)), after[0]
        read = [[each.body for each in side if not each.unreadable] for side in (before, after)]
        if all(read):
            for level, difference in differences(read[0], read[1], roles(before[0].operation)):
                yield level, difference, after[0]


def _of_lists(
    old: Sequence[Exchange], new: Sequence[Exchange], known: Iterable[Change]
) -> Iterator[Change]:
    """Yield lists that had items for a request, and have none now, while those of others do."""
    named = {
        (exchange.operation.id, difference.place)
        for _, difference, exchange in known
        if difference.kind is DifferenceKind.EMPTY
    }
    was, now = (grouped((each for each in side if each.succeeded), _form_of) for side in (old, new))
    for form, before in was.items():
        after = now.get(form, [])
        filled, left = (_list_lengths(side) for side in (before, after))
        for place, lengths in filled.items():
            key = form.operation, place
            if min(lengths) and place in left and not max(left[place]) and key not in named:
                named.add(key)
                words = f"{min(lengths)} items", "no items"
                yield Level.MAY_BREAK, Difference(DifferenceKind.EMPTY, place, *words), after[0]


def _list_lengths(exchanges: Iterable[Exchange]) -> dict[Place, list[int]]:
    """Return how many items the lists of answers have, by their places."""
    lengths: dict[Place, list[int]] = {}

    def walk(value: Json, place: Place) -> None:
        if isinstance(value, list):
            lengths.setdefault(place, []).append(len(value))
        elif isinstance(value, Mapping):
            for name, member in value.items():
                walk(member, (*place, name))

    for exchange in exchanges:
        walk(exchange.body, ())
    return lengths


def _kind_of(exchange: Exchange) -> tuple[str, ...]:
    return exchange.operation.id, outcome_of(exchange), "no JSON" * bool(exchange.unreadable)


def _status(exchange: Exchange) -> str:
    return str(exchange.answer.status)


def differences(
    left: Sequence[Json], right: Sequence[Json], roles: Roles, place: Place = ()
) -> Iterator[tuple[Level, Difference]]:
    """Yield how the forms of values differ from those of earlier ones; both sides have some."""
    both = (left, right)
    types = [sorted({_type(value) for value in side}) for side in both]
    if set(types[1]) - set(types[0]):
        yield Level.BREAKING, Difference(DifferenceKind.TYPE, place, *map(", ".join, types))
        return
    classes = [_classes(side, place) for side in both]
    if _differ(*classes):
        words = (", ".join(sorted(side)) for side in classes)
        yield Level.MAY_BREAK, Difference(DifferenceKind.FORM, place, *words)
    yield from _of_members(left, right, roles, place)
    lists = ([value for value in side if isinstance(value, list)] for side in both)
    was, now = ([*chain.from_iterable(side)] for side in lists)
    yield from _inside(was, now, roles, (*place, "[]"))


def _of_members(
    left: Sequence[Json], right: Sequence[Json], roles: Roles, place: Place
) -> Iterator[tuple[Level, Difference]]:
    was, now = ([value for value in side if isinstance(value, Mapping)] for side in (left, right))
    if not was or not now:
        return
    if roles.is_map(place):
        before, after = ([part for value in side for part in value.values()] for side in (was, now))
        yield from _inside(before, after, roles, (*place, "{}"))
        return
    for name in dict.fromkeys(name for value in (*was, *now) for name in value):
        before, after = ([value[name] for value in side if name in value] for side in (was, now))
        inside = (*place, name)
        always = len(before) == len(was)
        if not before:
            yield Level.HARMLESS, Difference(DifferenceKind.EXTRA, inside, "nothing", _types(after))
        elif not after:
            kind, level = (DifferenceKind.MISSING, Level.BREAKING) if always else _RARER
            yield level, Difference(kind, inside, _types(before), "nothing")
        else:
            if always and len(after) < len(now):
                often = f"in {len(after)} of {len(now)}"
                yield Level.MAY_BREAK, Difference(DifferenceKind.SOMETIMES, inside, "always", often)
            yield from differences(before, after, roles, inside)


# A member that was there sometimes may be there never.
_RARER = (DifferenceKind.SOMETIMES, Level.HARMLESS)


def _inside(
    left: Sequence[Json], right: Sequence[Json], roles: Roles, place: Place
) -> Iterator[tuple[Level, Difference]]:
    """Yield how items differ; a list that became empty shows nothing of them, and is a change."""
    if left and right:
        yield from differences(left, right, roles, place)
    elif left:
        sides = f"{len(left)} items", "no items"
        yield Level.MAY_BREAK, Difference(DifferenceKind.EMPTY, place[:-1], *sides)


def _types(values: Iterable[Json]) -> str:
    return ", ".join(sorted({_type(value) for value in values}))


def _type(value: Json) -> str:
    kind = type_of(value)
    # A number may happen to be whole.
    return {"string": "text", "array": "list", "integer": "number"}.get(kind, kind)


def _classes(values: Iterable[Json], place: Place) -> set[str]:
    """Return how values are written; nothing where their type says all."""
    is_time = bool(place) and "time" in place[-1].lower()
    classes = set()
    for value in values:
        if isinstance(value, str) and value:
            classes.add(next((name for name, form in _CLASSES if form.fullmatch(value)), "words"))
        elif is_time and isinstance(value, int) and not isinstance(value, bool):
            classes.add("milliseconds" if value >= _FIRST_MS else "seconds")
    return classes


def _differ(was: set[str], now: set[str]) -> bool:
    """Whether no value is written as before: single values of another class may be chance."""
    if not was or not now or was & now:
        return False
    # `1` may be a whole number or a price, and says nothing of either.
    return "number" not in was | now or not was | now <= _NUMBERS
