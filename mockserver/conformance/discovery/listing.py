"""Answers whose form nobody documents, read by role: items of lists, and the `data` of v1.

A list is found whatever it is called; what v1 tells wherever in its `data` it stands.
"""

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


V1_ROLES = shipped_facts().names["v1"]
"""The member names that may play a role, the observed ones first (OAE, ESS1)."""

_MOST = 200


def scalar(data: Json, role: str) -> Json:
    """Return the text or number that plays a role, wherever in `data` it stands; None without."""
    return _playing(data, role)[1]


def scalar_place(data: Json, role: str) -> str:
    """Return where in `data` the text or number stands that plays a role; empty without one."""
    return _playing(data, role)[0]


def holds(data: Json, wanted: str) -> bool:
    """Tell whether some text in `data` is the wanted one, in any case."""
    return any(
        isinstance(value, str) and value.lower() == wanted.lower()
        for _, _, value in _scalars(data, "", 0)
    )


def _playing(data: Json, role: str) -> tuple[str, Json]:
    found: dict[str, tuple[str, Json]] = {}
    for place, name, value in _scalars(data, "", 0):
        found.setdefault(folded(name), (place, value))
    wanted = map(folded, V1_ROLES[role])
    return next((found[one] for one in wanted if one in found), ("", None))


def _scalars(data: Json, place: str, depth: int) -> Iterator[tuple[str, str, Json]]:
    """Yield places, names and values of texts and numbers, outer ones first."""
    if depth > _DEEPEST:
        return
    pairs = (
        [(f"{place}.{name}", name, value) for name, value in data.items()]
        if isinstance(data, Mapping)
        else []
    )
    if isinstance(data, list):
        pairs = [(f"{place}[]", "", value) for value in data]
    inner: list[tuple[str, Json]] = []
    for here, name, value in pairs[:_MOST]:
        if isinstance(value, Mapping | list):
            inner.append((here, value))
        elif value is not None and not isinstance(value, bool):
            yield here, name, value
    for here, value in inner:
        yield from _scalars(value, here, depth + 1)
