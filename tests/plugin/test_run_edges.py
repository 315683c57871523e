"""`crosschain-mock run`: whatever ends it, nothing of the command is left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mockserver.cli.running import Child
from tests.conftest import eventually

ROOT = Path(__file__).parents[2]
# A command with a child of its own; both write down who they are and ignore what they are told to.
NEST = """
import os, signal, subprocess, sys
kind, source, *ignored = sys.argv[1:]
for name in ignored:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
if kind == "outer":
    subprocess.Popen([sys.executable, "-c", source, "inner", source, *ignored])
print(os.getpid(), flush=True)
while True:
    signal.pause()
"""


def nested(*ignored: str) -> list[str]:
    return [sys.executable, "-c", NEST, "outer", NEST, *ignored]


@contextmanager
def started(*ignored: str) -> Iterator[tuple["subprocess.Popen[str]", list[int]]]:
    """Run a command with a child, and give the process and who they are."""
    with subprocess.Popen(
        [sys.executable, "-m", "mockserver", "run", "--", *nested(*ignored)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as popen:
        assert popen.stdout is not None
        try:
            yield popen, [int(popen.stdout.readline()) for _ in range(2)]
        finally:
            popen.kill()


def gone(pids: list[int]) -> bool:
    """Whether processes have ended; one that nobody waited for is gone as well."""
    return not any(map(_lives, pids))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    "name",
    [
        "SIGHUP",
        "SIGTERM",
        "SIGKILL",
        # Signals that nobody catches end it in the way of SIGHUP.
        pytest.param("SIGQUIT", marks=pytest.mark.deep),
        pytest.param("SIGUSR1", marks=pytest.mark.deep),
    ],
)
def test_whatever_ends_it_the_command_and_its_children_end(name):
    with started() as (popen, pids):
        popen.send_signal(getattr(signal, name))
        _, err = popen.communicate(timeout=60)
    assert popen.returncode == (-9 if name == "SIGKILL" else 128 + getattr(signal, name))
    assert err == ""
    eventually(lambda: gone(pids), "all have ended")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_command_that_ignores_the_end_is_killed_after_a_grace(capfd):
    child = Child(nested("SIGTERM"), os.environ, grace_seconds=0.5)
    lines: list[str] = []

    def both() -> bool:
        lines.append(capfd.readouterr().out)
        return "".join(lines).count("\n") == 2

    eventually(both, "both have told who they are")
    child.send(signal.SIGTERM)
    assert child.wait() == 128 + signal.SIGKILL
    pids = [int(line) for line in "".join(lines).split()]
    eventually(lambda: gone(pids), "all have ended")
