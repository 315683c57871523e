"""Items of lists whose form nobody documents: found whatever the list is called, read by role."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

from mockserver.jsontext import Json

_LISTS = (
    "list",
    "chains",
    "tokens",
    "tokenvos",
    "assets",
    "items",
    "supportchains",
    "supporttokens",
    "chainlist",
    "tokenlist",
    "records",
    "rows",
    "data",
    "result",
)
_DEEPEST = 4
_LONGEST = 200

Item = Mapping[str, Json]


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a member's name without case, underscores and hyphens."""
    return re.sub(r"[_\- ]", "", name).lower()


def listed(data: Json, depth: int = 0) -> tuple[tuple[str, Json], ...]:
    """Return the items of the list that some `data` holds, each with its key or an empty text.

    A list has no keys; an object of objects is a list too, keyed by its members.
    """
    if isinstance(data, list):
        return tuple(("", item) for item in data)
    if not isinstance(data, Mapping) or depth > _DEEPEST:
        return ()
    by_name = {folded(name): value for name, value in data.items()}
    for wanted in _LISTS:
        value = by_name.get(wanted)
        if isinstance(value, list) or (isinstance(value, Mapping) and value):
            return listed(value, depth + 1)
    lists = [value for value in data.values() if isinstance(value, list)]
    if lists:
        return tuple(("", item) for item in max(lists, key=len))
    inner = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    if len(inner) == 1 and not _is_keyed(inner):
        return listed(next(iter(inner.values())), depth + 1)
    return tuple(inner.items()) if len(inner) == len(data) else ()


def objects(data: Json, key_role: str) -> Iterator[Item]:
    """Yield the items of a list as objects; a key or a bare text stands for the given role."""
    for key, item in listed(data):
        if isinstance(item, str) and item:
            yield {key_role: item}
        elif isinstance(item, Mapping):
            yield item if not key or key_role in item else {key_role: key, **item}


def member(item: Item, candidates: tuple[str, ...]) -> Json:
    """Return the first member that is called like one of the candidates, or None."""
    return member_of({folded(name): value for name, value in item.items()}, candidates)


def member_of(by_name: Item, candidates: tuple[str, ...]) -> Json:
    """Return the same of an item whose names are folded already."""
    return next(
        (by_name[name] for name in map(folded, candidates) if by_name.get(name) is not None), None
    )


def text(value: Json) -> str:
    """Return a scalar that names something as text; empty for anything else."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str):
        return value.strip() if len(value) <= _LONGEST else ""
    return str(value) if isinstance(value, int) and abs(value) < 10**30 else ""


def count(value: Json) -> int | None:
    """Return a small count such as of decimals, also where it is written as text; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 4:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= 255 else None


def _is_keyed(inner: Mapping[str, Json]) -> bool:
    """Tell whether an object's only member is an item itself, and not what is around the list."""
    only = next(iter(inner.values()))
    return not any(isinstance(value, list | Mapping) for value in only.values())
