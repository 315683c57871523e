"""Outages made and ended while a world runs; what has happened never changes."""

from dataclasses import replace

from mockserver.clock import iso
from mockserver.engine.calendar import Calendar, Span
from mockserver.engine.core import Core
from mockserver.engine.mishaps import InvalidOutage
from mockserver.engine.outages import Direction, Window, window_problems


class Suspensions:
    """The outages of a world, planned, active and past."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        """Work on a world's core."""
        self._core = core

    def all(self) -> tuple[Window, ...]:
        """Return every window, past ones too, in the order they were added."""
        return tuple(self._core.state.calendar.windows)

    def active(self) -> tuple[Window, ...]:
        """Return the windows that cover this moment."""
        return self._core.state.calendar.active(self._core.now())

    def announced(self) -> tuple[Window, ...]:
        """Return the windows that have not begun but are announced."""
        return self._core.state.calendar.announced(self._core.now())

    def timeline(self, from_ms: int, until_ms: int) -> tuple[Span, ...]:
        """Return the outages between two moments, by subject."""
        return self._core.state.calendar.timeline(from_ms, until_ms)

    def suspend(self, window: Window) -> Window:
        """Add an outage; one that would begin in the past begins now.

        Raises `InvalidOutage` where the window is not in order or overlaps another one.
        """
        now, windows = self._core.now(), self._core.state.calendar.windows
        added = replace(window, from_ms=max(window.from_ms, now), closed=False)
        found = window_problems((*windows, added), self._core.scenario.catalog)
        mine = [problem for problem in found if problem.index == len(windows)]
        if mine:
            raise InvalidOutage(
                "; ".join(f"{problem.field}: {problem.message}" for problem in mine)
            )
        self._core.state.calendar = Calendar((*windows, added))
        return added

    def restore(
        self,
        chain: str | None = None,
        token: str | None = None,
        direction: Direction | None = None,
    ) -> tuple[Window, ...]:
        """End the active outages of a subject now and return them.

        Raises `InvalidOutage` where there is none.
        """
        now, kept, ended = self._core.now(), [], []
        for window in self._core.state.calendar.windows:
            mine = (window.chain, window.token) == (chain, token)
            if mine and direction in (None, window.direction) and window.covers(now):
                window = replace(window, until_ms=now, closed=True)  # noqa: PLW2901 - its successor
                ended.append(window)
            kept.append(window)
        if not ended:
            subject = " on ".join(name for name in (token, chain) if name) or "nothing named"
            raise InvalidOutage(f"{subject} is not suspended at {iso(now)}")
        self._core.state.calendar = Calendar(tuple(kept))
        return tuple(ended)

    def cancel(self, window: Window) -> None:
        """Strike an outage that has not begun off the calendar.

        Raises `InvalidOutage` for one that has begun or is not planned.
        """
        windows = self._core.state.calendar.windows
        if window not in windows or window.from_ms <= self._core.now():
            raise InvalidOutage(f"{window.subject} has no such outage ahead")
        rest = tuple(planned for planned in windows if planned != window)
        self._core.state.calendar = Calendar(rest)
