"""The time line of what was submitted: what may follow what, for rules and sequences alike."""

from collections.abc import Iterator
from dataclasses import field
from enum import Enum

from mockserver.conformance.checks.submitted import Submitted
from mockserver.conformance.session.exchange import Exchange
from mockserver.values import dataclass


class Property(Enum):
    """What is true of every time line; a change breaks one of them."""

    ENDS_ONCE = "a status that is final stays"
    GOES_ON = "the time of the last change never goes back"
    STAYS_TOLD = "what is told of something that has come to its end stays"


@dataclass(frozen=True, slots=True)
class Change:
    """A look that breaks a property, after the look that it follows.

    `name` is the member that changed, `was` and `now` are what it was.
    """

    breaks: Property
    name: str
    was: str | int
    now: str | int
    looks: tuple[Exchange, Exchange]


@dataclass(slots=True)
class Timeline:
    """The looks at one thing that was submitted, in their order.

    `facts` holds what was told of it first after it had come to its end.
    """

    kind: Submitted
    status: str = ""
    timestamp: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    _last: Exchange | None = None
    _timed: Exchange | None = None
    _ended: Exchange | None = None

    def follow(self, look: Exchange) -> tuple[Change, ...]:
        """Take the next look, which was answered with success; return what it breaks."""
        return (*self._ends_once(look), *self._goes_on(look), *self._stays_told(look))

    def _ends_once(self, look: Exchange) -> Iterator[Change]:
        was, now = self.status, self.kind.status(look)
        if self._last is not None and self.kind.left_its_end(was, now):
            yield Change(Property.ENDS_ONCE, "status", was, now, (self._last, look))
        self.status, self._last = now, look

    def _goes_on(self, look: Exchange) -> Iterator[Change]:
        now = time_of(look)
        if now is None:
            return
        if self._timed is not None and self.timestamp is not None and now < self.timestamp:
            looks = (self._timed, look)
            yield Change(Property.GOES_ON, "timestamp", self.timestamp, now, looks)
        self.timestamp, self._timed = now, look

    def _stays_told(self, look: Exchange) -> Iterator[Change]:
        if not self.kind.is_over(look):
            return
        self._ended = self._ended or look
        for name in self.kind.facts:
            now = look.text(name)
            was = self.facts.setdefault(name, now)
            if now != was:
                yield Change(Property.STAYS_TOLD, name, was, now, (self._ended, look))


def time_of(look: Exchange) -> int | None:
    """Return the time of the last change that a look shows, None where it shows no whole number."""
    now = look.data.get("timestamp")
    return now if isinstance(now, int) and not isinstance(now, bool) else None


def breaking(line: Timeline, look: Exchange, broken: Property) -> Change | None:
    """Take the next look, and return the change that breaks a property; None where none does."""
    return next((change for change in line.follow(look) if change.breaks is broken), None)
