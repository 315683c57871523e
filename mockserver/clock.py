"""The clock of a world: a value, so that time and state can never disagree after a revert.

Times are integers: milliseconds since 1970-01-01T00:00:00Z. This is the one module that reads the
wall clock.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import partial

from mockserver.fast_dataclass import dataclass
from mockserver.times_and_durations import ClockRefused, iso

FASTEST = 1_000_000
"""How many times faster than the wall clock a scaled clock may run."""

LATEST_MS = 99_999_999_999_999
"""The last time of a world, in the year 5138: the contract's Unix times have eleven digits."""


class ClockMode(StrEnum):
    """How a world's time passes."""

    REAL = "real"
    """With the wall clock, at its speed."""
    FROZEN = "frozen"
    """Not at all, until it is advanced."""
    SCALED = "scaled"
    """With the wall clock, `rate` times as fast."""
    AUTO = "auto"
    """Not at all, but a poll that would see no change jumps to the next due event."""
    CLIENT = "client"
    """Not at all, but a client that sleeps or waits moves it, where its timers are shimmed."""


_REAL = ClockMode.REAL
STANDING = (ClockMode.FROZEN, ClockMode.AUTO, ClockMode.CLIENT)
"""The modes of a clock that is moved by hand alone."""


def wall_ms() -> int:
    """Return the wall clock's time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def ticks_ms() -> int:
    """Return a monotonic time in milliseconds, of which only differences mean something."""
    return time.monotonic_ns() // 1_000_000


def _running_ns() -> Callable[[], int]:
    """Return a monotonic clock that goes on while the machine sleeps."""
    if sys.platform == "linux":
        # The monotonic clock of Linux stands while a laptop sleeps, and a world would miss hours.
        return partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)
    return time.monotonic_ns


class SteadyClock:
    """The wall clock as it goes on from now, whatever it is set to meanwhile.

    A clock that is set back must not undo what has happened in a world.
    """

    __slots__ = ("_offset_ms", "_ticks")

    def __init__(
        self, wall: Callable[[], int] = wall_ms, ticks: Callable[[], int] | None = None
    ) -> None:
        """Begin with the wall's time, in ms; `ticks` counts from then on, in nanoseconds."""
        self._ticks = ticks or _running_ns()
        self._offset_ms = wall() - self._ticks() // 1_000_000

    def now(self) -> int:
        """Return the time, in milliseconds since 1970."""
        return self._offset_ms + self._ticks() // 1_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """A reading of time that moves with the wall clock, faster than it, or only by hand.

    `virtual_ms` is the world's time at the moment the wall clock showed `wall_ms`.
    """

    mode: ClockMode
    virtual_ms: int
    wall_ms: int
    rate: Decimal = Decimal(1)

    def now(self, wall: int) -> int:
        """Return the world's time, in milliseconds, when the wall clock shows `wall`."""
        if self.mode is _REAL:
            now = self.virtual_ms + wall - self.wall_ms
        # A standing clock was checked when it was set.
        elif self.mode in STANDING:
            return self.virtual_ms
        else:
            now = self.virtual_ms + int((wall - self.wall_ms) * self.rate)
        return min(LATEST_MS, now)

    def set(self, virtual_ms: int, wall: int) -> "Clock":
        """Return the clock moved forward to `virtual_ms`; turning it back is refused."""
        now = self.now(wall)
        if virtual_ms < now:
            raise ClockRefused(
                f"the clock only moves forward: it shows {iso(now)}, so it cannot be set to "
                f"{iso(virtual_ms)}; revert to a snapshot to go back"
            )
        if virtual_ms > LATEST_MS:
            raise ClockRefused(
                f"the clock ends at {iso(LATEST_MS)}, with the Unix times of eleven digits"
            )
        return replace(self, virtual_ms=virtual_ms, wall_ms=wall)

    def advance(self, by_ms: int, wall: int) -> "Clock":
        """Return the clock moved forward by `by_ms` milliseconds."""
        if by_ms < 0:
            raise ClockRefused(f"the clock only moves forward, not by {by_ms} ms")
        return self.set(self.now(wall) + by_ms, wall)

    def switched(self, mode: ClockMode, wall: int, rate: Decimal = Decimal(1)) -> "Clock":
        return Clock(mode, self.now(wall), wall, rate)


def parse_mode(text: str) -> tuple[ClockMode, Decimal | None]:
    """Return a clock's mode, and the rate that a scaled one has behind a colon: `scaled:60`.

    Raises `ClockRefused` for any other text.
    """
    name, colon, factor = text.partition(":")
    try:
        mode, rate = ClockMode(name), Decimal(factor) if colon else None
    except (ValueError, InvalidOperation):
        raise ClockRefused(f"{text!r} is none of real, frozen, auto, client or scaled:60") from None
    if (mode is ClockMode.SCALED) != (rate is not None):
        raise ClockRefused(f"{text!r}: a factor goes with 'scaled', as in 'scaled:60'")
    if rate is not None and not (rate.is_finite() and 0 < rate <= FASTEST):
        raise ClockRefused(f"{text!r}: the factor is more than 0 and at most {FASTEST}")
    return mode, rate


def check_beginning(ms: int) -> None:
    """Raise `ClockRefused` for a time at which no world begins, and nothing in it has happened."""
    if not 0 <= ms <= LATEST_MS:
        raise ClockRefused(
            f"{iso(ms)} is no time of a world; those are from {iso(0)} to {iso(LATEST_MS)}"
        )
