"""Counters of a server: requests by operation, refusals and faults by name."""

from collections import Counter
from dataclasses import dataclass, field

from mockserver.exchange import Response
from mockserver.responders.refusing import REFUSAL_HEADER


@dataclass(slots=True)
class Counters:
    """What a server has done since its start, over all its worlds; only ever rising."""

    requests: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    control: int = 0

    def count(self, operation: str | None, response: Response, fault: str) -> None:
        """Count an exchange; one that no operation answers counts as `unknown`."""
        self.requests[operation or "unknown"] += 1
        refusal = response.header(REFUSAL_HEADER)
        if refusal is not None:
            self.refusals[refusal.partition(":")[0]] += 1
        if fault:
            self.faults[fault.partition(" ")[0]] += 1
