"""The self-test: runs the rules against a mock that is broken on purpose."""

import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from threading import current_thread, main_thread
from typing import NamedTuple

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.options import Options
from mockserver.conformance.result import Result
from mockserver.conformance.runs.api import raise_if_interrupted
from mockserver.conformance.runs.runner import run, skip_unused_work
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.contract import ids
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, picked
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import CATALOGUE, NOTHING
from mockserver.testing import running
from mockserver.testing.server import MockServer

# Requests a second: the mock of the self-test needs no rate limit.
_UNHURRIED = Decimal(100_000)

ARMED = Arming(writes=True, most=200)
"""Submissions to the mock of the self-test are free."""


class TrialFinding(NamedTuple):
    """A finding as the self-test counts it: rule, operation, verdict and message."""

    rule: str
    operation: str
    verdict: str
    message: str = ""

    def __str__(self) -> str:
        return f"{self.rule}[{self.operation}] {self.verdict}: {self.message}"


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a run with one break, or without any (`layer` is `healthy` then).

    `expected` is the verdict that would be right, `control` tells that the mock kept the
    description, and `needs_writes` that only submissions show the break. `requests` and
    `submissions` count what was sent; `defects` are rules that raised an error, `unasked`
    those without requests, since these need edges or something that a user has to name.
    """

    name: str
    layer: str
    expected: str
    control: bool
    needs_writes: bool
    armed: bool
    seed: int
    findings: tuple[TrialFinding, ...]
    requests: int
    submissions: int
    elapsed_ms: int
    defects: tuple[str, ...] = ()
    unasked: frozenset[str] = frozenset()

    @property
    def detected(self) -> bool:
        return bool(self.findings)

    @property
    def verdict(self) -> str:
        """The worst verdict of what was found; `none` where nothing was."""
        order = [verdict.value for verdict in Verdict]
        return min((finding.verdict for finding in self.findings), key=order.index, default=NOTHING)

    @property
    def right(self) -> bool:
        """Whether the result is right: the expected verdict, and for a control nothing worse."""
        # A control is permitted behaviour: that nobody speaks of it is right, whatever was
        # expected.
        if self.control and not self.findings:
            return True
        return self.verdict == self.expected

    @property
    def false_alarm(self) -> bool:
        """Whether a control was reported with more than it allows."""
        return self.control and not self.right


HEALTHY = "healthy"


def tried(
    mock: MockServer,
    broken: Break | None,
    *,
    armed: bool,
    seed: int = 1,
    options: Options | None = None,
    rules: Sequence[Rule] = RULES,
) -> Trial:
    """Return the result of the rules for a world with one break, or without any."""
    called = f"{HEALTHY}-{seed}" if broken is None else broken.name
    arming = ARMED if armed else Arming()
    options = replace(options or Options(rate=_UNHURRIED), arming=arming, seed=seed)
    # Only there: edge cases are most of a run's requests.
    if broken is not None and broken.needs_edges:
        options = replace(options, edges=True)
    with mock.world(called, breaks=() if broken is None else (called,)) as world:
        target = Target(world.base_url, world.base_url)
        result = raise_if_interrupted(run(target, options, rules=rules))
    failed = [outcome for outcome in result.outcomes if outcome.is_defect]
    every = {outcome.rule.name for outcome in result.outcomes}
    judged = {
        outcome.rule.name
        for outcome in result.outcomes
        if outcome.verdict is not Verdict.NOT_APPLICABLE
    }
    return Trial(
        name=f"{HEALTHY} (seed {seed})" if broken is None else called,
        layer=HEALTHY if broken is None else broken.layer.value,
        expected=(broken and broken.verdict) or NOTHING,
        control=broken is None or broken.control,
        needs_writes=broken is not None and broken.needs_writes,
        armed=armed,
        seed=seed,
        findings=_findings(result),
        requests=result.requests,
        submissions=result.submissions,
        elapsed_ms=result.elapsed_ms,
        defects=tuple(f"{outcome.id}: {outcome.reason}" for outcome in failed),
        unasked=frozenset(every - judged),
    )


def _findings(result: Result) -> tuple[TrialFinding, ...]:
    return tuple(
        sorted(
            {
                TrialFinding(
                    outcome.rule.name,
                    outcome.operation.id,
                    outcome.verdict_of(finding),
                    finding.message,
                )
                for outcome in result.outcomes
                for finding in outcome.findings
            }
        )
    )


@dataclass(frozen=True, slots=True)
class Job:
    """A trial to make: of a break, or of the mock as it is where `name` is None.

    With `near` the rules of the operations that are broken are asked first, and the others only
    where these do not tell what is expected.
    """

    name: str | None
    armed: bool
    seed: int = 1
    near: bool = False


BOTH = (True, False)
"""The modes of runs: with submissions, and reading only."""


def jobs_of(
    names: Iterable[str], seeds: Iterable[int], modes: Sequence[bool] | None = BOTH
) -> list[Job]:
    """Return the trials of some breaks and of the mock as it is under some seeds.

    Without `modes` each is tried once: reading where reading can show the break, else submitting.
    """
    if modes is None:
        broken = [_cheapest(name) for name in names]
    else:
        broken = [Job(name, armed) for name in names for armed in modes]
    return broken + [Job(None, armed, seed) for seed in seeds for armed in modes or (True,)]


def _cheapest(name: str) -> Job:
    known = CATALOGUE[name]
    armed = known.needs_writes or known.control
    # No rule may blame a control. And in a run with few requests no ticket is solved, so that
    # nobody would learn whether the rule about solved tickets notices anything.
    by_all = known.control or (armed and ids.CHECK_TICKET in known.operations)
    return Job(name, armed, near=not by_all)


def selftest(
    jobs: Sequence[Job], *, processes: int = 1
) -> Generator[tuple[Job, Trial], None, None]:
    """Make the trials, and yield each with its job as soon as it is made.

    Raises `KeyboardInterrupt` where the user ends it; what was yielded until then is all there is.
    """
    if processes > 1:
        yield from _made_beside(jobs, processes)
        return
    with _mock() as mock:
        for job in jobs:
            yield job, _trial(mock, job)


def _made_beside(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, Trial]]:
    """Make trials in processes of their own: each gets a job, and the next when that is made."""
    # Spawned, since a fork would copy threads in an undefined state.
    spawn, pipes, workers = get_context("spawn"), [], []
    with _interrupts_ignored():
        for _ in range(min(processes, len(jobs))):
            ours, theirs = spawn.Pipe()
            workers.append(spawn.Process(target=_work, args=(theirs,), daemon=True))
            workers[-1].start()
            # Else this process would hold the other end, and never learn that a worker is gone.
            theirs.close()
            pipes.append(ours)
    coming, busy = iter(jobs), {}
    try:
        for pipe in pipes:
            busy[pipe] = next(coming)
            _send(pipe, busy[pipe])
        while busy:
            wait(list(busy))
            # A list, since `busy` changes on the way.
            for pipe in [pipe for pipe in busy if pipe.poll()]:
                try:
                    made = pipe.recv()
                except _GONE:
                    raise LostTrial(f"the process that tried {busy[pipe].name} has ended") from None
                if isinstance(made, Exception):
                    raise made
                job = busy.pop(pipe)
                if (following := next(coming, None)) is not None:
                    busy[pipe] = following
                    _send(pipe, following)
                yield job, made
    finally:
        # Running trials take seconds, and nobody waits for them.
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()


# What tells that a process at the other end of a pipe has ended.
_GONE = (EOFError, ConnectionError)


def _send(pipe: Connection, job: Job) -> None:
    # That the process has ended is told where its trial is read.
    with suppress(*_GONE):
        pipe.send(job)


class LostTrial(CrosschainMockError):
    """A process of the self-test that ended before its trial was made."""


def _work(pipe: Connection) -> None:
    """Make the trials of the jobs that come, until nobody sends any more."""
    skip_unused_work()
    with _mock() as mock, suppress(*_GONE):
        while True:
            job = pipe.recv()
            try:
                made: Trial | Exception = _trial(mock, job)
            except Exception as error:  # noqa: BLE001 - raised where the trials are collected
                made = error
            pipe.send(made)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Have processes that start now ignore Ctrl-C, which a terminal sends to each of them."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _mock() -> AbstractContextManager[MockServer]:
    return running(clock="auto", refusals="allow")


def _trial(mock: MockServer, job: Job) -> Trial:
    broken = None if job.name is None else CATALOGUE[job.name]
    if broken is not None and job.near:
        touched = set(broken.operations)
        rules = [rule for rule in RULES if not touched.isdisjoint(rule.operations)]
        trial = tried(mock, broken, armed=job.armed, seed=job.seed, rules=rules)
        if trial.right:
            return trial
    return tried(mock, broken, armed=job.armed, seed=job.seed)


FORMAT = "crosschain-mock/selftest@1"
_PERCENT = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True)
class LayerRow:
    """How many breaks of a layer were found: in runs that submit, and in runs that only read.

    `readable` is how many of them reading alone can show. None stands for a mode in which
    nothing of the layer was tried.
    """

    layer: str
    breaks: int
    detected_armed: int | None
    readable: int | None
    detected_reading: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The trials, summarised."""

    trials: tuple[Trial, ...]
    rules: tuple[str, ...]

    @property
    def breaks(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if not trial.control)

    @property
    def controls(self) -> tuple[Trial, ...]:
        return tuple(t for t in self.trials if t.control and t.layer != HEALTHY)

    @property
    def healthy(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.layer == HEALTHY)

    @property
    def missed(self) -> tuple[Trial, ...]:
        """Breaks that no rule noticed, though the mode allowed to."""
        return tuple(
            trial
            for trial in self.breaks
            # A break of what submissions do cannot be seen by a run that sends none.
            if not trial.detected and (trial.armed or not trial.needs_writes)
        )

    @property
    def false_alarms(self) -> tuple[Trial, ...]:
        """Controls and healthy runs that were reported wrongly."""
        return tuple(trial for trial in self.trials if trial.false_alarm)

    @property
    def wrong_verdicts(self) -> tuple[Trial, ...]:
        """Breaks that were found under the wrong label."""
        return tuple(trial for trial in self.breaks if trial.detected and not trial.right)

    @property
    def idle_rules(self) -> tuple[str, ...]:
        """Rules that found nothing in any trial, so that they may be unable to."""
        spoke = {finding.rule for trial in self.breaks for finding in trial.findings}
        quiet = {*spoke, *self.unasked_rules}
        return tuple(rule for rule in self.rules if rule not in quiet)

    @property
    def unasked_rules(self) -> tuple[str, ...]:
        """Rules without requests in the runs without a break.

        The trials do not test them, though the answers of a break may.
        """
        trials = self.healthy or self.breaks
        return tuple(rule for rule in self.rules if all(rule in trial.unasked for trial in trials))

    @property
    def defects(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(defect for trial in self.trials for defect in trial.defects))

    @property
    def layers(self) -> tuple[LayerRow, ...]:
        names = dict.fromkeys(trial.layer for trial in self.breaks)
        return tuple(self._row(name) for name in names)

    @property
    def right_share(self) -> Decimal:
        """How many of the breaks found have the right label, in percent rounded down."""
        trials = [trial for trial in self.breaks if trial.detected]
        return percent(sum(trial.right for trial in trials), len(trials))

    @property
    def reading(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.breaks if not trial.armed)

    @property
    def reading_share(self) -> Decimal | None:
        """How many of these found their break, in percent rounded down; None where none is."""
        detected = sum(trial.detected for trial in self.reading)
        return percent(detected, len(self.reading)) if self.reading else None

    @property
    def reading_submissions(self) -> int:
        """How many submissions the reading runs sent; anything but 0 is a defect."""
        return sum(trial.submissions for trial in self.trials if not trial.armed)

    @property
    def passed(self) -> bool:
        """Whether every break was found, no control was blamed, and no rule is idle or failed."""
        return not (
            self.missed
            or self.false_alarms
            or self.idle_rules
            or self.defects
            or self.reading_submissions
            or self.right_share < 98
        )

    def _row(self, layer: str) -> LayerRow:
        mine = [trial for trial in self.breaks if trial.layer == layer]
        armed = [trial for trial in mine if trial.armed]
        reading = [trial for trial in mine if not trial.armed]
        readable = [trial for trial in reading if not trial.needs_writes]
        return LayerRow(
            layer,
            max(len(armed), len(reading)),
            sum(trial.detected for trial in armed) if armed else None,
            len(readable) if reading else None,
            sum(trial.detected for trial in reading) if reading else None,
        )


def summary_of(trials: Iterable[Trial], rules: Sequence[Rule]) -> Summary:
    return Summary(tuple(trials), tuple(rule.name for rule in rules))


def percent(part: int, total: int) -> Decimal:
    """Return a share in percent with one decimal, rounded down; 100 of nothing."""
    if not total:
        return Decimal(100)
    return _PERCENT.quantize(_PERCENT.divide(Decimal(100 * part), total), Decimal("0.1"))


def as_json(summary: Summary) -> Json:
    return {
        "format": FORMAT,
        "passed": summary.passed,
        "layers": [
            {
                **picked(row, "layer", "breaks"),
                "foundWithSubmissions": row.detected_armed,
                "visibleToReading": row.readable,
                "foundByReading": row.detected_reading,
            }
            for row in summary.layers
        ],
        "rightVerdictsPercent": summary.right_share,
        "foundByReadingPercent": summary.reading_share,
        "submissionsOfReadingRuns": summary.reading_submissions,
        "missed": [_brief(trial) for trial in summary.missed],
        "falseAlarms": [_brief(trial) for trial in summary.false_alarms],
        "wrongVerdicts": [_brief(trial) for trial in summary.wrong_verdicts],
        **picked(summary, "idle_rules", "unasked_rules", "defects"),
        "trials": [_brief(trial) for trial in summary.trials],
    }


def _brief(trial: Trial) -> Json:
    return {
        **picked(trial, "name", "layer", "control"),
        "submits": trial.armed,
        **picked(trial, "seed", "expected", "verdict", "requests", "submissions"),
        "told": [str(finding) for finding in trial.findings],
    }
