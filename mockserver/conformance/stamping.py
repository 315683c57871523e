"""The time that v1 requests are stamped with: a fixed one where the service takes it, else now."""

from collections.abc import Callable

from mockserver.clock import wall_ms
from mockserver.conformance.exchange import Exchange, refusal_of
from mockserver.conformance.probe import Probe, Stage
from mockserver.conformance.seen import Seen

_TRIES = 2
_LONG_PAST_MS = 946_684_800_000
"""The begin of the year 2000."""


class Stamping:
    """Finds out whether a service minds the time of a request.

    A fixed time makes runs equal byte for byte. A service that holds `timestamp` against its clock
    refuses it (interface.md 5: it is the current time); then requests carry the wall clock's. An
    account of the user's own is for a service that does, and starts with the wall clock.
    """

    def __init__(self, seen: Seen, now: Callable[[], int] = wall_ms) -> None:
        """Take where the time is kept, and the clock."""
        self._seen = seen
        self._now = now
        caller = seen.caller
        self._tries = 0 if caller.fixed_time or caller.own_keys else _TRIES
        if caller.own_keys and not caller.fixed_time:
            seen.now = now

    def doubts(self, probe: Probe, exchange: Exchange) -> bool:
        """Tell whether a request that should succeed may have been refused for its time."""
        if not self._tries or "timestamp" not in exchange.request.headers:
            return False
        if exchange.succeeded:
            self._tries = 0
        return exchange.refused and probe.stage in (Stage.LISTS, Stage.READS)

    def begin(self) -> None:
        """Stamp requests with the wall clock, for a try."""
        self._tries -= 1
        self._seen.now = self._now

    def is_unclear(self, fixed: Exchange, now: Exchange) -> bool:
        """Tell whether one of the two times was taken, and the request refused for its rest.

        Then requests are stamped with a time that no service takes, to see how that is refused.
        """
        unclear = now.refused and refusal_of(now) != refusal_of(fixed)
        if unclear:
            self._seen.now = lambda: _LONG_PAST_MS
        return unclear

    def settle(self, fixed: Exchange, now: Exchange, past: Exchange | None = None) -> None:
        """Keep to the wall clock where that was what the service wanted.

        `past` is the request with the time that no service takes: the one that is refused as it is
        was refused for its time.
        """
        if now.succeeded or (past is not None and _is_refused_like(fixed, past, now)):
            self._tries = 0
            self._seen.now = self._now
        else:
            self._seen.now = None


def _is_refused_like(one: Exchange, past: Exchange, other: Exchange) -> bool:
    """Tell whether `past` is refused like `one`, and not like the other."""
    if one.code != other.code:
        return past.code == one.code
    return refusal_of(past) == refusal_of(one)
