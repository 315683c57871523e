"""What is run: a command, or a function of Python, started again and again with another world."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mockserver import child_processes
from mockserver.errors import CannotStart
from mockserver.fast_dataclass import dataclass
from mockserver.mock_headers import CONTROL_PATH
from mockserver.server.service import Service
from mockserver.survive import zygote
from mockserver.survive.native_shim import compiled
from mockserver.survive.shared_clock import ClockPage, PagedService
from mockserver.wording import reason_of
from mockserver.worlds.hosted import HostedWorld

SHIMS = Path(__file__).parent / "shims"
_MOST_OUTPUT = 20_000
_PREFIX = "CROSSCHAIN_MOCK_"


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit code, negative where a signal ended it, and what it printed.

    `left` tells that it left processes behind, `late` that it was killed at its wall limit.
    """

    code: int
    output: str = ""
    left: bool = False
    late: bool = False

    @property
    def last_lines(self) -> str:
        """The end of what it printed, as the last part of a sentence; empty for nothing."""
        lines = self.output.strip().splitlines()[-8:]
        return "\n  it printed:\n    " + "\n    ".join(lines) if lines else ""


@dataclass(frozen=True, slots=True)
class PagedWorld:
    """A service whose world follows its client, with the page of its clock."""

    locked: PagedService
    page: ClockPage
    library: Path | None

    def environment(self, url: str, environment: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which clients move the clock of the world at an address."""
        return shimmed({**environment, **clock_variables(url, self.page, self.library)})


class Process(Protocol):
    """A started client."""

    @property
    def pid(self) -> int:
        """The number of its first process, and of the group of all."""

    @property
    def is_over(self) -> bool:
        """Whether its first process has ended."""

    def send(self, number: int) -> None:
        """Send a signal to all of its processes; nothing where they are gone."""

    def wait(self, seconds: float, goes_on: Callable[[], bool] = _never) -> Ended:
        """Return how it ended, killed after so many seconds in which it did not go on."""


class Runnable(Protocol):
    """What can be run."""

    name: str

    def start(self, run: str, environment: Mapping[str, str], output: Path) -> Process:
        """Start it with the variables of a run, writing what it prints to a file."""

    def close(self) -> None:
        """End what was kept ready."""


def folder_of_runs(purpose: str) -> Path:
    """Make the folder for what runs keep. Raises `CannotStart`."""
    try:
        return Path(tempfile.mkdtemp(prefix=f"crosschain-mock-{purpose}-"))
    except OSError as error:
        text = f"no folder for the state of runs can be made: {reason_of(error)}"
        raise CannotStart(text, 126) from None


def clock_variables(url: str, page: ClockPage | None, library: Path | None) -> dict[str, str]:
    """Return what the shims read: the address of a clock, its page, and the library to load.

    Without a page they ask at the address each time.
    """
    named = {"CROSSCHAIN_MOCK_CLOCK": f"{url}{CONTROL_PATH}/clock"}
    if page is not None:
        named["CROSSCHAIN_MOCK_CLOCK_PAGE"] = str(page.path)
    if library is not None:
        before = os.environ.get("LD_PRELOAD", "")
        named["LD_PRELOAD"] = os.pathsep.join(filter(None, [str(library), before]))
    return named


@contextlib.contextmanager
def clock_page(
    service: Service, hosted: HostedWorld, command: Sequence[str]
) -> Iterator[PagedWorld]:
    """Make the page of a world's clock for a command, and what its shims need beside it."""
    with tempfile.TemporaryDirectory(prefix="crosschain-mock-clock-") as name:
        folder = Path(name)
        page = ClockPage(folder / "page", hosted)
        try:
            library = library_for(command, folder)
            yield PagedWorld(PagedService(service, page, hosted.key), page, library)
        finally:
            page.close()


def library_for(command: Sequence[str], folder: Path) -> Path | None:
    """Compile the shim of a command; None where its language has its own, or none can be made."""
    return None if Path(command[0]).name.startswith(("python", "node")) else compiled(folder)


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a client: ours, the variables of the run, and the shims."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(_PREFIX)}
    return shimmed({**kept, **variables})


def shimmed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python and Node clients move the clock that it names."""
    if "CROSSCHAIN_MOCK_CLOCK" not in environment:
        return dict(environment)
    paths = [str(SHIMS / "python"), environment.get("PYTHONPATH", "")]
    options = ["--require", str(SHIMS / "timeshim.cjs"), environment.get("NODE_OPTIONS", "")]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "NODE_OPTIONS": " ".join(filter(None, options)),
    }


class SpawnedFlow:
    """A command of any language, started anew for each run."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        self.name = " ".join(command)

    def start(self, run: str, environment: Mapping[str, str], output: Path) -> Process:
        """Start it. Raises `CannotStart`."""
        variables = child_processes.for_client(environment_of(environment), _mark(run))
        try:
            with output.open("ab") as written:
                process = subprocess.Popen(  # noqa: S603 (the command of the user)
                    self.command,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=written,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            raise CannotStart.of(self.command[0], error) from None
        return _Spawned(process, output, _mark(run))

    def close(self) -> None:
        """Do nothing: each run has ended by itself."""


class _Spawned:
    def __init__(self, process: "subprocess.Popen[bytes]", output: Path, mark: str) -> None:
        self._process, self._output, self._mark = process, output, mark

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def send(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, number)

    def wait(self, seconds: float, goes_on: Callable[[], bool] = _never) -> Ended:
        late = False
        while not late:
            try:
                self._process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                # A run that still sends requests is slow, and not hung.
                late = not goes_on()
        if late:
            self.send(signal.SIGKILL)
            self._process.wait()
        left = child_processes.send_marked(self._mark, signal.SIGKILL, self._output)
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
            left = True
        return Ended(self._process.returncode, _read(self._output), left and not late, late)


class ForkedFlow:
    """A Python program or function that is forked for each run from a process that has it ready."""

    def __init__(self, name: str, start: Callable[[], tuple[int, int, Callable[[], None]]]) -> None:
        """Take what starts the process, and returns where it reads and writes, and what ends it."""
        self.name = name
        self._start = start
        self._lock, self._gone = threading.Lock(), False
        self._running: dict[str, _Forked] = {}
        self._orders, self._answers, self._end = start()
        threading.Thread(target=self._listen, daemon=True, name="survive-zygote").start()
        self.order: dict[str, Any] = {}

    def start(self, run: str, environment: Mapping[str, str], output: Path) -> Process:
        process = _Forked(output, _mark(run))
        # Before the order is written: the answer may come at once, in another thread.
        self._running[run] = process
        variables = child_processes.for_client(environment_of(environment), _mark(run))
        order = {**self.order, "run": run, "env": variables, "out": str(output), "cwd": _folder()}
        with self._lock, contextlib.suppress(BrokenPipeError):
            # Where its process is gone, it does not begin.
            _write(self._orders, json.dumps(order).encode() + b"\n")
        if self._gone:
            process.begun.set()
        if not process.begun.wait(30) or not process.pid:
            raise CannotStart(f"cannot run {self.name!r}: its process does not start", 126)
        return process

    def close(self) -> None:
        os.close(self._orders)
        self._end()

    def _listen(self) -> None:
        kept = b""
        while came := os.read(self._answers, 65536):
            *lines, kept = (kept + came).split(b"\n")
            for line in lines:
                message = json.loads(line)
                process = self._running[message["run"]]
                if "pid" in message:
                    process.pid = message["pid"]
                    process.begun.set()
                else:
                    process.code, process.left = message["code"], message["left"]
                    process.ended.set()
        self._gone = True
        for process in self._running.values():
            process.begun.set()
            process.ended.set()
        os.close(self._answers)


class _Forked:
    def __init__(self, output: Path, mark: str) -> None:
        self._output, self._mark = output, mark
        self.pid, self.code, self.left = 0, 1, False
        self.begun, self.ended = threading.Event(), threading.Event()

    @property
    def is_over(self) -> bool:
        return self.ended.is_set()

    def send(self, number: int) -> None:
        if self.pid and not self.ended.is_set():
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)

    def wait(self, seconds: float, goes_on: Callable[[], bool] = _never) -> Ended:
        while (late := not self.ended.wait(seconds)) and goes_on():
            pass
        if late:
            self.send(signal.SIGKILL)
            self.ended.wait(10)
        # What only forked has no mark of its own, but writes to the output of the run.
        left = child_processes.send_marked(self._mark, signal.SIGKILL, self._output) or self.left
        return Ended(self.code, _read(self._output), left and not late, late)


def _mark(run: str) -> str:
    """Return what tells the processes of a run from all others."""
    return f"survive-{os.getpid()}-{run}"


def _folder() -> str:
    """Return the folder that a flow is started in. Raises `CannotStart` where it is gone."""
    try:
        return str(Path.cwd())
    except OSError as error:
        text = f"the folder that this is run in cannot be used: {reason_of(error)}"
        raise CannotStart(text, 126) from None


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read(output: Path) -> str:
    with contextlib.suppress(OSError), output.open("rb") as file:
        # The end says why it failed; the beginning may be megabytes.
        file.seek(max(0, output.stat().st_size - _MOST_OUTPUT))
        return file.read().decode("utf-8", "backslashreplace")
    return ""


def forking_process(
    words: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[int, int, Callable[[], None]]:
    """Start a process that forks; return where to write orders, to read answers, and its end."""
    process = subprocess.Popen(  # noqa: S603 (the interpreter of the user's command)
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_processes.with_room(os.environ if environment is None else environment),
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    # Of our own: `Popen` closes its files when it is collected.
    ends = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
    process.stdin.close()
    process.stdout.close()

    def end() -> None:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    return *ends, end


def command_flow(command: Sequence[str]) -> Runnable:
    """Return the flow of a command: forked where it is a Python program, else spawned."""
    program = shutil.which(command[0])
    name = Path(command[0]).name
    order = None
    if program is not None and name.startswith("python") and hasattr(os, "fork"):
        order = zygote.command_of(command[1:])  # type: ignore[no-untyped-call]
    if program is None or order is None:
        return SpawnedFlow(command)
    if order["kind"] == "script" and not Path(order["name"]).is_file():
        return SpawnedFlow(command)

    scripts = [order["name"]] if order["kind"] == "script" else []

    def start() -> tuple[int, int, Callable[[], None]]:
        return forking_process([program, zygote.__file__, *scripts])

    flow = ForkedFlow(" ".join(command), start)
    flow.order = order
    return flow


def function_flow(function: Callable[[], object], name: str) -> Runnable:
    """Return the flow of a function of this process, which is forked for each run.

    It is called in a process of its own: what it changes is gone afterwards, and it may be killed.
    Raises `CannotStart` where the system cannot fork.
    """
    if not hasattr(os, "fork"):
        raise CannotStart("functions need a system that forks; use a command instead", 126)

    def run(order: Mapping[str, Any]) -> int:
        function()
        return 0

    def start() -> tuple[int, int, Callable[[], None]]:
        (orders, sending), (reading, answers) = os.pipe(), os.pipe()
        # What is still in a buffer would be written twice, by both processes.
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # The threads of this process wait; the fork uses none of what they have.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if not pid:
            try:
                # A group of its own, so that a signal reaches all that it forks and nobody else.
                os.setsid()
                os.close(sending)
                os.close(reading)
                zygote.serve(orders, answers, run)  # type: ignore[no-untyped-call]
            finally:
                # Neither `atexit` nor `finally` of the parent may run here as well.
                os._exit(0)
        os.close(orders)
        os.close(answers)
        return sending, reading, lambda: _reaped(pid)

    return ForkedFlow(name, start)


def _reaped(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
