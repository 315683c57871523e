"""One run of a flow in a world of its own, with what goes wrong in it and what follows."""

import asyncio
import contextlib
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from dataclasses import replace
from itertools import count
from pathlib import Path

from mockserver import child_processes
from mockserver.clock import ClockMode
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.jsontext import Json
from mockserver.responders.answer_delivery import Delivery
from mockserver.server.process import address
from mockserver.survive.client_turns import Turns
from mockserver.survive.flows import (
    Ended,
    Process,
    Runnable,
    SpawnedFlow,
    clock_variables,
    folder_of_runs,
    library_for,
)
from mockserver.survive.possible_failures import InjectedFailure
from mockserver.survive.shared_clock import ClockPage, answered_last
from mockserver.testing import MockServer, MockSettings, MockWorld
from mockserver.testing.locked_access import LockedService
from mockserver.testing.running import listening, loop_in_thread
from mockserver.worlds.audit import Expected, Moved, Verdict, judge_run
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.lint import LintResult, lint
from mockserver.worlds.trigger_actions import heal
from mockserver.worlds.verification import unstruck

HOUR_MS = 3_600_000
_AFTER_A_RUN_MS, _AT_THE_END_MS = 6 * HOUR_MS, 48 * HOUR_MS
PEERS = "CROSSCHAIN_MOCK_PEERS"
"""The variable of the file in which a shim notes the peers that a client connects to."""
_OWN = ("127.", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How far a run may go before it counts as hung; `wall_s` is for all that needs no request.

    It begins anew with each request: on a busy machine, a run that goes on is slow, and not hung.
    """

    most_requests: int = 2_500
    most_ms: int = 7 * 24 * HOUR_MS
    wall_s: float = 60.0
    reruns: int = 2
    in_turn: bool = False
    """Whether a flow's requests at once are answered in turn, which takes several times as long."""


@dataclass(frozen=True, slots=True)
class FlowStart:
    """One start of the flow: how it ended, and whether it was stopped for going too far."""

    ended: Ended
    hung: str = ""
    too_slow: bool = False
    """Whether it was stopped by the clock on the wall, which says nothing about its money."""
    unsure: str = ""
    """Why nobody can say what it would do the next time."""
    unread: tuple[int, ...] = ()
    """The numbers of the requests whose answers were held when it ended."""
    unordered: bool = False
    """Whether requests that it sent at once came in the machine's order."""

    @property
    def good(self) -> bool:
        return self.ended.code == 0 and not self.hung


class Line:
    """A request in the time line of a run: `text` is what came, `came` what was answered.

    `same` is what two runs have to share to count as the same so far. Texts are masked where they
    are read, which costs more than the run itself: most lines of a search are never shown.
    """

    __slots__ = ("_entry",)

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    @property
    def entry(self) -> Entry:
        """The request in the journal."""
        return self._entry

    @property
    def at_ms(self) -> int:
        return self._entry.at_ms

    @property
    def operation(self) -> str | None:
        return self._entry.operation

    @property
    def text(self) -> str:
        return self._entry.request_line

    @property
    def came(self) -> str:
        answer = self._entry.shown_refusal or f"{self._entry.response.status}"
        fault = self._entry.fault.partition(" (")[0]
        return f"{answer} [{fault}]" if fault else answer

    @property
    def same(self) -> tuple[str | None, str]:
        return self._entry.operation, self._entry.request.query


@dataclass(frozen=True, slots=True)
class RunOfFlow:
    """What a run of the flow did, and what became of the money."""

    failures: tuple[InjectedFailure, ...]
    steps: tuple[FlowStart, ...]
    lines: tuple[Line, ...]
    moved: tuple[Moved, ...]
    verdict: Verdict
    reached: bool
    first_requests: int
    """How many requests came before the flow was started again."""
    elsewhere: tuple[str, ...] = ()
    """The peers beside the mock that it has connected to, as its shim has seen it."""
    lint: LintResult = LintResult()
    """What is wrong with the requests of a run in which no call fails; else nothing is judged."""
    left_open: int = 0
    """How many of its orders were under way when the flow last ended."""
    start: Json = None
    """The dump of its world before the first request, with what goes wrong."""
    restartable: bool = True
    """Whether a flow that failed is started again; if not, what a restart mends is no harm."""
    at_once: bool = False
    """Whether the flow sends several requests at once."""
    unordered: bool = False
    """Whether it does so in the machine's order, since a part of it never rests."""

    @property
    def first(self) -> FlowStart:
        """How the disturbed start of the flow ended."""
        return self.steps[0]

    @property
    def healed_after(self) -> int | None:
        """After how many requests what goes wrong was ended; None where none came after that."""
        return self.first_requests if self.first_requests < len(self.lines) else None

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that were called, in order, until the flow first ended."""
        return tuple(line.operation for line in self.lines[: self.first_requests] if line.operation)


class _Watch:
    """Stops a flow that goes on for ever, by its requests and the time of its world."""

    def __init__(self, hosted: HostedWorld, limits: RunLimits, page: ClockPage | None) -> None:
        """Watch the processes of a world, which `page` tells how long they have slept."""
        self._hosted, self._limits, self._page = hosted, limits, page
        self._began_ms, self._before = hosted.world.now(), hosted.requests
        self._seen = hosted.requests
        self._starting = threading.Lock()
        self.processes: list[Process] = []
        self.turns: Turns | None = None
        """Whose turn it is, where the flow runs twice at once."""
        self.hung = ""

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """Let the world follow its client, which has slept meanwhile; then look how far it is."""
        page = self._page
        with page.followed(lambda: self._hosted) if page else contextlib.nullcontext():
            yield
        self._check()

    def _check(self) -> None:
        if self.hung or not self.processes:
            return
        if self.requests > self._limits.most_requests:
            self.hung = f"it sent more than {self._limits.most_requests} requests"
        elif self._hosted.world.now() - self._began_ms > self._limits.most_ms:
            days = self._limits.most_ms // (24 * HOUR_MS)
            self.hung = f"it was still running after {days} days of the world"
        if self.hung:
            self.send(signal.SIGKILL)

    @property
    def requests(self) -> int:
        """How many requests have come."""
        return self._hosted.requests - self._before

    def goes_on(self) -> bool:
        """Tell whether a request has come since this was asked before."""
        before, self._seen = self._seen, self._hosted.requests
        return self._seen != before and not self.hung

    def started(self, start: Callable[[], Process]) -> Process:
        """Start a process that is watched from its first request on."""
        with self._starting:
            process = start()
            self.processes.append(process)
        return process

    def send(self, number: int) -> None:
        """Send a signal to all processes."""
        # A client may be as far as the call that kills it before its start has returned. It has to
        # be killed before that call is answered: what it makes of the answer is no run of its.
        with self._starting:
            processes = list(self.processes)
        for process in processes:
            process.send(number)


class _RunService:
    """The service at an address of a run's own, which has its world alone, as `run` gives it.

    Of two clients at once each has an address, by which their requests are told apart.
    """

    def __init__(self, locked: LockedService, key: str, client: int) -> None:
        self._locked, self._place, self._client = locked, f"/w/{key}/", client
        self.url = ""
        self.watch: _Watch | None = None
        """Checks how far the clients have gone that run now."""

    def respond(self, request: Request) -> Response | Delivery:
        request = self._placed(request)
        with self._locked.lock:
            watch = self.watch
            if watch is None:
                return self._locked.respond(request)
            with watch.followed():
                if watch.turns is None:
                    return answered_last(request, self._locked.respond)
                return watch.turns.respond(request, self._client, self._locked.respond)

    def most_bytes(self, request: Request) -> int:
        return self._locked.most_bytes(self._placed(request))

    def prepared(self, request: Request) -> Request:
        return replace(request, prepared=self._locked.prepared(self._placed(request)).prepared)

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        return self._locked.refuse(self._placed(request), name, reason)

    def _placed(self, request: Request) -> Request:
        return replace(request, path=self._place + request.path.removeprefix("/"))


class TrialRun:
    """A run in a world: sets what goes wrong, is told how the flow ended, and judges the money."""

    def __init__(self, world: MockWorld, failures: Sequence[InjectedFailure]) -> None:
        """Let these failures happen in a fresh world."""
        self._world, self._failures = world, tuple(failures)
        self.doubled = any(failure.doubles for failure in failures)
        """Whether the flow is to run twice at the same time."""
        self.steps: list[FlowStart] = []
        self._reached, self._unread, self._first = False, tuple[int, ...](), 0
        self._left_open = 0
        with world.hosted() as hosted:
            for failure in failures:
                failure.apply(hosted)
            self._start = hosted.dump()
            # A flow may set failures of its own, which say nothing of these.
            self._set = {item.id for item in (*hosted.faults, *hosted.triggers)}

    def ended(self, step: FlowStart) -> None:
        """Take how a start of the flow ended; after the first one what goes wrong is healed."""
        self.steps.append(step)
        with self._world.hosted() as hosted:
            orders = hosted.world.orders.all()
            # Counted at each start: only what the last one left open is nobody's any more.
            self._left_open = sum(1 for order in orders if not order.status.resting)
            if len(self.steps) > 1:
                return
            self._first = hosted.journal.last_sequence
            missed = unstruck(hosted, self._set)
            self._reached = bool(hosted.requests) and not missed
            self._unread = _unread(hosted, step.unread)
            heal(hosted)

    def wants_another(self, reruns: int) -> bool:
        """Tell whether the flow, which has failed, is to be started again."""
        last = self.steps[-1]
        return not last.good and not last.hung and len(self.steps) <= reruns

    def wait(self) -> None:
        """Let the time pass after which a flow that failed is started again."""
        with self._world.hosted() as hosted:
            hosted.world.time.advance(_AFTER_A_RUN_MS)

    def judged(
        self,
        meant: Sequence[Expected] | None,
        *,
        elsewhere: tuple[str, ...] = (),
        restartable: bool = True,
        at_once: bool = False,
        unordered: bool = False,
    ) -> RunOfFlow:
        """Let the orders come to their ends, and return what has become of the money."""
        with self._world.hosted() as hosted:
            hosted.world.time.advance(_AT_THE_END_MS)
            verdict, moved = judge_run(hosted, meant, unread=self._unread)
            # What belongs to no operation, such as a favicon or a probe, moves no money.
            entries = [entry for entry in hosted.journal if entry.operation]
            calm = all(failure.is_of_the_world for failure in self._failures)
            return RunOfFlow(
                self._failures,
                tuple(self.steps),
                tuple(map(Line, entries)),
                moved,
                verdict,
                self._reached,
                first_requests=sum(1 for entry in entries if entry.sequence <= self._first),
                elsewhere=elsewhere,
                lint=lint(hosted) if calm else LintResult(),
                left_open=self._left_open,
                start=self._start,
                restartable=restartable,
                at_once=at_once,
                unordered=unordered,
            )


class Lab:
    """A server on which flows are run, each in a fresh world."""

    def __init__(self, flow: Runnable, settings: MockSettings, limits: RunLimits) -> None:
        """Take what is run, and in which worlds."""
        self.flow, self.limits, self._clock = flow, limits, settings.clock
        self._mock = MockServer(settings.changed(refusals="allow", unused="allow"))
        self._watches = set[_Watch]()
        self._numbers = count(1)
        self._folder = folder_of_runs("survive")
        self._library = None
        self._at_once = False
        """Whether an undisturbed run did so, in which case its order is fixed from then on."""
        self._several = False
        """Whether the flow was seen to send several requests at once."""
        self._in_turns: bool | None = None
        """Whether they are answered in turn; None before there were any."""
        if self._clock == ClockMode.CLIENT and isinstance(flow, SpawnedFlow):
            self._library = library_for(flow.command, self._folder)
        self._closing = contextlib.ExitStack()
        # Undone from the last to the first: the server stops before the flow, the folder goes last.
        self._closing.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._closing.callback(flow.close)
        self._loop = self._closing.enter_context(loop_in_thread())

    def interrupt(self) -> None:
        """Kill what runs now; those who wait for it go on."""
        for watch in list(self._watches):
            # Noted before the signal: otherwise the end would look like a crash of the flow.
            watch.hung = watch.hung or "it was interrupted"
            watch.send(signal.SIGKILL)

    def close(self) -> None:
        """Stop the server, and leave nothing behind."""
        self._closing.close()

    @property
    def name(self) -> str:
        return self.flow.name

    @property
    def contract(self) -> Contract:
        with self._mock.default.hosted() as hosted:
            return hosted.contract

    def run(
        self,
        failures: Sequence[InjectedFailure] = (),
        meant: Sequence[Expected] | None = None,
        most_requests: int | None = None,
    ) -> RunOfFlow:
        """Run the flow once with these failures, and once more as long as it fails.

        Where the limits ask for it, a flow that sends several requests at once is answered in turn
        from then on: which of them comes first is the machine's chance otherwise.
        """
        run = self._run(failures, meant, most_requests)
        if self._several and not failures and not self._at_once:
            self._at_once = True
            run = self._run(failures, meant, most_requests)
        if self._several and not failures and self._in_turns is None:
            self._in_turns = self.limits.in_turn
            if self._in_turns:
                run = self._run(failures, meant, most_requests)
                if run.first.unsure or not run.first.good:
                    # Who never rests has no turns, and goes on as it likes.
                    self._in_turns = False
                    run = self._run(failures, meant, most_requests)
        return run

    def _run(
        self,
        failures: Sequence[InjectedFailure],
        meant: Sequence[Expected] | None,
        most_requests: int | None,
    ) -> RunOfFlow:
        number = next(self._numbers)
        state = self._folder / f"state-{number}"
        state.mkdir()
        notes = self._folder / f"peers-{number}"
        limits = self.limits
        if most_requests is not None:
            limits = replace(limits, most_requests=most_requests)
        with self._world(number) as world, contextlib.ExitStack() as addresses:
            trial = TrialRun(world, failures)
            clients = range(2 if trial.doubled else 1)
            served = [addresses.enter_context(self._served(world, client)) for client in clients]
            trial.ended(self._step(world, served, state, notes, limits))
            while trial.wants_another(limits.reruns):
                trial.wait()
                trial.ended(self._step(world, served[:1], state, notes, limits))
            # A disturbed run shows it by chance, so that the undisturbed ones alone count.
            run = trial.judged(
                meant,
                elsewhere=_peers(notes),
                at_once=self._at_once,
                unordered=any(step.unordered for step in trial.steps),
            )
        shutil.rmtree(state, ignore_errors=True)
        return run

    @contextlib.contextmanager
    def _world(self, number: int) -> Iterator[MockWorld]:
        world = self._mock.world(f"run-{number}")
        try:
            yield world
        finally:
            world.close()

    @contextlib.contextmanager
    def _served(self, world: MockWorld, client: int) -> Iterator[_RunService]:
        served = _RunService(self._mock.locked, world.key, client)
        with listening(self._loop, served) as port:
            served.url = address("127.0.0.1", port)
            yield served

    def _step(
        self,
        world: MockWorld,
        served: Sequence[_RunService],
        state: Path,
        notes: Path,
        limits: RunLimits,
    ) -> FlowStart:
        """Start the flow at each address at once, and return how the worst of them ended."""
        number, page, outputs = next(self._numbers), None, list[Path]()
        unordered, twice = False, len(served) > 1
        single = bool(self._in_turns) and not twice
        with world.hosted() as hosted:
            # Two of Python or Node ask for their time without a page: each counts its own requests.
            if self._clock == ClockMode.CLIENT and (self._library or not twice):
                path, in_turns = self._folder / f"clock-{number}", single or twice
                page = ClockPage(path, hosted, in_turns=in_turns, several=self._at_once)
            watch = _Watch(hosted, limits, page)
            hosted.send_signal = watch.send
        self._watches.add(watch)
        for place in served:
            place.watch = watch

        def start(copy: int) -> Process:
            output = self._folder / f"output-{number}-{copy}"
            outputs.append(output)
            named = {**self._variables(served[copy].url, state, page), PEERS: str(notes)}
            return watch.started(lambda: self.flow.start(f"{number}-{copy}", named, output))

        try:
            if twice or single:
                watch.turns = Turns(hosted, start, len(served), page)
                self._take(watch.turns, watch, limits.wall_s)
            else:
                start(0)
            patience = 1 if watch.turns else limits.wall_s
            ends = [process.wait(patience, watch.goes_on) for process in watch.processes]
        finally:
            watch.send(signal.SIGKILL)
            self._watches.remove(watch)
            for place in served:
                place.watch = None
            for output in outputs:
                # Two hundred runs of a flow that prints much would fill the disk.
                output.unlink(missing_ok=True)
            with world.hosted() as hosted:
                hosted.send_signal = None
                if page is not None:
                    # It may have slept after its last request.
                    page.follow(hosted)
                    self._several = self._several or page.several
                    unordered = page.unordered
                    page.close()
                hosted.release(lambda held: True)
        late = next((ended for ended in ends if ended.late), None)
        since = " of its last request" if watch.requests else ""
        quiet = f"it did not end within {limits.wall_s:g} s{since}"
        hung = watch.hung or (quiet if late else "")
        worst = max(ends, key=lambda ended: ended.code != 0)
        too_slow = bool(late) and not watch.hung
        if watch.turns is None:
            return FlowStart(worst, hung, too_slow, unordered=unordered)
        return FlowStart(worst, hung, too_slow, watch.turns.unsure, watch.turns.unread)

    def _take(self, turns: Turns, watch: _Watch, wall_s: float) -> None:
        """Let two clients take turns until both have ended, or neither goes on."""
        taken = asyncio.run_coroutine_threadsafe(turns.run(), self._loop)
        while not futures.wait([taken], wall_s).done:
            if not watch.goes_on():
                taken.cancel()
                return
        taken.result()

    def _variables(self, url: str, state: Path, page: ClockPage | None) -> dict[str, str]:
        named = {**child_processes.addressed(url), "CROSSCHAIN_MOCK_STATE": str(state)}
        if self._clock == ClockMode.CLIENT:
            named.update(clock_variables(url, page, self._library))
        return named


def _peers(notes: Path) -> tuple[str, ...]:
    """Return the peers that shims have noted, but for those of this machine."""
    try:
        noted = notes.read_text("utf-8", "backslashreplace").splitlines()
    except OSError:
        return ()
    return tuple(sorted({peer for peer in noted if not peer.startswith(_OWN)}))


def _unread(hosted: HostedWorld, held: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of the requests whose answer nobody read, since the client was killed."""
    killed = [trigger for trigger in hosted.triggers if trigger.action == "signal"]
    if not any(map(hosted.triggers.struck, killed)):
        return ()
    return (*held, hosted.journal.last_sequence)
