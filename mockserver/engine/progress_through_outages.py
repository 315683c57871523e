"""How far orders get while outages stop and slow them: stretches of time, and moments in them.

There may be a thousand windows that flap for years, so turns are not counted one by one: windows
are sorted once and read while they last, and repeated turns are multiplied.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm

from mockserver.engine.amounts import ceil
from mockserver.engine.outages import Mode, Window
from mockserver.fast_dataclass import dataclass

# Turns of flapping windows that are looked at one by one before what they make is multiplied.
_MOST_TURNS = 2_000

# How often they are, where the turns of several windows do not repeat within so many.
_MOST_CYCLES = 10


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which no window begins or ends; without `end` it lasts.

    `pace` is what full speed is divided by, 0 where nothing moves; `flapping` windows stop
    everything in their phases that are down.
    """

    begin: int
    end: int | None
    pace: int
    flapping: tuple[Window, ...] = ()


def progress(windows: Sequence[Window], from_ms: int, until_ms: int) -> Fraction:
    """Return the progress made between two moments, in milliseconds at full speed."""
    advanced = Fraction(0)
    for stretch in _stretches(windows, from_ms):
        if stretch.begin >= until_ms:
            break
        end = until_ms if stretch.end is None else min(stretch.end, until_ms)
        if stretch.pace:
            advanced += Fraction(_FlappingPhases(stretch).up(end), stretch.pace)
    return advanced


def moment(windows: Sequence[Window], from_ms: int, progress_ms: int) -> int | None:
    """Return the first moment by which that much progress is made, or None for never."""
    rest = Fraction(progress_ms)
    for stretch in _stretches(windows, from_ms):
        if stretch.pace:
            turns = _FlappingPhases(stretch)
            ended_at = turns.after(ceil(rest * stretch.pace))
            if ended_at is not None:
                return ended_at
            if stretch.end is not None:
                rest -= Fraction(turns.up(stretch.end), stretch.pace)
    return None


def _stretches(windows: Sequence[Window], from_ms: int) -> Iterator[Stretch]:
    ahead = sorted(
        (window for window in windows if window.until_ms is None or window.until_ms > from_ms),
        key=lambda window: window.from_ms,
        reverse=True,
    )
    running: list[Window] = []
    begin = from_ms
    while True:
        while ahead and ahead[-1].from_ms <= begin:
            running.append(ahead.pop())
        running = [window for window in running if window.covers(begin)]
        ends = [window.until_ms for window in running if window.until_ms is not None]
        end = min([*ends, *(window.from_ms for window in ahead[-1:])], default=None)
        steady = [_pace(window) for window in running if window.mode is not Mode.FLAPPING]
        flapping = tuple(
            window for window in running if window.mode is Mode.FLAPPING and _pace(window) == 0
        )
        # One that stops orders wins over those that slow them; of these the slowest.
        yield Stretch(begin, end, 0 if 0 in steady else max(steady, default=1), flapping)
        if end is None:
            return
        begin = end


def _pace(window: Window) -> int:
    """Return what a window divides the speed by while it is down; 0 where it stops it."""
    speed = window.speed(window.from_ms)
    return 0 if speed == 0 else speed.denominator


class _FlappingPhases:
    """The phases of a stretch that are up: how long they are, and when so much of them is over.

    They are counted from the stretch's beginning. Where they repeat soon, one cycle is looked at.
    """

    def __init__(self, stretch: Stretch) -> None:
        self._stretch = stretch
        periods = [window.period_ms for window in stretch.flapping]
        # Windows repeat together after the least common multiple of their periods.
        cycle = lcm(*periods)
        self._cycle = (
            cycle if sum([2 * cycle // period for period in periods]) <= _MOST_TURNS else None
        )
        self._pattern: list[tuple[int, int]] | None = None

    def up(self, until_ms: int) -> int:
        rest = until_ms - self._stretch.begin
        if not self._stretch.flapping:
            return rest
        cycles, length = 0, 0
        if self._cycle is not None:
            (cycles, rest), length = divmod(rest, self._cycle), self._length()
        inside = [min(end, rest) - start for start, end in self._ups(rest) if start < rest]
        return cycles * length + sum(inside)

    def after(self, wanted: int) -> int | None:
        """Return the moment by which it was up for `wanted` ms; None where it ends before that."""
        begin, end = self._stretch.begin, self._stretch.end
        reached_at: int | None = wanted
        if self._stretch.flapping:
            length = 0 if self._cycle is None else self._length()
            # One less: what is reached at the very end of a cycle belongs to that cycle.
            cycles = (wanted - 1) // length if length else 0
            reached_at = _reached(
                self._ups(None if end is None else end - begin), wanted - cycles * length
            )
            reached_at = None if reached_at is None else cycles * (self._cycle or 0) + reached_at
        return (
            None
            if reached_at is None or (end is not None and begin + reached_at > end)
            else begin + reached_at
        )

    def _ups(self, until: int | None) -> Iterable[tuple[int, int]]:
        """Return the phases that are up: all up to a moment, or those of the cycle."""
        if self._cycle is None:
            return self._phases(until, _MOST_TURNS * _MOST_CYCLES)
        if self._pattern is None:
            ups = self._phases(self._cycle, _MOST_TURNS * 2)
            self._pattern = [(start, min(end, self._cycle)) for start, end in ups]
        return self._pattern

    def _length(self) -> int:
        return sum([end - start for start, end in self._ups(None)])

    def _phases(self, until: int | None, most: int) -> Iterator[tuple[int, int]]:
        """Yield the phases in which no window is down; `most` turns are looked at."""
        begin = 0
        for _ in range(most):
            if until is not None and begin >= until:
                return
            turns, downs = [], []
            for window in self._stretch.flapping:
                phase = (self._stretch.begin + begin - window.from_ms) % window.period_ms
                turns.append(window.period_ms - phase)
                downs.append(window.down_ms - phase)
            if max(downs) > 0:
                # To the end of the longest of those that are down: the others are up by then, or
                # down anew.
                begin += max(downs)
                continue
            yield begin, begin + min(turns)
            begin += min(turns)


def _reached(phases: Iterable[tuple[int, int]], wanted: int) -> int | None:
    for start, end in phases:
        if wanted <= end - start:
            return start + wanted
        wanted -= end - start
    return None
