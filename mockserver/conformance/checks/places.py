"""Where a finding is: checks name places as our schemas do, an answer may have them elsewhere."""

from collections.abc import Mapping
from dataclasses import replace

from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.listing import list_place
from mockserver.conformance.discovery.v1_data import ROLES, scalar_place
from mockserver.jsontext import Json

_LISTS = ("data.list[]", "data.tokenVos[]", "data.chains[]")
_V1 = ("data.crossChain.", "data.order.")


def placed(finding: Finding) -> Finding:
    """Return a finding whose place is one of the answer that shows it.

    The form of lists and of all v1 data is not shown (interface.md 2.1, 2.3), so that checks find
    what they look for by role; the finding then names where that was, and never a member that the
    answer has not.
    """
    if not finding.exchanges or not finding.place.startswith("data."):
        return finding
    data = finding.exchanges[-1].member("data")
    place = finding.place
    for name in _LISTS:
        if place.startswith(name) and not _is_there(data, name[5:-2]):
            return replace(finding, place=f"data{list_place(data)}{place.removeprefix(name)}")
    for name in _V1:
        role = place.removeprefix(name)
        if place.startswith(name) and role in ROLES and not _is_there(data, name[5:-1], role):
            return replace(finding, place=f"data{scalar_place(data, role)}")
    return finding


def _is_there(data: Json, *names: str) -> bool:
    for name in names:
        if not isinstance(data, Mapping) or name not in data:
            return False
        data = data[name]
    return True
