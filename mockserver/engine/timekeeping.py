"""The clock of a world, moved by hand: to a time, to the next event, to the end of an order."""

from decimal import Decimal

from mockserver.clock import Clock, ClockMode
from mockserver.engine.core import Core
from mockserver.engine.mishaps import NothingDue
from mockserver.engine.orders import history


class Timekeeper:
    """The clock of a world; times are milliseconds since 1970, and never go back."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        """Work on a world's core."""
        self._core = core

    @property
    def clock(self) -> Clock:
        """The clock as a value."""
        return self._core.state.clock

    def advance(self, by_ms: int) -> int:
        """Move the clock forward and return its time. Raises `ClockRefused` for less than 0."""
        state = self._core.state
        state.clock = state.clock.advance(by_ms, self._core.wall())
        return self._core.now()

    def set(self, to_ms: int) -> int:
        """Move the clock to a time and return it. Raises `ClockRefused` for one gone by."""
        state = self._core.state
        state.clock = state.clock.set(to_ms, self._core.wall())
        return self._core.now()

    def switch(self, mode: ClockMode, rate: Decimal = Decimal(1)) -> None:
        """Let time pass in another way from now on."""
        state = self._core.state
        state.clock = state.clock.switched(mode, self._core.wall(), rate)

    def next_due(self) -> int | None:
        """Return when the next thing happens: an order's event, an outage's begin, turn or end."""
        now, calendar = self._core.now(), self._core.state.calendar
        moments = [
            event.at_ms
            for order in self._core.state.orders.values()
            for event in history(order, calendar)
            if event.at_ms > now
        ]
        boundary = calendar.next_boundary(now)
        return min(moments if boundary is None else [*moments, boundary], default=None)

    def next(self) -> int:
        """Jump to the next thing that happens. Raises `NothingDue` where nothing will."""
        due = self.next_due()
        if due is None:
            raise NothingDue("nothing is due in this world; advance the clock by a duration")
        self._core.jump(due)
        return self._core.now()

    def run_until_final(self, order_id: str) -> int:
        """Jump to the moment an order comes to its end, and return the time.

        Raises `Refusal` for an unknown order, `NothingDue` for one that comes to none by itself.
        """
        order = self._core.order(order_id)
        events = history(order, self._core.state.calendar)
        final = next((event for event in events if event.status.final), None)
        if final is None:
            raise NothingDue(
                f"order {order_id!r} comes to no end by itself (course {order.course.name!r}, "
                f"policy {order.policy.value!r}); step it, or set another course"
            )
        self._core.jump(final.at_ms)
        return self._core.now()
