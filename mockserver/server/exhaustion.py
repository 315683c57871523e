"""Running out of file descriptors: told in one line, and recovered from."""

import asyncio
import contextlib
import errno
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

log = logging.getLogger("mockserver.server")

_OUT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SILENT_SECONDS = 60
_FILES = 65_536


def allow_more_files() -> None:
    """Take as many file descriptors as this process may have, where it may have more."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 (not on Windows)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Exhaustion:
    """What a loop does where it can accept no connection: it closes idle ones, and says so once."""

    def __init__(self, shed: Callable[[], int]) -> None:
        """Take what closes idle connections and returns how many."""
        self._shed = shed
        self._told_at: float | None = None
        self._shed_at: float | None = None

    def handle(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Handle what went wrong in a loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _OUT_OF:
            loop.default_exception_handler(dict(context))
            return
        now = loop.time()
        # The loop complains for each connection that waits, and tries again after a second.
        if self._shed_at is not None and now - self._shed_at < 0.5:
            return
        self._shed_at = now
        closed = self._shed()
        if self._told_at is None or now - self._told_at >= _SILENT_SECONDS:
            self._told_at = now
            log.warning(
                "no connection can be accepted: %s; closed %d idle ones, others wait; "
                "allow more with `ulimit -n`",
                (error.strerror or str(error)).lower(),
                closed,
            )
