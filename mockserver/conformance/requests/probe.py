"""Probes: the requests of the plan, each under a name that several rules can share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum
from functools import cache
from itertools import chain

from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import VALID
from mockserver.conformance.session.request_draft import Draft
from mockserver.fast_dataclass import dataclass


class Stage(IntEnum):
    """When a probe is sent; within a stage probes go in the order of the plan."""

    LISTS = 1
    """What the service offers: all later requests are made of it."""
    READS = 2
    """Requests that should succeed."""
    ODD = 3
    """Requests that should be refused, and broken HTTP."""
    WRITES = 4
    """Submissions, and the reads that follow them."""
    LAST_LOOK = 5
    """The lists once more: what was suspended meanwhile?"""


Build = Callable[[RunContext], Draft]
"""Makes a request from earlier answers. Raises `NotRun` where they do not suffice."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One request of the plan.

    `name` is `<operation id>/<words>`, unique and stable: journals, resumed runs and comparisons
    find a probe by it. `after` names the probes whose answers `build` reads, which are sent first.
    `wait_ms` is how long it waits at most before it is sent, while `settled` says no. A
    `conditional` one is sent only where another was refused; a plan does not count it. `kind` is in
    which way its request is wrong, if it is. `about` is the submission that it makes, repeats or
    looks up, or what the user has named that it looks up.
    """

    name: str
    build: Build
    stage: Stage = Stage.READS
    after: tuple[str, ...] = ()
    wait_ms: int = 0
    settled: Callable[[RunContext], bool] = field(default=lambda _: True)
    conditional: bool = False
    kind: str = ""
    about: str = ""

    @property
    def operation_id(self) -> str:
        return self.name.partition("/")[0]

    @property
    def words(self) -> str:
        return self.name.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Group:
    """Probes that are chosen by what they are for, of every operation or of those named.

    A rule that judges every operation needs them without spelling their names, which depend on the
    inputs of the dialect. `title` is how `conform explain` calls them.
    """

    title: str
    includes: Callable[[Probe], bool]
    operations: tuple[str, ...] = ()

    def has(self, probe: Probe) -> bool:
        is_of_them = not self.operations or probe.operation_id in self.operations
        return is_of_them and self.includes(probe)

    def of(self, operations: tuple[str, ...]) -> "Group":
        return replace(self, operations=operations)


Need = str | Group
"""What a rule needs: a probe by its name, or a group of them."""

UNKNOWN = "unknown"
"""The words of a look-up of what was never made."""

PLAIN = Group("the plain request of each operation", lambda probe: probe.words in (VALID, UNKNOWN))
"""One request of every operation that should be answered with success, and look-ups of nothing."""


class ProbeIndex:
    """Finds probes, and those whose answers they are built on."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        """Take the probes in the order in which they are declared."""
        self.by_name: Mapping[str, Probe] = {probe.name: probe for probe in probes}
        self._names = cache(self._named_by)
        self._before: dict[str, Sequence[str]] = {}

    def names(self, needs: Iterable[Need]) -> tuple[str, ...]:
        """Return the names of what is needed.

        A dialect may lack the input that a probe is about, and then has no such probe.
        """
        return tuple(name for need in needs for name in self._names(need))

    def _named_by(self, need: Need) -> tuple[str, ...]:
        if isinstance(need, Group):
            return tuple(name for name, probe in self.by_name.items() if need.has(probe))
        return (need,) if need in self.by_name else ()

    def closure(self, needs: Iterable[Need]) -> list[str]:
        """Return some probes with all they build on, in an order in which they can be sent."""
        return _each_once(map(self._with_all_before, self.names(needs)))

    def _with_all_before(self, name: str) -> Sequence[str]:
        if name not in self._before:
            before = _each_once(map(self._with_all_before, self.by_name[name].after))
            self._before[name] = (*before, name)
        return self._before[name]


def _each_once(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(lists)))
