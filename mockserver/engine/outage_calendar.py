"""The calendar: the effect of all outages on lists, quotes, submissions and progress.

Windows are found by time and by route, so that a calendar of years answers as an empty one does.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from mockserver.engine import progress_through_outages
from mockserver.engine.hashes import derived_int
from mockserver.engine.outages import (
    LIST_CHANGING,
    Direction,
    InFlight,
    Mode,
    OrderRoute,
    Out,
    OutageSubject,
    Window,
)
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import dataclass, keep
from mockserver.times_and_durations import iso

ShownParts = Callable[[OutageSubject, Set[Out]], Sequence[object]]
"""Tells how a list shows a subject while these are out."""

_FULL_SPEED = Fraction(1)
# Bounded, since clients choose the routes.
_MOST_CACHED_ROUTES = 4_096
_MOST_CACHED_LISTS = 256


class Phase(StrEnum):
    """What a client is about to do: outages may forbid submissions and not quotes."""

    QUOTE = "quote"
    SUBMIT = "submit"


# The modes in which an outage lets clients go on.
_PERMITTING = {
    Phase.QUOTE: (Mode.ACCEPT_STALL, Mode.LAGGING, Mode.QUOTE_ONLY),
    Phase.SUBMIT: (Mode.ACCEPT_STALL, Mode.LAGGING),
}


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a time line: an outage, cut to the requested time (ms since 1970)."""

    subject: str
    from_ms: int
    until_ms: int
    window: Window


class _Windows:
    """Windows by the stretch of time between two of their beginnings and ends."""

    def __init__(self, windows: Sequence[Window]) -> None:
        """Take windows in their order, which every answer keeps."""
        self.windows = windows

    def active(self, now_ms: int) -> Sequence[Window]:
        return self._active[bisect_right(self._bounds, now_ms)] if self.windows else ()

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
        # One pass over the bounds: a calendar of years has thousands of windows, and few run at
        # once.
        coming = sorted(enumerate(self.windows), key=lambda item: item[1].from_ms, reverse=True)
        active: list[tuple[Window, ...]] = [()]
        running: dict[int, Window] = {}
        for bound in self._bounds:
            running = {place: window for place, window in running.items() if window.covers(bound)}
            while coming and coming[-1][1].from_ms <= bound:
                place, window = coming.pop()
                if window.covers(bound):
                    running[place] = window
            # In the order of the calendar: the first that forbids a route is the one that a refusal
            # names.
            active.append(tuple(running[place] for place in sorted(running)))
        return active


class _RouteWindows(_Windows):
    """The windows that orders of one route meet."""

    def quiet(self, from_ms: int, until_ms: int) -> bool:
        """Tell whether no window covers, begins or ends from a moment up to and with another."""
        if not self.windows:
            return True
        place = bisect_left(self._bounds, from_ms)
        return place == bisect_right(self._bounds, until_ms) and not self._active[place]

    def strike(self, since_ms: int) -> tuple[int, Window] | None:
        """Return when, from a moment on, one first fails or refunds orders, and which."""
        once, repeatedly = self._strikers
        place = bisect_left(once, since_ms, key=_begin_of)
        strikes = [
            (moment, number, window)
            # Of those that strike once the next is enough, since they are sorted; what flaps is
            # tried.
            for number, window in (*once[place : place + 1], *repeatedly)
            if (moment := window.strikes(since_ms)) is not None
        ]
        if not strikes:
            return None
        # By number where two strike at once: windows have no order of their own.
        moment, _, window = min(strikes, key=lambda strike: strike[:2])
        return moment, window

    @cached_property
    def _strikers(self) -> tuple[list[tuple[int, Window]], list[tuple[int, Window]]]:
        """Windows that fail or refund orders: once, sorted by beginning, or while they flap."""
        strikers = [
            (number, window)
            for number, window in enumerate(self.windows)
            if window.in_flight in (InFlight.FAIL, InFlight.REFUND)
        ]
        once = [item for item in strikers if item[1].mode is not Mode.FLAPPING]
        repeatedly = [item for item in strikers if item[1].mode is Mode.FLAPPING]
        return sorted(once, key=_begin_of), repeatedly


def _begin_of(item: tuple[int, Window]) -> int:
    return item[1].from_ms


class Calendar(_Windows):
    """The outages of a world: pure functions of the windows and a moment."""

    def __init__(self, windows: Sequence[Window]) -> None:
        """Take the windows; look-ups are made when they are first needed."""
        super().__init__(windows)
        self._routes: dict[OrderRoute, _RouteWindows] = {}
        self._list_turns: dict[str, list[int]] = {}

    def __repr__(self) -> str:
        return f"Calendar(windows={self.windows!r})"

    def announced(self, now_ms: int) -> tuple[Window, ...]:
        """Return the windows that have not begun but are known already."""
        return tuple(
            window
            for window in self.windows
            if window.from_ms - window.lead_ms <= now_ms < window.from_ms
        )

    def stretch(self, now_ms: int) -> int:
        """Return which stretch of time between two beginnings or ends a moment is in."""
        return bisect_right(self._bounds, now_ms) if self.windows else 0

    def list_changes(self, name: str, parts: Callable[[], ShownParts], now_ms: int) -> int:
        """Return how often outages have changed a list up to a moment."""
        if not self.windows:
            return 0
        moments = self._list_turns.get(name)
        if moments is None:
            moments = keep(self._list_turns, name, list(self._turns(parts())), _MOST_CACHED_LISTS)
        return bisect_right(moments, now_ms)

    def _turns(self, parts: ShownParts) -> Iterator[int]:
        """Yield the moments at which outages change a list, in order of time."""
        changing = [item for item in enumerate(self.windows) if item[1].mode in LIST_CHANGING]
        edges = sorted(edge for number, window in changing for edge in _edges(number, window))
        # Counted, since a subject may be out as a source and as a target.
        out: Counter[Out] = Counter()
        for moment, _, number, ends in edges:
            _, chain, token = item = self.windows[number].out
            before = parts((chain, token), out.keys())
            out[item] += -1 if ends else 1
            if not out[item]:
                del out[item]
            if parts((chain, token), out.keys()) != before:
                yield moment

    def check(self, route: OrderRoute, phase: Phase, now_ms: int) -> None:
        """Raise `Refusal` where an outage forbids quoting or submitting this route now."""
        for window in self.active(now_ms):
            if window.mode in _PERMITTING[phase] or not window.down(now_ms):
                continue
            for chain, token, end in _ends(route):
                if window.concerns(chain, token, end):
                    raise _suspended(window, end)

    def speed(self, route: OrderRoute, now_ms: int) -> Fraction:
        """Return how fast orders of a route progress at a moment: the slowest window counts."""
        if not self.windows:
            return _FULL_SPEED
        met = self._of(route).active(now_ms)
        return min((window.speed(now_ms) for window in met), default=_FULL_SPEED)

    def progress(self, route: OrderRoute, from_ms: int, until_ms: int) -> Fraction:
        """Return the progress made between two moments, in milliseconds at full speed."""
        met = self._of(route).windows
        return (
            progress_through_outages.progress(met, from_ms, until_ms)
            if met
            else Fraction(max(0, until_ms - from_ms))
        )

    def when(self, route: OrderRoute, from_ms: int, progress_ms: int) -> int | None:
        """Return the first moment by which that much progress is made, or None for never."""
        if not self.windows or progress_ms <= 0:
            return from_ms + max(0, progress_ms)
        return progress_through_outages.moment(self._of(route).windows, from_ms, progress_ms)

    def strike(self, route: OrderRoute, since_ms: int) -> tuple[int, Window] | None:
        """Return when, from a moment on, an outage first fails or refunds orders of a route."""
        return self._of(route).strike(since_ms) if self.windows else None

    def quiet(self, route: OrderRoute, from_ms: int, until_ms: int) -> bool:
        """Tell whether no outage meets orders of a route from a moment up to another one."""
        return not self.windows or self._of(route).quiet(from_ms, until_ms)

    def _of(self, route: OrderRoute) -> _RouteWindows:
        route_windows = self._routes.get(route)
        if route_windows is None:
            places = {
                place
                for chain, token, end in _ends(route)
                for subject in ((chain, None), (chain, token), (None, token), (None, None))
                # By subject and not window by window: a look-up costs what the route meets.
                for place in self._subjects.get(subject, ())
                if self.windows[place].concerns(chain, token, end)
            }
            met = _RouteWindows(tuple(self.windows[place] for place in sorted(places)))
            route_windows = keep(self._routes, route, met, _MOST_CACHED_ROUTES)
        return route_windows

    @cached_property
    def _subjects(self) -> dict[tuple[str | None, str | None], list[int]]:
        places: dict[tuple[str | None, str | None], list[int]] = {}
        for place, window in enumerate(self.windows):
            places.setdefault((window.chain, window.token), []).append(place)
        return places

    def next_boundary(self, now_ms: int) -> int | None:
        """Return the first moment after now at which any window begins, ends or flaps."""
        if not self.windows:
            return None
        place = bisect_right(self._begins, now_ms)
        turns = [window.next_boundary(now_ms) for window in self.active(now_ms)]
        moments = [*self._begins[place : place + 1], *(turn for turn in turns if turn is not None)]
        return min(moments, default=None)

    def timeline(self, from_ms: int, until_ms: int) -> tuple[Span, ...]:
        """Return the outages between two moments by subject, cut to them, in order of time."""
        spans = [
            Span(
                window.subject,
                max(from_ms, window.from_ms),
                until_ms if window.until_ms is None else min(until_ms, window.until_ms),
                window,
            )
            for window in self.windows
        ]
        kept = [span for span in spans if span.from_ms < span.until_ms]
        return tuple(sorted(kept, key=lambda span: (span.subject, span.from_ms)))


def _edges(number: int, window: Window) -> Iterator[tuple[int, bool, int, bool]]:
    """Yield when a window begins and ends, so that a sort has them in order.

    At the same moment, what is ended by hand ends in turn with what begins, as it has happened; a
    planned end is later than the beginning of what follows without a gap.
    """
    yield window.from_ms, False, number, False
    if window.until_ms is not None:
        yield window.until_ms, not window.closed, number, True


def _ends(route: OrderRoute) -> tuple[tuple[str, str, Direction], tuple[str, str, Direction]]:
    return (
        (route.source_chain, route.source_token, Direction.SOURCE),
        (route.target_chain, route.target_token, Direction.TARGET),
    )


@dataclass(frozen=True, slots=True)
class RandomOutages:
    """How a random calendar is drawn: mean time between outages and mean length, both in ms."""

    mean_between_ms: int
    mean_length_ms: int
    modes: Sequence[Mode] = (Mode.LISTED_DEAD,)


def random_windows(
    seed: int, chains: Sequence[str], rule: RandomOutages, from_ms: int, until_ms: int
) -> tuple[Window, ...]:
    """Return the outages of chains between two moments, drawn from the seed alone."""
    windows = []
    for chain in chains:
        moment, number = from_ms, 0
        while True:
            moment += _drawn(rule.mean_between_ms, seed, chain, "gap", number)
            if moment >= until_ms:
                break
            length = _drawn(rule.mean_length_ms, seed, chain, "length", number)
            mode = rule.modes[derived_int(seed, chain, "mode", number) % len(rule.modes)]
            # `lag` and `period_ms` are read by the modes alone that need them.
            windows.append(
                Window(chain, None, moment, moment + length, mode, lag=4, period_ms=60_000)
            )
            moment, number = moment + length, number + 1
    return tuple(sorted(windows, key=lambda window: (window.from_ms, window.chain or "")))


def _drawn(mean_ms: int, seed: int, *parts: object) -> int:
    # An exponential draw; Decimal's logarithm gives the same digits on every machine.
    context = Context(prec=28)
    # One more than drawn, since 0 has no logarithm.
    share = context.divide(Decimal(derived_int(seed, *parts) % 10**12 + 1), Decimal(10**12))
    # A window of no length would be refused as one that ends before it begins.
    return max(1, int(context.multiply(-context.ln(share), Decimal(mean_ms))))


def _suspended(window: Window, end: Direction) -> Refusal:
    until = "until further notice" if window.until_ms is None else f"until {iso(window.until_ms)}"
    because = f" ({window.reason})" if window.reason else ""
    name = "chain-suspended" if window.token is None else "token-suspended"
    return Refusal(
        name,
        lambda named: (
            f"{window.called(named)} is suspended as {end} {until}{because}; "
            "take another one, or try again then"
        ),
        about=f"{end} {'chain' if window.token is None else 'token'}",
    )
