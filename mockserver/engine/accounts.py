"""What orders have moved on one user's account, at the same cost for one order or a million."""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

from mockserver.engine.calendar import Calendar
from mockserver.values import dataclass

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


Closing = Callable[[str], int | None]
"""When an order is paid out or given back, in ms since 1970; None where it never is."""
Gain = Callable[[str], int]
"""What the account gains by the outcome of an order, in smallest units."""


class Owner:
    """Who may change an account; a copied state and its copy have a new one each."""

    __slots__ = ()


@dataclass(slots=True)
class Account:
    """An account's orders in the order of submission, and what it has gained since its opening.

    `moved` is what submissions have changed. `paid` is what the first `done` orders have brought,
    all of which have come to an end. The agenda of the others is made when a balance is asked for;
    `gained` is what they, and the first ones, have brought by then.
    """

    owner: Owner
    orders: list[str]
    moved: int = 0
    paid: int = 0
    done: int = 0
    gained: int = 0
    agenda: Agenda | None = None

    def copied(self, owner: Owner) -> "Account":
        """Return the same account for another owner."""
        agenda = None if self.agenda is None else self.agenda.copy()
        return Account(
            owner, list(self.orders), self.moved, self.paid, self.done, self.gained, agenda
        )

    def add(self, order_id: str, change: int) -> None:
        """Note a new order whose submission has changed the account."""
        self.orders.append(order_id)
        self.moved += change
        if self.agenda is not None:
            self.agenda.touch(order_id)

    def touch(self, order_id: str) -> None:
        """Note that an order which has not come to its end has changed."""
        if self.agenda is not None:
            self.agenda.touch(order_id)

    def total(self, now_ms: int, calendar: Calendar, closing: Closing, gain: Gain) -> int:
        """Return what the account has gained by now."""
        if self.agenda is None:
            self.agenda, self.gained = Agenda(), self.paid
            for order_id in self.orders[self.done :]:
                self.agenda.touch(order_id)
        for order_id in self.agenda.passed(now_ms, calendar, closing):
            self.gained += gain(order_id)
        return self.moved + self.gained

    def certain(self, now_ms: int, closing: Closing, gain: Gain) -> int:
        """Return what the account has surely gained: by submissions, and by all ends in a row.

        An order that has ended after one that has not is left out, so that a submission costs the
        same in a world of any size.
        """
        while self.done < len(self.orders):
            order_id = self.orders[self.done]
            moment = closing(order_id)
            if moment is None or moment > now_ms:
                break
            self.paid += gain(order_id)
            self.done += 1
        return self.moved + self.paid
