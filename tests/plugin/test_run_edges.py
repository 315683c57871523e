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
from mockserver.survive.flows import SpawnedFlow, command_flow
from tests.conftest import eventually, lives

ROOT = Path(__file__).parents[2]
# A command with a child of its own; both write down who they are and ignore what they are told to.
NEST = """
import os, signal, subprocess, sys
kind, source, session, *ignored = sys.argv[1:]
for name in ignored:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
if kind == "outer":
    words = [sys.executable, "-c", source, "inner", source, session, *ignored]
    subprocess.Popen(words, start_new_session=session == "apart")
if kind == "inner" and session == "daemon":
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
print(os.getpid(), flush=True)
while True:
    signal.pause()
"""


SESSIONS = ["shared", "apart", "daemon"]
"""The session of the child: that of its parent, one of its own, or that of a daemon."""


def nested(*ignored: str, session: str = "shared") -> list[str]:
    return [sys.executable, "-c", NEST, "outer", NEST, session, *ignored]


@contextmanager
def started(*ignored: str, session: str) -> Iterator[tuple["subprocess.Popen[str]", list[int]]]:
    """Run a command with a child, and give the process and who they are."""
    with subprocess.Popen(
        [sys.executable, "-m", "mockserver", "run", "--", *nested(*ignored, session=session)],
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
    return not any(map(lives, pids))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    ("name", "session"),
    [
        *((name, "shared") for name in ("SIGHUP", "SIGTERM", "SIGKILL")),
        # Signals that nobody catches end it in the way of SIGHUP.
        pytest.param("SIGQUIT", "shared", marks=pytest.mark.deep),
        pytest.param("SIGUSR1", "shared", marks=pytest.mark.deep),
        *((name, session) for name in ("SIGTERM", "SIGKILL") for session in SESSIONS[1:]),
    ],
)
@pytest.mark.deep(quick=2)
def test_whatever_ends_it_the_command_and_its_children_end(name, session):
    with started(session=session) as (popen, pids):
        popen.send_signal(getattr(signal, name))
        _, err = popen.communicate(timeout=60)
    assert popen.returncode == (-9 if name == "SIGKILL" else 128 + getattr(signal, name))
    assert err == ""
    eventually(lambda: gone(pids), "all have ended")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("session", SESSIONS)
def test_a_command_that_ignores_the_end_is_killed_after_a_grace(capfd, session):
    child = Child(nested("SIGTERM", session=session), os.environ, grace_seconds=0.5)
    lines: list[str] = []

    def both() -> bool:
        lines.append(capfd.readouterr().out)
        return "".join(lines).count("\n") == 2

    eventually(both, "both have told who they are")
    child.send(signal.SIGTERM)
    assert child.wait() == 128 + signal.SIGKILL
    pids = [int(line) for line in "".join(lines).split()]
    eventually(lambda: gone(pids), "all have ended")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_what_a_command_leaves_behind_is_named_and_lives():
    source = (
        "import subprocess, sys\n"
        "words = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "print(subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL).pid)"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "mockserver", "run", "--", sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    pid = int(ended.stdout)
    try:
        assert ended.returncode == 0
        assert f"time.sleep(60)' ({pid}) behind" in ended.stderr
        # A daemon of a build tool is meant to go on: to end it is not for `run` to decide.
        assert not gone([pid])
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("forked", [False, True])
def test_a_run_of_a_search_leaves_nothing_behind(tmp_path, forked):
    told = tmp_path / "pid"
    script = tmp_path / "leaving.py"
    script.write_text(
        "import subprocess, sys\n"
        "words = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = subprocess.Popen(words, start_new_session=True)\n"
        f"open({str(told)!r}, 'w').write(str(child.pid))\n"
    )
    words = [sys.executable, str(script)]
    flow = command_flow(words) if forked else SpawnedFlow(words)
    try:
        ended = flow.start("1", os.environ, tmp_path / "output").wait(60)
    finally:
        flow.close()
    assert (ended.code, ended.left) == (0, True)
    pid = int(told.read_text())
    eventually(lambda: gone([pid]), "it has ended")
