"""Server processes under measurement: started on one core, watched in /proc, stopped."""

import os
import re
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SERVER_CORE = 0
_PATIENCE_SECONDS = 60
_END_SECONDS = 20


class NotServing(Exception):
    """A server that does not start, or owes an answer for too long; the message names it."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server process that answers on a port; `start_ms` is from its start to the first answer."""

    name: str
    process: "subprocess.Popen[str]"
    port: int
    start_ms: float

    def cpu_us(self) -> float:
        """Return the CPU time that its threads have used, ended ones too, in microseconds."""
        # The clock that clock_getcpuclockid(3) names, which Python has no function for.
        clock = (~self.process.pid << 3) | 2
        return time.clock_gettime_ns(clock) / 1000

    def resident_mib(self) -> float:
        """Return the resident memory, in MiB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def get(self, path: str) -> bytes:
        """Return the body of an answer."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return bytes(answer.read())

    def pause(self) -> None:
        """Take the core away from the process, its threads that compile or collect included."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Give the core back."""
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> float:
        """End the process and return how long that took, in milliseconds.

        Raises `NotServing` where it had to be killed.
        """
        # `Popen.wait` looks less and less often, up to 50 ms late: what took 65 ms read as 114.
        end = os.pidfd_open(self.process.pid)
        with selectors.DefaultSelector() as watched:
            watched.register(end, selectors.EVENT_READ)
            began = time.perf_counter()
            self.process.terminate()
            ended = watched.select(_END_SECONDS)
            taken = time.perf_counter() - began
        os.close(end)
        if not ended:
            self.kill()
            raise NotServing(f"{self.name} did not end within {_END_SECONDS} s of SIGTERM")
        self.process.wait()
        return taken * 1000

    def kill(self) -> None:
        """End the process at once; one that has ended already is left alone."""
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def pinned(core: int) -> None:
    """Let this process run on one core alone, where there is more than one."""
    if core in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {core})


def started_at(name: str, port: int, *command: str, path: str = "/v1/getChain") -> Running:
    """Start a server that was told its port, on the core of servers, and wait for an answer.

    Raises `NotServing`, with what the server last said.
    """
    with tempfile.TemporaryFile("w+") as said:
        began = time.perf_counter()
        process = _process(command, said, said)
        while process.poll() is None and time.perf_counter() - began < _PATIENCE_SECONDS:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).close()
            except OSError:
                time.sleep(0.01)
            else:
                return Running(name, process, port, (time.perf_counter() - began) * 1000)
        raise _lost(name, process, f"GET {path} was not answered with success", said)


def started(
    name: str,
    *command: str,
    path: str = "/v1/getChain",
    cwd: str | None = None,
    core: int | None = SERVER_CORE,
) -> Running:
    """Start a server that prints its address, on the core of servers, and wait for an answer.

    Where `core` is None it has all of them. Raises `NotServing`, with what the server last said.
    """
    with tempfile.TemporaryFile("w+") as said:
        began = time.perf_counter()
        process = _process(command, subprocess.PIPE, said, cwd, core)
        ready = re.search(r":(\d+)", _first_line(process))
        if ready is None:
            raise _lost(name, process, "it printed no address", said)
        # A server that prints more than a pipe holds would stand still if nobody read it.
        threading.Thread(target=_drained, args=(process,), daemon=True).start()
        port = int(ready[1])
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).close()
        except OSError as error:
            raise _lost(name, process, f"GET {path}: {error}", said) from None
        return Running(name, process, port, (time.perf_counter() - began) * 1000)


def _process(
    command: tuple[str, ...],
    stdout: IO[str] | int,
    stderr: IO[str],
    cwd: str | None = None,
    core: int | None = SERVER_CORE,
) -> "subprocess.Popen[str]":
    on_core = () if core is None else ("taskset", "--cpu-list", str(core))
    # As an installed package has it: without bytecode each start compiles all that it imports.
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        (*on_core, *command), stdout=stdout, stderr=stderr, text=True, cwd=cwd, env=env
    )


def _first_line(process: "subprocess.Popen[str]") -> str:
    """Return the first line that a process prints; empty where none comes in time."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        return process.stdout.readline() if selector.select(_PATIENCE_SECONDS) else ""


def _drained(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    for _ in process.stdout:
        pass


def _lost(name: str, process: "subprocess.Popen[str]", what: str, said: IO[str]) -> NotServing:
    """End a process that does not serve, and return the error that tells of it."""
    ended = process.poll()
    process.kill()
    process.wait()
    said.seek(0)
    state = f"it ended with {ended}" if ended is not None else f"within {_PATIENCE_SECONDS} s"
    return NotServing(f"{name} does not serve: {what}; {state}; it said: {said.read()[-600:]!r}")
