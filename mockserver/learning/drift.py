"""Drift: how the answers in new recordings differ in shape from those in old ones."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mockserver.contract import Contract
from mockserver.contract.diff import Level
from mockserver.learning.shapes import (
    AnswerShape,
    FieldShape,
    ShapeKey,
    outcome_of,
    shapes_of,
)
from mockserver.recordings import MatchRules, RequestForm, Source, load_rules, read_request
from mockserver.values import dataclass

_NUMBERS = {"number", "whole number", "decimal number"}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what it is about, how it was and how it is.

    `kind` is appeared, vanished, optional, type, class, status, media-type or outcome; `place` is a
    field such as `data.gasFee`, or empty for the answer as a whole; `example` is the exchange that
    shows it.
    """

    level: Level
    kind: str
    operation: str
    outcome: str
    place: str
    old: str
    new: str
    example: str

    def __str__(self) -> str:
        """Say it in one line."""
        where = f"{self.place}: " if self.place else ""
        return f"{self.operation}: {where}{self.kind}: {self.old} -> {self.new}"


@dataclass(frozen=True, slots=True)
class Drift:
    """How two sets of recordings differ, and which operations only one of them shows."""

    changes: tuple[Change, ...]
    compared: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    def fails(self, least: str) -> bool:
        """Whether a change is of a level, or of a worse one; `never` is no level."""
        failing = () if least == "never" else Level(least).or_worse
        return any(change.level in failing for change in self.changes)


def drift(old: Iterable[Source], new: Iterable[Source], contract: Contract) -> Drift:
    """Return how new recordings differ from old ones, by operation. Values may differ freely."""
    old, new = tuple(old), tuple(new)
    was, now = shapes_of(old, contract), shapes_of(new, contract)
    before, after = {key[0] for key in was}, {key[0] for key in now}
    changes = [change for key in was if key in now for change in _changes(key, was[key], now[key])]
    changes += _outcomes(old, new, contract)
    changes.sort(key=lambda one: (list(Level).index(one.level), one.operation, one.place))
    return Drift(
        tuple(changes),
        tuple(sorted(before & after)),
        tuple(sorted(before - after)),
        tuple(sorted(after - before)),
    )


def _changes(key: ShapeKey, was: AnswerShape, now: AnswerShape) -> Iterator[Change]:
    yield from _heads(key, was, now)
    gone: set[str] = set()
    for place, before in was.fields.items():
        after = now.fields.get(place)
        if not place:
            continue
        if _parent(place) in gone:
            # What an object takes with it is not told once more for each member.
            gone.add(place)
        elif after is not None:
            yield from _field_changes(key, place, was, now)
        elif _could_be_there(place, now):
            gone.add(place)
            level = Level.BREAKING if _always(place, was) else Level.HARMLESS
            told = _seen(before), "not there"
            yield Change(level, "vanished", *key, place, *told, now.example)
    for place, after in now.fields.items():
        known = place in was.fields or _parent(place) not in was.fields
        if place and not known and _could_be_there(place, was):
            told = "not there", _seen(after)
            yield Change(Level.HARMLESS, "appeared", *key, place, *told, after.example)


def _field_changes(
    key: ShapeKey, place: str, was: AnswerShape, now: AnswerShape
) -> Iterator[Change]:
    before, after = was.fields[place], now.fields[place]
    if set(after.types) - set(before.types):
        told = _listed(before.types), _listed(after.types)
        yield Change(Level.BREAKING, "type", *key, place, *told, after.example)
    elif _other_class(before, after):
        told = _listed(before.classes), _listed(after.classes)
        yield Change(Level.MAY_BREAK, "class", *key, place, *told, after.example)
    if _always(place, was) and not _always(place, now):
        told = "always", f"in {after.there} of {_parents(place, now)}"
        yield Change(Level.MAY_BREAK, "optional", *key, place, *told, after.example)


def _heads(key: ShapeKey, was: AnswerShape, now: AnswerShape) -> Iterator[Change]:
    pairs: tuple[tuple[str, Counter[Any], Counter[Any]], ...] = (
        ("status", was.statuses, now.statuses),
        ("media-type", was.media_types, now.media_types),
    )
    for kind, before, after in pairs:
        if set(after) - set(before):
            told = _listed(before), _listed(after)
            yield Change(Level.MAY_BREAK, kind, *key, "", *told, now.example)


def _outcomes(old: Iterable[Source], new: Iterable[Source], contract: Contract) -> Iterator[Change]:
    """Yield requests that were always answered one way, and now never are."""
    rules = load_rules()
    was, now = _by_request(old, contract, rules), _by_request(new, contract, rules)
    told: set[tuple[str, str, str]] = set()
    for form, before in was.items():
        after = now.get(form)
        if after is None or set(before) & set(after):
            continue
        change = form.operation, min(before), min(after)
        if change in told:
            continue
        told.add(change)
        yield Change(
            Level.BREAKING if "success" in before else Level.MAY_BREAK,
            "outcome", form.operation, "", "", " or ".join(sorted(before)),
            " or ".join(sorted(after)), next(iter(after.values())),
        )  # fmt: skip


def _by_request(
    sources: Iterable[Source], contract: Contract, rules: MatchRules
) -> Mapping[RequestForm, dict[str, str]]:
    found: dict[RequestForm, dict[str, str]] = {}
    for source in sources:
        for label, one in source.labelled():
            operation = contract.get(one.operation)
            if one.request_omitted or one.response_omitted:
                continue
            names = operation.header_names if operation is not None else ()
            removed = frozenset(name.lower() for name in one.removed)
            rule = rules.of(one.operation)
            form = read_request(one.operation, names, one.request, rule, None, removed).form
            outcomes = found.setdefault(form, {})
            outcomes.setdefault(outcome_of(one, operation), label)
    return found


def _other_class(before: FieldShape, after: FieldShape) -> bool:
    """Whether nothing is of a class that was there before: some of another one is chance."""
    known, fresh = (set(one.classes) - {"empty text"} for one in (before, after))
    if not known or not fresh or known & fresh:
        return False
    # `1` may be a whole number or a price, and says nothing of either.
    return "number" not in known | fresh or not known | fresh <= _NUMBERS


def _parent(place: str) -> str:
    return place[:-2] if place.endswith("[]") else place.rpartition(".")[0]


def _parents(place: str, shape: AnswerShape) -> int:
    parent = _parent(place)
    return shape.count if not parent else shape.fields[parent].parents


def _always(place: str, shape: AnswerShape) -> bool:
    if place.endswith(("[]", "*")):
        return False
    return shape.fields[place].there >= _parents(place, shape)


def _could_be_there(place: str, shape: AnswerShape) -> bool:
    """Whether an object was seen that could have had the field."""
    if place.endswith(("[]", "*")):
        return False
    parent = _parent(place)
    return (
        shape.count > 0
        if not parent
        else bool(parent in shape.fields and shape.fields[parent].parents)
    )


def _seen(one: FieldShape) -> str:
    classes = f" ({_listed(one.classes)})" if one.classes else ""
    return f"{_listed(one.types)}{classes}"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))
