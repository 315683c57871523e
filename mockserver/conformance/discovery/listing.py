"""Items of lists whose form nobody documents: found whatever the list is called, read by role."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

from mockserver.contract import shipped_facts
from mockserver.jsontext import Json

_LISTS = shipped_facts().names["words"]["lists"]
_DEEPEST = 4
_LONGEST = 200

Item = Mapping[str, Json]


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a member's name without case, underscores and hyphens."""
    return re.sub(r"[_\- ]", "", name).lower()


def listed(data: Json) -> tuple[tuple[str, Json], ...]:
    """Return the items of the list that some `data` holds, each with its key or an empty text.

    A list has no keys; an object of objects is a list too, keyed by its members.
    """
    return _located(data, "", 0)[1]


def list_place(data: Json) -> str:
    """Return where in `data` its list stands, as in `.list[]`, `[]` or `.chains.*`."""
    return _located(data, "", 0)[0]


def _located(data: Json, place: str, depth: int) -> tuple[str, tuple[tuple[str, Json], ...]]:
    if isinstance(data, list):
        return f"{place}[]", tuple(("", item) for item in data)
    if not isinstance(data, Mapping) or depth > _DEEPEST:
        return place, ()
    by_name = {folded(name): name for name in data}
    for wanted in _LISTS:
        name = by_name.get(wanted, "")
        value = data.get(name)
        if isinstance(value, list) or (isinstance(value, Mapping) and value):
            return _located(value, f"{place}.{name}", depth + 1)
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    if lists:
        name = max(lists, key=lambda one: len(lists[one]))
        return f"{place}.{name}[]", tuple(("", item) for item in lists[name])
    inner = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    if len(inner) == 1 and not _is_keyed(inner):
        [(name, value)] = inner.items()
        return _located(value, f"{place}.{name}", depth + 1)
    return f"{place}.*", tuple(inner.items()) if len(inner) == len(data) else ()


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
