"""The real command as a real process."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Process:
    """A started `crosschain-mock serve` that has said it is ready."""

    popen: "subprocess.Popen[str]"
    line: str

    @property
    def url(self) -> str:
        """The address of the ready line."""
        found = re.search(r"http://\S+", self.line)
        assert found, self.line
        return found[0]

    @property
    def port(self) -> int:
        """The port of the ready line."""
        return int(self.url.rpartition(":")[2])

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what is left of both outputs."""
        self.popen.send_signal(number)
        out, err = self.popen.communicate(timeout=60)
        return self.popen.returncode, out, err


def command(*arguments: str) -> list[str]:
    """Return the command line of `crosschain-mock` in this interpreter."""
    return [sys.executable, "-m", "mockserver", *arguments]


def everything(terminal: int) -> str:
    """Return what was written to a terminal which nobody has open any more: it comes in pieces."""
    told = b""
    with os.fdopen(terminal, "rb", buffering=0) as ours, contextlib.suppress(OSError):
        while part := ours.read(4096):
            told += part
    return told.decode()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run the command to its end in an empty folder."""

    def start(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command(*arguments),
            cwd=options.pop("cwd", tmp_path),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200"},
            **options,
        )

    return start


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> str:
    """Each event loop that a server may have."""
    return str(pytest.importorskip(request.param).__name__)


@pytest.fixture
def start(tmp_path: Path, loop: str) -> Iterator[Callable[..., Process]]:
    """Start servers in an empty folder; those that still run at the end are killed."""
    started: list[Process] = []

    def serve(*arguments: str) -> Process:
        popen = subprocess.Popen(
            command("serve", "--loop", loop, *arguments),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert popen.stdout is not None
        process = Process(popen, popen.stdout.readline())
        started.append(process)
        return process

    yield serve
    for process in started:
        if process.popen.poll() is None:
            process.popen.kill()
            process.popen.communicate()
