"""Which member of a list's items plays which role."""

from collections.abc import Mapping
from dataclasses import field

from mockserver.contract import shipped_facts
from mockserver.fast_dataclass import dataclass

ROLES = shipped_facts().names["items"]
"""The member names that may play a role, most likely first; the vendor's own are among them."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """Which member of a list's items plays which role, where a user or a recording says so.

    The form of these items is not documented (section 2.3), so a role without binding is
    looked for among the names that public material shows (`ROLES`).
    """

    roles: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(frozenset(self.roles.items()))

    def candidates(self, role: str) -> tuple[str, ...]:
        """Return the members that may play a role; a bound one is the only one."""
        return (self.roles[role],) if role in self.roles else ROLES[role]
