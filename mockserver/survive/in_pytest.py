"""A pytest test as a flow: it runs again and again in pytest itself, and its defects are reports.

Imported by the plugin for tests that are searched, and for no others.
"""

import os
import signal
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import pytest
from _pytest.runner import runtestprotocol

from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.suggestions import did_you_mean
from mockserver.survive.api import is_bad
from mockserver.survive.flows import Ended
from mockserver.survive.outcomes import RunOutcome, RunResult
from mockserver.survive.possible_failures import InjectedFailure, kinds_named
from mockserver.survive.report import defect_lines, headline, ordered, summary
from mockserver.survive.runs import HOUR_MS, FlowStart, RunLimits, RunOfFlow, TrialRun
from mockserver.survive.search import SearchPlan, SearchReport, search
from mockserver.testing import BadSetting, MockServer, MockWorld
from mockserver.worlds.audit import Expected

if TYPE_CHECKING:
    from _pytest.reports import TestReport

RUNNING: "pytest.StashKey[ItemRun]" = pytest.StashKey()
"""The run of a search that a variant of a test belongs to."""
SELECTED: pytest.StashKey[str] = pytest.StashKey()
"""The failure of a test that was selected by the id of a report; empty for a whole search."""
RENAMED = "crosschain_mock_nodeid"
"""The attribute of a report that has its own id."""
_OPTIONS = {
    "only": (str, list, tuple),
    "skip": (str, list, tuple),
    "quick": (bool,),
    "budget": (int,),
    "seconds": (int, float),
    "pairs": (bool,),
    "first": (bool,),
    "thorough": (bool,),
    "refund_is_fine": (bool,),
    "wall": (int, float),
}
_RERUNS = 2
_STATE = "crosschain_mock_state"
_PROPERTY = "crosschain_mock_survive"


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """How a test is searched; `left_out` are the kinds that need a process of the client's own."""

    plan: SearchPlan
    wall_s: float
    left_out: tuple[str, ...]
    named: bool
    """Whether somebody has named the kinds, and wants to hear of those that never struck."""


class ItemRun:
    """A run of a test in one world, which its fixtures find again when it is started again."""

    def __init__(self, failures: Sequence[InjectedFailure], state: Path) -> None:
        self._failures, self.state = failures, state
        self.trial: TrialRun | None = None
        self.world: MockWorld | None = None
        self.restartable = False
        """Whether the test has asked for the folder that a restart finds again."""
        self.stopper: _Stopper | None = None

    def world_of(self, server: MockServer, name: str, changes: Mapping[str, Any]) -> MockWorld:
        """Return the world of this run, made when it is first asked for."""
        if self.world is None:
            # What fails the test is its own asserts: refusals and idle faults are the search's.
            settings = {**changes, "refusals": "allow", "unused": "allow", "audit": (), "lint": ()}
            self.world = server.world(name, **settings)
            self.trial = TrialRun(self.world, self._failures)
        if self.stopper is not None:
            self.stopper.watch(self.world)
        return self.world

    def close(self) -> None:
        if self.world is not None:
            self.world.close()


class _Stopper:
    """Ends a test that goes on for ever, by its requests, the time of its world, and the wall.

    A signal raises in the main thread, wherever the test is. Without such signals nothing is ended.
    """

    def __init__(self, limits: RunLimits) -> None:
        self._limits = limits
        self._hosted: Any = None
        self._began_ms = self._before = 0
        self._over = threading.Event()
        self._armed = False
        self.hung, self.too_slow = "", False

    def watch(self, world: MockWorld) -> None:
        with world.hosted() as hosted:
            self._hosted = hosted
            self._began_ms, self._before = hosted.world.now(), hosted.requests

    @contextmanager
    def running(self) -> Iterator[None]:
        number = getattr(signal, "SIGUSR2", None)
        if number is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(number, self._raise)
        thread = threading.Thread(target=self._watch, args=(number,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            signal.signal(number, before)

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Let the test be ended while its call runs, and not between its phases."""
        self._armed = True
        try:
            yield
        except BaseException as error:
            self._armed = False
            if self.hung:
                _dropped(error)
            raise
        finally:
            self._armed = False

    def _raise(self, *_: object) -> None:
        if self._armed:
            pytest.fail(f"ended by the search: {self.hung}", pytrace=False)

    def _watch(self, number: int) -> None:
        waited, seen = 0.0, 0
        while not self._over.wait(0.05):
            requests = 0 if self._hosted is None else self._hosted.requests
            # On a busy machine, a test that goes on is slow, and not hung.
            waited, seen = (waited + 0.05 if requests == seen else 0.0), requests
            self._judge(waited)
            if self.hung and self._armed:
                os.kill(os.getpid(), number)

    def _judge(self, waited_s: float) -> None:
        if self.hung:
            return
        limits, hosted = self._limits, self._hosted
        if waited_s > limits.wall_s:
            self.hung = f"it did not end within {limits.wall_s:g} s of its last request"
            self.too_slow = True
        elif hosted is None:
            return
        elif hosted.requests - self._before > limits.most_requests:
            self.hung = f"it sent more than {limits.most_requests} requests"
        elif hosted.world.now() - self._began_ms > limits.most_ms:
            self.hung = f"it was still running after {limits.most_ms // (24 * HOUR_MS)} days"


def _dropped(error: BaseException | None) -> None:
    """Let go of what a test held when it was ended amid a call, such as a connection."""
    # Nobody can close it any more. In a circle of frames it would stay until the collector comes,
    # and its warning would fail a later test that has nothing to do with it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        while error is not None:
            traceback.clear_frames(error.__traceback__)
            error = error.__context__


class ItemLab:
    """Runs a test of pytest, each time with fixtures and a world of its own."""

    def __init__(self, item: pytest.Function, wall_s: float, folder: Path) -> None:
        self._item, self._wall_s, self._folder = item, wall_s, folder
        self._runs = 0
        self._contract: Contract | None = None
        self.kept: dict[str, TestReport] = {}
        """The report of the first start of each run, by the id of its failures."""

    @property
    def name(self) -> str:
        return self._item.nodeid

    @property
    def contract(self) -> Contract:
        assert self._contract is not None  # noqa: S101 (of the undisturbed run, which is the first)
        return self._contract

    def interrupt(self) -> None:
        """Do nothing: what interrupts pytest interrupts the test."""

    def run(
        self,
        failures: Sequence[InjectedFailure] = (),
        meant: Sequence[Expected] | None = None,
        most_requests: int | None = None,
    ) -> RunOfFlow:
        """Run the test once with these failures. Raises `NoWorld` if it never asks for one."""
        self._runs += 1
        state = self._folder / f"state-{self._runs}"
        state.mkdir()
        limits = RunLimits(wall_s=self._wall_s)
        if most_requests is not None:
            limits = replace(limits, most_requests=most_requests)
        run = ItemRun(failures, state)
        name = "+".join(map(str, failures))
        try:
            step = self._step(run, name, limits)
            if run.world is None or run.trial is None:
                raise NoWorld(f"a search needs a test that uses `crosschain_mock`{_said(step)}")
            with run.world.hosted() as hosted:
                self._contract = hosted.contract
            trial = run.trial
            trial.ended(step)
            while trial.wants_another(_RERUNS if run.restartable else 0):
                trial.wait()
                trial.ended(self._step(run, name, limits))
            return trial.judged(meant, restartable=run.restartable)
        finally:
            run.close()

    def _step(self, run: ItemRun, name: str, limits: RunLimits) -> FlowStart:
        item = variant(self._item, name)
        item.stash[RUNNING] = run
        run.stopper = stopper = _Stopper(limits)
        with stopper.running(), _plain_tracebacks(self._item.config):
            # Fixtures of the module and above stay, since another test of it comes next.
            reports = runtestprotocol(item, log=False, nextitem=variant(self._item, ""))
        bad = [report for report in reports if not report.passed]
        worst = next(
            (report for report in reports if report.failed), bad[0] if bad else reports[-1]
        )
        self.kept.setdefault(name, worst)
        output = "" if not bad else worst.longreprtext
        ended = Ended(int(bool(bad)), output)
        return FlowStart(ended, stopper.hung, stopper.too_slow)


@contextmanager
def _plain_tracebacks(config: pytest.Config) -> Iterator[None]:
    """Let pytest not read the sources that a traceback leads through: most runs are never shown."""
    before = config.option.tbstyle
    config.option.tbstyle = "native"
    try:
        yield
    finally:
        config.option.tbstyle = before


def _said(step: FlowStart) -> str:
    return f"; it ended with:\n{step.ended.output}" if step.ended.output else ""


class NoWorld(CrosschainMockError):
    """A test that asks for no world, so that there is nothing in which anything goes wrong."""


def variant(item: pytest.Function, failure: str) -> pytest.Function:
    """Return a test that is the same but for its name, which has a failure in its brackets."""
    base, inner = _parts(item.name)
    what = f"survive:{failure}" if failure else "survive"
    made = type(item).from_parent(
        item.parent,
        name=f"{base}[{inner}-{what}]" if inner else f"{base}[{what}]",
        callspec=getattr(item, "callspec", None),
        fixtureinfo=item._fixtureinfo,
        originalname=item.originalname,
    )
    made.own_markers = list(item.own_markers)
    made.keywords.update({mark.name: True for mark in item.own_markers})
    return made


def _parts(name: str) -> tuple[str, str]:
    """Return the name of a test and what is in its brackets, without the failure of a variant."""
    base, _, inner = name.partition("[")
    inner = inner.removesuffix("]")
    if inner == "survive" or inner.startswith("survive:"):
        return base, ""
    return base, inner.partition("-survive:")[0].removesuffix("-survive")


def selected_variants(item: pytest.Function, ids: Iterable[str]) -> Iterator[pytest.Function]:
    """Yield a variant for each id among those that are wanted which belongs to a test."""
    base, inner = _parts(item.nodeid)
    before = f"{base.rpartition('::')[2]}[{inner}-survive" if inner else f"{item.name}[survive"
    for nodeid in ids:
        path, _, name = nodeid.partition("[")
        _, _, last = path.rpartition("::")
        tail = f"{last}[{name}"
        same_file = path.partition("::")[0].endswith(item.path.name)
        if same_file and tail.startswith(before) and tail.endswith("]"):
            failure = tail.removeprefix(before).removesuffix("]").removeprefix(":")
            made = variant(item, failure)
            made.stash[SELECTED] = failure
            yield made


def item_plan(setting: object, typed: Mapping[str, Any]) -> ItemPlan:
    """Return the plan of a test whose marker says something, beside what options say.

    Raises `BadSetting` for what no marker can say, and `UnknownKind`.
    """
    options: dict[str, Any] = {**typed}
    if isinstance(setting, str) and setting != "all":
        options["only"] = setting
    elif isinstance(setting, Mapping):
        options |= setting
    elif isinstance(setting, list | tuple):
        options["only"] = setting
    elif setting is not True and setting != "all":
        raise BadSetting(
            f"survive: expected True, False, kinds of failures or a mapping, got {setting!r}"
        )
    for name, value in options.items():
        if name not in _OPTIONS:
            near = did_you_mean(name, list(_OPTIONS)) or f"; there are {', '.join(_OPTIONS)}"
            raise BadSetting(f"survive: {name!r} is no option{near}")
        good = isinstance(value, _OPTIONS[name])
        if not good or (isinstance(value, bool) and bool not in _OPTIONS[name]):
            raise BadSetting(f"survive: {name} cannot be {value!r}")
    for name in ("budget", "seconds", "wall"):
        if options.get(name, 1) <= 0:
            raise BadSetting(f"survive: {name} has to be above 0, got {options[name]!r}")
    only, quick = options.get("only", ()), options.get("quick", False)
    kinds = kinds_named(only, options.get("skip", ()), quick=quick)
    usable = [kind for kind in kinds if not kind.needs_process]
    left_out = tuple(kind.name for kind in kinds if kind.needs_process)
    plan = SearchPlan(
        kinds=usable,
        budget=options.get("budget", 200),
        seconds=options.get("seconds"),
        jobs=0,
        pairs=options.get("pairs", not quick),
        enough=is_bad if options.get("first") else None,
        thorough=options.get("thorough", False),
        refund_is_fine=options.get("refund_is_fine", False),
    )
    return ItemPlan(plan, options.get("wall", 20.0), left_out, bool(only))


class ItemSearch:
    """The search of one test, whose findings become reports of pytest."""

    def __init__(self, item: pytest.Function, nextitem: pytest.Item | None) -> None:
        self._item, self._next = item, nextitem
        self._failed = False

    def run(self, setting: object, typed: Mapping[str, Any], *, marked: bool) -> None:
        """Run a test as it is, and search it where it passes; or the failure that it names."""
        item = self._item
        selected = item.stash.get(SELECTED, None)
        if selected is None:
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            reports = runtestprotocol(item, log=True, nextitem=variant(item, ""))
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
            passed = all(report.passed for report in reports)
        if selected is not None or (passed and not self._over):
            self._search(setting, typed, selected, marked=marked)
        self._tear_down()

    @property
    def _over(self) -> bool:
        session = self._item.session
        return bool(session.shouldfail or session.shouldstop)

    def _search(
        self, setting: object, typed: Mapping[str, Any], selected: str | None, *, marked: bool
    ) -> None:
        name = "" if selected is None else selected
        try:
            chosen = item_plan(setting, typed)
            plan = chosen.plan
            if self._item.config.getoption("maxfail") == 1:
                plan = replace(plan, enough=is_bad)
            if selected:
                plan = replace(plan, replay=(selected,), kinds=kinds_named((), ()))
            with TemporaryDirectory(prefix="crosschain-mock-survive-") as folder:
                lab = ItemLab(self._item, chosen.wall_s, Path(folder))
                if not marked and selected is None and not _moves_money(lab):
                    return
                report = search(lab, plan)
        except CrosschainMockError as error:
            self._tell(name, "failed", str(error))
            return
        self._report(report, lab, chosen, selected)
        if report.stopped.endswith("Ctrl-C"):
            raise KeyboardInterrupt

    def _report(
        self, report: SearchReport, lab: ItemLab, chosen: ItemPlan, selected: str | None
    ) -> None:
        lines = [summary(report), *(f"note: {note}" for note in report.notes)]
        if chosen.left_out:
            names = ", ".join(chosen.left_out)
            lines.append(f"left out, since they need a process: {names}; crosschain-mock survive")
        remark = "; ".join(lines)
        for defect in ordered(report.defects):
            name = selected or defect.result.name
            again = f"pytest '{variant(self._item, name).nodeid}'"
            text = "\n".join([headline(defect.result), *defect_lines(defect, again)])
            self._tell(name, "failed", text, lab.kept.get(defect.result.name), remark)
            if self._over:
                return
        name = selected or ""
        struck = [
            result
            for result in report.results.values()
            if result.outcome is not RunOutcome.NOT_REACHED
        ]
        if report.unsure:
            self._tell(name, "failed", f"unsure: {report.unsure}; nothing counts as survived")
        elif report.defects:
            return
        elif missed := _unstruck(report, chosen, selected):
            self._tell(name, "failed", missed, remark=remark)
        elif struck:
            self._tell(name, "passed", "", remark=remark)
        else:
            self._tell(name, "skipped", f"no failure was tried: {remark}", remark=remark)

    def _tell(
        self,
        failure: str,
        outcome: Literal["passed", "failed", "skipped"],
        text: str,
        kept: "TestReport | None" = None,
        remark: str = "",
    ) -> None:
        """Send the reports of a failure, or of the whole search, as those of a test of its own."""
        item = variant(self._item, failure)
        hook, session = self._item.ihook, self._item.session
        if self._item.stash.get(SELECTED, None) is None:
            session.testscollected += 1
        longrepr: Any = text or None
        if outcome == "skipped":
            longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {text}")
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        when: Literal["setup", "call", "teardown"]
        for when in ("setup", "call", "teardown"):
            called = when == "call"
            sections = list(kept.sections) if called and kept is not None else []
            if called and kept is not None and kept.longreprtext:
                error = kept.longreprtext.strip().splitlines()[-1]
                sections.insert(0, ("the test, with the failure", error))
            report = pytest.TestReport(
                nodeid=item.nodeid,
                location=item.location,
                keywords=dict.fromkeys(item.keywords, 1),
                outcome=outcome if called else "passed",
                longrepr=longrepr if called else None,
                when=when,
                sections=sections,
                user_properties=[(_PROPERTY, remark)] if called and remark else [],
            )
            if hasattr(item.config, "workerinput"):
                # A worker of xdist reports of its own tests alone; the plugin names them anew.
                report.nodeid, renamed = self._item.nodeid, item.nodeid
                setattr(report, RENAMED, renamed)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _tear_down(self) -> None:
        """End the fixtures that no test needs any more, and tell what goes wrong with them."""
        item = self._item
        setup_state: Any = item.session._setupstate
        call = pytest.CallInfo.from_call(
            lambda: setup_state.teardown_exact(self._next), when="teardown"
        )
        if call.excinfo is not None:
            report = pytest.TestReport.from_item_and_call(item, call)
            item.ihook.pytest_runtest_logreport(report=report)


def _moves_money(lab: ItemLab) -> bool:
    """Tell whether a test that nobody has marked moves money, so that it can lose any."""
    try:
        return bool(lab.run().moved)
    except NoWorld:
        return False


def _unstruck(report: SearchReport, chosen: ItemPlan, selected: str | None) -> str:
    """Return what to say of failures that were asked for by name and that met no call."""

    def reached(result: RunResult) -> bool:
        return result.outcome is not RunOutcome.NOT_REACHED

    if selected:
        missed = [name for name, result in report.results.items() if not reached(result)]
        return f"{missed[0]} never struck: the test makes no such call" if missed else ""
    if not chosen.named or report.stopped:
        return ""
    struck = {
        failure.kind.name
        for result in report.results.values()
        if reached(result)
        for failure in result.run.failures
    }
    idle = [kind.name for kind in chosen.plan.kinds if kind.name not in struck]
    idle += chosen.left_out
    return f"never struck: {', '.join(idle)}; {summary(report)}" if idle else ""


def summary_lines(properties: Iterable[tuple[str, str, object]]) -> Iterator[str]:
    """Yield a line for each search, of reports as (id of the test, name, value)."""
    lines: dict[str, str] = {}
    for nodeid, name, value in properties:
        if name == _PROPERTY:
            base, inner = _parts(nodeid)
            lines[f"{base}[{inner}]" if inner else base] = str(value)
    for test, text in lines.items():
        yield f"{test}: {text}"
