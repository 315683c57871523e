"""The time that v1 requests are stamped with: a fixed one where the service takes it, else now."""

from collections.abc import Callable

from mockserver.clock import wall_ms
from mockserver.conformance.exchange import Exchange, refusal_of
from mockserver.conformance.probe import Probe, Stage
from mockserver.conformance.seen import Seen

_TRIES = 2


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

    def settle(self, before: Exchange, after: Exchange) -> None:
        """Keep to the wall clock where that was what the service wanted.

        A service that refuses the same request for another reason now has nothing against its time.
        """
        if after.succeeded or (after.refused and refusal_of(after) != refusal_of(before)):
            self._tries = 0
        else:
            self._seen.now = None
