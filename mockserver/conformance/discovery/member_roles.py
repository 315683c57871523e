"""Reads answers whose form is not documented by role: items of lists, and the `data` of v1.

A list is found whatever its name, a member of v1 wherever it stands in `data`. A member whose name
is not known is found by its values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

from mockserver.contract import shipped_facts
from mockserver.jsontext import Json

_LISTS = shipped_facts().names["words"]["lists"]
_DEEPEST_LEVEL = 4
_LONGEST_TEXT = 200
_PLAUSIBLE_DECIMALS = frozenset((6, 8, 9, 18))
_MOST_DECIMALS = 36
EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_SHORTEST_ADDRESS = 20
# One item alone may fit a role by chance.
_FEWEST_ITEMS = 2

WITHOUT_ROLE = frozenset(("cmcid",))
"""Folded names of members that play no role: a token's number at a price provider (DEMO)."""

ListItem = Mapping[str, Json]


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
    if not isinstance(data, Mapping) or depth > _DEEPEST_LEVEL:
        return place, ()
    by_name = {folded(name): name for name in data}
    for wanted in _LISTS:
        name = by_name.get(wanted, "")
        value = data.get(name)
        if isinstance(value, list) or (isinstance(value, Mapping) and value):
            return _located(value, f"{place}.{name}", depth + 1)
    if lists := {name: value for name, value in data.items() if isinstance(value, list)}:
        # The longest: beside the items stand short lists of pages, links and the like.
        name = max(lists, key=lambda item: len(lists[item]))
        return f"{place}.{name}[]", tuple(("", item) for item in lists[name])
    inner = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    if len(inner) == 1 and not _is_keyed(inner):
        [(name, value)] = inner.items()
        return _located(value, f"{place}.{name}", depth + 1)
    return f"{place}.*", tuple(inner.items()) if len(inner) == len(data) else ()


def objects(data: Json, key_role: str) -> Iterator[ListItem]:
    """Yield the items of a list as objects; a key or a bare text stands for the given role."""
    for key, item in listed(data):
        if isinstance(item, str) and item:
            yield {key_role: item}
        elif isinstance(item, Mapping):
            yield item if not key or key_role in item else {key_role: key, **item}


def member(item: ListItem, candidates: tuple[str, ...]) -> Json:
    """Return the first member that is called like one of the candidates, or None."""
    return member_of({folded(name): value for name, value in item.items()}, candidates)


def member_of(by_name: ListItem, candidates: tuple[str, ...]) -> Json:
    values = (by_name.get(name) for name in map(folded, candidates))
    return next((value for value in values if value is not None), None)


def text(value: Json) -> str:
    """Return a scalar that names something as text; empty for anything else."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str):
        return value.strip() if len(value) <= _LONGEST_TEXT else ""
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
    """Tell whether an object's only member is an item itself, and not a wrapper of the list."""
    only = next(iter(inner.values()))
    return not any(isinstance(value, list | Mapping) for value in only.values())


# Members whose names are not known.


def roles_by_value(
    items: Iterable[ListItem], roles: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return the members that play decimals, address and index where their names are not known.

    `roles` has the names of every role. A role is left out where a name is known, where no member
    fits and where several do: a guess must be the only one that is possible.
    """
    rows = list(items)
    if len(rows) < _FEWEST_ITEMS:
        return {}
    names_by_role: dict[str, str] = {}
    for role in ("address", "decimals", "index"):
        if any(member(row, roles[role]) is not None for row in rows):
            continue
        taken = _names_of_others(roles, role) | {folded(name) for name in names_by_role.values()}
        others = [name for name in rows[0] if folded(name) not in taken]
        names = [name for name in others if _has_values_of([row.get(name) for row in rows], role)]
        # Where two would do, neither is known.
        if len(names) == 1:
            names_by_role[role] = names[0]
    return names_by_role


def may_have_role(item: ListItem, role: str, roles: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether any member of an item, at any depth, could be meant to play a role."""
    others = _names_of_others(roles, role)
    unnamed = (value for name, value in members_in(item) if folded(name) not in others)
    return any(_could_be(value, role) for value in unnamed)


def _could_be(value: Json, role: str) -> bool:
    match role:
        case "decimals":
            number = count(value)
            return number is not None and number <= _MOST_DECIMALS
        case "index":
            return text(value).isdecimal()
        case "address":
            return isinstance(value, str) and len(value) >= _SHORTEST_ADDRESS and "://" not in value
        case _:
            return isinstance(value, str) and bool(text(value))


def _has_values_of(values: list[Json], role: str) -> bool:
    match role:
        case "address":
            return any(isinstance(value, str) and EVM_ADDRESS.fullmatch(value) for value in values)
        case "decimals":
            plausible = sum(count(value) in _PLAUSIBLE_DECIMALS for value in values)
            # Mostly usual numbers: a column of small integers may be anything.
            return plausible * 2 > len(values) and all(_could_be(value, role) for value in values)
        case _:
            several = len(set(map(text, values))) > 1
            return several and all(_could_be(value, role) for value in values)


def _names_of_others(roles: Mapping[str, tuple[str, ...]], but: str) -> set[str]:
    """Return the folded names of every role but one, except those that this one has as well."""
    own = {folded(name) for name in roles[but]}
    others = {folded(name) for role, names in roles.items() if role != but for name in names}
    return (others | WITHOUT_ROLE) - own


def members_in(item: Json, depth: int = 3) -> Iterable[tuple[str, Json]]:
    """Yield the names and values of the members of an item, at any depth that lists have."""
    if isinstance(item, list):
        for child in item:
            yield from members_in(child, depth - 1) if depth else ()
    if isinstance(item, Mapping):
        for name, value in item.items():
            yield name, value
            if depth and isinstance(value, list | Mapping):
                yield from members_in(value, depth - 1)


# The `data` of v1.

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
    texts = (value for _, _, value in _scalars(data, "", 0) if isinstance(value, str))
    return wanted.lower() in map(str.lower, texts)


def _playing(data: Json, role: str) -> tuple[str, Json]:
    values_by_name: dict[str, tuple[str, Json]] = {}
    for place, name, value in _scalars(data, "", 0):
        values_by_name.setdefault(folded(name), (place, value))
    wanted = map(folded, V1_ROLES[role])
    return next((values_by_name[name] for name in wanted if name in values_by_name), ("", None))


def _scalars(data: Json, place: str, depth: int) -> Iterator[tuple[str, str, Json]]:
    """Yield places, names and values of texts and numbers, outer ones first."""
    if depth > _DEEPEST_LEVEL:
        return
    pairs: list[tuple[str, str, Json]] = []
    if isinstance(data, Mapping):
        pairs = [(f"{place}.{name}", name, value) for name, value in data.items()]
    elif isinstance(data, list):
        pairs = [(f"{place}[]", "", value) for value in data]
    inner: list[tuple[str, Json]] = []
    for here, name, value in pairs[:_MOST]:
        if isinstance(value, Mapping | list):
            inner.append((here, value))
        elif value is not None and not isinstance(value, bool):
            yield here, name, value
    for here, value in inner:
        yield from _scalars(value, here, depth + 1)
