"""How many of the second service's faults a run of conformance finds.

``python -m tests.blind.counting`` asks for every fault and region, and prints what was not found.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mockserver.conformance import Outcome, Result, RunOptions, Verdict, run
from tests.blind.faults import FAULTS
from tests.blind.regions import REGIONS
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.blind.world import ACCOUNT, OLD_HASH

_CHANCE = re.compile(r"[0-9a-fA-F]{6,}|\d+")
_TOLD = (Verdict.VIOLATION, Verdict.DIFFERS_OBSERVED, Verdict.DIFFERS_ASSUMPTION)
NAMED: RunOptions = {
    "address": ACCOUNT,
    "orders": ("30000001001", "30000001002"),
    "tickets": ("71", "72"),
    "hashes": (f"ETH:{OLD_HASH}",),
}
"""What a user of the second service would name, who has orders and tickets there."""


@dataclass(slots=True)
class Count:
    """Holds runs against a faulty service against runs of the same seed against a healthy one.

    `whole` sends the requests at edges and the generated ones as well.
    """

    whole: bool = True
    seed: int = 1
    _healthy: dict[str, frozenset[str]] = field(default_factory=dict)

    def found(self, row: Row) -> bool:
        """Whether a run says of the service with a fault what it does not say of the healthy one.

        Submissions are sent, and names are given, where the fault needs them to show.
        """
        if row.shows not in self._healthy:
            both = [self._said((), row.shows) for _ in range(2)]
            self._healthy[row.shows] = both[0] | both[1]
        return bool(self._said((row.name,), row.shows) - self._healthy[row.shows])

    def _said(self, faults: Sequence[str], shows: str) -> frozenset[str]:
        how: RunOptions = {"seed": self.seed, "arm_writes": shows == "submitting"}
        if shows == "naming":
            how = {**how, **NAMED}
        if not self.whole:
            how = {**how, "edges": False, "delivery": False, "examples": 0}
        with blind_service(faults) as url:
            result = run(url, **how)
        return frozenset(findings_of(result))


def findings_of(result: Result) -> Iterator[str]:
    """Each finding as a line that is equal in runs of the same seed."""
    for outcome in result.outcomes:
        yield from _of(outcome)


def _of(outcome: Outcome) -> Iterator[str]:
    for finding in outcome.findings:
        verdict = outcome.verdict_of(finding)
        if verdict in _TOLD:
            # Numbers of times and ids are of one run only.
            yield f"{outcome.id} {verdict} {finding.place} {_CHANCE.sub('#', finding.message)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and print the share that was found by where faults show."""
    parser = argparse.ArgumentParser(prog="python -m tests.blind.counting", description=__doc__)
    parser.add_argument("--plan-only", action="store_true", help="without edges and examples")
    options = parser.parse_args(arguments)
    count = Count(whole=not options.plan_only)
    rows = [*FAULTS.values(), *REGIONS.values()]
    for shows in ("reading", "naming", "submitting"):
        some = [row for row in rows if row.shows == shows]
        missed = [row.name for row in some if not count.found(row)]
        told = f"{shows}: {len(some) - len(missed)} of {len(some)} found"
        sys.stdout.write(f"{told}; not found: {', '.join(missed) or 'none'}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
