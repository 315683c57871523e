"""The clock of a world, in the words of Python's `datetime`."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from mockserver.clock import FASTEST, ClockMode
from mockserver.testing.locked_access import WorldHandle, public_api
from mockserver.testing.options import OrderRef, check_names, duration_ms, instant_ms, moment, word
from mockserver.testing.orders import order_id
from mockserver.times_and_durations import ClockRefused, Duration

_UNITS = ("weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds")


@public_api
class MockClock:
    """The clock of one world: it only moves forward, and by default only by hand."""

    def __init__(self, handle: WorldHandle) -> None:
        self._handle, self._lock = handle, handle.lock

    @property
    def now(self) -> datetime:
        """The world's time, in UTC."""
        return moment(self.ms)

    @property
    def ms(self) -> int:
        """The world's time, in milliseconds since 1970."""
        return self._handle.hosted.world.now()

    @property
    def mode(self) -> ClockMode:
        """How time passes."""
        return self._handle.hosted.world.time.clock.mode

    def advance(self, by: Duration | None = None, /, **units: float) -> datetime:
        """Move forward by `"5m"`, by a `timedelta`, or by `minutes=5`; return the new time.

        The units are those of `timedelta`. Raises `ClockRefused` where time would go back, and
        `WrongWord` for a unit that does not exist.
        """
        if (by is None) == (not units):
            raise ClockRefused("say by how much once: advance('5m') or advance(minutes=5)")
        check_names(units, _UNITS, "advance")
        by_ms = duration_ms(_sum_of(units) if by is None else by)
        return moment(self._handle.hosted.world.time.advance(by_ms))

    def set(self, to: str | datetime) -> datetime:
        """Move forward to a time. Raises `ClockRefused` for one gone by or without an offset."""
        return moment(self._handle.hosted.world.time.set(instant_ms(to)))

    def next(self) -> datetime:
        """Jump to the next event of the world. Raises `NothingDue` where none is due."""
        return moment(self._handle.hosted.world.time.next())

    def run_until_final(self, order: OrderRef) -> datetime:
        """Jump to the end of an order, named by its id, its v1 number or as it was looked at.

        Raises `NothingDue` where the order never ends by itself, and `UnknownOrder`.
        """
        hosted = self._handle.hosted
        return moment(hosted.world.time.run_until_final(order_id(hosted.world, order)))

    def switch(
        self, mode: Literal["frozen", "auto", "real", "scaled"], rate: Decimal | int = 1
    ) -> None:
        """Let time pass in another way: frozen, auto, real, or scaled with a rate.

        Raises `WrongWord` for another mode, `ClockRefused` for a rate that is no number above 0.
        """
        chosen = word("mode", ClockMode, mode)
        try:
            times = Decimal(rate)
        except (ArithmeticError, TypeError, ValueError):
            times = Decimal(0)
        # Decimal reads `NaN` and `Infinity` as well.
        if not (times.is_finite() and 0 < times <= FASTEST):
            raise ClockRefused(f"rate: expected a number above 0, at most {FASTEST}, got {rate!r}")
        self._handle.hosted.world.time.switch(chosen, times)


def _sum_of(units: Mapping[str, float]) -> timedelta:
    try:
        return timedelta(**units)
    except (TypeError, ValueError, OverflowError):
        call = ", ".join(f"{name}={value!r}" for name, value in units.items())
        raise ClockRefused(f"advance({call}): expected numbers, as in seconds=15") from None
