"""How far orders get while outages stop and slow them: stretches of time, and moments in them.

Windows may be a thousand and flap for years, so nothing here looks at each turn of each: windows
are sorted once and looked at while they last, and turns that repeat are counted.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from mockserver.engine.amounts import ceil
from mockserver.engine.outages import Mode, Window
from mockserver.values import dataclass

_MOST_TURNS = 2_000
"""Turns of flapping windows that are looked at one by one before what they make is multiplied."""

_MOST_CYCLES = 10
"""How often they are, where the turns of several windows do not repeat within so many."""


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


def made(windows: Sequence[Window], from_ms: int, until_ms: int) -> Fraction:
    """Return the progress made between two moments, in milliseconds at full speed."""
    found = Fraction(0)
    for stretch in _stretches(windows, from_ms):
        if stretch.begin >= until_ms:
            break
        end = until_ms if stretch.end is None else min(stretch.end, until_ms)
        if stretch.pace:
            found += Fraction(_Turns(stretch).up(end), stretch.pace)
    return found


def moment(windows: Sequence[Window], from_ms: int, progress_ms: int) -> int | None:
    """Return the first moment by which that much progress is made, or None for never."""
    rest = Fraction(progress_ms)
    for stretch in _stretches(windows, from_ms):
        if stretch.pace:
            turns = _Turns(stretch)
            found = turns.after(ceil(rest * stretch.pace))
            if found is not None:
                return found
            if stretch.end is not None:
                rest -= Fraction(turns.up(stretch.end), stretch.pace)
    return None


def _stretches(windows: Sequence[Window], from_ms: int) -> Iterator[Stretch]:
    ahead = sorted(
        (one for one in windows if one.until_ms is None or one.until_ms > from_ms),
        key=lambda one: one.from_ms,
        reverse=True,
    )
    running: list[Window] = []
    begin = from_ms
    while True:
        while ahead and ahead[-1].from_ms <= begin:
            running.append(ahead.pop())
        running = [one for one in running if one.covers(begin)]
        ends = [one.until_ms for one in running if one.until_ms is not None]
        end = min([*ends, *(one.from_ms for one in ahead[-1:])], default=None)
        steady = [_pace(one) for one in running if one.mode is not Mode.FLAPPING]
        flapping = tuple(one for one in running if one.mode is Mode.FLAPPING and _pace(one) == 0)
        yield Stretch(begin, end, 0 if 0 in steady else max(steady, default=1), flapping)
        if end is None:
            return
        begin = end


def _pace(window: Window) -> int:
    """Return what a window divides the speed by while it is down; 0 where it stops it."""
    speed = window.speed(window.from_ms)
    return 0 if speed == 0 else speed.denominator


class _Turns:
    """The phases of a stretch that are up: how long they are, and when so much of them is over."""

    def __init__(self, stretch: Stretch) -> None:
        self._stretch = stretch
        self._cycle, turns = 0, 0
        if stretch.flapping:
            self._cycle = lcm(*[one.period_ms for one in stretch.flapping])
            turns = sum([2 * self._cycle // one.period_ms for one in stretch.flapping])
        self._repeats = turns <= _MOST_TURNS
        self._pattern: list[tuple[int, int]] | None = None

    def up(self, until_ms: int) -> int:
        """Return how long it is up from its beginning to a moment in it."""
        begin = self._stretch.begin
        if not self._stretch.flapping:
            return until_ms - begin
        if not self._repeats:
            return sum([min(end, until_ms) - start for start, end in self._each(until_ms)])
        cycles, rest = divmod(until_ms - begin, self._cycle)
        inside = [min(end, rest) - start for start, end in self._ups() if start < rest]
        return cycles * self._length() + sum(inside)

    def after(self, wanted: int) -> int | None:
        """Return the moment by which it was up so long, or None where it is not, ere it ends."""
        begin, end = self._stretch.begin, self._stretch.end
        found: int | None
        if not self._stretch.flapping:
            found = begin + wanted
        elif self._repeats:
            length = self._length()
            cycles = (wanted - 1) // length if length else 0
            found = _reached(self._ups(), wanted - cycles * length)
            found = None if found is None else begin + cycles * self._cycle + found
        else:
            found = _reached(self._each(end), wanted)
        return found if found is not None and (end is None or found <= end) else None

    def _ups(self) -> list[tuple[int, int]]:
        """Return the phases of one cycle that are up, from the stretch's beginning on."""
        if self._pattern is None:
            begin = self._stretch.begin
            until = begin + self._cycle
            found = _phases(self._stretch.flapping, begin, until, _MOST_TURNS * 2)
            self._pattern = [(start - begin, min(end, until) - begin) for start, end in found]
        return self._pattern

    def _length(self) -> int:
        return sum([end - start for start, end in self._ups()])

    def _each(self, until_ms: int | None) -> Iterator[tuple[int, int]]:
        most = _MOST_TURNS * _MOST_CYCLES
        return _phases(self._stretch.flapping, self._stretch.begin, until_ms, most)


def _phases(
    flapping: Sequence[Window], begin: int, until_ms: int | None, most: int
) -> Iterator[tuple[int, int]]:
    """Yield the phases in which no window is down; `most` turns are looked at."""
    for _ in range(most):
        if until_ms is not None and begin >= until_ms:
            return
        phases = [(begin - one.from_ms) % one.period_ms for one in flapping]
        downs = [
            one.down_ms - phase
            for one, phase in zip(flapping, phases, strict=True)
            if phase < one.down_ms
        ]
        if downs:
            begin += max(downs)
            continue
        turn = begin + min(
            [one.period_ms - phase for one, phase in zip(flapping, phases, strict=True)]
        )
        yield begin, turn
        begin = turn


def _reached(phases: Iterator[tuple[int, int]] | list[tuple[int, int]], wanted: int) -> int | None:
    for start, end in phases:
        if wanted <= end - start:
            return start + wanted
        wanted -= end - start
    return None
