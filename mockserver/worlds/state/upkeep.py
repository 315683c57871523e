"""What people do with a state folder that no server uses: look into it, and tidy it up."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mockserver.engine.refusal import StateNotLoadable
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.worlds.factory import WorldFactory
from mockserver.worlds.hosted import DEFAULT_WORLD, HostedWorld
from mockserver.worlds.state.errors import NotKept, WorldDamaged
from mockserver.worlds.state.folder import shares_of
from mockserver.worlds.state.restoring import Restoring
from mockserver.worlds.state.row_encoding import Rows, plain
from mockserver.worlds.state.sqlite_file import Hold, StateFile, Statement, checked, unsealed
from mockserver.worlds.state.world_keeper import OF_A_WORLD

# The tables whose values have checksums, and what names a row.
_SUMMED = {
    "parts": "world, name",
    "snapshots": "world, name",
    "journal": "world, last",
    "items": "branch, number",
    "changes": "branch, part, key",
}
_MOST_DAMAGE = 20


@dataclass(frozen=True, slots=True)
class KeptWorld:
    """A world of a folder; `damage` says why it cannot be read, empty where it can.

    `orders` is None where its scenario is a file that is not at hand.
    """

    key: str
    scenario: str
    restarts: int
    snapshots: int
    journal: int
    orders: int | None
    damage: str = ""


@dataclass(frozen=True, slots=True)
class FolderState:
    """What a folder has, and what is wrong with it."""

    release: str
    version: int
    processes: int
    size: int
    worlds: tuple[KeptWorld, ...]
    damage: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.damage and not any(world.damage for world in self.worlds)


@contextmanager
def _held(folder: Path, *, check: bool = True) -> Iterator[list[StateFile]]:
    """Open all files of a folder, alone. Raises `StateNotLoadable`."""
    shares = shares_of(folder)
    with closing(Hold(folder)):
        files: list[StateFile] = []
        try:
            # One by one: those that were opened are closed where the next one cannot be.
            for share in shares:
                files += [StateFile(folder, share=share, create=False, check=check)]
            yield files
        finally:
            for file in files:
                file.close()


def check(folder: Path, make: Callable[[], WorldFactory]) -> FolderState:
    """Return the condition of a folder: each value against its checksum, each world read back.

    `make` makes the factory of the server's worlds. Raises `StateNotLoadable` for a folder that is
    in use, of a later version, or none.
    """
    worlds: list[KeptWorld] = []
    damage: list[str] = []
    factory = make()
    with _held(folder, check=False) as files:
        meta = files[0].meta()
        for file in files:
            damage += file.problems()
            damage += _wrong_sums(file)
            worlds += _kept_worlds(file, factory)
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    version, shown = int(meta["version"]), tuple(damage[:_MOST_DAMAGE])
    return FolderState(meta["release"], version, len(files), size, tuple(worlds), shown)


def _wrong_sums(file: StateFile) -> Iterator[str]:
    for table, names in _SUMMED.items():
        try:
            for *key, value, total in file.read(f"SELECT {names}, value, sum FROM {table}"):  # noqa: S608
                where = " ".join(map(str, key))
                try:
                    checked(value, total, f"{file.path.name}: {table} ({names} {where})")
                except WorldDamaged as error:
                    yield str(error)
        except WorldDamaged as error:
            yield str(error)


def _rows(file: StateFile) -> list[tuple[int, str, int, int, str]]:
    sql = "SELECT id, key, branch, began, scenario FROM worlds ORDER BY id"
    return [
        (int(str(world_id)), str(key), int(str(branch)), int(str(began)), str(scenario))
        for world_id, key, branch, began, scenario in file.read(sql)
    ]


def _kept_worlds(file: StateFile, factory: WorldFactory) -> Iterator[KeptWorld]:
    started = file.next_id("starts") - 1
    shared = _shared(file)
    for world_id, key, branch, began, scenario in _rows(file):
        snapshots = _count(file, "snapshots", world_id)
        journal = _count(file, "journal", world_id)
        orders, damage = None, ""
        if _at_hand(factory, scenario):
            try:
                hosted = Restoring(file, factory, shared, key).world(world_id, branch)
                orders, journal = hosted.world.orders.count(), len(hosted.journal)
            except StateNotLoadable as error:
                damage = str(error)
        restarts = max(0, started - began)
        yield KeptWorld(key, scenario, restarts, snapshots, journal, orders, damage)


def _count(file: StateFile, table: str, world_id: int) -> int:
    sql = f"SELECT count(*) FROM {table} WHERE world = ?"  # noqa: S608 - our own names
    ((count,),) = file.read(sql, world_id)
    return int(str(count))


def _shared(file: StateFile) -> Rows:
    rows = file.read("SELECT number, value FROM shared")
    return Rows({int(str(number)): str(value) for number, value in rows})


def _at_hand(factory: WorldFactory, mark: str) -> bool:
    name, _, digest = mark.partition(" ")
    try:
        factory.check_scenario(name, digest, default=False)
    except StateNotLoadable:
        return False
    return True


def export(
    folder: Path, patterns: Sequence[str], factory: WorldFactory
) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the dumps of the worlds whose keys match, of all without patterns.

    Raises `StateNotLoadable` where nothing matches, or a world cannot be read.
    """
    count = 0
    with _held(folder) as files:
        for file in files:
            shared = _shared(file)
            for world_id, key, branch, _, scenario in _rows(file):
                if patterns and not _matches(key, patterns):
                    continue
                name, _, digest = scenario.partition(" ")
                factory.check_scenario(name, digest, default=False)
                restoring = Restoring(file, factory, shared, key)
                hosted: HostedWorld = restoring.world(world_id, branch)
                app_keys: list[Any] = plain(restoring.parts.get("appKeys", "[]"))
                yield key, hosted.dump(app_keys)
                count += 1
    if not count:
        raise StateNotLoadable(f"no world of {str(folder)!r} matches {', '.join(patterns)}")


def prune(
    folder: Path, patterns: Sequence[str], *, journals: bool, write: bool
) -> tuple[list[str], int]:
    """Delete worlds whose keys match, and the journals of all with `journals`; then free space.

    Returns the keys, and how many bytes were freed. The default world goes only by its whole name.
    Without `write` nothing is changed. Raises `StateNotLoadable`.
    """
    with _held(folder) as files:
        before = sum(file.path.stat().st_size for file in files)
        chosen: list[str] = []
        for file in files:
            rows = [row for row in _rows(file) if _matches(row[1], patterns)]
            chosen += [key for _, key, *_ in rows]
            if not write:
                continue
            statements: list[Statement] = []
            for world_id, *_ in rows:
                tables = ("worlds WHERE id", *(f"{name} WHERE world" for name in OF_A_WORLD))
                statements += [(f"DELETE FROM {table} = ?", (world_id,)) for table in tables]  # noqa: S608
                statements += [unsealed("worlds", world_id), unsealed("tips", world_id)]
            if journals:
                statements.append(("DELETE FROM journal", ()))
            try:
                file.write(statements)
                # Rows that no world refers to any more are swept a few at a time, as a server does.
                while file.sweep():
                    pass
                file.compact()
            except NotKept as error:
                raise StateNotLoadable(str(error)) from None
        after = sum(file.path.stat().st_size for file in files)
    return chosen, before - after


def _matches(key: str, patterns: Sequence[str]) -> bool:
    if key == DEFAULT_WORLD:
        return key in patterns
    return any(fnmatchcase(key, pattern) for pattern in patterns)
