"""Reports in one line that file descriptors run out, and recovers from that."""

import asyncio
import contextlib
import errno
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from mockserver.wording import reason_of

log = logging.getLogger("mockserver.server")

_OUT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_NO_FILES = (errno.EMFILE, errno.ENFILE)
# One line a minute: each waiting connection would repeat it.
_SILENT_SECONDS = 60
# Enough for any test, where the system sets no limit itself.
_FILES = 65_536
# File descriptors that are kept for other things than connections.
_SPARE = 8
_SOON = 0.1
# A little less than the second for which asyncio accepts nothing after it failed to.
_BEFORE_NEXT = 0.9


def allow_more_files() -> None:
    """Raise the limit of file descriptors to what this process is allowed."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 (not on Windows)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_connections() -> int:
    """Return how many connections leave some file descriptors for other things."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource  # noqa: PLC0415 (not on Windows)

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    with contextlib.suppress(OSError):
        return max(1, soft - len(os.listdir("/dev/fd")) - _SPARE)  # noqa: PTH208 (names are enough)
    return max(1, soft - 2 * _SPARE)


def without_files(error: BaseException | None) -> str:
    """Return why a request that opens a file fails without descriptors; else empty."""
    if not isinstance(error, OSError) or error.errno not in _NO_FILES:
        return ""
    return "no file descriptor is left; close connections, or allow more with `ulimit -n`"


class Exhaustion:
    """Closes idle connections as file descriptors run out, and reports that once.

    asyncio reports where it cannot accept a connection. uvloop closes it silently, so connections
    are counted as well.
    """

    def __init__(self, shed: Callable[[], int], fetch: Callable[[], None]) -> None:
        """Take what closes idle connections and returns how many, and what reads files ahead."""
        self._shed = shed
        self._fetch = fetch
        self._reported_at: float | None = None
        self._shed_at: float | None = None
        self._again: asyncio.TimerHandle | None = None
        self._held: list[int] = []
        self._hold()

    def crowded(self) -> None:
        """Make room where connections are nearly as many as file descriptors."""
        loop = asyncio.get_running_loop()
        self._fetch()
        closed = self._shed()
        if closed:
            self._tell(loop.time(), "nearly all file descriptors are taken", closed)
        elif self._again is None:
            # Those that came in the same turn of the loop are not idle before the next one.
            self._again = loop.call_later(_SOON, self._once_more)

    def handle(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Handle what went wrong in a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _OUT_OF:
            loop.default_exception_handler(dict(context))
            return
        # Files that are read for the first time while nothing is accepted find room.
        self._release()
        self._fetch()
        loop.call_later(_BEFORE_NEXT, self._hold)
        now = loop.time()
        # asyncio reports each waiting connection, and tries again after a second.
        if self._shed_at is not None and now - self._shed_at < 0.5:
            return
        self._shed_at = now
        self._tell(now, f"no connection can be accepted: {reason_of(error)}", self._shed())

    def _hold(self) -> None:
        """Keep some descriptors from being taken by connections."""
        with contextlib.suppress(OSError):
            while len(self._held) < _SPARE:
                self._held.append(os.open(os.devnull, os.O_RDONLY))

    def _release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _once_more(self) -> None:
        self._again = None
        now = asyncio.get_running_loop().time()
        self._tell(now, "nearly all file descriptors are taken", self._shed())

    def _tell(self, now: float, what: str, closed: int) -> None:
        if self._reported_at is None or now - self._reported_at >= _SILENT_SECONDS:
            self._reported_at = now
            log.warning(
                "%s; closed %d idle connections, and turns new ones away where none is idle; "
                "allow more with `ulimit -n`",
                what,
                closed,
            )
