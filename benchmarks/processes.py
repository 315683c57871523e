"""Server processes under measurement: started on one core, watched in /proc, stopped."""

import os
import re
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

SERVER_CORE = 0
_PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Running:
    """A server process that answers on a port; `start_ms` is from its start to the first answer."""

    name: str
    process: "subprocess.Popen[str]"
    port: int
    start_ms: float

    def cpu_us(self) -> float:
        """Return the CPU time that all its threads have used, in microseconds."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000

    def resident_mib(self) -> float:
        """Return the resident memory, in MiB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def get(self, path: str) -> bytes:
        """Return the body of an answer."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            return bytes(answer.read())

    def stop(self) -> float:
        """End the process and return how long that took, in milliseconds."""
        began = time.perf_counter()
        self.process.terminate()
        self.process.wait(20)
        return (time.perf_counter() - began) * 1000


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def pinned(core: int) -> None:
    """Let this process run on one core alone, where there is more than one."""
    if core in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {core})


def started_at(name: str, port: int, *command: str, path: str = "/v1/getChain") -> Running:
    """Start a server that was told its port, on the core of servers, and wait for an answer."""
    began = time.perf_counter()
    on_core = ("taskset", "--cpu-list", str(SERVER_CORE), *command)
    process = subprocess.Popen(
        on_core, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
    )
    while time.perf_counter() - began < _PATIENCE_SECONDS:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).close()
        except OSError:
            time.sleep(0.01)
        else:
            return Running(name, process, port, (time.perf_counter() - began) * 1000)
    process.kill()
    raise AssertionError(f"{name} does not answer")


def started(
    name: str, *command: str, path: str = "/v1/getChain", cwd: str | None = None
) -> Running:
    """Start a server that prints its address, on the core of servers, and wait for an answer."""
    began = time.perf_counter()
    process = subprocess.Popen(
        ("taskset", "--cpu-list", str(SERVER_CORE), *command),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=cwd,
    )
    assert process.stdout is not None
    ready = re.search(r":(\d+)", process.stdout.readline())
    assert ready is not None, name
    port = int(ready[1])
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        answer.read()
    return Running(name, process, port, (time.perf_counter() - began) * 1000)
