"""Snapshots: states of a world that are kept by name, and gone back to."""

from dataclasses import replace
from itertools import count

from mockserver.engine.refusal import UnknownSnapshot
from mockserver.engine.world_state import Core, WorldState


class Snapshots:
    """The states that one world keeps, oldest first."""

    __slots__ = ("_core", "_states")

    def __init__(self, core: Core) -> None:
        """Take the core of the world, whose state is kept and replaced."""
        self._core = core
        self._states: dict[str, WorldState] = {}

    def take(self, name: str | None) -> str:
        """Keep the state, clock and all, under a name; without one the next number is taken."""
        free = (str(number) for number in count(len(self._states) + 1))
        chosen = name or next(number for number in free if number not in self._states)
        kept = self._states[chosen] = self._core.state.copy()
        # A running clock is kept as the time it shows now.
        kept.clock = kept.clock.switched(kept.clock.mode, self._core.wall(), kept.clock.rate)
        return chosen

    def put(self, name: str, state: WorldState) -> None:
        """Keep a state that was a snapshot before, as the newest."""
        self._states[name] = state

    def names(self) -> tuple[str, ...]:
        return tuple(self._states)

    def restore(self, name: str) -> None:
        """Make a kept state that of the world; it stays. Raises `UnknownSnapshot`."""
        if name not in self._states:
            known = ", ".join(map(repr, self._states)) or "none"
            raise UnknownSnapshot(f"snapshot {name[:80]!r} does not exist; there are {known}")
        state = self._states[name].copy()
        # A running clock goes on from the time the snapshot showed, not from the time since.
        state.clock = replace(state.clock, wall_ms=self._core.wall())
        self._core.state = state

    def drop(self, name: str) -> None:
        """Forget a snapshot. Raises `UnknownSnapshot`."""
        if self._states.pop(name, None) is None:
            raise UnknownSnapshot(f"snapshot {name[:80]!r} does not exist")
