"""Keeps the worlds of a server in a state folder."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mockserver import __version__
from mockserver.engine.refusal import StateNotLoadable
from mockserver.wording import reason_of
from mockserver.worlds.factory import WorldFactory
from mockserver.worlds.hosted import DEFAULT_WORLD, HostedWorld, Worlds
from mockserver.worlds.state.errors import NotKept
from mockserver.worlds.state.pending_writes import Writes
from mockserver.worlds.state.request_counts import Counts
from mockserver.worlds.state.restoring import Restoring
from mockserver.worlds.state.row_encoding import plain
from mockserver.worlds.state.sqlite_file import StateFile, Statement, checked, sealed, unsealed
from mockserver.worlds.state.unsaved_changes import WorldRecord

OF_A_WORLD = ("parts", "snapshots", "journal")
"""The tables with the number of a world; its branches are swept later."""


class Keeper:
    """Writes each change of a server's worlds, and reads the worlds back when they are used."""

    def __init__(
        self, file: StateFile, factory: WorldFactory, worlds: Worlds, wall: Callable[[], int]
    ) -> None:
        """Go on with the worlds of a file. Raises `StateNotLoadable`."""
        self.file = file
        self._factory = factory
        self._counts = self._counted()
        self.writes = Writes(file, self._counts, worlds.bound)
        self._hosted: dict[str, HostedWorld] = {}
        """Those that were used since the start."""
        self._kept: dict[str, tuple[int, int, int]] = {}
        """The worlds by key: number, branch when it was read, and the start in which it began."""
        scenarios: dict[str, str] = {}
        sql = "SELECT key, id, branch, began, scenario FROM worlds"
        rows: Iterator[tuple[Any, ...]] = file.read(sql)
        for key, world_id, branch, began, scenario in rows:
            self._kept[key] = world_id, branch, began
            # More is asked of the default world, so it speaks for those of its scenario.
            if key == DEFAULT_WORLD or scenario not in scenarios:
                scenarios[scenario] = key
        self.start = file.next_id("starts")
        """How often a server was started with this folder, with this time."""
        self._check_scenarios(scenarios)
        row = (self.start, wall(), __version__)
        self.writes.add([("INSERT INTO starts VALUES (?, ?, ?)", row)])
        worlds.keep(self, self._bound())
        if DEFAULT_WORLD in self._kept:
            # At once: what is wrong with it is wrong for most, and they read the first lines.
            self._check_default(worlds.get(DEFAULT_WORLD))

    def close(self) -> None:
        """Write what is left, and give the folder back. Raises `StateNotLoadable`."""
        try:
            self.writes.flush()
        except NotKept as error:
            raise StateNotLoadable(f"the newest changes are lost: {error}") from None
        finally:
            self._counts.close()
            self.file.close()

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def load(self, key: str) -> HostedWorld:
        """Return a world that is kept. Raises `StateNotLoadable`."""
        world_id, branch, began = self._kept[key]
        restoring = Restoring(self.file, self._factory, self.writes.rows, key)
        hosted = restoring.world(world_id, branch)
        hosted.restarts = self.start - began
        self._hosted[key] = hosted
        record = hosted.record = WorldRecord(self.writes, hosted, world_id, branch)
        record.snapshots = restoring.snapshots(world_id)
        record.begin_again(restoring.parts)
        # Counted with those that were lost before.
        hosted.lost = max(hosted.lost, self._counts.get(world_id) - hosted.journal.last_sequence)
        record.collect()
        return hosted

    def settle(self, hosted: HostedWorld) -> int:
        """Note what a control request has changed, perhaps in other worlds than its own as well.

        Returns the number of the commit that its answer waits for, 0 for none.
        """
        if hosted.record is not None and self._hosted.get(hosted.key) is hosted:
            hosted.record.collect()
            hosted.record.touched()
        return self.writes.newest

    def enter(self, hosted: HostedWorld, forked_from: HostedWorld | None) -> None:
        """Keep a world, in place of another one of its key."""
        if hosted.key in self._kept:
            self.leave(hosted.key)
        world_id = self.writes.next_id("worlds")
        self._counts.make_room(world_id)
        branch = self.writes.next_id("branches")
        above = forked_from.record if forked_from is not None else None
        scenario = self._factory.scenario_mark(hosted.world.scenario.name)
        row = (world_id, hosted.key, branch, self.start, scenario)
        statements: list[Statement] = [
            ("INSERT INTO worlds VALUES (?, ?, ?, ?, ?)", row),
            sealed("worlds", world_id, hosted.key, self.start, scenario),
            sealed("tips", world_id, branch),
        ]
        record = hosted.record = WorldRecord(self.writes, hosted, world_id, branch)
        if isinstance(above, WorldRecord):
            above.collect()
            statements.append(("INSERT INTO branches VALUES (?, ?)", (branch, above.branch)))
            statements.append(sealed("branches", branch, above.branch))
            statements += above.start_branch(above.branch)
            self.writes.add(statements)
            record.collect()
        else:
            statements.append(("INSERT INTO branches VALUES (?, NULL)", (branch,)))
            statements.append(sealed("branches", branch, None))
            self.writes.add(statements)
            record.write_all()
        self._kept[hosted.key] = world_id, record.branch, self.start
        self._hosted[hosted.key] = hosted

    def leave(self, key: str) -> None:
        """Forget a world."""
        world_id, *_ = self._kept.pop(key)
        gone = self._hosted.pop(key, None)
        if gone is not None and isinstance(gone.record, WorldRecord):
            self.writes.forget(gone.record)
            gone.record = None
        tables = ("worlds WHERE id", *(f"{name} WHERE world" for name in OF_A_WORLD))
        deleted: list[Statement] = [(f"DELETE FROM {table} = ?", (world_id,)) for table in tables]  # noqa: S608
        self.writes.add([*deleted, unsealed("worlds", world_id), unsealed("tips", world_id)])
        self.writes.litter()

    def _where(self) -> str:
        return f"state in {str(self.file.folder)!r}"

    def _counted(self) -> Counts:
        try:
            return Counts(self.file.counts)
        except OSError as error:
            raise StateNotLoadable(f"{self._where()}: {reason_of(error)}") from None

    def _bound(self) -> dict[str, list[str]]:
        """Return the app keys that choose worlds, by key."""
        sql = """SELECT key, value, sum FROM parts INDEXED BY bound JOIN worlds ON id = world
            WHERE name = 'appKeys' AND value <> '[]'"""
        return {
            str(key): plain(checked(value, total, f"app keys of world {key!r}"))
            for key, value, total in self.file.read(sql)
        }

    def _check_scenarios(self, worlds: Mapping[str, str]) -> None:
        """Raise `StateNotLoadable` where the scenario of a world, each with one, is not at hand."""
        for scenario, key in worlds.items():
            name, _, digest = scenario.partition(" ")
            try:
                self._factory.check_scenario(name, digest, default=key == DEFAULT_WORLD)
            except StateNotLoadable as error:
                raise StateNotLoadable(f"{self._where()}: world {key!r}: {error}") from None

    def _check_default(self, hosted: HostedWorld) -> None:
        """Raise `StateNotLoadable` where the default world speaks another dialect."""
        kept, wanted = hosted.contract.dialect.name, self._factory.dialect_name
        if kept != wanted:
            raise StateNotLoadable(
                f"{self._where()}: world {hosted.key!r} speaks dialect {kept!r}, and this server "
                f"{wanted!r}; start it with --dialect {kept}, or with another folder"
            )
