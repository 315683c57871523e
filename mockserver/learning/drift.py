"""Drift: how the answers in new recordings differ in shape from those in old ones.

The shape of an operation's answers is which fields there are, of which types and classes of values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json, kind_of
from mockserver.recordings import RecordedExchange, RequestForm, Source, load_rules, read_request
from mockserver.values import dataclass


class Undecided(CrosschainMockError):
    """Nothing can be compared, so that changes cannot be detected."""

    exit_code = 3


class Level(StrEnum):
    """What a change does to clients that were written for the old answers."""

    BREAKING = "breaking"
    MAY_BREAK = "may-break"
    HARMLESS = "harmless"

    @property
    def or_worse(self) -> tuple["Level", ...]:
        """The levels that are as bad as this one, or worse; the worst is first."""
        return tuple(Level)[: tuple(Level).index(self) + 1]


SUCCESS, REFUSAL, NO_JSON = "success", "refusal", "no JSON"

_LONG_DIGITS = 8
"""A text of so many digits is a whole number by type; a shorter one may be a price like `1`."""

_CLASSES = (
    ("empty text", re.compile(r"")),
    ("address", re.compile(r"0x[0-9a-fA-F]{40}")),
    ("hash", re.compile(r"0x[0-9a-fA-F]{64}")),
    ("hexadecimal", re.compile(r"0x[0-9a-fA-F]*")),
    ("whole number", re.compile(rf"-?[0-9]{{{_LONG_DIGITS},}}")),
    ("number", re.compile(r"-?[0-9]+")),
    ("decimal number", re.compile(r"-?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?")),
    ("web address", re.compile(r"https?://\S+")),
    ("time", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:Z|[-+][0-9:]+)?")),
)
_NUMBERS = {"number", "whole number", "decimal number"}
_TYPES = {"string": "text", "array": "list"}


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
        """Return it as one line."""
        where = f"{self.place}: " if self.place else ""
        return f"{self.operation}: {where}{self.kind}: {self.old} -> {self.new}"


@dataclass(frozen=True, slots=True)
class Drift:
    """How two sets of recordings differ, and which operations only one of them shows."""

    changes: tuple[Change, ...]
    compared: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    def failing(self, least: str) -> list[Change]:
        """Return the changes of a level or of a worse one; `never` is no level."""
        levels = () if least == "never" else Level(least).or_worse
        return [change for change in self.changes if change.level in levels]


@dataclass(slots=True)
class FieldShape:
    """The values of a field, by type and class.

    `count` is how often it was there; `objects` how often it was an object itself, and so could
    have had members.
    """

    count: int = 0
    objects: int = 0
    types: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    example: str = ""

    def __str__(self) -> str:
        classes = f" ({_listed(self.classes)})" if self.classes else ""
        return f"{_listed(self.types)}{classes}"


@dataclass(slots=True)
class AnswerShape:
    """The answers of an operation with one outcome, which is success, refusal or no JSON.

    The root of `fields` is the answer itself, under the empty place.
    """

    statuses: set[str] = field(default_factory=set)
    media_types: set[str] = field(default_factory=set)
    fields: dict[str, FieldShape] = field(default_factory=lambda: {"": FieldShape()})
    example: str = ""

    def always(self, place: str) -> bool:
        """Tell whether a field was there wherever it could be."""
        return self.could_have(place) and self.fields[place].count >= self.parents(place)

    def could_have(self, place: str) -> bool:
        """Tell whether there was an object that could have had the field."""
        return not place.endswith(("[]", "*")) and self.parents(place) > 0

    def parents(self, place: str) -> int:
        """Return how many objects could have had a field."""
        parent = self.fields.get(_parent(place))
        return 0 if parent is None else parent.objects


@dataclass(slots=True)
class _RecordedAnswers:
    """What recordings show: shapes by operation and outcome, and the outcomes of each request.

    Both name exchanges as examples.
    """

    shapes: dict[tuple[str, str], AnswerShape] = field(default_factory=dict)
    outcomes: dict[RequestForm, dict[str, str]] = field(default_factory=dict)


def drift(old: Iterable[Source], new: Iterable[Source], contract: Contract) -> Drift:
    """Return how new recordings differ from old ones, by operation. Values may differ freely.

    Raises `Undecided` where no operation is in both.
    """
    was, now = _recorded_answers(old, contract), _recorded_answers(new, contract)
    changes: list[Change] = []
    for (operation, outcome), shape in was.shapes.items():
        if (operation, outcome) in now.shapes:
            found = _shape_changes(shape, now.shapes[operation, outcome])
            for level, kind, place, *sides in found:
                changes.append(Change(level, kind, operation, outcome, place, *sides))
    changes += _outcome_changes(was.outcomes, now.outcomes)
    changes.sort(key=lambda one: (list(Level).index(one.level), one.operation, one.place))
    before, after = ({operation for operation, _ in side.shapes} for side in (was, now))
    if not before & after:
        names = (", ".join(sorted(side)) or "none" for side in (before, after))
        raise Undecided("no operation is in both; old: {}; new: {}".format(*names))
    return Drift(
        tuple(changes),
        tuple(sorted(before & after)),
        tuple(sorted(before - after)),
        tuple(sorted(after - before)),
    )


_ShapeChange = tuple[Level, str, str, str, str, str]
"""Level and kind of a change, its place, how it was and is, and an example."""


def _shape_changes(was: AnswerShape, now: AnswerShape) -> Iterator[_ShapeChange]:
    for kind, before, after in (
        ("status", was.statuses, now.statuses),
        ("media-type", was.media_types, now.media_types),
    ):
        if after - before:
            yield Level.MAY_BREAK, kind, "", _listed(before), _listed(after), now.example
    gone: set[str] = set()
    for place, field_before in was.fields.items():
        if not place:
            continue
        if _parent(place) in gone:
            # The members of an object that is gone are not reported again.
            gone.add(place)
        elif place in now.fields:
            yield from _field_changes(place, was, now)
        elif now.could_have(place):
            gone.add(place)
            level = Level.BREAKING if was.always(place) else Level.HARMLESS
            yield level, "vanished", place, str(field_before), "not there", now.example
    for place, fresh in now.fields.items():
        known = place in was.fields or _parent(place) not in was.fields
        if not known and was.could_have(place):
            yield Level.HARMLESS, "appeared", place, "not there", str(fresh), fresh.example


def _field_changes(place: str, was: AnswerShape, now: AnswerShape) -> Iterator[_ShapeChange]:
    before, after = was.fields[place], now.fields[place]
    if after.types - before.types:
        types = _listed(before.types), _listed(after.types)
        yield Level.BREAKING, "type", place, *types, after.example
    elif _other_class(before, after):
        classes = _listed(before.classes), _listed(after.classes)
        yield Level.MAY_BREAK, "class", place, *classes, after.example
    if was.always(place) and not now.always(place):
        often = f"in {after.count} of {now.parents(place)}"
        yield Level.MAY_BREAK, "optional", place, "always", often, after.example


def _other_class(before: FieldShape, after: FieldShape) -> bool:
    """Whether no value has a class from before: single values of another class may be chance."""
    known, fresh = (one.classes - {"empty text"} for one in (before, after))
    if not known or not fresh or known & fresh:
        return False
    # `1` may be a whole number or a price, and says nothing of either.
    return "number" not in known | fresh or not known | fresh <= _NUMBERS


def _outcome_changes(
    was: Mapping[RequestForm, Mapping[str, str]], now: Mapping[RequestForm, Mapping[str, str]]
) -> Iterator[Change]:
    """Yield requests that were always answered one way, and now never are."""
    named: set[tuple[str, str, str]] = set()
    for form, before in was.items():
        after = now.get(form, {})
        if not after or set(before) & set(after):
            continue
        change = form.operation, min(before), min(after)
        if change not in named:
            named.add(change)
            level = Level.BREAKING if SUCCESS in before else Level.MAY_BREAK
            sides = " or ".join(sorted(before)), " or ".join(sorted(after))
            example = next(iter(after.values()))
            yield Change(level, "outcome", form.operation, "", "", *sides, example)


def _recorded_answers(sources: Iterable[Source], contract: Contract) -> _RecordedAnswers:
    """Return what recordings show, of unknown operations too."""
    found, rules = _RecordedAnswers(), load_rules()
    for label, one in (pair for source in sources for pair in source.labelled()):
        if one.response_omitted:
            continue
        operation = contract.get(one.operation)
        outcome = _outcome(one, operation)
        shape = found.shapes.setdefault((one.operation, outcome), AnswerShape(example=label))
        _add_answer(shape, one, operation, label)
        if not one.request_omitted:
            names = operation.header_names if operation is not None else ()
            removed = frozenset(name.lower() for name in one.removed)
            rule = rules.of(one.operation)
            form = read_request(one.operation, names, one.request, rule, None, removed).form
            found.outcomes.setdefault(form, {}).setdefault(outcome, label)
    return found


def _outcome(exchange: RecordedExchange, operation: Operation | None) -> str:
    try:
        body = exchange.response_json()
    except jsontext.NotJson:
        return NO_JSON
    if operation is None or not operation.enveloped:
        return SUCCESS if exchange.response.status < 400 else REFUSAL
    return SUCCESS if operation.generation.succeeded(body) else REFUSAL


def _add_answer(
    shape: AnswerShape, exchange: RecordedExchange, operation: Operation | None, label: str
) -> None:
    shape.statuses.add(str(exchange.response.status))
    media = exchange.response.header("Content-Type") or "application/json"
    shape.media_types.add(media.partition(";")[0].strip().lower())
    schema: Mapping[str, Any] = {}
    if operation is not None:
        data = operation.data_schema
        schema = {"properties": {"data": data}} if operation.enveloped else data
    body = jsontext.decode_or(exchange.response.body)
    shape.fields[""].objects += 1
    for place, value in _fields(body, schema):
        one = shape.fields.setdefault(place, FieldShape(example=label))
        one.count += 1
        one.objects += isinstance(value, dict)
        kind = kind_of(value)
        one.types.add(_TYPES.get(kind, kind))
        if value_class := _class_of(value, place.rpartition(".")[2]):
            one.classes.add(value_class)


def _fields(value: Json, schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every field of an answer with its path; `[]` is any item.

    A member of an object whose names are data, as chains are among a token's contracts, is `*`.
    """
    schema = _with_branches(schema)
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        names_are_data = isinstance(others, dict) and not named
        for name, item in value.items():
            inner = f"{path}.{'*' if names_are_data else name}".lstrip(".")
            yield inner, item
            below = others if names_are_data else named.get(name, {})
            yield from _fields(item, below if isinstance(below, dict) else {}, inner)
    elif isinstance(value, list):
        items = schema.get("items", {})
        for item in value:
            yield f"{path}[]", item
            yield from _fields(item, items if isinstance(items, dict) else {}, f"{path}[]")


def _with_branches(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with the members and items that its branches declare."""
    for branch in schema.get("allOf", ()):
        inner = _with_branches(branch)
        properties = {**schema.get("properties", {}), **inner.get("properties", {})}
        schema = {**inner, **schema} | ({"properties": properties} if properties else {})
    return schema


def _class_of(value: Json, name: str) -> str:
    """Return the class of a value beyond its type, such as `address`; empty where it has none."""
    if isinstance(value, str):
        return next((kind for kind, form in _CLASSES if form.fullmatch(value)), "words")
    if isinstance(value, int) and not isinstance(value, bool) and "time" in name.lower():
        return "milliseconds" if value >= 10**11 else "seconds"
    return ""


def _parent(place: str) -> str:
    return place[:-2] if place.endswith("[]") else place.rpartition(".")[0]


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))
