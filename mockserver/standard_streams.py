"""Standard streams that are closed, full or not read, which must not end a server."""

import contextlib
import io
import logging
import os
import select
import stat
import sys
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

if TYPE_CHECKING:
    from rich.console import Console

# Bytes that a pipe takes without waiting where it takes any.
_PIECE = 4096


class _Forgiving(io.FileIO):
    """A file that loses what cannot be written, and never raises."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or len(data)
        except OSError:
            return len(data)


def secure() -> None:
    """Open closed standard streams, so that no other file gets their numbers; let stderr not fail.

    Messages on stderr are for people: that one cannot be written changes no exit code.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is sys.__stderr__:
        encoding = sys.stderr.encoding if sys.stderr else "utf-8"
        raw = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=True)


def give_up_stdout() -> None:
    """Discard the rest of standard output, so that flushing at the end does not fail."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def terminal(**options: Any) -> "Console":
    """Return a console for tables and colours; `options` are those of rich.

    Where the reader goes away it raises `BrokenPipeError`. Rich would exit with 1, which means that
    a check has failed.
    """
    from rich.console import Console  # noqa: PLC0415 - for the commands that draw

    class Terminal(Console):
        def on_broken_pipe(self) -> NoReturn:
            self.quiet = True
            raise BrokenPipeError

    return Terminal(**options)


class Log(logging.Handler):
    """Log lines on stderr. In a full pipe they are lost, and counted.

    Otherwise a server whose stderr is a pipe that is not read would wait for ever, some hundred
    refusals later.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stream = sys.stderr
        self._pipe = _pipe(self._stream)
        self._lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or count it."""
        try:
            text = f"{self.format(record)}\n"
            if self._lost:
                text = f"{self._lost} lines are lost, since nobody read them\n{text}"
            self._lost = 0 if self._written(text) else self._lost + 1
        except Exception:  # noqa: BLE001 - a handler tells of its own failures
            self.handleError(record)

    def _written(self, text: str) -> bool:
        """Write as much as there is room for; return whether that was anything."""
        if self._pipe is None:
            self._stream.write(text)
            self._stream.flush()
            return True
        data = text.encode(errors="backslashreplace")
        for start in range(0, len(data), _PIECE):
            if not select.select([], [self._pipe], [], 0)[1]:
                return start > 0
            os.write(self._pipe, data[start : start + _PIECE])
        return True


def _pipe(stream: TextIO) -> int | None:
    """Return the number of the file behind a stream where that can be full of what is not read."""
    if sys.platform == "win32":
        return None
    try:
        number = stream.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):
        return None
    return number if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None
