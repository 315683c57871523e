"""The clock of a world, in the words of Python's `datetime`."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from mockserver.clock import ClockMode, ClockRefused, parse_duration, parse_instant
from mockserver.testing.sight import Sight

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)

Duration = str | timedelta
"""A length of time: `9h`, `1h30m`, `250ms`, or a `timedelta`."""


def duration_ms(duration: Duration) -> int:
    """Return a duration in whole milliseconds (floor). Raises `ClockRefused` for other texts."""
    return parse_duration(duration) if isinstance(duration, str) else duration // _MS


def instant_ms(moment: str | datetime) -> int:
    """Return a time in ms since 1970. Raises `ClockRefused` for one without an offset."""
    return parse_instant(moment.isoformat() if isinstance(moment, datetime) else moment)


def moment(ms: int) -> datetime:
    """Return ms since 1970 as a time in UTC."""
    return _EPOCH + ms * _MS


class MockClock:
    """The clock of one world: it only moves forward, and by default only when told."""

    def __init__(self, sight: Sight) -> None:
        """Look at one world."""
        self._sight = sight

    @property
    def now(self) -> datetime:
        """The world's time, in UTC."""
        return moment(self.ms)

    @property
    def ms(self) -> int:
        """The world's time, in milliseconds since 1970."""
        with self._sight.hosted() as hosted:
            return hosted.world.now()

    @property
    def mode(self) -> ClockMode:
        """How time passes."""
        with self._sight.hosted() as hosted:
            return hosted.world.time.clock.mode

    def advance(self, by: Duration | None = None, /, **units: float) -> datetime:
        """Move forward by `"5m"`, by a `timedelta`, or by `minutes=5`; return the new time.

        The units are those of `timedelta`. Raises `ClockRefused` where time would go back.
        """
        if (by is None) == (not units):
            raise ClockRefused("say by how much once: advance('5m') or advance(minutes=5)")
        by_ms = duration_ms(timedelta(**units) if by is None else by)
        with self._sight.hosted() as hosted:
            return moment(hosted.world.time.advance(by_ms))

    def set(self, to: str | datetime) -> datetime:
        """Move forward to a time. Raises `ClockRefused` for one gone by or without an offset."""
        with self._sight.hosted() as hosted:
            return moment(hosted.world.time.set(instant_ms(to)))

    def next(self) -> datetime:
        """Jump to the next thing that happens. Raises `NothingDue` where nothing will."""
        with self._sight.hosted() as hosted:
            return moment(hosted.world.time.next())

    def run_until_final(self, order_id: str) -> datetime:
        """Jump to the end of an order. Raises `NothingDue` where it comes to none by itself."""
        with self._sight.hosted() as hosted:
            return moment(hosted.world.time.run_until_final(order_id))

    def switch(self, mode: str, rate: Decimal | int = 1) -> None:
        """Let time pass in another way: frozen, auto, real, or scaled with a rate."""
        with self._sight.hosted() as hosted:
            hosted.world.time.switch(ClockMode(mode), Decimal(rate))
