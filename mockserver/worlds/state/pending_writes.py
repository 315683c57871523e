"""The changes of all worlds that wait for the disk, in the order in which they happened."""

from collections.abc import Callable, Sequence
from typing import Protocol

from mockserver.worlds.state.errors import NotKept
from mockserver.worlds.state.request_counts import Counts
from mockserver.worlds.state.row_encoding import Rows
from mockserver.worlds.state.sqlite_file import StateFile, Statement, shared_value

# The bits of the numbers that rows have within one start.
_ITEMS_OF_A_START = 40


class Changed(Protocol):
    """A world with rows or requests that are not written yet."""

    def statements(self) -> list[Statement]:
        """Return what writes them."""

    def flush(self) -> None:
        """Have everything written that has changed."""


class Writes:
    """One batch of changes that is being written, and one that grows meanwhile."""

    def __init__(self, file: StateFile, counts: Counts, bound: Callable[[str], list[str]]) -> None:
        """Write to a file; `bound` returns the app keys of a world."""
        self._file = file
        self._batch: list[Statement] = []
        self._taken: list[Statement] = []
        self._number = 1
        self._dirty: list[Changed] = []
        self._joined: dict[Changed, None] = {}
        self._ids = {name: file.next_id(name) for name in ("worlds", "branches")}
        # Above those of all starts before, without a look at each of a million rows.
        self._ids["items"] = file.next_id("starts") << _ITEMS_OF_A_START
        self.counts = counts
        self.bound = bound
        rows = file.read("SELECT number, value FROM shared")
        self.rows = Rows({int(str(number)): str(value) for number, value in rows})
        self.done = 0
        """The number of the newest commit that is on the disk."""
        self.littered = True
        """Whether there may be rows that no world needs any more."""
        self.failing = ""
        """Why the last commit failed; empty where it did not."""
        self.awaken: Callable[[], None] = lambda: None
        """Called when there is something to be written that nobody waits for."""

    @property
    def waiting(self) -> bool:
        """Whether changes wait to be written."""
        return bool(self._batch or self._joined or self._dirty)

    @property
    def newest(self) -> int:
        """The number of the commit of all changes so far; 0 where they are on the disk."""
        number = self._number if self._batch or self._joined else self._number - 1
        return number if number > self.done else 0

    def next_id(self, table: str) -> int:
        """Return a new number of a world, a branch or a row."""
        number = self._ids[table]
        self._ids[table] = number + 1
        return number

    def add(self, statements: Sequence[Statement]) -> int:
        """Take changes, and return the number of the commit that will have them."""
        if not self._batch:
            self.awaken()
        self._batch.extend(statements)
        return self._number

    def join(self, record: Changed) -> int:
        """Have the rows of a world in the next commit, and return its number."""
        if not self._joined:
            self.awaken()
        self._joined[record] = None
        return self._number

    def dirtied(self, record: Changed) -> None:
        """Note that a world has requests that are not written yet."""
        self._dirty.append(record)
        self.awaken()

    def forget(self, record: Changed) -> None:
        """Write nothing more of a world."""
        self._joined.pop(record, None)
        self._dirty = [waiting for waiting in self._dirty if waiting is not record]

    def litter(self) -> None:
        """Note that there may be rows that no world needs any more."""
        self.littered = True

    def flush(self) -> None:
        """Write everything now. Raises `NotKept`."""
        self.collect_journals()
        if self._batch or self._joined:
            self.begin()
            self.finish()

    def collect_journals(self) -> None:
        """Take the requests that changed nothing into the batch."""
        dirty, self._dirty = self._dirty, []
        for record in dirty:
            record.flush()

    def begin(self) -> None:
        """Hand the batch to SQLite. Raises `NotKept`, and then it is kept for the next time."""
        joined, self._joined = self._joined, {}
        for record in joined:
            self._batch += record.statements()
        added, self.rows.added = self.rows.added, []
        for number, value in added:
            self._batch += shared_value(number, value)
        taken = self._batch
        try:
            self._file.begin(taken)
        except NotKept as error:
            self.failing = str(error)
            raise
        self._taken, self._batch = taken, []
        self._number += 1

    def finish(self) -> None:
        """Write what was begun, perhaps in another thread. Raises `NotKept`, as `begin` does."""
        number = self._number - 1
        try:
            self._file.commit()
        except NotKept as error:
            # A later commit, of a higher number, has these changes first.
            self._batch = self._taken + self._batch
            self.failing = str(error)
            raise
        finally:
            self._taken = []
        self.done, self.failing = number, ""
