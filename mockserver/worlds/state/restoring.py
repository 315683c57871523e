"""Worlds as they were written, read back from the rows of a state file."""

from collections.abc import Iterable, Mapping

from mockserver.engine.dumps import NotPlain, Rows
from mockserver.errors import CrosschainMockError
from mockserver.worlds.announced_transactions import restore
from mockserver.worlds.factory import WorldFactory
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import StoredEntry
from mockserver.worlds.state.dump_parts import HOSTING, WALL, beginning_of, dump_of, restore_hosting
from mockserver.worlds.state.errors import WorldDamaged
from mockserver.worlds.state.row_encoding import Rows as Shared
from mockserver.worlds.state.row_encoding import journal_entries, plain
from mockserver.worlds.state.sqlite_file import StateFile, checked
from mockserver.worlds.transaction_store import ChainTransaction


class Restoring:
    """Reads one world with its snapshots, which share what they have in common."""

    def __init__(self, file: StateFile, factory: WorldFactory, shared: Shared, key: str) -> None:
        """Read from a file what a factory can make a world of; `shared` is what its rows share."""
        self._file = file
        self._factory = factory
        self._shared = shared
        self._key = key
        self._branches: dict[int, HostedWorld] = {}
        self.parts: dict[str, str] = {}
        """The parts of the world as they are written, once it was read."""

    def world(self, world_id: int, branch: int) -> HostedWorld:
        """Return the world with its snapshots and journal. Raises `StateNotLoadable`."""
        try:
            return self._world(world_id, branch)
        except (NotPlain, KeyError, TypeError, ValueError) as error:
            what = f"{type(error).__name__}: {error}"
            raise WorldDamaged(f"world {self._key!r} is damaged: {what}") from None
        except CrosschainMockError as error:
            raise WorldDamaged(f"world {self._key!r}: {error}") from None

    def snapshots(self, world_id: int) -> dict[str, int]:
        """Return the branches of the snapshots of a world, oldest first."""
        rows = self._file.read(
            "SELECT name, branch FROM snapshots WHERE world = ? ORDER BY place", world_id
        )
        return {str(name): int(str(branch)) for name, branch in rows}

    def _world(self, world_id: int, branch: int) -> HostedWorld:
        rows = self._file.read("SELECT name, value, sum FROM parts WHERE world = ?", world_id)
        self.parts = {str(name): checked(value, total, str(name)) for name, value, total in rows}
        hosted = self._headed(self.parts, branch)
        for name, below in self.snapshots(world_id).items():
            sql = "SELECT value, sum FROM snapshots WHERE world = ? AND name = ?"
            ((value, total),) = self._file.read(sql, world_id, name)
            snapshot = plain(checked(value, total, f"snapshot {name!r}"))
            kept = self._headed(snapshot["parts"], below)
            hosted.restore_snapshot(name, kept, snapshot["sequence"])
        self._restore_journal(hosted, world_id)
        return hosted

    def _headed(self, texts: Mapping[str, str], branch: int) -> HostedWorld:
        parts = {name: plain(text) for name, text in texts.items()}
        hosting = parts[HOSTING]
        hosted = self._factory.load(self._key, dump_of(parts), beginning_of(hosting))
        rows = self._rows(branch, hosted).fork(self._key)
        hosted.world.adopt(rows.world)
        hosted.transactions = rows.transactions
        # A running clock has gone on meanwhile, unless the wall clock was set back.
        hosted.world.run_since(parts[WALL])
        restore_hosting(hosted, hosting)
        return hosted

    def _rows(self, branch: int, like: HostedWorld) -> HostedWorld:
        """Return a world with the rows of a branch and those above it."""
        known = self._branches.get(branch)
        if known is not None:
            return known
        chain = [branch]
        while (parent := self._parent(chain[-1])) is not None and parent not in self._branches:
            chain.append(parent)
        above = like.bare() if parent is None else self._branches[parent]
        for number in reversed(chain):
            above = self._branches[number] = above.fork(self._key)
            self._apply(above, number)
        return above

    def _parent(self, branch: int) -> int | None:
        rows = list(self._file.read("SELECT parent FROM branches WHERE id = ?", branch))
        if not rows:
            raise WorldDamaged(f"branch {branch} is missing")
        return None if rows[0][0] is None else int(str(rows[0][0]))

    def _apply(self, hosted: HostedWorld, branch: int) -> None:
        """Put the rows of a branch into a world: new ones in their order, then later forms."""
        where = f"branch {branch}"
        store = _Store(hosted, self._shared)
        sql = "SELECT part, value, sum FROM changes WHERE branch = ? ORDER BY part, key"
        changes = [
            (str(name), checked(value, total, f"a changed row of {where}"))
            for name, value, total in self._file.read(sql, branch)
        ]
        store.lose([text for part, text in changes if part == "transaction"])
        sql = "SELECT value, sum FROM items WHERE branch = ? ORDER BY number"
        for value, total in self._file.read(sql, branch):
            for line in checked(value, total, f"a row of {where}").split("\n"):
                part, _, text = line.partition(" ")
                store.row(part, text)
        for part, text in changes:
            store.row(part, text)

    def _restore_journal(self, hosted: HostedWorld, world_id: int) -> None:
        sql = "SELECT value, sum FROM journal WHERE world = ? ORDER BY last"
        entries: list[StoredEntry] = []
        last = hosted.horizon.sequence
        for value, total in self._file.read(sql, world_id):
            entries += journal_entries(checked(value, total, "journal"))
        for (number,) in self._file.read("SELECT max(last) FROM journal WHERE world = ?", world_id):
            last = max(last, int(str(number or 0)))
        hosted.journal.restore(entries, last)


class _Store:
    """Puts rows into a world."""

    def __init__(self, hosted: HostedWorld, shared: Shared) -> None:
        self._hosted = hosted
        self._shared = shared
        self._rows = Rows(hosted.world.scenario)
        self._lost: dict[int, ChainTransaction] = {}

    def lose(self, texts: Iterable[str]) -> None:
        """Take transactions off their chains that were lost later, before others come."""
        # What was sent again has the hash of a lost one, and must not be taken for it.
        for text in texts:
            tx = ChainTransaction.load(self._shared.read(text))
            if tx.lost:
                self._lost[tx.number] = tx
                if self._hosted.transactions.known(tx) is not None:
                    restore(self._hosted, tx)

    def row(self, part: str, text: str) -> None:
        """Store a row. Raises `WorldDamaged`, `NotPlain` and what parsers raise."""
        state, value = self._hosted.world.core.state, self._shared.read(text)
        if part == "order":
            self._rows.order(state, value)
        elif part == "ticket":
            self._rows.ticket(state, value)
        elif part == "transaction":
            tx = ChainTransaction.load(value)
            restore(self._hosted, self._lost.get(tx.number, tx))
        else:
            raise WorldDamaged(f"a row of {part!r} is none of this release")
