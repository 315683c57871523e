"""The `data` of v1 answers, whose form is not documented (interface.md 2.1): found by role."""

from collections.abc import Iterator, Mapping

from mockserver.conformance.discovery.listing import folded
from mockserver.contract import shipped_facts
from mockserver.jsontext import Json

ROLES = shipped_facts().names["v1"]
"""The member names that may play a role, the observed ones first (OAE, ESS1)."""

_DEEPEST = 4
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
    wanted = map(folded, ROLES[role])
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
