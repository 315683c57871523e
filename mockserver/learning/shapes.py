"""The shape of recorded answers: which fields there are, of which types and classes of values."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.jsontext import Json, kind_of
from mockserver.recordings import RecordedExchange, Source
from mockserver.values import dataclass

SUCCESS, REFUSAL, NO_JSON = "success", "refusal", "no JSON"

_LONG_DIGITS = 8
"""Digits from which on a whole number is one on purpose; a price may be `1` today."""

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
_WORDS = {"string": "text", "array": "list"}
_TIMES = re.compile(r"time", re.IGNORECASE)


@dataclass(slots=True)
class FieldShape:
    """What was seen of a field: `there` of the `parents` that could have it, by type and class."""

    parents: int = 0
    there: int = 0
    types: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    example: str = ""


@dataclass(slots=True)
class AnswerShape:
    """The answers of an operation with one outcome, which is success, refusal or no JSON."""

    count: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    media_types: Counter[str] = field(default_factory=Counter)
    fields: dict[str, FieldShape] = field(default_factory=dict)
    example: str = ""


ShapeKey = tuple[str, str]
"""An operation's id and an outcome."""


def shapes_of(sources: Iterable[Source], contract: Contract) -> dict[ShapeKey, AnswerShape]:
    """Return the shape of every operation's answers, those of unknown operations too."""
    found: dict[ShapeKey, AnswerShape] = {}
    for source in sources:
        for label, exchange in source.labelled():
            if not exchange.response_omitted:
                _add(found, exchange, contract.get(exchange.operation), label)
    return found


def outcome_of(exchange: RecordedExchange, operation: Operation | None) -> str:
    """Return how an exchange ended: with a success, a refusal, or what is no JSON."""
    try:
        body = exchange.response_json()
    except jsontext.NotJson:
        return NO_JSON
    if operation is None or not operation.enveloped:
        return SUCCESS if exchange.response.status < 400 else REFUSAL
    return SUCCESS if operation.generation.succeeded(body) else REFUSAL


def fields_of(
    value: Json, schema: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, str, Json]]:
    """Yield every field of an answer with its path and its parent's; `[]` is any item.

    A member of an object whose names are data, as chains are among a token's contracts, is `*`.
    """
    schema = _whole(schema)
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        names_are_data = isinstance(others, dict) and not named
        for name, item in value.items():
            inner = f"{path}.{'*' if names_are_data else name}".lstrip(".")
            yield path, inner, item
            below = others if names_are_data else named.get(name, {})
            yield from fields_of(item, below if isinstance(below, dict) else {}, inner)
    elif isinstance(value, list):
        items = schema.get("items", {})
        for item in value:
            yield path, f"{path}[]", item
            yield from fields_of(item, items if isinstance(items, dict) else {}, f"{path}[]")


def _whole(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with what its branches say of members and items."""
    for branch in schema.get("allOf", ()):
        inner = _whole(branch)
        properties = {**schema.get("properties", {}), **inner.get("properties", {})}
        schema = {**inner, **schema} | ({"properties": properties} if properties else {})
    return schema


def type_of(value: Json) -> str:
    """Return the JSON type of a value; whole numbers and others are both `number`."""
    kind = kind_of(value)
    return _WORDS.get(kind, kind)


def class_of(value: Json, name: str) -> str:
    """Return the class of a value beyond its type, such as `address`; empty where it has none."""
    if isinstance(value, str):
        fits = (kind for kind, pattern in _CLASSES if pattern.fullmatch(value))
        return next(fits, "words")
    if isinstance(value, int) and not isinstance(value, bool) and _TIMES.search(name):
        return "milliseconds" if value >= 10**11 else "seconds"
    return ""


def _add(
    found: dict[ShapeKey, AnswerShape],
    exchange: RecordedExchange,
    operation: Operation | None,
    label: str,
) -> None:
    outcome = outcome_of(exchange, operation)
    shape = found.setdefault((exchange.operation, outcome), AnswerShape(example=label))
    shape.count += 1
    shape.statuses[exchange.response.status] += 1
    media = exchange.response.header("Content-Type") or "application/json"
    shape.media_types[media.partition(";")[0].strip().lower()] += 1
    if outcome == NO_JSON:
        return
    schema = _schema(operation)
    parents: Counter[str] = Counter([""])
    seen = list(fields_of(exchange.response_json(), schema))
    for _, path, value in seen:
        if isinstance(value, dict):
            parents[path] += 1
    for _, path, value in seen:
        one = shape.fields.setdefault(path, FieldShape(example=label))
        one.there += 1
        one.types[type_of(value)] += 1
        kind = class_of(value, path.rpartition(".")[2])
        if kind:
            one.classes[kind] += 1
    shape.fields.setdefault("", FieldShape()).there += 1
    for path in parents:
        if path:
            shape.fields[path].parents += parents[path]


def _schema(operation: Operation | None) -> Mapping[str, Any]:
    if operation is None:
        return {}
    if not operation.enveloped:
        return operation.data_schema
    return {"properties": {"data": operation.data_schema}}
