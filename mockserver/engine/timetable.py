"""Outages by time and by route, so that a calendar of years answers as quickly as an empty one."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter

from mockserver.engine.outages import LIST_CHANGING, Direction, InFlight, Mode, Route, Window
from mockserver.values import keep

_KEPT_ROUTES = 4_096


class Stretches:
    """Windows by the stretch of time between two of their beginnings and ends."""

    def __init__(self, windows: Sequence[Window]) -> None:
        """Take windows in their order, which every answer keeps."""
        self.windows = windows

    def active(self, now_ms: int) -> Sequence[Window]:
        """Return the windows that cover a moment."""
        if not self.windows:
            return ()
        return self._active[bisect_right(self._bounds, now_ms)]

    def next_boundary(self, now_ms: int) -> int | None:
        """Return the first moment after now at which any window begins, ends or flaps."""
        if not self.windows:
            return None
        place = bisect_right(self._begins, now_ms)
        moments = [self._begins[place]] if place < len(self._begins) else []
        for window in self.active(now_ms):
            moment = window.next_boundary(now_ms)
            if moment is not None:
                moments.append(moment)
        return min(moments, default=None)

    @cached_property
    def _begins(self) -> list[int]:
        return sorted({window.from_ms for window in self.windows})

    @cached_property
    def _bounds(self) -> list[int]:
        ends = {window.until_ms for window in self.windows if window.until_ms is not None}
        return sorted(ends.union(self._begins))

    @cached_property
    def _active(self) -> list[tuple[Window, ...]]:
        """The windows of each stretch; that of index 0 is before the first bound."""
        coming = sorted(enumerate(self.windows), key=lambda item: item[1].from_ms, reverse=True)
        found: list[tuple[Window, ...]] = [()]
        open_: dict[int, Window] = {}
        for bound in self._bounds:
            open_ = {place: one for place, one in open_.items() if one.covers(bound)}
            while coming and coming[-1][1].from_ms <= bound:
                place, window = coming.pop()
                if window.covers(bound):
                    open_[place] = window
            found.append(tuple(open_[place] for place in sorted(open_)))
        return found


class RouteStretches(Stretches):
    """The windows that orders of one route meet."""

    def quiet(self, from_ms: int, until_ms: int) -> bool:
        """Tell whether no window covers, begins or ends from a moment up to and with another."""
        if not self.windows:
            return True
        place = bisect_left(self._bounds, from_ms)
        return place == bisect_right(self._bounds, until_ms) and not self._active[place]

    def strike(self, since_ms: int) -> tuple[int, Window] | None:
        """Return when, from a moment on, one first fails or refunds orders, and which."""
        place = bisect_left(self._lasting, since_ms, key=_from_of)
        found = [*self._lasting[place : place + 1], *self._flapping]
        strikes = [
            (moment, number, window)
            for number, window in found
            if (moment := window.strikes(since_ms)) is not None
        ]
        if not strikes:
            return None
        moment, _, window = min(strikes, key=lambda strike: strike[:2])
        return moment, window

    @cached_property
    def _strikers(self) -> list[tuple[int, Window]]:
        return [
            (number, window)
            for number, window in enumerate(self.windows)
            if window.in_flight in (InFlight.FAIL, InFlight.REFUND)
        ]

    @cached_property
    def _lasting(self) -> list[tuple[int, Window]]:
        """Those that strike at their beginning alone, by it."""
        lasting = [item for item in self._strikers if item[1].mode is not Mode.FLAPPING]
        return sorted(lasting, key=_from_of)

    @cached_property
    def _flapping(self) -> list[tuple[int, Window]]:
        return [item for item in self._strikers if item[1].mode is Mode.FLAPPING]


class Timetable(Stretches):
    """All windows of a calendar."""

    def __init__(self, windows: Sequence[Window]) -> None:
        """Take the windows of a calendar in their order."""
        super().__init__(windows)
        self._routes: dict[Route, RouteStretches] = {}

    def of(self, route: Route) -> RouteStretches:
        """Return the windows that orders of a route meet."""
        found = self._routes.get(route)
        if found is None:
            found = keep(self._routes, route, RouteStretches(self._touching(route)), _KEPT_ROUTES)
        return found

    def list_changes(self, now_ms: int) -> int:
        """Return how often windows have changed the lists up to a moment."""
        return bisect_right(self._list_bounds, now_ms)

    def _touching(self, route: Route) -> tuple[Window, ...]:
        if not self.windows:
            return ()
        ends = (
            (route.source_chain, route.source_token, Direction.SOURCE),
            (route.target_chain, route.target_token, Direction.TARGET),
        )
        places = {
            place
            for chain, token, end in ends
            for subject in ((chain, None), (chain, token), (None, token), (None, None))
            for place in self._subjects.get(subject, ())
            if self.windows[place].concerns(chain, token, end)
        }
        return tuple(self.windows[place] for place in sorted(places))

    @cached_property
    def _subjects(self) -> dict[tuple[str | None, str | None], list[int]]:
        found: dict[tuple[str | None, str | None], list[int]] = {}
        for place, window in enumerate(self.windows):
            found.setdefault((window.chain, window.token), []).append(place)
        return found

    @cached_property
    def _list_bounds(self) -> list[int]:
        changing = [window for window in self.windows if window.mode in LIST_CHANGING]
        return sorted([*map(_begin, changing), *_ends(changing)])


_begin = attrgetter("from_ms")


def _from_of(item: tuple[int, Window]) -> int:
    return item[1].from_ms


def _ends(windows: Iterable[Window]) -> list[int]:
    return [window.until_ms for window in windows if window.until_ms is not None]
