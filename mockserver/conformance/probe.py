"""Probes: the requests of the plan, each under a name that several rules can share."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from mockserver.conformance.draft import Draft

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen


class Stage(IntEnum):
    """When a probe is sent; within a stage probes go in the order of the plan."""

    LISTS = 1
    """What the service offers, on which everything later stands."""
    READS = 2
    """Requests that should succeed."""
    ODD = 3
    """Requests that should be refused, and broken HTTP."""
    WRITES = 4
    """Submissions, and the reads that follow them."""
    LAST_LOOK = 5
    """The lists once more: what was suspended meanwhile?"""


Build = Callable[["Seen"], Draft]
"""Makes the request of what earlier answers showed. Raises `NotRun` where they do not suffice."""


def _always(_: "Seen") -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Probe:
    """One request of the plan.

    `name` is `<operation id>/<words>`, unique and stable: journals, resumed runs and comparisons
    find a probe by it. `after` names the probes whose answers `build` reads, which are sent first.
    `wait_ms` is how long it waits before it is sent, at most, where `settled` tells that something
    is still to happen. A `spare` one is sent only where another did not work; a plan does not count
    it.
    """

    name: str
    build: Build
    stage: Stage = Stage.READS
    after: tuple[str, ...] = ()
    wait_ms: int = 0
    settled: Callable[["Seen"], bool] = _always
    spare: bool = False

    @property
    def operation_id(self) -> str:
        """The id of the operation it asks."""
        return self.name.partition("/")[0]
