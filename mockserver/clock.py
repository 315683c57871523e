"""The clock of a world: a value, so that time and state can never disagree after a revert.

Times are integers: milliseconds since 1970-01-01T00:00:00Z. This is the one module that reads the
wall clock.
"""

import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import partial

from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass

Duration = str | timedelta
"""A length of time: `9h`, `1h30m`, `250ms`, or a `timedelta`."""
FASTEST = 1_000_000
"""How many times faster than the wall clock a scaled clock may run."""

LATEST_MS = 99_999_999_999_999
"""The last time of a world, in the year 5138: the contract's Unix times have eleven digits."""

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


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


class ClockRefused(CrosschainMockError):
    """A time that cannot be read, or one that would turn the clock back."""


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


def parse_duration(text: str) -> int:
    """Return milliseconds for a duration such as `15s`, `1h30m`, `2.5d` or `250ms`; `0` is none.

    Raises `ClockRefused` for anything else.
    """
    if text == "0":
        return 0
    if not _DURATION.fullmatch(text):
        raise ClockRefused(f"{text!r} is no duration; write for example '15s', '1h30m' or '250ms'")
    total = sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return int(total)


def parse_instant(text: str) -> int:
    """Return milliseconds since 1970 for an ISO 8601 time with its offset.

    Raises `ClockRefused` for anything else; a time without offset is not guessed at.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ClockRefused(f"{text!r} is no time; write for example '2026-01-01T00:00:00Z'")
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


def check_beginning(ms: int) -> None:
    """Raise `ClockRefused` for a time at which no world begins, and nothing in it has happened."""
    if not 0 <= ms <= LATEST_MS:
        raise ClockRefused(
            f"{iso(ms)} is no time of a world; those are from {iso(0)} to {iso(LATEST_MS)}"
        )


def duration(ms: int) -> str:
    """Return a duration as `parse_duration` reads it, such as `1h30m`; before 0 with a `-`."""
    if not ms:
        return "0ms"
    text, ms = "-" if ms < 0 else "", abs(ms)
    for unit, size in reversed(_UNITS.items()):
        count, ms = divmod(ms, size)
        text += f"{count}{unit}" if count else ""
    return text


def iso(ms: int) -> str:
    """Return a time in milliseconds as ISO 8601 text in UTC, with milliseconds where it has any."""
    seconds, rest = divmod(ms, 1000)
    try:
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


EXAMPLE_START = "2026-01-01T00:00:00Z"
"""The time of examples, and of worlds whose start nobody names."""
EXAMPLE_START_MS = parse_instant(EXAMPLE_START)
