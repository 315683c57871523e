"""Counters of a server: requests by operation, refusals and faults by name."""

from collections import Counter
from dataclasses import dataclass, field

_MOST_NAMES = 1000


@dataclass(slots=True)
class Counters:
    """What a server has done since its start, over all its worlds; only ever rising."""

    requests: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    control: int = 0

    def count(self, operation: str | None, refusal: str | None, fault: str) -> None:
        """Count an exchange; one that no operation answers counts as `unknown`."""
        self.requests[operation or "unknown"] += 1
        if refusal is not None:
            name = refusal.partition(":")[0]
            # A stub may say anything in that header.
            known = name in self.refusals or len(self.refusals) < _MOST_NAMES
            self.refusals[name if known else "other"] += 1
        if fault:
            self.faults[fault.partition(" ")[0]] += 1
