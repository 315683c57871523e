"""Finds the members of list items that play a role by their values, where no name is known."""

import re
from collections.abc import Iterable, Mapping

from mockserver.conformance.discovery.listing import Item, count, folded, member, text
from mockserver.jsontext import Json

_USUAL_DECIMALS = frozenset((6, 8, 9, 18))
_MOST_DECIMALS = 36
_EVM_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_LONG = 20
_FEWEST = 2

WITHOUT_ROLE = frozenset(("cmcid",))
"""Folded names of members that play no role: a token's number at a price provider (DEMO)."""


def guessed(items: Iterable[Item], roles: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the members that play decimals, address and index where their names are not known.

    `roles` has the names of every role. A role is left out where a name is known, where no member
    fits and where several do: a guess must be the only one that is possible.
    """
    rows = list(items)
    if len(rows) < _FEWEST:
        return {}
    found: dict[str, str] = {}
    for role in ("address", "decimals", "index"):
        if any(member(row, roles[role]) is not None for row in rows):
            continue
        taken = _named(roles, role) | {folded(name) for name in found.values()}
        others = [name for name in rows[0] if folded(name) not in taken]
        names = [name for name in others if _has_values_of([row.get(name) for row in rows], role)]
        if len(names) == 1:
            found[role] = names[0]
    return found


def may_have_role(item: Item, role: str, roles: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether any member of an item, at any depth, could be meant to play a role."""
    others = _named(roles, role)
    return any(
        folded(name) not in others and _could_be(value, role) for name, value in _members(item)
    )


def _could_be(value: Json, role: str) -> bool:
    match role:
        case "decimals":
            number = count(value)
            return number is not None and number <= _MOST_DECIMALS
        case "index":
            return text(value).isdecimal()
        case "address":
            return isinstance(value, str) and len(value) >= _LONG and "://" not in value
        case _:
            return isinstance(value, str) and bool(text(value))


def _has_values_of(values: list[Json], role: str) -> bool:
    """Tell whether the values that a member has in all items are those of a role."""
    match role:
        case "address":
            return any(isinstance(value, str) and _EVM_ADDRESS.fullmatch(value) for value in values)
        case "decimals":
            usual = sum(count(value) in _USUAL_DECIMALS for value in values)
            return usual * 2 > len(values) and all(_could_be(value, role) for value in values)
        case _:
            several = len(set(map(text, values))) > 1
            return several and all(_could_be(value, role) for value in values)


def _named(roles: Mapping[str, tuple[str, ...]], but: str) -> set[str]:
    """Return the folded names of every role but one, except those that this one has as well."""
    own = {folded(name) for name in roles[but]}
    others = {folded(name) for role, names in roles.items() if role != but for name in names}
    return (others | WITHOUT_ROLE) - own


def _members(item: Json, depth: int = 3) -> Iterable[tuple[str, Json]]:
    if isinstance(item, list):
        for one in item:
            yield from _members(one, depth - 1) if depth else ()
    if isinstance(item, Mapping):
        for name, value in item.items():
            yield name, value
            if depth and isinstance(value, list | Mapping):
                yield from _members(value, depth - 1)
