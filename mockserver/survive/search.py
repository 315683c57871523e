"""The search: undisturbed runs, single failures by weight, pairs at calls that a first one made."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from itertools import islice
from time import monotonic

from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.survive.outcomes import Outcome, Result, judged
from mockserver.survive.runs import Lab, Run
from mockserver.survive.space import Calls, Failure, Kind, Point, failures_of, named
from mockserver.values import dataclass
from mockserver.worlds.audit import Expected, expected_of

_BASE_RUNS = 3
# How many times more requests than the undisturbed run a flow may send.
_MOST_REQUESTS = 10
_LEAST_REQUESTS = 600
_PER_POINT = 2
_NOT_PAIRED = ("course", "late", "clock", "price", "twice")


class NotUsable(CrosschainMockError):
    """A flow that cannot be searched: its undisturbed run fails, or does not use the mock."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search, and for how long."""

    kinds: Sequence[Kind]
    budget: int = 200
    seconds: float | None = None
    jobs: int = 1
    pairs: bool = True
    first: bool = False
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

    result: Result
    same: tuple[str, ...]


@dataclass(slots=True)
class Found:
    """What a search has found so far."""

    base: Run
    meant: tuple[Expected, ...]
    contract: Contract
    unsure: str = ""
    results: dict[str, Result] = field(default_factory=dict)
    defects: tuple[Defect, ...] = ()
    planned: int = 0
    runs: int = 0
    stopped: str = ""


Tell = Callable[[Found, Result | None], None]
"""Is told of each result as it comes."""


def search(
    lab: Lab,
    plan: Plan,
    tell: Tell = lambda found, result: None,
) -> Found:
    """Search the failures of a flow. Raises `NotUsable`, `UnknownFailure`, and `CannotStart`.

    Stops at the end of the plan, its budget or its time, or with `KeyboardInterrupt`; what was
    found so far is in the result.
    """
    found = _undisturbed(lab)
    tell(found, None)
    ends = None if plan.seconds is None else monotonic() + plan.seconds
    calls = Calls(found.base.operations, found.base.moved)
    singles = failures_of(calls, found.contract, plan.kinds, thorough=plan.thorough)
    waves = _Waves(lab, plan, found, tell, ends)
    try:
        wanted = _wanted(plan, singles, calls, found.contract)
        found.planned = len(wanted)
        waves.run(wanted)
        if plan.pairs and not plan.replay and not waves.over:
            pairs = list(_pairs(found, plan.kinds))
            found.planned += len(pairs)
            waves.run(pairs)
        found.defects = tuple(_defects(found, None if plan.replay else waves))
    except KeyboardInterrupt:
        found.stopped = "stopped by Ctrl-C"
        found.defects = tuple(_defects(found, None))
    return found


def _wanted(
    plan: Plan, singles: Sequence[Failure], calls: Calls, contract: Contract
) -> list[tuple[Failure, ...]]:
    """Return what to run first: the ids to replay, or all single failures that are not done."""
    if plan.replay:
        return [named(name, calls, contract) for name in plan.replay]
    before = set(plan.before)
    left = [one for one in singles if str(one) not in plan.done]
    left.sort(key=lambda one: str(one) not in before)
    return [(one,) for one in left]


def _undisturbed(lab: Lab) -> Found:
    """Return the undisturbed run, which has to come out the same three times."""
    runs = [lab.run()]
    base = runs[0]
    if not base.lines:
        raise NotUsable(
            f"{lab.flow.name!r} sent no request to the mock: it has to use the addresses in "
            "CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2" + _printed(base)
        )
    if not base.first.good:
        how = base.first.hung or f"it exits with {base.first.ended.code}"
        raise NotUsable(f"{lab.flow.name!r} fails when nothing goes wrong: {how}{_printed(base)}")
    meant = expected_of(base.moved)
    runs += [lab.run(meant=meant) for _ in range(_BASE_RUNS - 1)]
    found = Found(base, meant, lab.contract, runs=_BASE_RUNS)
    for run in runs[1:]:
        if why := _differs(run, base):
            found.unsure = f"the flow is not the same each time: {why}"
    if base.first.ended.left:
        found.unsure = found.unsure or "it leaves processes behind, which were ended"
    return found


def _printed(run: Run) -> str:
    lines = run.first.ended.output.strip().splitlines()[-8:]
    return "\n  it printed:\n    " + "\n    ".join(lines) if lines else ""


def _differs(run: Run, base: Run) -> str:
    if run.first.ended.code != base.first.ended.code:
        return f"it exited with {base.first.ended.code} and {run.first.ended.code}"
    ours, theirs = Counter(run.operations), Counter(base.operations)
    if ours != theirs:
        name = next(iter((ours - theirs) | (theirs - ours)))
        return f"{name} was called {theirs[name]} and {ours[name]} times"
    if run.operations != base.operations:
        return "requests come in another order (threads?)"
    if expected_of(run.moved) != expected_of(base.moved):
        return "it moves other money"
    return ""


class _Waves:
    """Runs failures in their order, several at a time, until the budget or the time is over."""

    def __init__(self, lab: Lab, plan: Plan, found: Found, tell: Tell, ends: float | None) -> None:
        self._lab, self._plan, self._found, self._tell = lab, plan, found, tell
        self._ends = ends
        requests = len(found.base.lines)
        self._most = max(_LEAST_REQUESTS, _MOST_REQUESTS * requests)

    @property
    def over(self) -> bool:
        """Whether no more runs are allowed."""
        found, plan = self._found, self._plan
        if plan.first and any(result.bad for result in found.results.values()):
            found.stopped = "stopped at the first harm"
        elif found.runs - _BASE_RUNS >= plan.budget:
            found.stopped = f"the budget of {plan.budget} runs is used up"
        elif self._ends is not None and monotonic() >= self._ends:
            found.stopped = "the time is used up"
        return bool(found.stopped)

    def run(self, wanted: Sequence[tuple[Failure, ...]]) -> None:
        """Run what fits, and keep the results in the order of the plan."""
        rest = iter(wanted)
        with ThreadPoolExecutor(self._plan.jobs) as pool:
            while not self.over:
                left = self._plan.budget - (self._found.runs - _BASE_RUNS)
                batch = list(islice(rest, min(self._plan.jobs, left)))
                if not batch:
                    return
                for result in pool.map(self.one, batch):
                    self._found.results[result.name] = result
                    self._found.runs += 1
                    self._tell(self._found, result)
                    if self._plan.first and result.bad:
                        break

    def one(self, failures: tuple[Failure, ...]) -> Result:
        """Run the flow with some failures, and judge it."""
        run = self._lab.run(failures, self._found.meant, self._most)
        return judged(run, self._found.base, refund_is_fine=self._plan.refund_is_fine)

    def shrunk(self, result: Result) -> Result:
        smallest = result
        for smaller in _smaller(result.run.failures):
            name = "+".join(map(str, smaller))
            tried = self._found.results.get(name)
            if tried is None and not self.over:
                tried = self._found.results[name] = self.one(smaller)
                self._found.runs += 1
            if tried is not None and tried.bad and tried.outcome is result.outcome:
                smallest = tried
                break
        return smallest


def _smaller(failures: tuple[Failure, ...]) -> Iterator[tuple[Failure, ...]]:
    if len(failures) > 1:
        yield from ((one,) for one in failures)
    for number, failure in enumerate(failures):
        for milder in failure.smaller():
            yield (*failures[:number], milder, *failures[number + 1 :])


def _pairs(found: Found, kinds: Sequence[Kind]) -> Iterator[tuple[Failure, ...]]:
    """Yield a second failure at each write that a first one has made: a retry, a ticket, a restart.

    What runs twice, and what is killed, is joined with all that survived a failed write.
    """
    usual = Counter(found.base.operations)
    seconds = [one for one in kinds if one.at in ("writes", "any") and one.name not in _NOT_PAIRED]
    tried: Counter[str] = Counter()
    writes = {operation.id for operation in found.contract if operation.writes}
    for result in list(found.results.values()):
        if result.bad or len(result.run.failures) != 1 or result.outcome is Outcome.NOT_REACHED:
            continue
        calls = Counter(result.run.operations)
        for operation, times in calls.items():
            if operation not in writes or times <= usual[operation]:
                continue
            for kind in seconds:
                point = Point(operation, usual[operation] + 1)
                form = next(iter(kind.forms))
                name = f"{kind.name} {point}"
                if tried[name] < _PER_POINT and kind is not result.run.failures[0].kind:
                    tried[name] += 1
                    yield result.run.failures[0], Failure(kind, form, point)


def _defects(found: Found, waves: _Waves | None) -> Iterator[Defect]:
    """Yield each defect once, by the smallest failure that shows it."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in list(found.results.values()):
        if result.bad:
            groups.setdefault(result.signature, []).append(result)
    for results in groups.values():
        smallest = min(results, key=_size)
        if waves is not None:
            smallest = waves.shrunk(smallest)
        names = tuple(result.name for result in results if result.name != smallest.name)
        yield Defect(smallest, names)


def _size(result: Result) -> tuple[int, int, int, int, str]:
    failures = result.run.failures
    later = sum(list(one.kind.forms).index(one.form) for one in failures)
    points = sum(one.point.nth for one in failures)
    # What happens the most often says the most to a reader.
    likely = sum(one.kind.weight for one in failures)
    return len(failures), -likely, -later, points, result.name
