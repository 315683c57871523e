"""A state folder as a whole: one file for each process that serves it, and who holds it."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from mockserver import __version__
from mockserver.engine.refusal import StateNotLoadable
from mockserver.wording import reason_of
from mockserver.worlds.process_of_world import home_of
from mockserver.worlds.state.request_counts import Counts
from mockserver.worlds.state.row_encoding import Rows
from mockserver.worlds.state.sqlite_file import (
    FILE,
    Hold,
    PartOf,
    StateFile,
    Statement,
    Sync,
    checked,
    checksum,
    sealed,
    shared_name,
    shared_value,
)

# A file with the number of processes that the folder's files are for.
_PROCESSES = "processes"
_SHARED_NAME = re.compile(r"worlds-(\d{1,4})-of-(\d{1,4})\.sqlite")
# Rows that are written at once when worlds move to another file.
_AT_ONCE = 500


def processes_of(folder: Path) -> int:
    """Return for how many processes a folder was written; 0 for none. Raises `StateNotLoadable`."""
    try:
        text = (folder / _PROCESSES).read_text("ascii")
        return int(text)
    except FileNotFoundError:
        return 1 if (folder / FILE).is_file() else 0
    except (OSError, ValueError):
        where = repr(str(folder / _PROCESSES))
        raise StateNotLoadable(f"{where} cannot be read; it has the number of processes") from None


def shares_of(folder: Path) -> list[PartOf]:
    """Return the shares of a folder. Raises `StateNotLoadable` for what is no state folder."""
    processes = processes_of(folder)
    if not processes:
        raise StateNotLoadable(f"{str(folder)!r} is no state folder: it has no {FILE}")
    return [(number, processes) for number in range(processes)]


def opened(folder: Path, sync: Sync, *, create: bool = True) -> StateFile:
    """Return the file of the one process that serves a folder. Raises `StateNotLoadable`."""
    if not create:
        shares_of(folder)
    hold = Hold(folder)
    try:
        arrange(folder, 1)
        return StateFile(folder, sync, hold=hold)
    except BaseException:
        hold.close()
        raise


def arrange(folder: Path, processes: int) -> int:
    """Have the folder ready for so many processes; return how many worlds had to move.

    The caller holds the folder. The old files are there until the new ones are whole, so that a
    process that is killed loses nothing. Raises `StateNotLoadable`.
    """
    before = processes_of(folder)
    if before in (0, processes):
        if not before:
            _note(folder, processes)
        return 0
    try:
        _remove_others(folder, before)
        moved = _moved(folder, before, processes)
        _note(folder, processes)
        _remove_others(folder, processes)
    except OSError as error:
        raise StateNotLoadable(
            f"cannot move worlds in {str(folder)!r}: {reason_of(error)}"
        ) from None
    return moved


def _note(folder: Path, processes: int) -> None:
    """Note for how many processes the files are, in one step."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A rename is whole or not at all: a crash leaves the old number or the new one.
    draft = folder / f".{_PROCESSES}"
    with draft.open("w", encoding="ascii") as file:
        file.write(str(processes))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _PROCESSES)
    with suppress(OSError):
        # The name, too, has to reach the disk; not every system lets a folder be opened.
        number = os.open(folder, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


def _remove_others(folder: Path, processes: int) -> None:
    """Remove files for another number of processes: a move that was not finished, or is."""
    kept = {shared_name(FILE, (number, processes)) for number in range(processes)}
    for path in folder.glob("worlds*.sqlite"):
        if path.name not in kept and (path.name == FILE or _SHARED_NAME.fullmatch(path.name)):
            counts = path.name.replace("worlds", "requests").replace(".sqlite", ".counts")
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", counts):
                (folder / name).unlink(missing_ok=True)


class _Source:
    """A file that worlds move out of."""

    def __init__(self, folder: Path, share: PartOf) -> None:
        self.file = StateFile(folder, share=share, create=False)
        self.counts = Counts(self.file.counts)
        self.started = self.file.next_id("starts") - 1
        shared = self.file.read("SELECT number, value FROM shared")
        self.rows = Rows({int(str(number)): str(value) for number, value in shared})

    def close(self) -> None:
        self.counts.close()
        self.file.close()


class _Target:
    """A file that worlds move into. It need not be safe before the folder names it."""

    def __init__(self, folder: Path, share: PartOf) -> None:
        self.file = StateFile(folder, Sync.OFF, share)
        self.counts = Counts(self.file.counts)
        self.rows = Rows({})

    def close(self) -> None:
        self.counts.close()
        self.file.close()


def _moved(folder: Path, before: int, processes: int) -> int:
    """Copy all worlds into files for another number of processes, and return how many."""
    with ExitStack() as stack:
        sources = [_Source(folder, (number, before)) for number in range(before)]
        targets = [_Target(folder, (number, processes)) for number in range(processes)]
        for source in sources:
            stack.callback(source.close)
        for target in targets:
            stack.callback(target.close)
        # All targets go on from the most starts, to which the count of each world is moved.
        newest = max(source.started for source in sources)
        for target in targets:
            row = ("INSERT INTO starts VALUES (?, 0, ?)", (newest, __version__))
            target.file.write([row] if newest else [])
        count = 0
        for source in sources:
            for world in list(_worlds(source.file)):
                _copy(source, targets[home_of(world[1], processes)], world, newest)
                count += 1
        for target in targets:
            # Shared values last: only now it is known which of them the moved worlds use.
            for item in target.rows.added:
                target.file.write(shared_value(*item))
    for target in targets:
        with target.file.path.open("rb+") as file:
            os.fsync(file.fileno())
    return count


def _copy(
    source: _Source, target: _Target, world: tuple[int, str, int, int, str], newest: int
) -> None:
    old_id, key, branch, began, scenario = world
    world_id, first = target.file.next_id("worlds"), target.file.next_id("branches")
    branches = _branches(source.file, old_id, branch)
    new = {old: first + place for place, old in enumerate(branches)}
    statements: list[Statement] = []
    for old, above in branches.items():
        parent = None if above is None else new[above]
        statements.append(("INSERT INTO branches VALUES (?, ?)", (new[old], parent)))
        statements.append(sealed("branches", new[old], parent))
    # So it was restarted as often as before.
    row = (world_id, key, new[branch], began + newest - source.started, scenario)
    statements.append(("INSERT INTO worlds VALUES (?, ?, ?, ?, ?)", row))
    statements.append(sealed("worlds", world_id, key, row[3], scenario))
    statements.append(sealed("tips", world_id, new[branch]))
    for table, name in (("parts", "name"), ("journal", "last")):
        sql = f"SELECT {name}, value, sum FROM {table} WHERE world = ?"  # noqa: S608 - our names
        statements += [
            (f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (world_id, *known))  # noqa: S608
            for known in source.file.read(sql, old_id)
        ]
    sql = "SELECT name, place, branch, value, sum FROM snapshots WHERE world = ?"
    for snapshot, place, below, value, total in source.file.read(sql, old_id):
        kept = (world_id, snapshot, place, new[int(str(below))], value, total)
        statements.append(("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", kept))
    for old in branches:
        for statement in _rows_of(source, old, new[old], target.rows):
            statements.append(statement)
            if len(statements) >= _AT_ONCE:
                target.file.write(statements)
                statements = []
    target.file.write(statements)
    target.counts.make_room(world_id)
    target.counts.slots[world_id] = source.counts.get(old_id)


def _worlds(source: StateFile) -> Iterator[tuple[int, str, int, int, str]]:
    for world_id, key, branch, began, scenario in source.read(
        "SELECT id, key, branch, began, scenario FROM worlds ORDER BY id"
    ):
        yield int(str(world_id)), str(key), int(str(branch)), int(str(began)), str(scenario)


def _branches(source: StateFile, world_id: int, branch: int) -> dict[int, int | None]:
    """Return the branches of a world with their parents, parents first."""
    wanted = [branch]
    sql = "SELECT branch FROM snapshots WHERE world = ?"
    wanted += [int(str(below)) for (below,) in source.read(sql, world_id)]
    parents: dict[int, int | None] = {}
    for number in wanted:
        current: int | None = number
        while current is not None and current not in parents:
            ((parent,),) = source.read("SELECT parent FROM branches WHERE id = ?", current)
            parents[current] = None if parent is None else int(str(parent))
            current = parents[current]
    # A branch is made after the one it grows on, so that their numbers are in that order.
    return dict(sorted(parents.items()))


def _rows_of(source: _Source, old: int, new: int, rows: Rows) -> Iterator[Statement]:
    """Yield what writes the rows of a branch into another file, which shares other values."""
    where = f"a row of branch {old}"
    sql = "SELECT number, value, sum FROM items WHERE branch = ?"
    for number, value, total in source.file.read(sql, old):
        lines = []
        for line in checked(value, total, where).split("\n"):
            part, _, text = line.partition(" ")
            lines.append(f"{part} {_rewritten(part, text, source, rows)}")
        text = "\n".join(lines)
        yield "INSERT INTO items VALUES (?, ?, ?, ?)", (new, number, text, checksum(text))
    sql = "SELECT part, key, value, sum FROM changes WHERE branch = ?"
    for name, key, value, total in source.file.read(sql, old):
        changed = _rewritten(str(name), checked(value, total, where), source, rows)
        row = (new, name, key, changed, checksum(changed))
        yield "INSERT INTO changes VALUES (?, ?, ?, ?, ?)", row


def _rewritten(part: str, text: str, source: _Source, rows: Rows) -> str:
    # Transactions share nothing.
    return text if part == "transaction" else rows.rewritten(text, source.rows)
