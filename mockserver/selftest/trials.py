"""Many trials: breaks and controls in both modes, and the mock as it is under many seeds."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.selftest.trial import Trial, tried
from mockserver.testing import running
from mockserver.values import dataclass

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
