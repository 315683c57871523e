"""An answer with one field that breaks the contract, chosen by name or by a drawn number."""

import copy
import re
from collections.abc import Iterator
from typing import Any

from mockserver import jsontext
from mockserver.contract import Operation
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.validation import dotted

Path = tuple[str | int, ...]
_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_MISSING = object()
_CHANGES: dict[str, tuple[Any, ...]] = {
    "type": ({"mutated": True}, ["mutated"], "mutated", 0),
    "null": (None,),
    "missing": (_MISSING,),
}
CHANGES = (*_CHANGES, "any")
"""What may be done to a field: another type, null, left out, or whichever breaks the contract."""


def mutated(
    response: Response, operation: Operation, *, field: str | None, change: str, draw: int
) -> tuple[Response, str]:
    """Return an answer with one field broken, and the field's path; empty where none could be.

    Without a `field` the number `draw` chooses one of the data. A field is only touched where the
    answer breaks its schema afterwards and did not before.
    """
    body = jsontext.decode_or(response.body, _MISSING)
    if body is _MISSING or operation.response_violations(body):
        return response, ""
    for path in _candidates(body, operation, field, draw):
        for broken in _broken(body, path, change):
            if operation.response_violations(broken):
                return response.with_body(jsontext.encode(broken)), dotted(path)
    return response, ""


def parts(field: str) -> Path:
    """Return the path that people write as `list[0].symbol`."""
    return tuple(int(index) if index else name for name, index in _PART.findall(field))


def _candidates(body: Json, operation: Operation, field: str | None, draw: int) -> Iterator[Path]:
    base: Path = ("data",) if operation.enveloped else ()
    if field is not None:
        named = parts(field)
        yield (*base, *named)
        yield named
        return
    data = body.get("data") if base and isinstance(body, dict) else body
    paths = [(*base, *path) for path in _leaves(data, ())] or [("code",)]
    start = draw % len(paths)
    yield from (*paths[start:], *paths[:start])


def _leaves(value: Json, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif path:
        yield path


def _broken(body: Json, path: Path, change: str) -> Iterator[Json]:
    kinds = _CHANGES if change == "any" else (change,)
    for value in (value for kind in kinds for value in _CHANGES[kind]):
        changed = copy.deepcopy(body)
        holder = changed
        try:
            for part in path[:-1]:
                holder = holder[part]
            if value is _MISSING:
                del holder[path[-1]]
            else:
                holder[path[-1]]
                holder[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            return
        yield changed
