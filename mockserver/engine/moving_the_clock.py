"""The clock of a world, moved by hand: to a time, to the next event, to the end of an order."""

from decimal import Decimal

from mockserver.clock import Clock, ClockMode
from mockserver.engine.orders import at, history
from mockserver.engine.refusal import NothingDue
from mockserver.engine.world_state import View

# The due time of an order with no further events.
_THROUGH_MS = -1


class Timekeeper(View):
    """The clock of a world; times are milliseconds since 1970, and never go back."""

    __slots__ = ()

    @property
    def clock(self) -> Clock:
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
        now, state = self._core.now(), self._core.state
        agenda = state.agenda()
        for order_id in list(agenda.passed(now, state.calendar, self._ahead_ms)):
            agenda.touch(order_id)
        # Orders that are due by now get the time of their next event, or leave the agenda.
        for _ in agenda.passed(now, state.calendar, self._ahead_ms):
            pass
        # An outage counts as well: it may hold an order, or let it go on.
        due, boundary = agenda.next(), state.calendar.next_boundary(now)
        return min((moment for moment in (due, boundary) if moment is not None), default=None)

    def _ahead_ms(self, order_id: str) -> int | None:
        """Return when the next event of an order is; `_THROUGH_MS` where nothing changes it."""
        now, order = self._core.now(), self._core.state.orders[order_id]
        events = history(order, self._core.state.calendar)
        ahead = next((event.at_ms for event in events if event.at_ms > now), None)
        return _THROUGH_MS if ahead is None and at(events, now).status.resting else ahead

    def next(self) -> int:
        """Jump to the next event of the world. Raises `NothingDue` where none is due."""
        due = self.next_due()
        if due is None:
            raise NothingDue("nothing is due in this world; advance the clock by a duration")
        self._core.jump(due)
        return self._core.now()

    def run_until_final(self, order_id: str) -> int:
        """Jump to the moment an order comes to rest, and return the time.

        Raises `Refusal` for an unknown order, `NothingDue` for one that comes to none by itself.
        """
        order = self._core.order(order_id)
        events = history(order, self._core.state.calendar)
        final = next((event for event in events if event.status.resting), None)
        if final is None:
            raise NothingDue(
                f"order {order_id!r} comes to no end by itself (course {order.course.name!r}, "
                f"policy {order.policy.value!r}); step it, or set another course"
            )
        self._core.jump(final.at_ms)
        return self._core.now()
