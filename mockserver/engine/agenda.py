"""When something is due for each of many orders, without going through all of them."""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

from mockserver.engine.calendar import Calendar

DueTime = Callable[[str], int | None]
"""When an order is due next, in ms since 1970; None where nothing lies ahead of it."""


class Agenda:
    """The moments at which orders are due, by the calendar they were worked out for.

    An order is looked at again only once it has changed, or with all others that are not through
    yet where the calendar has.
    """

    __slots__ = ("_calendar", "_changed", "_due", "_heap")

    def __init__(self) -> None:
        """Begin without orders."""
        self._calendar: Calendar | None = None
        self._changed: set[str] = set()
        self._due: dict[str, int | None] = {}
        self._heap: list[tuple[int, str]] = []

    def touch(self, order_id: str) -> None:
        """Note that an order is new or has changed."""
        self._changed.add(order_id)

    def copy(self) -> "Agenda":
        """Return the same moments, apart from now on."""
        twin = Agenda()
        twin._calendar, twin._changed = self._calendar, set(self._changed)
        twin._due, twin._heap = dict(self._due), list(self._heap)
        return twin

    def passed(self, now_ms: int, calendar: Calendar, due_time: DueTime) -> Iterator[str]:
        """Yield the orders that are due by now and take them out."""
        self._work_out(calendar, due_time)
        while self._heap and self._heap[0][0] <= now_ms:
            moment, order_id = heappop(self._heap)
            if self._due.get(order_id) == moment:
                del self._due[order_id]
                yield order_id

    def next(self) -> int | None:
        """Return when the next order is due, as worked out by `passed`."""
        while self._heap:
            moment, order_id = self._heap[0]
            if self._due.get(order_id) == moment:
                return moment
            heappop(self._heap)
        return None

    def _work_out(self, calendar: Calendar, due_time: DueTime) -> None:
        if calendar is not self._calendar:
            self._changed.update(self._due)
            self._calendar, self._heap = calendar, []
        if not self._changed:
            return
        many = len(self._changed) > len(self._heap)
        for order_id in self._changed:
            moment = self._due[order_id] = due_time(order_id)
            if moment is None:
                continue
            if many:
                self._heap.append((moment, order_id))
            else:
                heappush(self._heap, (moment, order_id))
        if many:
            heapify(self._heap)
        self._changed.clear()
