"""Commits for all answers that wait at once: none leaves before what it tells of is on the disk."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress

from mockserver.worlds.state import Keeper, NotKept, Sync

log = logging.getLogger("mockserver.state")

# How long requests that changed nothing wait to be written, in seconds.
_IDLE_S = 5.0
# How long after a commit that failed the next one is tried, in seconds.
_AGAIN_S = 0.5
# How long others have the loop between two parts of a clean-up, in seconds.
_RESTING_S = 0.02


class Commits:
    """Writes what a keeper has gathered, in one commit for all that wait in a turn of the loop."""

    failure = NotKept

    def __init__(self, keeper: Keeper, lock: AbstractContextManager[object] | None = None) -> None:
        """Write for a keeper, inside the running loop.

        Where other threads change the worlds too, and write them, all of them hold the `lock`.
        """
        # Another thread waits for the disk; without waiting, it would cost more than the commit.
        # Under a lock nobody may come between the two halves of a commit.
        in_thread = keeper.file.sync is Sync.FULL and lock is None
        self._lock = lock or nullcontext()
        self._writes = keeper.writes
        self._file = keeper.file
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "crosschain-mock-state") if in_thread else None
        self._running: asyncio.Task[None] | None = None
        # Who is called once a commit is on the disk, by its number.
        self._owed: list[tuple[int, Callable[[BaseException | None], None]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writes.awaken = self._awaken if lock is None else self._awaken_from_thread
        if self._writes.waiting:
            self._awaken()

    async def until(self, number: int) -> None:
        """Wait until a commit is on the disk. Raises `NotKept`."""
        while self._writes.done < number:
            await asyncio.shield(self._commit())

    def call(self, number: int, told: Callable[[BaseException | None], None]) -> None:
        """Call once a commit is on the disk, or with the error where it cannot be written.

        It costs a tenth of a task that waits in `until`.
        """
        self._owed.append((number, told))
        self._commit()

    async def stop(self) -> None:
        """Let a commit that is under way end, and begin none."""
        self._writes.awaken = lambda: None
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            await asyncio.wait([self._running])
        if self._thread is not None:
            self._thread.shutdown()

    def _commit(self) -> "asyncio.Task[None]":
        """Return the commit that is under way, begun now if there is none."""
        if self._running is None or self._running.done():
            self._running = self._loop.create_task(self._committed())
            self._running.add_done_callback(self._ended)
        return self._running

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """Tell those who are owed a commit that has ended, and begin the next for the others."""
        # The error is fetched also where nobody waits: the log would tell of it as forgotten.
        error = None if task.cancelled() else task.exception()
        owed, self._owed = self._owed, []
        for number, told in owed:
            if error is not None:
                told(error)
            elif number <= self._writes.done:
                told(None)
            else:
                self._owed.append((number, told))
        if self._owed and not task.cancelled():
            self._commit()

    async def _committed(self) -> None:
        # The other connections that are ready have their turn, and join.
        await asyncio.sleep(0)
        writes = self._writes
        was_failing = writes.failing
        try:
            with self._lock:
                writes.begin()
                if self._thread is None:
                    writes.finish()
            if self._thread is not None:
                await self._loop.run_in_executor(self._thread, writes.finish)
        except NotKept as error:
            if not was_failing:
                log.error("%s; requests are refused until that works again", error)
            self._awaken(_AGAIN_S)
            raise
        if was_failing:
            log.warning("state is written again")

    def _awaken(self, after_s: float = _IDLE_S) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(after_s, self._idle)

    def _awaken_from_thread(self) -> None:
        # The loop may have ended: then whoever closes the keeper writes what is left.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._awaken)

    def _idle(self) -> None:
        """Write what nobody waits for, then tidy up."""
        with self._lock:
            self._tidy()

    def _tidy(self) -> None:
        self._timer = None
        if self._running is not None and not self._running.done():
            self._awaken(_RESTING_S)
            return
        self._writes.collect_journals()
        if self._writes.waiting:
            self._commit()
            self._awaken(_RESTING_S)
        elif self._writes.littered and not self._writes.failing:
            self._sweep()

    def _sweep(self) -> None:
        try:
            self._writes.littered = self._file.sweep()
        except NotKept as error:
            log.warning("rows that no world needs cannot be deleted: %s", error)
            return
        if self._writes.littered:
            self._awaken(_RESTING_S)
