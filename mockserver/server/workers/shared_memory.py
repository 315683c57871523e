"""What the processes of a server know of each other, in memory that they share."""

import mmap
import time

from mockserver.server.control.route import WorkerState

HANGING_S = 5.0
"""How long a process may be silent before its worlds are refused, in seconds.

A turn of the loop takes milliseconds, reading a world of 100,000 orders from a disk some seconds.
"""
BEAT_S = 0.2

_BEAT, _WORLDS, _UP, _PID, _STARTS, _COLUMNS = 0, 1, 2, 3, 4, 5
_TEXT = 400


class Board:
    """A row for each worker, which it writes itself but for its end; made before they are forked.

    Each number is written whole by the processor, so that readers need no lock.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        numbers = workers * _COLUMNS * 8
        self._map = mmap.mmap(-1, numbers + workers * _TEXT)
        self._numbers = memoryview(self._map)[:numbers].cast("d")
        self._texts = memoryview(self._map)[numbers:]

    def beat(self, worker: int) -> None:
        self._numbers[worker * _COLUMNS + _BEAT] = time.monotonic()

    def hold(self, worker: int, worlds: int) -> None:
        """Note how many worlds a worker has."""
        self._numbers[worker * _COLUMNS + _WORLDS] = worlds

    def started(self, worker: int, pid: int) -> None:
        """Note the process that a worker is from now on."""
        self._numbers[worker * _COLUMNS + _PID] = pid
        self._numbers[worker * _COLUMNS + _STARTS] += 1

    def up(self, worker: int) -> None:
        """Note that a worker serves."""
        self.beat(worker)
        self._numbers[worker * _COLUMNS + _UP] = 1

    def down(self, worker: int, why: str) -> None:
        """Note that a worker does not serve, and why."""
        text = why.encode()[: _TEXT - 1]
        self._texts[worker * _TEXT : (worker + 1) * _TEXT] = text.ljust(_TEXT, b"\0")
        self._numbers[worker * _COLUMNS + _UP] = 0

    def total(self) -> int:
        """Return how many worlds all workers have."""
        return int(sum(self._numbers[_WORLDS::_COLUMNS].tolist()))

    def hangs(self, worker: int) -> bool:
        """Whether a worker runs and does nothing."""
        row = worker * _COLUMNS
        silent = time.monotonic() - self._numbers[row + _BEAT]
        return self._numbers[row + _UP] == 1 and silent > HANGING_S

    def away(self, worker: int) -> str:
        """Return why a worker does not serve now; empty where it does."""
        row = worker * _COLUMNS
        silent = time.monotonic() - self._numbers[row + _BEAT]
        name = f"worker {worker + 1} of {self.workers}"
        if not self._numbers[row + _UP]:
            text = bytes(self._texts[worker * _TEXT : (worker + 1) * _TEXT])
            return f"{name} {text.rstrip(bytes(1)).decode(errors='replace') or 'is starting'}"
        if silent > HANGING_S:
            return f"{name} has not answered for {silent:.0f} s"
        return ""

    def rows(self) -> list[WorkerState]:
        """Return how each worker is; nobody is asked, so that it can be told while some hang."""
        return [
            WorkerState(
                worker=worker + 1,
                pid=int(self._numbers[row + _PID]),
                why=self.away(worker),
                worlds=int(self._numbers[row + _WORLDS]),
                restarts=max(0, int(self._numbers[row + _STARTS]) - 1),
            )
            for worker, row in enumerate(range(0, self.workers * _COLUMNS, _COLUMNS))
        ]

    def missing(self) -> list[str]:
        """Return why workers do not serve now, of each that does not."""
        return list(filter(None, map(self.away, range(self.workers))))
