"""Outages made and ended while a world runs; what has happened never changes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import Direction, OccupiedTimes, Window, window_issues
from mockserver.engine.refusal import InvalidOutage
from mockserver.engine.world_state import View
from mockserver.times_and_durations import iso


class Suspensions(View):
    """The outages of a world, planned, active and past."""

    __slots__ = ()

    @property
    def calendar(self) -> Calendar:
        return self._core.state.calendar

    def all(self) -> tuple[Window, ...]:
        """Return every window, past ones too, in the order they were added."""
        return tuple(self._core.state.calendar.windows)

    def active(self) -> tuple[Window, ...]:
        return tuple(self._core.state.calendar.active(self._core.now()))

    def announced(self) -> tuple[Window, ...]:
        """Return the windows that have not begun but are announced."""
        return self._core.state.calendar.announced(self._core.now())

    def suspend(self, window: Window) -> Window:
        """Add an outage; one that would begin in the past begins now.

        Raises `InvalidOutage` where the window is not in order or overlaps another one.
        """
        return self.suspend_all([window])[0]

    def suspend_all(self, windows: Iterable[Window]) -> tuple[Window, ...]:
        """Add several outages, all of them or none; each as `suspend` does."""
        now, before = self._core.now(), self._core.state.calendar.windows
        taken, added = OccupiedTimes(before), []
        for window in windows:
            # What has happened stays: an outage cannot have begun before now.
            closed = replace(window, from_ms=max(window.from_ms, now), closed=False)
            issues = list(window_issues(closed, self._core.scenario.catalog, taken))
            if issues:
                raise InvalidOutage("; ".join(f"{field}: {text}" for field, text in issues))
            taken.add(closed)
            added.append(closed)
        # Only here, when each was checked: all of them or none.
        self._core.state.calendar = Calendar((*before, *added))
        return tuple(added)

    def restore(
        self,
        chain: str | None = None,
        token: str | None = None,
        direction: Direction | None = None,
    ) -> tuple[Window, ...]:
        """End the active outages of a subject now and return them.

        Raises `InvalidOutage` where there is none.
        """
        now, windows = self._core.now(), self._core.state.calendar.windows
        active = [window for window in self._of(chain, token, direction) if window.covers(now)]
        if not active:
            raise InvalidOutage(f"{_subject(chain, token)} is not suspended at {iso(now)}")
        # Ended and not removed: orders that it has stopped or failed stay so.
        ended = {window: replace(window, until_ms=now, closed=True) for window in active}
        self._core.state.calendar = Calendar(tuple(ended.get(window, window) for window in windows))
        return tuple(ended.values())

    def cancel(
        self,
        chain: str | None = None,
        token: str | None = None,
        direction: Direction | None = None,
    ) -> tuple[Window, ...]:
        """Take the outages of a subject that have not begun off the calendar and return them.

        Raises `InvalidOutage` where there is none.
        """
        now = self._core.now()
        # Later than now: one that begins at this very moment is active, and `restore` ends it.
        planned = tuple(
            window for window in self._of(chain, token, direction) if window.from_ms > now
        )
        if not planned:
            raise InvalidOutage(f"{_subject(chain, token)} has no outage ahead at {iso(now)}")
        windows, struck = self._core.state.calendar.windows, set(planned)
        self._core.state.calendar = Calendar(
            tuple(window for window in windows if window not in struck)
        )
        return planned

    def _of(
        self, chain: str | None, token: str | None, direction: Direction | None
    ) -> Iterator[Window]:
        for window in self._core.state.calendar.windows:
            subject = window.chain, window.token
            if subject == (chain, token) and direction in (None, window.direction):
                yield window


def _subject(chain: str | None, token: str | None) -> str:
    return " on ".join(name for name in (token, chain) if name) or "nothing named"
