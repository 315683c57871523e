"""The SQLite file of a state folder: opened by one process at a time, read, and written in batches.

Its tables are described in docs/decisions/state-on-disk.md.
"""

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from zlib import crc32

from mockserver import __version__
from mockserver.engine.refusal import StateNotLoadable
from mockserver.wording import reason_of
from mockserver.worlds.state.errors import NotKept, WorldDamaged

if sys.platform == "win32":
    fcntl = None
else:
    import fcntl

FORMAT = "crosschain-mock/state"
VERSION = 2
"""The version of the tables. A release reads all versions up to its own, and no later one.

Version 1 has no seals and no index.
"""
FILE, COUNTS_FILE = "worlds.sqlite", "requests.counts"

_LOCK = "lock"
PartOf = tuple[int, int]
"""The number of a process, from 0, and of how many: each has a file of its own."""
Statement = tuple[str, tuple[object, ...]]
"""A change of the file: an SQL statement and its values."""

_TABLES = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE starts(number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, release TEXT NOT NULL);
CREATE TABLE worlds(id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, branch INTEGER NOT NULL,
    began INTEGER NOT NULL, scenario TEXT NOT NULL);
CREATE TABLE branches(id INTEGER PRIMARY KEY, parent INTEGER);
CREATE TABLE parts(world INTEGER, name TEXT, value TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY(world, name)) WITHOUT ROWID;
CREATE TABLE items(branch INTEGER, number INTEGER, value TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY(branch, number)) WITHOUT ROWID;
CREATE TABLE shared(number INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE changes(branch INTEGER, part TEXT, key TEXT, value TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY(branch, part, key)) WITHOUT ROWID;
CREATE TABLE snapshots(world INTEGER, name TEXT, place INTEGER NOT NULL, branch INTEGER NOT NULL,
    value TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(world, name)) WITHOUT ROWID;
CREATE TABLE journal(world INTEGER, last INTEGER, value TEXT NOT NULL, sum INTEGER NOT NULL,
    PRIMARY KEY(world, last)) WITHOUT ROWID;
"""
# What version 2 has beside the tables: checksums of rows that say where others belong, and an index
# of worlds with app keys, which all have to be known at the start.
# A seal without its row tells of a lost one.
_ADDED = (
    """CREATE TABLE seals(kind TEXT, number INTEGER, sum INTEGER NOT NULL,
    PRIMARY KEY(kind, number)) WITHOUT ROWID""",
    "CREATE INDEX bound ON parts(world) WHERE name = 'appKeys' AND value <> '[]'",
)
# What is sealed: the number of each row, and its values.
_SEALED = {
    "worlds": "SELECT id, key, began, scenario FROM worlds",
    "tips": "SELECT id, branch FROM worlds",
    "branches": "SELECT id, parent FROM branches",
    "shared": "SELECT number, value FROM shared",
}

_UNREACHABLE = """
WITH RECURSIVE live(id) AS (
    SELECT branch FROM worlds UNION SELECT branch FROM snapshots
    UNION SELECT parent FROM branches JOIN live USING (id) WHERE parent IS NOT NULL)
SELECT id FROM branches WHERE id NOT IN live LIMIT 1
"""
# Up to this size a file is checked as a whole when it is opened, some 2 ms a MB.
_CHECKED_BYTES = 64 * 1024 * 1024
# Rows that are deleted at once, so that nobody waits long.
_SWEPT = 2_000


class Sync(StrEnum):
    """When a change counts as written."""

    OFF = "off"
    """Once the system has it; a crash of the machine may damage the file."""
    NORMAL = "normal"
    """Once the system has it; a crash of the machine may lose the newest changes."""
    FULL = "full"
    """Once the disk has it."""


def shared_name(name: str, share: PartOf) -> str:
    """Return the name of the file of one of several processes."""
    number, processes = share
    stem, _, suffix = name.partition(".")
    return name if processes == 1 else f"{stem}-{number + 1}-of-{processes}.{suffix}"


def checksum(text: str) -> int:
    """Return the checksum of a value: SQLite itself does not notice a changed byte in one."""
    return crc32(text.encode("utf-8", "surrogatepass"))


def checked(value: object, total: object, where: str) -> str:
    """Return a value whose checksum is right. Raises `WorldDamaged`."""
    if isinstance(value, str) and checksum(value) == total:
        return value
    raise WorldDamaged(f"{where} is damaged: its checksum is another one")


def sealed(kind: str, number: int, *values: object) -> Statement:
    """Return what seals a row, of one of the kinds above."""
    return "INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", (kind, number, _seal((number, *values)))


def shared_value(number: int, value: str) -> list[Statement]:
    """Return what writes a value that rows share, with its seal."""
    insert = ("INSERT INTO shared VALUES (?, ?)", (number, value))
    return [insert, sealed("shared", number, value)]


def unsealed(kind: str, number: int) -> Statement:
    """Return what takes the seal of a row away, which is deleted."""
    return "DELETE FROM seals WHERE kind = ? AND number = ?", (kind, number)


def _seal(row: tuple[object, ...]) -> int:
    # No surrogates: repr escapes them.
    return crc32(repr(row).encode())


class Hold:
    """A folder that no other server may use, of however many processes, until this is closed.

    The processes that a holder starts hold it as well.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder, and hold it. Raises `StateNotLoadable`."""
        self._number: int | None = None
        if fcntl is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._number = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise StateNotLoadable(in_use(folder)) from None
        except OSError as error:
            self.close()
            reason = reason_of(error)
            raise StateNotLoadable(f"cannot keep state in {str(folder)!r}: {reason}") from None

    def close(self) -> None:
        """Let others have it."""
        if self._number is not None:
            os.close(self._number)
            self._number = None


def in_use(folder: Path) -> str:
    """Return the sentence for a folder that another server uses."""
    return (
        f"state folder {str(folder)!r} is in use by another server; stop that, or name another "
        "folder"
    )


class StateFile:
    """The file of a state folder, locked for as long as it is open. It is not thread-safe."""

    def __init__(
        self,
        folder: Path,
        sync: Sync = Sync.FULL,
        share: PartOf = (0, 1),
        *,
        create: bool = True,
        check: bool = True,
        hold: Hold | None = None,
    ) -> None:
        """Open the file, or make it with its folder. Raises `StateNotLoadable`.

        Without `check` a damaged one is opened as well. `hold` ends with it.
        """
        self._check = check
        self._hold = hold
        self.folder = folder
        self.path = folder / shared_name(FILE, share)
        self.counts = folder / shared_name(COUNTS_FILE, share)
        """Where the numbers of the newest requests are (`Counts`)."""
        self.sync = sync
        self._db = self._opened(create=create)
        try:
            self._settle(sync)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let another process have it."""
        with suppress(sqlite3.Error):
            self._db.close()
        if self._hold is not None:
            self._hold.close()

    def meta(self) -> dict[str, str]:
        """Return the format, its version and the release that wrote last."""
        return {str(name): str(value) for name, value in self.read("SELECT name, value FROM meta")}

    def problems(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        rows = [str(row[0]) for row in self.read("PRAGMA integrity_check(20)")]
        broken = [] if rows == ["ok"] else [f"{self.path.name}: {row}" for row in rows]
        try:
            broken += [f"{self.path.name}: {what}" for what in self._broken_seals()]
        except sqlite3.Error as error:
            broken.append(f"{self.path.name}: {error}")
        return broken

    def _broken_seals(self) -> Iterator[str]:
        """Yield what is wrong with the rows that are sealed."""
        for kind, query in _SEALED.items():
            known = dict(self._db.execute("SELECT number, sum FROM seals WHERE kind = ?", (kind,)))
            # At each start, for each of ten thousand worlds: so in few steps. A row of version 1
            # has no seal.
            sums = {row[0]: _seal(row) for row in self._db.execute(query)}
            if known == sums:
                continue
            for number, total in known.items():
                if number not in sums:
                    yield f"{kind}: row {number} is missing"
                elif sums[number] != total:
                    yield f"{kind}: row {number} is another one than was written"

    def compact(self) -> None:
        """Give the space of deleted rows back. Raises `NotKept`."""
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise NotKept(self._reason(error)) from None

    def read(self, sql: str, *values: object) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a query. Raises `WorldDamaged`."""
        try:
            yield from self._db.execute(sql, values)
        except sqlite3.Error as error:
            raise WorldDamaged(f"{str(self.path)!r} cannot be read: {error}") from None

    def begin(self, statements: Iterable[Statement]) -> None:
        """Make changes, all or none; they count once `commit` returns. Raises `NotKept`."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                self._db.execute(sql, values)
        except sqlite3.Error as error:
            self._roll_back()
            raise NotKept(self._reason(error)) from None

    def commit(self) -> None:
        """Write what was begun. Raises `NotKept`, and then nothing is written."""
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise NotKept(self._reason(error)) from None

    def write(self, statements: Sequence[Statement]) -> None:
        """Make changes, all or none. Raises `NotKept`."""
        self.begin(statements)
        self.commit()

    def next_id(self, table: str) -> int:
        """Return the first number above all of a table."""
        column = "number" if table == "starts" else "id"
        (row,) = self.read(f"SELECT max({column}) FROM {table}")  # noqa: S608 - our own names
        return int(str(row[0] or 0)) + 1

    def sweep(self) -> bool:
        """Delete some rows that no world needs any more; tell whether there may be more of them.

        Raises `NotKept`.
        """
        dead = next(self.read(_UNREACHABLE), None)
        if dead is None:
            self._shrink()
            return False
        left = 0
        for table, key in (("items", "number"), ("changes", "part, key")):
            chosen = f"SELECT {key} FROM {table} WHERE branch = ? LIMIT {_SWEPT}"  # noqa: S608
            where = f"branch = ? AND ({key}) IN ({chosen})"
            self.write([(f"DELETE FROM {table} WHERE {where}", (dead[0], dead[0]))])  # noqa: S608
            left += len(list(self.read(f"SELECT 1 FROM {table} WHERE branch = ? LIMIT 1", dead[0])))  # noqa: S608
        if not left:
            number = int(str(dead[0]))
            gone = ("DELETE FROM branches WHERE id = ?", (number,))
            self.write([gone, unsealed("branches", number)])
        return True

    def _shrink(self) -> None:
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA incremental_vacuum(1000)").fetchall()

    def _opened(self, *, create: bool) -> sqlite3.Connection:
        try:
            if create:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            elif not self.path.is_file():
                raise StateNotLoadable(f"{str(self.folder)!r} is no state folder: it has no {FILE}")
            if not self.path.exists():
                # It holds secrets of developer keys: no other user may read it.
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            return sqlite3.connect(
                self.path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except OSError as error:
            reason = reason_of(error)
        except sqlite3.Error as error:
            reason = str(error)
        raise StateNotLoadable(f"cannot keep state in {str(self.folder)!r}: {reason}") from None

    def _settle(self, sync: Sync) -> None:
        """Lock the file, and see that it is one of ours."""
        try:
            # In exclusive mode SQLite holds its lock until the file is closed.
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("ROLLBACK")
            self._check_format()
            if self._check:
                self._check_whole()
            self._db.execute(f"PRAGMA synchronous = {sync.value}")
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("UPDATE meta SET value = ? WHERE name = 'release'", (__version__,))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise StateNotLoadable(self._not_open(error)) from None

    def _check_format(self) -> None:
        tables = [row[0] for row in self._db.execute("SELECT name FROM sqlite_master")]
        if not tables:
            self._create()
            return
        known = dict(self._db.execute("SELECT name, value FROM meta")) if "meta" in tables else {}
        if known.get("format") != FORMAT:
            raise StateNotLoadable(f"{str(self.path)!r} is no state of crosschain-mock")
        version = int(known["version"]) if str(known.get("version")).isdecimal() else 0
        if not version:
            raise StateNotLoadable(f"{str(self.path)!r} is damaged: it has no version")
        if version > VERSION:
            raise StateNotLoadable(
                f"{str(self.path)!r} has version {version} of the format, from release "
                f"{known.get('release')}; this release, {__version__}, reads versions up to "
                f"{VERSION}"
            )
        if version < VERSION:
            self._db.execute("BEGIN IMMEDIATE")
            for statement in _ADDED:
                self._db.execute(statement)
            self._db.execute("UPDATE meta SET value = ? WHERE name = 'version'", (str(VERSION),))
            self._db.execute("COMMIT")

    def _check_whole(self) -> None:
        """Raise `StateNotLoadable` where rows are missing, or belong elsewhere."""
        # Other values have checksums, which are looked at when their world is read. The pages of a
        # file so large that a server would be late are left to `state check`.
        wrong = next(self._broken_seals(), None)
        if wrong is None and self.path.stat().st_size <= _CHECKED_BYTES:
            rows = self._db.execute("PRAGMA integrity_check(1)").fetchall()
            wrong = None if rows == [("ok",)] else " ".join(str(rows[0][0]).split())
        if wrong is not None:
            raise StateNotLoadable(
                f"{str(self.path)!r} is damaged: {wrong}; bring a copy back, or name an empty "
                "folder"
            )

    def _create(self) -> None:
        self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._db.execute("PRAGMA journal_mode = WAL")
        # All tables or none: the process may be killed in between.
        self._db.execute("BEGIN IMMEDIATE")
        for statement in (*_TABLES.split(";"), *_ADDED):
            self._db.execute(statement)
        rows = {"format": FORMAT, "version": str(VERSION), "release": __version__}
        self._db.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        self._db.execute("COMMIT")

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _not_open(self, error: sqlite3.Error) -> str:
        where = repr(str(self.folder))
        if "locked" in str(error):
            return in_use(self.folder)
        if "readonly" in str(error):
            return f"state folder {where} is read-only; state is written there"
        return (
            f"state in {where} cannot be read: {error}; bring a copy back, or name an empty folder"
        )

    def _reason(self, error: sqlite3.Error) -> str:
        return f"cannot write to {str(self.path)!r}: {error}"
