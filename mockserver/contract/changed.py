"""What two readings of an operation take differently, so that the rest need not be read again."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mockserver.contract.quickreading import tied_names
from mockserver.contract.reading import LOCATIONS
from mockserver.validation import Violation

Place = tuple[str, str]
"""A location and the name of an input; `*` stands for all."""

_ALL = "*"
_OWN = ("properties", "required")


def may_undo(changed: frozenset[Place], violations: Iterable[Violation]) -> bool:
    """Tell whether a reading that differs in some inputs may have nothing against a violation."""
    if (_ALL, _ALL) in changed:
        return True
    for violation in violations:
        location, name = (*map(str, violation.path[:2]), _ALL, _ALL)[:2]
        if (location, name) in changed or (location, _ALL) in changed:
            return True
        # What is wrong with all of a location may hang on any of its inputs.
        if name == _ALL and any(place == location for place, _ in changed):
            return True
    return False


def changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> frozenset[Place]:
    """Return the inputs that one request schema reads differently from another one."""
    parts, others = one.get("properties", {}), other.get("properties", {})
    if _rest(one) != _rest(other) or ("body" in parts) is not ("body" in others):
        return frozenset({(_ALL, _ALL)})
    return frozenset(
        (location, name)
        for location in LOCATIONS
        for name in _names(location, parts.get(location, {}), others.get(location, {}))
    )


def _names(location: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in a location of which two schemas say different things, or `*`."""
    inputs, others = one.get("properties", {}), other.get("properties", {})
    names = {name for name in {**inputs, **others} if inputs.get(name) != others.get(name)}
    names |= set(one.get("required", ())) ^ set(other.get("required", ()))
    yield from names
    # A text in a header or a query becomes what its input says, and conditions look at that.
    conditions = location != "body" and (
        tied_names(one) != frozenset() or tied_names(other) != frozenset()
    )
    if _rest(one) != _rest(other) or (names and conditions):
        yield _ALL


def _rest(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in _OWN}
