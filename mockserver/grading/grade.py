"""A suite of tests against one break at a time: which breaks does it kill, and which survive?"""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from itertools import count
from pathlib import Path
from time import monotonic

from mockserver import child_processes
from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.grading.break_costs import MISLED, MONEY, SurvivorReason, explained
from mockserver.jsontext import Json
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import BREAKS
from mockserver.server.grading import BREAK, NOTES, GradedRun
from mockserver.survive.flows import Ended, Process, Runnable, folder_of_runs
from mockserver.survive.parallel_runs import run_in_order
from mockserver.testing import MockServer, MockSettings
from mockserver.testing.running import in_thread

_BASE_RUNS = 2
# A suite that waits for what a break withholds is slower, and a busy machine is slower still. A
# quick one that asks for ten lists of three seconds each has to come to its end as well.
_SLOWER, _LEAST_S = 8, 60.0
# A suite that hangs by itself is told so within this time.
_LONGEST_BASE_S = 600.0


class NotGradable(CrosschainMockError):
    """A suite that fails without a break, or does not use the mock."""

    exit_code = 3


class TrialOutcome(StrEnum):
    """What a suite made of a break."""

    KILLED = "killed"
    SURVIVED = "survived"
    NOT_REACHED = "not reached"
    UNSURE = "unsure"
    """It failed although the break changed no answer that it got: it is not the same each time."""


@dataclass(frozen=True, slots=True)
class BreakTrial:
    """A break, and what the suite made of it.

    `example` is an answer that it changed, the dearest of all, as the server has noted it; None
    where the true answer is not known, since the break never asked for it.
    """

    made: Break
    outcome: TrialOutcome
    operation: str = ""
    example: Mapping[str, Json] | None = None
    output: str = ""
    late: bool = False
    reason: SurvivorReason | None = None
    """How the true answer differs from `example`; None where that is not known."""
    alters: bool = False
    """Whether it took a submission of which it did something else, so that money goes astray."""

    @property
    def weight(self) -> int:
        """What the break may cost, from 1 to 5."""
        if self.reason is not None:
            return self.reason.weight
        return MONEY if self.alters else MISLED


@dataclass(frozen=True, slots=True)
class GradePlan:
    """Which breaks are tried, and for how long; `seconds` is wall time."""

    only: Sequence[str] = ()
    operations: Sequence[str] = ()
    budget: int = 1000
    seconds: float | None = None
    jobs: int = 1
    first: bool = False
    wall_s: float | None = None
    """How long one run may take; by default so long as it needs without a break, eight times."""


@dataclass(slots=True)
class GradeReport:
    """What came of the breaks so far. `operations` are those that the suite calls."""

    contract: Contract
    operations: tuple[str, ...] = ()
    planned: int = 0
    trials: list[BreakTrial] = field(default_factory=list)
    limit_s: float = 0.0
    """After how many seconds a run with a break was stopped, and counted as killed."""
    notes: list[str] = field(default_factory=list)
    stopped: str = ""

    def of(self, outcome: TrialOutcome) -> list[BreakTrial]:
        return [trial for trial in self.trials if trial.outcome is outcome]

    @property
    def percent(self) -> int | None:
        """How many of a hundred breaks that reached the suite it killed, rounded down."""
        return self._share(lambda trial: 1)

    @property
    def score(self) -> int | None:
        """The same with each break by what it may cost."""
        return self._share(lambda trial: trial.weight)

    def _share(self, weight: Callable[[BreakTrial], int]) -> int | None:
        killed = sum(map(weight, self.of(TrialOutcome.KILLED)))
        reached = killed + sum(map(weight, self.of(TrialOutcome.SURVIVED)))
        return 100 * killed // reached if reached else None


GradeProgress = Callable[[GradeReport], None]
"""Is told after each trial."""


def grade(
    suite: Runnable,
    plan: GradePlan,
    settings: MockSettings,
    tell: GradeProgress = lambda report: None,
) -> GradeReport:
    """Run a suite against each break that it could notice.

    Raises `NotGradable` and `CannotStart`. Ends with the plan, its budget or its time, or with
    `KeyboardInterrupt`; what is known by then is in the report.
    """
    bench = _Bench(suite, settings)
    try:
        report = GradeReport(bench.contract)
        longest_s = bench.base(report, plan.wall_s or _LONGEST_BASE_S)
        wanted = _wanted(plan, report)
        report.planned = len(wanted)
        try:
            report.limit_s = plan.wall_s or max(_LEAST_S, _SLOWER * longest_s)
            _try_all(bench, plan, report, wanted, tell)
        except KeyboardInterrupt:
            report.stopped = "stopped by Ctrl-C"
        return report
    finally:
        # Whatever ended the grading: the bench has a server, and a process that forks.
        bench.close()


def _wanted(plan: GradePlan, report: GradeReport) -> list[Break]:
    """Return the breaks of operations that the suite calls, in the order of the table."""
    # What the suite never calls it cannot notice.
    called = set(report.operations) & set(plan.operations or report.operations)
    return [
        each
        for each in BREAKS
        if not each.control and called & set(each.operations)
        if not plan.only or each.name in plan.only
    ]


def _try_all(
    bench: "_Bench",
    plan: GradePlan,
    report: GradeReport,
    wanted: Sequence[Break],
    tell: GradeProgress,
) -> None:
    ends = None if plan.seconds is None else monotonic() + plan.seconds

    def room() -> int:
        if plan.first and report.of(TrialOutcome.SURVIVED):
            report.stopped = "stopped at the first survivor"
        elif ends is not None and monotonic() >= ends:
            report.stopped = "the time is used up"
        # Asked before each trial, and answered by what is known then.
        return 0 if report.stopped else plan.budget - len(report.trials)

    def take(trial: BreakTrial) -> None:
        report.trials.append(trial)
        tell(report)

    run_in_order(
        lambda made: bench.trial(made, report.limit_s),
        wanted,
        jobs=plan.jobs,
        room=room,
        take=take,
        interrupt=bench.interrupt,
    )
    if not report.stopped and len(wanted) > plan.budget:
        report.stopped = f"the budget of {plan.budget} breaks is used up"


class _Bench:
    """Runs the suite, each time with a server of its own, in which every world has the break."""

    def __init__(self, suite: Runnable, settings: MockSettings) -> None:
        self._suite = suite
        # Its own requests are the suite's business here, and no verdict of the mock.
        self._settings = settings.changed(refusals="allow", unused="allow")
        self._folder = folder_of_runs("grade")
        self._numbers = count(1)
        self._running: dict[int, Process] = {}
        self._interrupted = False
        self.contract = self._server().locked.service.worlds.get("default").contract

    def _server(self) -> MockServer:
        return MockServer(self._settings)

    def interrupt(self) -> None:
        """Kill what runs now; those who wait for it go on."""
        self._interrupted = True
        for process in list(self._running.values()):
            process.send(signal.SIGKILL)

    def close(self) -> None:
        """Leave nothing behind."""
        self._suite.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def base(self, report: GradeReport, limit_s: float) -> float:
        """Run the suite without a break, twice; return how many seconds the slower run took.

        Raises `NotGradable`, also for a run that does not end within so many seconds.
        """
        called: dict[str, None] = {}
        slowest = 0.0
        for number in range(_BASE_RUNS):
            began = monotonic()
            ended, notes = self._run("", limit_s)
            slowest = max(slowest, monotonic() - began)
            if ended.late:
                raise NotGradable(
                    f"{self._suite.name!r} does not end within {limit_s:g} s without any break: "
                    f"give it more by --wall, or mend what it waits for{ended.last_lines}"
                )
            if ended.left and not report.notes:
                report.notes.append("the suite leaves processes behind, which are ended")
            if ended.code != 0:
                once = " the second time" if number else ""
                code = f"signal {-ended.code} ends it" if ended.code < 0 else f"{ended.code}"
                raise NotGradable(
                    f"{self._suite.name!r} fails{once} without any break (exit code {code}): a "
                    f"suite is graded once it passes, each time{ended.last_lines}"
                )
            called |= {str(note["operation"]): None for note in notes}
        if not called:
            raise NotGradable(
                f"{self._suite.name!r} called no operation of the mock: its tests have to use the "
                "addresses in CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2, the "
                f"fixture crosschain_mock, or a server that they start{ended.last_lines}"
            )
        report.operations = tuple(called)
        return slowest

    def trial(self, made: Break, limit_s: float) -> BreakTrial:
        """Run the suite against one break."""
        ended, notes = self._run(made.name, limit_s)
        struck = [note for note in notes if note.get("break") == made.name]
        failed = ended.code != 0 or ended.late
        # A break that changed no answer proves nothing, however the suite ended.
        if not struck:
            outcome = TrialOutcome.UNSURE if failed else TrialOutcome.NOT_REACHED
            return BreakTrial(made, outcome, output=ended.last_lines if failed else "")
        explained_notes = [(note, _reason_in(note)) for note in struck]
        # What costs the most tells a reader the most, if the true answer is known.
        first, reason = max(explained_notes, key=lambda pair: pair[1].weight if pair[1] else 0)
        return BreakTrial(
            made,
            TrialOutcome.KILLED if failed else TrialOutcome.SURVIVED,
            operation=str(first["operation"]),
            example=first.get("example"),
            output=ended.last_lines if failed else "",
            late=ended.late,
            reason=reason,
            alters=any(map(self._alters, struck)),
        )

    def _alters(self, note: Mapping[str, Json]) -> bool:
        operation = self.contract.get(str(note["operation"]))
        return operation is not None and operation.writes and not note["refused"]

    def _run(self, name: str, limit_s: float) -> tuple[Ended, list[dict[str, Json]]]:
        """Return how the suite ended, and what its servers have noted."""
        if self._interrupted:
            raise KeyboardInterrupt
        number = next(self._numbers)
        folder = self._folder / str(number)
        (folder / "state").mkdir(parents=True)
        notes = folder / "notes"
        server = self._server()
        server.locked.service.graded = GradedRun(notes, name)
        try:
            with in_thread(server.locked, 0) as server.port:
                variables = _variables(server, folder, notes, name)
                process = self._suite.start(str(number), variables, folder / "output")
                self._running[number] = process
                try:
                    ended = process.wait(limit_s)
                finally:
                    # Whatever it has left: the next run must not meet requests of this one.
                    process.send(signal.SIGKILL)
                    del self._running[number]
            return ended, list(_read(notes))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _reason_in(note: Mapping[str, Json]) -> SurvivorReason | None:
    return explained(str(note["operation"]), note["example"]) if "example" in note else None


def _variables(server: MockServer, folder: Path, notes: Path, name: str) -> dict[str, str]:
    """Return the environment of a run: its addresses, and where tools keep what they learn."""
    # The caches of pytest and Hypothesis go to the run's folder: what fails because of a break is
    # nothing that the suite should try first tomorrow. A pytest that is forked has read its
    # options.
    options = os.environ.get("PYTEST_ADDOPTS", "")
    return {
        **child_processes.addressed(server.url),
        "CROSSCHAIN_MOCK_STATE": str(folder / "state"),
        NOTES: str(notes),
        BREAK: name,
        "PYTEST_ADDOPTS": f"{options} -x -o cache_dir={folder / 'cache'}".strip(),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
    }


def _read(notes: Path) -> Iterator[dict[str, Json]]:
    try:
        lines = notes.read_bytes().splitlines()
    except FileNotFoundError:
        return
    yield from map(json.loads, lines)
