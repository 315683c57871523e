"""One run of a flow in a world of its own, with what goes wrong in it and what follows."""

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from mockserver.clock import ClockMode
from mockserver.contract import Contract
from mockserver.exchange import Request, Response
from mockserver.headers import CONTROL_PATH
from mockserver.responders.delivery import Delivery
from mockserver.survive.flows import Ended, Flow, Process
from mockserver.survive.space import Failure
from mockserver.testing import MockServer, MockSettings, MockWorld
from mockserver.testing.handles import LockedService
from mockserver.testing.running import in_thread
from mockserver.values import dataclass
from mockserver.worlds.actions import add_trigger
from mockserver.worlds.audit import Expected, Moved, Verdict, judge, moved_by
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.lint import LintResult, lint
from mockserver.worlds.verification import unmet

HOUR_MS = 3_600_000
_AFTER_A_RUN_MS, _AT_THE_END_MS = 6 * HOUR_MS, 48 * HOUR_MS
_KILLED = -int(signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a run may go before it counts as hung; `wall_s` is for all that needs no request."""

    most_requests: int = 2_000
    most_ms: int = 7 * 24 * HOUR_MS
    wall_s: float = 20.0
    reruns: int = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One start of the flow: how it ended, and whether it was stopped for going too far."""

    ended: Ended
    hung: str = ""

    @property
    def good(self) -> bool:
        return self.ended.code == 0 and not self.hung


@dataclass(frozen=True, slots=True)
class Line:
    """A request in the time line of a run: `text` is what came, `came` what was answered."""

    at_ms: int
    operation: str | None
    text: str
    came: str
    same: str
    """What two runs have to share to count as the same so far."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the flow did, and what became of the money."""

    failures: tuple[Failure, ...]
    steps: tuple[Step, ...]
    lines: tuple[Line, ...]
    moved: tuple[Moved, ...]
    verdict: Verdict
    reached: bool
    first_requests: int
    """How many requests came before the flow was started again."""
    lint: LintResult = LintResult()
    """What is wrong with the requests of an undisturbed run; nothing is looked for in others."""

    @property
    def first(self) -> Step:
        """How the disturbed start of the flow ended."""
        return self.steps[0]

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that were called, in order, until the flow first ended."""
        return tuple(line.operation for line in self.lines[: self.first_requests] if line.operation)


class _Watch:
    """Stops a flow that goes on for ever, by its requests and the time of its world."""

    def __init__(self, hosted: HostedWorld, limits: Limits) -> None:
        self._hosted, self._limits = hosted, limits
        self._began_ms, self._before = hosted.world.now(), hosted.requests
        self.processes: list[Process] = []
        self.hung = ""

    def look(self) -> None:
        if self.hung or not self.processes:
            return
        requests = self._hosted.requests - self._before
        if requests > self._limits.most_requests:
            self.hung = f"it sent more than {self._limits.most_requests} requests"
        elif self._hosted.world.now() - self._began_ms > self._limits.most_ms:
            days = self._limits.most_ms // (24 * HOUR_MS)
            self.hung = f"it was still running after {days} days of the world"
        if self.hung:
            self.send(signal.SIGKILL)

    def send(self, number: int) -> None:
        for process in self.processes:
            process.send(number)


class _Watched:
    """The service with a look at how far each running flow has gone."""

    def __init__(self, locked: LockedService) -> None:
        self._locked = locked
        self.watches: dict[str, _Watch] = {}

    def respond(self, request: Request) -> Response | Delivery:
        answer = self._locked.respond(request)
        with self._locked.lock:
            for watch in list(self.watches.values()):
                watch.look()
        return answer

    def most_bytes(self, request: Request) -> int:
        return self._locked.most_bytes(request)

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        return self._locked.refuse(request, name, reason)


class Lab:
    """A server on which flows are run, each in a fresh world."""

    def __init__(self, flow: Flow, settings: MockSettings, limits: Limits) -> None:
        """Take what is run, and in which worlds."""
        self.flow, self.limits, self._clock = flow, limits, settings.clock
        self._mock = MockServer(settings.changed(refusals="allow", unused="allow"))
        self._watched = _Watched(self._mock.locked)
        self._numbers = count(1)
        self._folder = Path(tempfile.mkdtemp(prefix="crosschain-mock-survive-"))
        self._closing = contextlib.ExitStack()
        self._closing.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._closing.callback(flow.close)
        self._mock.port = self._closing.enter_context(in_thread(self._watched, 0))

    def close(self) -> None:
        """Stop the server, and leave nothing behind."""
        self._closing.close()

    @property
    def contract(self) -> Contract:
        with self._mock.default.hosted() as hosted:
            return hosted.contract

    def run(
        self,
        failures: Sequence[Failure] = (),
        meant: Sequence[Expected] | None = None,
        most_requests: int | None = None,
    ) -> Run:
        """Run the flow once with these failures, and once more as long as it fails."""
        number = next(self._numbers)
        state = self._folder / f"state-{number}"
        state.mkdir()
        with self._world(number) as world:
            with world.hosted() as hosted:
                for failure in failures:
                    failure.apply(hosted)
            limits = self.limits
            if most_requests is not None:
                limits = Limits(most_requests, limits.most_ms, limits.wall_s, limits.reruns)
            twice = any(failure.doubles for failure in failures)
            steps = [self._step(world, state, limits, twice=twice)]
            with world.hosted() as hosted:
                first = hosted.journal.last_sequence
                reached = bool(hosted.requests) and not unmet(hosted)
                unread = _unread(hosted)
                _heal(hosted)
            while not steps[-1].good and len(steps) <= limits.reruns and not steps[-1].hung:
                with world.hosted() as hosted:
                    hosted.world.time.advance(_AFTER_A_RUN_MS)
                steps.append(self._step(world, state, limits))
            with world.hosted() as hosted:
                hosted.world.time.advance(_AT_THE_END_MS)
                verdict = judge(hosted, meant=meant, unread=unread)
                entries = [entry for entry in hosted.journal if entry.operation]
                early = sum(1 for entry in entries if entry.sequence <= first)
                lines = tuple(_line(entry) for entry in entries)
                found = moved_by(hosted)
                remarks = LintResult() if failures else lint(hosted)
        shutil.rmtree(state, ignore_errors=True)
        return Run(tuple(failures), tuple(steps), lines, found, verdict, reached, early, remarks)

    @contextlib.contextmanager
    def _world(self, number: int) -> Iterator[MockWorld]:
        world = self._mock.world(f"run-{number}")
        try:
            yield world
        finally:
            world.close()

    def _step(self, world: MockWorld, state: Path, limits: Limits, *, twice: bool = False) -> Step:
        """Start the flow, or two of it at once, and return how the first of them ended."""
        with world.hosted() as hosted:
            watch = _Watch(hosted, limits)
            hosted.send_signal = watch.send
            if twice:
                _hold_first_write(hosted)
        self._watched.watches[world.key] = watch
        number = next(self._numbers)
        try:
            for copy in range(1 + twice):
                output = self._folder / f"output-{number}-{copy}"
                process = self.flow.start(f"{number}-{copy}", self._variables(world, state), output)
                watch.processes.append(process)
            ends = _all_ended(watch.processes, limits.wall_s)
        finally:
            watch.send(signal.SIGKILL)
            del self._watched.watches[world.key]
            with world.hosted() as hosted:
                hosted.send_signal = None
                hosted.release(lambda held: True)
        late = next((ended for ended in ends if ended.late), None)
        hung = watch.hung or (f"it did not end within {limits.wall_s:g} s" if late else "")
        worst = max(ends, key=lambda ended: ended.code != 0)
        return Step(worst, hung)

    def _variables(self, world: MockWorld, state: Path) -> dict[str, str]:
        named = {
            "CROSSCHAIN_MOCK_URL": world.base_url,
            "CROSSCHAIN_MOCK_BASE_URL": world.base_url,
            "CROSSCHAIN_MOCK_BASE_URL_V2": world.base_url_v2,
            "CROSSCHAIN_MOCK_STATE": str(state),
        }
        if self._clock == ClockMode.CLIENT:
            named["CROSSCHAIN_MOCK_CLOCK"] = f"{world.base_url}{CONTROL_PATH}/clock"
        return named


def _all_ended(processes: Sequence[Process], wall_s: float) -> list[Ended]:
    return [process.wait(wall_s) for process in processes]


def _hold_first_write(hosted: HostedWorld) -> None:
    """Hold the answer to the first submission back until the second client has come."""
    for operation in hosted.contract:
        if operation.writes and "orders" in operation.row.get("tags", ()):
            hold = {"most": "400ms"}
            add_trigger(hosted, {"operation": operation.id, "hold": hold})


def _unread(hosted: HostedWorld) -> tuple[int, ...]:
    """Return the numbers of the requests whose answer nobody read, since the client was killed."""
    killed = [one for one in hosted.triggers if one.action == "signal"]
    if not any(hosted.triggers.struck(one) for one in killed):
        return ()
    return (hosted.journal.last_sequence,)


def _heal(hosted: HostedWorld) -> None:
    """End what goes wrong with the answers; ids and lists, which are the service's own, stay."""
    hosted.faults.clear()
    hosted.triggers.clear()
    hosted.release(lambda held: True)
    for window in hosted.world.outages.active():
        hosted.world.outages.restore(window.chain, window.token, window.direction)


def _line(entry: Entry) -> Line:
    name = (entry.operation or "").partition(".")[2]
    came = entry.refusal or f"{entry.response.status}"
    if entry.fault:
        came = f"{came} [{entry.fault.partition(' (')[0]}]"
    request = entry.request
    return Line(entry.at_ms, entry.operation, entry.request_line, came, f"{name} {request.query}")
