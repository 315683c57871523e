"""The search: undisturbed runs, single failures by weight, pairs at calls that a first one made."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from time import monotonic
from typing import Protocol

from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.survive.outcomes import UNDISTURBED, RunOutcome, RunResult, judged, undisturbed
from mockserver.survive.parallel_runs import run_in_order
from mockserver.survive.possible_failures import (
    COSTLY,
    Calls,
    InjectedFailure,
    KindOfFailure,
    Point,
    failures_of,
    named,
)
from mockserver.survive.runs import RunOfFlow
from mockserver.worlds.audit import Expected, expected_of

_BASE_RUNS = 3
# How many times more requests than the undisturbed run a flow may send, and how many it always may:
# a careful client that tries two things for a day each sends more than a thousand.
_MOST_REQUESTS = 10
_LEAST_REQUESTS = 2_500
# How often a call that a first failure has made is struck by a second one of a kind.
_PER_POINT = 2
# As a second failure these tell nothing that they do not tell alone.
_NOT_PAIRED = ("course", "late", "clock", "price", "twice")


class Laboratory(Protocol):
    """Runs a flow, each time in a fresh world."""

    @property
    def name(self) -> str:
        """What the flow is called."""

    @property
    def contract(self) -> Contract:
        """The contract of its worlds."""

    def run(
        self,
        failures: Sequence[InjectedFailure] = (),
        meant: Sequence[Expected] | None = None,
        most_requests: int | None = None,
    ) -> RunOfFlow:
        """Run the flow once with these failures."""

    def interrupt(self) -> None:
        """End what runs now."""


class NotUsable(CrosschainMockError):
    """A flow that cannot be searched: its undisturbed run fails, or does not use the mock."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What to search, and for how long."""

    kinds: Sequence[KindOfFailure]
    budget: int = 200
    seconds: float | None = None
    jobs: int = 1
    """How many runs there are at a time; 0 for runs in the calling thread, as pytest needs it."""
    pairs: bool = True
    enough: Callable[[RunResult], bool] | None = None
    """Tells of a result that no more are needed; by default all are."""
    thorough: bool = False
    refund_is_fine: bool = False
    replay: Sequence[str] = ()
    """Ids of failures to run alone."""
    done: frozenset[str] = frozenset()
    """Ids that an earlier search has tried without harm."""
    before: Sequence[str] = ()
    """Ids that did harm in an earlier search; they come first."""


@dataclass(frozen=True, slots=True)
class Defect:
    """What several failures have shown alike: the smallest of them, and how many there are."""

    result: RunResult
    same: tuple[str, ...]


@dataclass(slots=True)
class SearchReport:
    """What a search has found so far."""

    base: RunOfFlow
    meant: tuple[Expected, ...]
    contract: Contract
    unsure: str = ""
    notes: list[str] = field(default_factory=list)
    """What a reader has to know, and makes nothing unsure."""
    results: dict[str, RunResult] = field(default_factory=dict)
    defects: tuple[Defect, ...] = ()
    planned: int = 0
    runs: int = 0
    stopped: str = ""


Tell = Callable[[SearchReport, RunResult | None], None]
"""Is told of each result as it comes."""


def search(
    lab: Laboratory,
    plan: SearchPlan,
    tell: Tell = lambda report, result: None,
) -> SearchReport:
    """Search the failures of a flow. Raises `NotUsable`, `UnknownFailure`, and `CannotStart`.

    Stops at the end of the plan, its budget or its time, or with `KeyboardInterrupt`; what is
    known by then is in the report.
    """
    report = _undisturbed(lab)
    tell(report, None)
    ends = None if plan.seconds is None else monotonic() + plan.seconds
    calls = Calls(report.base.operations, report.base.moved)
    singles = failures_of(calls, report.contract, plan.kinds, thorough=plan.thorough)
    waves = _Waves(lab, plan, report, tell, ends)
    try:
        wanted = _wanted(plan, singles, calls, report.contract)
        report.planned = len(wanted)
        # What retries is known when each kind was tried once; its pairs need not wait for the rest.
        each = 0 if plan.replay else _until_each_kind(wanted)
        for singles_now, retries in ((wanted[:each], True), (wanted[each:], False)):
            waves.run(singles_now)
            if plan.pairs and not plan.replay and not waves.over:
                pairs = list(_pairs(report, plan.kinds, retries=retries))
                report.planned += len(pairs)
                waves.run(pairs)
        report.defects = tuple(_defects(report, None if plan.replay else waves))
    except KeyboardInterrupt:
        report.stopped = "stopped by Ctrl-C"
        report.defects = tuple(_defects(report, None))
    return report


def _wanted(
    plan: SearchPlan, singles: Sequence[InjectedFailure], calls: Calls, contract: Contract
) -> list[tuple[InjectedFailure, ...]]:
    """Return what to run first: the ids to replay, or all single failures that are not done."""
    if plan.replay:
        return [named(name, calls, contract) for name in plan.replay if name != UNDISTURBED]
    before = set(plan.before)
    left = [failure for failure in singles if str(failure) not in plan.done]
    left.sort(key=lambda failure: str(failure) not in before)
    return [(failure,) for failure in left]


def _until_each_kind(wanted: Sequence[tuple[InjectedFailure, ...]]) -> int:
    """Return how many failures there are until each kind has been tried."""
    first: dict[str, int] = {}
    for number, (failure,) in enumerate(wanted, 1):
        first.setdefault(failure.kind.name, number)
    return max(first.values(), default=0)


def _undisturbed(lab: Laboratory) -> SearchReport:
    """Return the undisturbed run, which has to come out the same three times."""
    base = lab.run()
    elsewhere = "".join(f"\n  it connected to {peer}" for peer in base.elsewhere[:8])
    printed = base.first.ended.last_lines
    code, hung = base.first.ended.code, base.first.hung
    how = f"signal {-code} ends it" if code < 0 else f"it exits with {code}"
    if not base.lines:
        also = f", and {hung or how}" if hung or code else ""
        raise NotUsable(
            f"{lab.name!r} sent no request to the mock{also}: it has to use the addresses in "
            f"CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2{elsewhere}{printed}"
        )
    if hung:
        raise NotUsable(
            f"{lab.name!r} does not end when nothing goes wrong: {hung}; a flow "
            f"pays, follows its orders and ends{elsewhere}{printed}"
        )
    if code:
        raise NotUsable(f"{lab.name!r} fails when nothing goes wrong: {how}{elsewhere}{printed}")
    meant = expected_of(base.moved)
    report = SearchReport(base, meant, lab.contract, runs=_BASE_RUNS)
    for _ in range(_BASE_RUNS - 1):
        _compare(report, lab.run(meant=meant))
    if base.unordered:
        report.notes.append(
            "it sends requests at once while a part of it never rests: which comes first is the "
            "machine's chance, so that another search may differ"
        )
    if not meant:
        report.notes.append("the undisturbed run moves no money that the mock can see")
    if base.first.ended.left:
        report.unsure = report.unsure or "it leaves processes behind, which were ended"
    if base.elsewhere:
        peers = ", ".join(base.elsewhere[:5])
        report.notes.append(f"it also connects to {peers}, where no failure strikes")
    if (wrong := undisturbed(base)) is not None:
        report.results[wrong.name] = wrong
    return report


def _compare(report: SearchReport, run: RunOfFlow) -> None:
    """Note how a second undisturbed run differs; what differs in money or writes is unsure."""
    base = report.base
    ours, theirs = Counter(run.operations), Counter(base.operations)
    different = sorted(name for name in ours | theirs if ours[name] != theirs[name])
    writing = {operation.id for operation in report.contract if operation.writes}
    writes = [name for name in different if name in writing]
    why = note = ""
    if run.first.ended.code != base.first.ended.code:
        why = f"it exited with {base.first.ended.code} and {run.first.ended.code}"
    elif writes:
        name = writes[0]
        why = f"{name} was called {theirs[name]} and {ours[name]} times"
    elif set(expected_of(run.moved)) != set(report.meant):
        why = "it moves other money"
    elif different:
        name = different[0]
        note = f"{name} was called {theirs[name]} and {ours[name]} times, undisturbed"
    elif run.operations != base.operations:
        note = "requests come in another order from run to run (threads?)"
    if why:
        report.unsure = f"the flow is not the same each time: {why}"
    if note and note not in report.notes:
        report.notes.append(note)


class _Waves:
    """Runs failures in their order, several at a time, until the budget or the time is over."""

    def __init__(
        self,
        lab: Laboratory,
        plan: SearchPlan,
        report: SearchReport,
        tell: Tell,
        ends: float | None,
    ) -> None:
        self._lab, self._plan, self._report, self._tell = lab, plan, report, tell
        self._ends = ends
        requests = len(report.base.lines)
        self._most = max(_LEAST_REQUESTS, _MOST_REQUESTS * requests)

    @property
    def over(self) -> bool:
        """Whether nothing more is to be tried."""
        report, plan = self._report, self._plan
        if self._spent:
            return True
        if plan.enough is not None and any(map(plan.enough, report.results.values())):
            report.stopped = "stopped at the first harm"
            return True
        return False

    @property
    def _spent(self) -> bool:
        """Whether budget or time allow no more runs, not even to make a failure smaller."""
        report, plan = self._report, self._plan
        if report.runs - _BASE_RUNS >= plan.budget:
            report.stopped = f"the budget of {plan.budget} runs is used up"
            return True
        if self._ends is not None and monotonic() >= self._ends:
            report.stopped = "the time is used up"
            return True
        return False

    def run(self, wanted: Sequence[tuple[InjectedFailure, ...]]) -> None:
        """Run what fits, and keep the results in the order of the plan."""
        report, plan = self._report, self._plan

        def take(result: RunResult) -> None:
            report.results[result.name] = result
            report.runs += 1
            self._tell(report, result)

        run_in_order(
            self.outcome_of,
            wanted,
            jobs=plan.jobs,
            room=lambda: 0 if self.over else plan.budget - (report.runs - _BASE_RUNS),
            take=take,
            interrupt=self._lab.interrupt,
        )

    def outcome_of(self, failures: tuple[InjectedFailure, ...]) -> RunResult:
        """Run the flow with some failures, and judge it."""
        report = self._report
        run = self._lab.run(failures, report.meant, self._most)
        return judged(run, report.base, report.meant, refund_is_fine=self._plan.refund_is_fine)

    def shrunk(self, result: RunResult) -> RunResult:
        """Return the smallest failure that shows what a result shows."""
        for smaller in _smaller(result.run.failures):
            name = "+".join(map(str, smaller))
            tried = self._report.results.get(name)
            if tried is None and not self._spent:
                tried = self._report.results[name] = self.outcome_of(smaller)
                self._report.runs += 1
            if tried is not None and tried.bad and set(tried.kinds) & set(result.kinds):
                return tried
        return result


def _smaller(failures: tuple[InjectedFailure, ...]) -> Iterator[tuple[InjectedFailure, ...]]:
    if len(failures) > 1:
        yield from ((failure,) for failure in failures)
    for number, failure in enumerate(failures):
        for milder in failure.smaller():
            yield (*failures[:number], milder, *failures[number + 1 :])


def _pairs(
    report: SearchReport, kinds: Sequence[KindOfFailure], *, retries: bool
) -> Iterator[tuple[InjectedFailure, ...]]:
    """Yield a second failure at each write that a first has made: a retry, a ticket, a restart.

    What was tried before is left out, and counts. With `retries` only what a failed call has made,
    and by the costly kinds; a ticket for an order that does not arrive comes later.
    """
    # What runs twice, and what is killed, is joined with all that survived a failed write.
    undisturbed_calls = Counter(report.base.operations)
    seconds = [
        kind
        for kind in kinds
        if kind.at in ("writes", "any")
        and kind.name not in _NOT_PAIRED
        and (kind.weight >= COSTLY or not retries)
    ]
    tried: Counter[str] = Counter()
    names = set(report.results)
    for result in report.results.values():
        tried.update(f"{second.kind.name} {second.point}" for second in result.run.failures[1:])
    writes = {operation.id for operation in report.contract if operation.writes}
    for result in list(report.results.values()):
        if result.bad or len(result.run.failures) != 1 or result.outcome is RunOutcome.NOT_REACHED:
            continue
        calls = Counter(result.run.operations)
        for operation, times in calls.items():
            if times <= undisturbed_calls[operation] or operation not in writes:
                continue
            # What retries under a failure that strikes all calls does so after one of them.
            first = _sparing(result.run.failures[0], operation)
            if first is None or (retries and first.point.operation != operation):
                continue
            for kind in seconds:
                point = Point(operation, undisturbed_calls[operation] + 1)
                form = next(iter(kind.forms))
                name = f"{kind.name} {point}"
                pair = first, InjectedFailure(kind, form, point)
                joined = "+".join(map(str, pair))
                if kind.name == first.kind.name or joined in names or tried[name] >= _PER_POINT:
                    continue
                names.add(joined)
                tried[name] += 1
                yield pair


def _sparing(failure: InjectedFailure, operation: str) -> InjectedFailure | None:
    """Return a failure that leaves calls of an operation to another: itself, or a milder form."""
    for milder in (failure, *failure.smaller()):
        if not milder.strikes_all_of(operation):
            return milder
    return None


def _defects(report: SearchReport, waves: _Waves | None) -> Iterator[Defect]:
    """Yield each defect once, by the smallest failure that shows it."""
    groups: dict[tuple[object, ...], list[RunResult]] = {}
    for result in list(report.results.values()):
        if result.bad:
            groups.setdefault(result.signature, []).append(result)
    defects: dict[str, tuple[RunResult, list[str]]] = {}
    for results in groups.values():
        smallest = min(results, key=_size)
        if waves is not None:
            smallest = waves.shrunk(smallest)
        # Two groups that shrink to one failure are one defect.
        _, names = defects.setdefault(smallest.name, (smallest, []))
        names += [result.name for result in results if result.name != smallest.name]
    for smallest, names in defects.values():
        yield Defect(smallest, tuple(names))


def _size(result: RunResult) -> tuple[int, int, int, int, str]:
    failures = result.run.failures
    later = sum(list(failure.kind.forms).index(failure.form) for failure in failures)
    points = sum(failure.point.nth for failure in failures)
    # What happens the most often says the most to a reader.
    likely = sum(failure.kind.weight for failure in failures)
    return len(failures), -likely, -later, points, result.name
