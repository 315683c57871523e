"""The nearest valid form of a request that was refused: what the client meant, put right."""

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.exchange import Headers, Request
from mockserver.jsontext import Json
from mockserver.worlds.journal import Entry, withheld

_BLAMED = re.compile(r"(header|query parameter|body field) '([^']+)'")
_SUGGESTED = re.compile(r"did you mean '([^']+)'")
_OF_THE_WORLD = (
    *("unknown-order", "unknown-ticket", "unknown-app-key"),
    *("bad-signature", "expired", "timestamp-ahead"),
)
"""Refusals of what only the world, its keys or its clock know: no example would put them right."""
_LOCATIONS = {"header": "headers", "query parameter": "query", "body field": "body"}

Parts = dict[str, dict[str, Json]]
"""A request's own headers, query parameters and body, by name."""


def nearest_form(contract: Contract, entry: Entry) -> Json:
    """Return a request like the refused one that keeps the contract, or None where none is near.

    What the client sent is kept where it is right; the rest comes from the operation's example, or
    is the nearest valid name where the refusal tells one. `changed` lists what differs.
    """
    if entry.refusal is None:
        return None
    operation = _meant(contract, entry)
    if operation is None or entry.refusal.startswith(_OF_THE_WORLD):
        return None
    example = operation.row.get("example", {})
    sent = _sent(operation, entry.request)
    kept = _kept(operation, sent)
    _correct(kept, example, entry.refusal)
    for field in operation.fields:
        given = example.get(field.location, {})
        if field.required and field.name in given:
            kept[field.location].setdefault(field.name, given[field.name])
    reading = operation.read(_encoded(operation, kept))
    if reading.refusal or reading.violations:
        return None
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": operation.path,
        "query": {name: withheld(name, _text(value)) for name, value in kept["query"].items()},
        "headers": {name: withheld(name, _text(value)) for name, value in kept["headers"].items()},
        "body": kept["body"] if operation.method == "POST" else None,
        "changed": _changes(operation, sent, kept, entry),
    }


def _meant(contract: Contract, entry: Entry) -> Operation | None:
    if entry.operation is not None:
        return contract.operation(entry.operation)
    methods = contract.methods(entry.path)
    if methods:
        return contract.find(methods[0], entry.path)
    return contract.nearest(entry.path)


def _sent(operation: Operation, request: Request) -> Parts:
    given = request.headers
    headers = {name: given[name] for name in operation.header_names if name in given}
    return {"headers": headers, "query": request.parameters, "body": request.members}


def _kept(operation: Operation, sent: Parts) -> Parts:
    """Return what the client sent without what breaks the contract."""
    kept = {location: dict(values) for location, values in sent.items()}
    if operation.method != "POST":
        kept["body"] = {}
    reading = operation.read(_encoded(operation, kept))
    for violation in reading.violations:
        if len(violation.path) > 1:
            kept[str(violation.path[0])].pop(str(violation.path[1]), None)
    return kept


def _correct(kept: Parts, example: Mapping[str, Json], refusal: str) -> None:
    """Put the blamed input of a refusal right: by the name it tells, else by the example."""
    blamed = _BLAMED.search(refusal)
    if blamed is None:
        return
    location, name = _LOCATIONS[blamed[1]], blamed[2]
    if name not in kept[location]:
        return
    suggested = _SUGGESTED.search(refusal)
    if suggested:
        kept[location][name] = suggested[1]
    elif name in example.get(location, {}):
        kept[location][name] = example[location][name]


def _encoded(operation: Operation, parts: Parts) -> Request:
    headers = Headers([(name, _text(value)) for name, value in parts["headers"].items()])
    query = urlencode({name: _text(value) for name, value in parts["query"].items()})
    body = jsontext.encode(parts["body"]) if operation.method == "POST" else b""
    return Request(operation.method, operation.path, query, headers, body)


def _changes(operation: Operation, sent: Parts, kept: Parts, entry: Entry) -> list[str]:
    found = []
    if (entry.request.method, entry.path) != (operation.method, operation.path):
        found.append(f"{operation.method} {operation.path}")
    words = {location: word for word, location in _LOCATIONS.items()}
    for location, values in kept.items():
        for name in sorted({*values, *sent[location]}):
            before, after = sent[location].get(name), values.get(name)
            if name not in values:
                found.append(f"{words[location]} {name!r}: left out")
            elif before != after:
                shown = [
                    _shown(value if value is None else withheld(name, _text(value)))
                    if location != "body"
                    else _shown(value)
                    for value in (after, before)
                ]
                found.append(f"{words[location]} {name!r}: {' instead of '.join(shown)}")
    return found


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else jsontext.encode(value).decode()


def _shown(value: Json) -> str:
    text = "nothing" if value is None else ascii(value) if isinstance(value, str) else _text(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
