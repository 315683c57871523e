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
    """Return the processes that have a mark or write to an output, as far as this is shown."""
    # A process that only forks has the environment of the program that it was, so that a daemon is
    # found as well. One that was started with an environment and an output of its own is not.
    pids = []
    for name in _numbers():
        try:
            # Most have no such word at all, which is seen without a look at each variable.
            text = _read(f"{_PROCESSES}/{name}/environ")
        except OSError:
            # It has ended, or is somebody else's.
            continue
        ours = mark.encode() in text and any(
            mark.encode() in item.removeprefix(_NAME).split()
            for item in text.split(b"\0")
            if item.startswith(_NAME)
        )
        if (ours or _writes_to(name, output)) and int(name) != os.getpid():
            pids.append(int(name))
    return sorted(pids)


def _numbers() -> list[str]:
    """Return the numbers of all processes, as names of folders."""
    with os.scandir(_PROCESSES) as entries:
        return [entry.name for entry in entries if entry.name.isdecimal()]


def _read(path: str) -> bytes:
    """Read a file of the system, of which there are hundreds to read: no more than is needed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = part = os.read(descriptor, 65536)
        while part:
            part = os.read(descriptor, 65536)
            text += part
        return text
    finally:
        os.close(descriptor)


def _writes_to(number: str, output: Path | None) -> bool:
    if output is None:
        return False
    for stream in ("1", "2"):
        try:
            # A path of pathlib takes longer than what it is asked.
            written = os.readlink(f"{_PROCESSES}/{number}/fd/{stream}")  # noqa: PTH115
            if written == str(output):
                return True
        except OSError:
            continue
    return False


def addressed(url: str) -> dict[str, str]:
    """Return the variables in which a client finds the server at an address."""
    return {f"CROSSCHAIN_MOCK_{name}": url for name in ("URL", "BASE_URL", "BASE_URL_V2")}


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


def rests(pid: int, *, alone: bool = False) -> bool | None:
    """Tell whether all threads of a process and of its group wait for something.

    None where the system does not show it. A thread that could run, and has no core, does not rest.
    `alone` leaves the others of the group out, to find which takes a look at all processes.
    """
    if not (_PROCESSES / "self" / "task").is_dir():
        return None
    if not _threads_rest(str(pid)):
        return False
    for number in () if alone else _numbers():
        with contextlib.suppress(OSError, IndexError):
            group = _read(f"{_PROCESSES}/{number}/stat").rpartition(b")")[2].split()[2]
            if int(group) == pid and not _threads_rest(number):
                return False
    return True


def _threads_rest(number: str) -> bool:
    folder = f"{_PROCESSES}/{number}"
    try:
        with os.scandir(f"{folder}/task") as threads:
            for thread in threads:
                state = _read(f"{thread.path}/stat").rpartition(b")")[2].split()[0]
                if state not in _RESTING:
                    return False
    except (OSError, IndexError):
        # It has ended meanwhile, wholly or in part: the next look tells.
        return not Path(folder).exists()
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
