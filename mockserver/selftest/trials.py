"""Trials: what the rules say of a mock with one break, or with none, in both modes."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from decimal import Decimal
from multiprocessing import get_context
from typing import NamedTuple

from mockserver.conformance.checks.judge import DEFECT
from mockserver.conformance.options import Options
from mockserver.conformance.result import Result
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.testing import running
from mockserver.testing.server import MockServer
from mockserver.values import dataclass

_UNHURRIED = Decimal(100_000)
"""Requests a second: the mock of the self-test need not be spared."""

ARMED = Arming(writes=True, most=200)
"""Submissions to the mock of the self-test are free."""


class Told(NamedTuple):
    """A finding as the self-test counts it: which rule said what of which operation."""

    rule: str
    operation: str
    verdict: str
    message: str = ""

    def __str__(self) -> str:
        return f"{self.rule}[{self.operation}] {self.verdict}: {self.message}"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a run said of one break, or of the mock as it is (`layer` is `healthy` then).

    `expected` is the verdict that would be right, `control` tells that the mock kept the
    description, and `needs_writes` that only a submission brings the break to light. `requests` and
    `submissions` count what was sent; `defects` are rules that failed of themselves, `unasked`
    those for which nothing was to be asked, as no edges and nothing that somebody has to name.
    """

    name: str
    layer: str
    expected: str
    control: bool
    needs_writes: bool
    armed: bool
    seed: int
    told: tuple[Told, ...]
    requests: int
    submissions: int
    elapsed_ms: int
    defects: tuple[str, ...] = ()
    unasked: frozenset[str] = frozenset()

    @property
    def detected(self) -> bool:
        """Whether anything was found."""
        return bool(self.told)

    @property
    def verdict(self) -> str:
        """The worst verdict of what was found; `none` where nothing was."""
        order = [verdict.value for verdict in Verdict]
        return min((told.verdict for told in self.told), key=order.index, default="none")

    @property
    def right(self) -> bool:
        """Whether what was said is true: the right verdict, and of a control nothing worse."""
        if self.control and not self.told:
            return True
        return self.verdict == self.expected

    @property
    def false_alarm(self) -> bool:
        """Whether something was said of a control that is not so."""
        return self.control and not self.right


HEALTHY = "healthy"


def tried(
    mock: MockServer,
    broken: Break | None,
    *,
    armed: bool,
    seed: int = 1,
    options: Options | None = None,
) -> Trial:
    """Return what the rules say of a world with one break, or of one as it is."""
    called = f"{HEALTHY}-{seed}" if broken is None else broken.name
    arming = ARMED if armed else Arming()
    options = replace(options or Options(rate=_UNHURRIED), arming=arming, seed=seed)
    with mock.world(called, breaks=() if broken is None else (called,)) as world:
        result = run(Target(world.base_url, world.base_url), options)
    failed = [one for one in result.outcomes if one.reason.startswith(DEFECT)]
    every = {outcome.rule.name for outcome in result.outcomes}
    asked = {one.rule.name for one in result.outcomes if one.verdict is not Verdict.NOT_APPLICABLE}
    return Trial(
        name=f"{HEALTHY} (seed {seed})" if broken is None else called,
        layer=HEALTHY if broken is None else broken.layer.value,
        expected="none" if broken is None else broken.verdict.value,
        control=broken is None or broken.control,
        needs_writes=broken is not None and broken.needs_writes,
        armed=armed,
        seed=seed,
        told=_told(result),
        requests=result.requests,
        submissions=result.submissions,
        elapsed_ms=result.elapsed_ms,
        defects=tuple(f"{one.id}: {one.reason}" for one in failed),
        unasked=frozenset(every - asked),
    )


def _told(result: Result) -> tuple[Told, ...]:
    found = (
        Told(outcome.rule.name, outcome.operation.id, outcome.verdict_of(finding), finding.message)
        for outcome in result.outcomes
        for finding in outcome.findings
    )
    return tuple(sorted(set(found)))


_MOST_IN_A_PORTION = 8


@dataclass(frozen=True, slots=True)
class Job:
    """A trial to make: of a break, or of the mock as it is where `name` is None."""

    name: str | None
    armed: bool
    seed: int = 1


BOTH = (True, False)
"""The modes of runs: with submissions, and reading only."""


def jobs_of(
    names: Iterable[str], seeds: Iterable[int], modes: Sequence[bool] | None = BOTH
) -> list[Job]:
    """Return the trials of some breaks and of the mock as it is under some seeds.

    Without `modes` each is tried once: reading where reading can show the break, else submitting.
    """
    broken = [Job(name, armed) for name in names for armed in modes or (_cheapest(name),)]
    return broken + [Job(None, armed, seed) for seed in seeds for armed in modes or (True,)]


def _cheapest(name: str) -> bool:
    known = CATALOGUE[name]
    return known.needs_writes or known.control


def selftest(jobs: Sequence[Job], *, processes: int = 1) -> Iterator[Trial]:
    """Make the trials and yield them in the order of the jobs, in several processes if asked to."""
    if processes <= 1:
        yield from _made(jobs)
        return
    size = min(_MOST_IN_A_PORTION, max(1, len(jobs) // processes))
    portions = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    # Each process has threads of its own, which a fork would take over half-way.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for trials in pool.map(_portion, portions):
            yield from trials


def _portion(jobs: Sequence[Job]) -> list[Trial]:
    return list(_made(jobs))


def _made(jobs: Iterable[Job]) -> Iterator[Trial]:
    with running(clock="auto", refusals="allow") as mock:
        for job in jobs:
            broken = None if job.name is None else CATALOGUE[job.name]
            yield tried(mock, broken, armed=job.armed, seed=job.seed)
