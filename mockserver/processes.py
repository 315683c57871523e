"""The processes that a command has started, in whatever session: they inherit a mark.

Run as a program, it is the guard of a command: it needs nothing but the standard library.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

MARK = "CROSSCHAIN_MOCK_STARTED_BY"
"""The environment variable with the marks of a process, one for each command that it is below."""

_NAME = f"{MARK}=".encode()
# Characters for the mark of a client that is only forked.
_ROOM = 80
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "wss_proxy")
_PROCESSES = Path("/proc")
# Asleep, ended, or idle in the kernel.
_RESTING = (b"S", b"Z", b"X", b"I")


def marked(mark: str, output: Path | None = None) -> list[int]:
    """Return the processes that have a mark or write to an output, as far as the system shows it.

    A process that only forks has the environment of the program that it was, so that a daemon is
    found as well. One that was started with an environment and an output of its own is not.
    """
    pids = []
    for place in _PROCESSES.glob("[0-9]*"):
        try:
            text = (place / "environ").read_bytes()
        except OSError:
            # It has ended, or is somebody else's.
            continue
        values = (item.partition(b"=")[2] for item in text.split(b"\0") if item.startswith(_NAME))
        ours = any(mark.encode() in value.split() for value in values)
        if (ours or _writes_to(place, output)) and int(place.name) != os.getpid():
            pids.append(int(place.name))
    return sorted(pids)


def _writes_to(process: Path, output: Path | None) -> bool:
    if output is None:
        return False
    for stream in ("1", "2"):
        try:
            if (process / "fd" / stream).readlink() == output:
                return True
        except OSError:
            continue
    return False


def for_client(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return the environment of a client: with a mark beside those that it has already.

    Where it names proxies, the client asks none of them for an address of this machine.
    """
    marks = f"{environment.get(MARK, '')} {mark}".strip()
    return {**environment, **_past_proxies(environment), MARK: marks}


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    named = [environment.get(name, "") for name in ("no_proxy", "NO_PROXY")]
    proxies = any(text and name.lower() in _PROXIES for name, text in environment.items())
    # An asterisk for all places counts only where it stands alone.
    if not proxies or "*" in map(str.strip, named):
        return {}
    # Some read the one name, some the other, and nobody both.
    places = ",".join(filter(None, [*dict.fromkeys(named), "127.0.0.1,localhost"]))
    return dict.fromkeys(("no_proxy", "NO_PROXY"), places)


def with_room(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that forks clients, each of which has to get a mark.

    The system shows a process with the environment that it was started with: only what has room
    there can be changed.
    """
    return for_client(environment, "-" * _ROOM)


def send_marked(mark: str, number: int, output: Path | None = None) -> bool:
    """Send a signal to the processes that `marked` returns; return whether there were any."""
    there = False
    for pid in marked(mark, output):
        try:
            os.kill(pid, number)
        except OSError:
            continue
        there = True
    return there


def named(pid: int) -> str:
    """Return how a process was called, as far as the system shows it."""
    try:
        words = (_PROCESSES / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        words = []
    return b" ".join(words).decode("utf-8", "replace").strip()[:200]


def rests(pid: int) -> bool | None:
    """Tell whether all threads of a process and of its group wait for something.

    None where the system does not show it. A thread that could run, and has no core, does not rest.
    """
    if not (_PROCESSES / "self" / "task").is_dir():
        return None
    if not _threads_rest(_PROCESSES / str(pid)):
        return False
    for place in _PROCESSES.glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            group = (place / "stat").read_bytes().rpartition(b")")[2].split()[2]
            if int(group) == pid and not _threads_rest(place):
                return False
    return True


def _threads_rest(process: Path) -> bool:
    try:
        for thread in (process / "task").iterdir():
            state = (thread / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if state not in _RESTING:
                return False
    except (OSError, IndexError):
        # It has ended meanwhile, wholly or in part: the next look tells.
        return not process.exists()
    return True


def _guard(kind: str, leader: str, seconds: str, mark: str) -> None:
    """Read until the parent is gone, however it went; then nothing of its command may stay."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()

    def sent(number: int) -> bool:
        there = send_marked(mark, number)
        try:
            (os.killpg if kind == "group" else os.kill)(int(leader), number)
        except OSError:
            return there
        return True

    sent(signal.SIGTERM)
    for _ in range(int(float(seconds) * 20)):
        time.sleep(0.05)
        if not sent(0):
            return
    sent(signal.SIGKILL)


if __name__ == "__main__":
    _guard(*sys.argv[1:])
