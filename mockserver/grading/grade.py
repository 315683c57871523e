"""A suite of tests against one break at a time: which breaks does it kill, and which survive?"""

import json
import os
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from enum import StrEnum
from itertools import count, islice
from pathlib import Path
from time import monotonic

from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import BREAKS
from mockserver.server.graded import BREAK, NOTES, GradedRun
from mockserver.survive.flows import Ended, Process, Runnable
from mockserver.testing import MockServer, MockSettings
from mockserver.testing.running import in_thread
from mockserver.values import dataclass

_BASE_RUNS = 2
# A suite that waits for what a break withholds is slower, and a busy machine is slower still.
_SLOWER, _LEAST_S = 8, 30.0


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

    `example` is an answer that it changed, as the server has noted it; None where the true answer
    is not known, since the break never asked for it.
    """

    made: Break
    outcome: TrialOutcome
    operation: str = ""
    example: Mapping[str, Json] | None = None
    output: str = ""
    late: bool = False


@dataclass(frozen=True, slots=True)
class GradePlan:
    """Which breaks are tried, and for how long; `seconds` is wall time."""

    only: Sequence[str] = ()
    operations: Sequence[str] = ()
    budget: int = 1000
    seconds: float | None = None
    jobs: int = 1
    first: bool = False


@dataclass(slots=True)
class GradeReport:
    """What came of the breaks so far. `operations` are those that the suite calls."""

    contract: Contract
    operations: tuple[str, ...] = ()
    planned: int = 0
    trials: list[BreakTrial] = field(default_factory=list)
    stopped: str = ""

    def of(self, outcome: TrialOutcome) -> list[BreakTrial]:
        return [trial for trial in self.trials if trial.outcome is outcome]

    @property
    def percent(self) -> int | None:
        """How many of a hundred breaks that reached the suite it killed, rounded down."""
        killed = len(self.of(TrialOutcome.KILLED))
        reached = killed + len(self.of(TrialOutcome.SURVIVED))
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
        seconds = bench.base(report)
        wanted = _wanted(plan, report)
        report.planned = len(wanted)
        try:
            _try_all(bench, plan, report, wanted, max(_LEAST_S, _SLOWER * seconds), tell)
        except KeyboardInterrupt:
            report.stopped = "stopped by Ctrl-C"
        return report
    finally:
        bench.close()


def _wanted(plan: GradePlan, report: GradeReport) -> list[Break]:
    """Return the breaks of operations that the suite calls, in the order of the table."""
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
    limit_s: float,
    tell: GradeProgress,
) -> None:
    ends = None if plan.seconds is None else monotonic() + plan.seconds
    rest, running = islice(wanted, plan.budget), deque[Future[BreakTrial]]()
    with ThreadPoolExecutor(plan.jobs) as pool:
        try:
            while True:
                if plan.first and report.of(TrialOutcome.SURVIVED):
                    report.stopped = "stopped at the first survivor"
                    return
                if ends is not None and monotonic() >= ends:
                    report.stopped = "the time is used up"
                    return
                for made in islice(rest, max(0, plan.jobs + 1 - len(running))):
                    running.append(pool.submit(bench.trial, made, limit_s))
                if not running:
                    break
                report.trials.append(running.popleft().result())
                tell(report)
        except KeyboardInterrupt:
            bench.interrupt()
            raise
        finally:
            for future in running:
                future.cancel()
    if len(wanted) > plan.budget:
        report.stopped = f"the budget of {plan.budget} breaks is used up"


class _Bench:
    """Runs the suite, each time with a server of its own, in which every world has the break."""

    def __init__(self, suite: Runnable, settings: MockSettings) -> None:
        self._suite = suite
        # Its own requests are the suite's business here, and no verdict of the mock.
        self._settings = settings.changed(refusals="allow", unused="allow")
        self._folder = Path(tempfile.mkdtemp(prefix="crosschain-mock-grade-"))
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

    def base(self, report: GradeReport) -> float:
        """Run the suite without a break, twice; return how many seconds the slower run took.

        Raises `NotGradable`.
        """
        called: dict[str, None] = {}
        slowest = 0.0
        for number in range(_BASE_RUNS):
            began = monotonic()
            ended, notes = self._run("", None)
            slowest = max(slowest, monotonic() - began)
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
        if not struck:
            outcome = TrialOutcome.UNSURE if failed else TrialOutcome.NOT_REACHED
            return BreakTrial(made, outcome, output=ended.last_lines if failed else "")
        # One with the true answer beside it tells a reader the most.
        first = max(struck, key=lambda note: "example" in note)
        return BreakTrial(
            made,
            TrialOutcome.KILLED if failed else TrialOutcome.SURVIVED,
            operation=str(first["operation"]),
            example=first.get("example"),
            output=ended.last_lines if failed else "",
            late=ended.late,
        )

    def _run(self, name: str, limit_s: float | None) -> tuple[Ended, list[dict[str, Json]]]:
        """Return how the suite ended, and what its servers have noted. No limit waits for it."""
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
                    ended = process.wait(_A_DAY if limit_s is None else limit_s)
                finally:
                    process.send(signal.SIGKILL)
                    del self._running[number]
            return ended, list(_read(notes))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


_A_DAY = 86_400.0


def _variables(server: MockServer, folder: Path, notes: Path, name: str) -> dict[str, str]:
    """Return the environment of a run: its addresses, and where tools keep what they learn.

    The caches of pytest and Hypothesis go to the run's folder: what fails because of a break is
    nothing that the suite should try first tomorrow. A pytest that is forked has read its options.
    """
    url = server.url
    options = os.environ.get("PYTEST_ADDOPTS", "")
    return {
        "CROSSCHAIN_MOCK_URL": url,
        "CROSSCHAIN_MOCK_BASE_URL": url,
        "CROSSCHAIN_MOCK_BASE_URL_V2": url,
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
