"""What of one world has changed since it was last written."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.state.dump_parts import CLOCK, WALL, is_quiet, parts_of
from mockserver.worlds.state.pending_writes import Writes
from mockserver.worlds.state.row_encoding import encoded, journal_text
from mockserver.worlds.state.sqlite_file import Statement, checksum, sealed
from mockserver.worlds.transaction_store import ChainTransaction

# Characters of a part of which a digest is remembered, and not the text.
_LONG = 500
# Entries that the journal drops before their rows are deleted.
_SEGMENTS_KEPT = 64

Note = tuple[str, str, Any, bool]


class WorldRecord:
    """Notes the changes of a world, and hands them over as statements.

    `commit` is the number of the commit that has its newest changes. Rows go to its `branch`: the
    snapshots and forks of a world share the rows from before them, which stand in the branches
    above (docs/decisions/state-on-disk.md).
    """

    __slots__ = (
        *("_calendar", "_clock", "_core", "_counts", "_dirty", "_journaled", "_writes", "_noted"),
        *("_parts", "_quiet", "_rows", "_trimmed", "branch", "commit", "hosted"),
        *("snapshots", "world_id"),
    )

    def __init__(self, writes: Writes, hosted: HostedWorld, world_id: int, branch: int) -> None:
        """Note the changes of a world from now on; what it has by now is taken as written."""
        self._writes = writes
        self.hosted = hosted
        self.world_id, self.branch = world_id, branch
        self.commit = 0
        self.snapshots: dict[str, int] = {}
        """The branches of its snapshots, oldest first."""
        self._parts: dict[str, str | bytes] = {}
        self._quiet = self._dirty = False
        self._clock: Any = None
        self._calendar: Any = None
        self._rows = writes.rows
        self._counts = writes.counts
        self._journaled = self._trimmed = hosted.journal.last_sequence
        self._attach()

    def touched(self) -> int:
        """Note a request; return the number of the commit that its answer waits for, 0 for none."""
        state, hosted = self._core.state, self.hosted
        if not (self._quiet and state.clock is self._clock and state.calendar is self._calendar):
            self.collect()
        elif self._noted:
            self.commit = self._writes.join(self)
        # Only the journal has grown: that alone needs no commit at once.
        elif not self._dirty:
            self._dirty = True
            self._writes.dirtied(self)
        self._counts.slots[self.world_id] = hosted.journal.last_sequence + hosted.lost
        return self.commit if self.commit > self._writes.done else 0

    def collect(self) -> None:
        """Note all changes since the last time, those of settings too."""
        rows, parts = self._row_statements(), self._part_statements()
        if rows or parts:
            self._hand_over(rows + parts)

    def statements(self) -> list[Statement]:
        """Return what writes the rows and requests since the last time."""
        return self._row_statements() + self._journal_statements()

    def begin_again(self, parts: Mapping[str, str]) -> None:
        """Go on with what was read: its parts are written already."""
        state = self._core.state
        self._parts = {name: _brief(text) for name, text in parts.items()}
        self._clock, self._calendar = state.clock, state.calendar
        self._settle(parts)

    def flush(self) -> None:
        """Have everything written that has changed, and the newest requests."""
        self._dirty = False
        self.collect()
        if self._journaled != self.hosted.journal.last_sequence:
            self.commit = self._writes.join(self)

    def write_all(self) -> None:
        """Note everything that the world has."""
        state = self._core.state
        # In the order in which a dump is loaded.
        for order in state.orders.each():
            self._noted.append(("order", order.id, order, True))
        for ticket in state.tickets.each():
            self._noted.append(("ticket", str(ticket.id), ticket, True))
        for tx in list(self.hosted.transactions.values()):
            self._noted.append(("transaction", "", tx, True))
        self._parts = {}
        self.collect()

    def branched(self, name: str) -> None:
        """Note that the present state was kept as a snapshot."""
        parts = self._current()
        value = encoded({"parts": parts, "sequence": self.hosted.snapshot_sequence(name)})
        place = len(self.snapshots)
        sql = "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)"
        row = (self.world_id, name, place, self.branch, value, checksum(value))
        self.snapshots[name] = self.branch
        self._hand_over([(sql, row), *self.start_branch(self.branch)])
        self._writes.litter()

    def reverted(self, name: str) -> None:
        """Note that the world went back to a snapshot."""
        # What was not written yet is of the state that was left.
        self._noted.clear()
        below = self.snapshots[name]
        self._attach()
        self._hand_over(self.start_branch(below))
        # So that the clock counts as changed, which has gone back.
        self._clock = None
        self.collect()
        self._writes.litter()

    def began_anew(self) -> None:
        """Note that the scenario began anew."""
        self._noted.clear()
        self._attach()
        statements = self.start_branch(None)
        statements.append(("DELETE FROM journal WHERE world = ?", (self.world_id,)))
        self._hand_over(statements)
        self._clock = None
        self.write_all()
        self._writes.litter()

    def dropped(self, name: str) -> None:
        """Note that a snapshot was dropped."""
        del self.snapshots[name]
        sql = "DELETE FROM snapshots WHERE world = ? AND name = ?"
        self._hand_over([(sql, (self.world_id, name))])
        self._writes.litter()

    def start_branch(self, below: int | None) -> list[Statement]:
        """Put the rows that are to come into a new branch below another one."""
        self.branch = self._writes.next_id("branches")
        return [
            ("INSERT INTO branches VALUES (?, ?)", (self.branch, below)),
            sealed("branches", self.branch, below),
            ("UPDATE worlds SET branch = ? WHERE id = ?", (self.branch, self.world_id)),
            sealed("tips", self.world_id, self.branch),
        ]

    def _attach(self) -> None:
        """Have every row noted that is stored from now on."""
        self._core = self.hosted.world.core
        self._noted: list[Note] = []
        state = self._core.state
        state.orders.watch(self._noting("order"))
        state.tickets.watch(self._noting("ticket"))
        self.hosted.transactions.watch(self._noting("transaction"))

    def _noting(self, part: str) -> Callable[[Any, Any, bool], None]:
        noted = self._noted

        def note(key: Any, value: Any, new: bool) -> None:
            name = " ".join(key) if isinstance(key, tuple) else str(key)
            noted.append((part, name, value, new))

        return note

    def _row_statements(self) -> list[Statement]:
        """Return what writes the rows that were stored since the last time, new ones together."""
        statements: list[Statement] = []
        lines = []
        for part, key, value, new in self._noted:
            plain = isinstance(value, ChainTransaction)
            text = encoded(value.dump()) if plain else self._rows.text(value)
            if new:
                lines.append(f"{part} {text}")
            else:
                row = (self.branch, part, key, text, checksum(text))
                statements.append(("INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?, ?)", row))
        self._noted.clear()
        if lines:
            text = "\n".join(lines)
            item = (self.branch, self._writes.next_id("items"), text, checksum(text))
            statements.append(("INSERT INTO items VALUES (?, ?, ?, ?)", item))
        return statements

    def _part_statements(self) -> list[Statement]:
        """Return what writes the parts that have changed."""
        state = self._core.state
        current = self._current()
        statements: list[Statement] = []
        if state.clock is self._clock:
            # A clock that runs has another time each moment, and was not moved.
            for name in (CLOCK, WALL):
                del current[name]
        for name, text in current.items():
            brief = _brief(text)
            if self._parts.get(name) != brief:
                self._parts[name] = brief
                row = (self.world_id, name, text, checksum(text))
                statements.append(("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)", row))
        for name in self._parts.keys() - current.keys() - {CLOCK, WALL}:
            del self._parts[name]
            sql = "DELETE FROM parts WHERE world = ? AND name = ?"
            statements.append((sql, (self.world_id, name)))
        self._clock, self._calendar = state.clock, state.calendar
        self._settle(current)
        return statements

    def _settle(self, parts: Mapping[str, str]) -> None:
        """Note whether requests for operations can change any part but clock and outages."""
        hosted = self.hosted
        self._quiet = hosted.generated is None and hosted.replay is None and is_quiet(parts)

    def _current(self) -> dict[str, str]:
        parts = parts_of(self.hosted, self._writes.bound(self.hosted.key))
        return {**parts, WALL: str(self._core.wall())}

    def _hand_over(self, statements: list[Statement]) -> None:
        self.commit = self._writes.add(statements)
        self._writes.join(self)

    def _journal_statements(self) -> list[Statement]:
        """Return what writes the requests since the last time."""
        journal, before = self.hosted.journal, self._journaled
        entries = journal.stored_since(before)
        if not entries:
            return []
        statements: list[Statement] = []
        if journal.dropped > before:
            # What came between is gone already, and a journal has no gaps.
            statements.append(("DELETE FROM journal WHERE world = ?", (self.world_id,)))
        last = self._journaled = journal.last_sequence
        text = journal_text(entries)
        row = (self.world_id, last, text, checksum(text))
        statements.append(("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)", row))
        if journal.dropped - self._trimmed >= _SEGMENTS_KEPT:
            self._trimmed = journal.dropped
            sql = "DELETE FROM journal WHERE world = ? AND last <= ?"
            statements.append((sql, (self.world_id, journal.dropped)))
        return statements


def _brief(text: str) -> str | bytes:
    return text if len(text) < _LONG else blake2b(text.encode()).digest()
