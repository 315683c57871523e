"""What a service may refuse of requests that are equal in each run of a seed: their time, and the
deposits of submissions.
"""

from collections.abc import Callable

from mockserver.clock import wall_ms
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of

_FIRST = ("v2.submitOrder/usual", "v1.submitCrossChain/usual", "v2.submitTicket/usual")
_ATTEMPTS = 2
_LONG_PAST_MS = 946_684_800_000
"""The begin of the year 2000."""


class Stamping:
    """Finds out whether a service minds the time of a request.

    A fixed time makes runs equal byte for byte. A service that holds `timestamp` against its clock
    refuses it (interface.md 5: it is the current time); then requests carry the wall clock's, or,
    where a stand-in lives in a time of its own, the time that it tells elsewhere. An account of the
    user's own is for a service that does, and starts with the wall clock.
    """

    def __init__(self, context: RunContext, now: Callable[[], int] = wall_ms) -> None:
        """Take where the time is kept, and the clock."""
        self._context = context
        self._now = now
        caller = context.caller
        self._tries = 0 if caller.fixed_time or caller.own_keys else _ATTEMPTS
        self._refused = self._asked_time = False
        if caller.own_keys and not caller.fixed_time:
            context.now = now

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
        self._context.now = self._now

    def is_unclear(self, fixed: Exchange, now: Exchange) -> bool:
        """Tell whether one of the two times was taken, and the request refused for its rest.

        Then requests are stamped with a time that no service takes, to see how that is refused.
        """
        unclear = now.refused and refusal_of(now) != refusal_of(fixed)
        if unclear:
            self._context.now = lambda: _LONG_PAST_MS
        return unclear

    def try_told(self, catch_up: Callable[[], bool], again: Callable[[], Exchange]) -> None:
        """Ask `again` with the time that the service tells, once, where the others were refused.

        `catch_up` finds that time and tells whether it is another one. It is kept where it is
        taken.
        """
        if not self._refused or self._asked_time:
            return
        self._asked_time = True
        before = self._context.now
        if catch_up() and not again().succeeded:
            self._context.now = before

    def settle(self, fixed: Exchange, now: Exchange, past: Exchange | None = None) -> None:
        """Keep to the wall clock where that was what the service wanted.

        `past` is the request with the time that no service takes: the one that is refused as it is
        was refused for its time.
        """
        self._refused = not now.succeeded
        if now.succeeded or (past is not None and _is_refused_like(fixed, past, now)):
            self._tries = 0
            self._context.now = self._now
        else:
            self._context.now = None


def _is_refused_like(one: Exchange, past: Exchange, other: Exchange) -> bool:
    """Tell whether `past` is refused like `one`, and not like the other."""
    if one.code != other.code:
        return past.code == one.code
    return refusal_of(past) == refusal_of(one)


class FreshDeposits:
    """Finds out whether a service refuses the deposits of a seed because it has had them before.

    Hashes that follow from the seed make runs equal byte for byte. A service that takes each
    deposit once refuses them in a second run; then the run goes on with hashes that nobody has
    seen. The journal holds what was sent, so an interrupted run still goes on with the same ones.
    """

    def __init__(self, context: RunContext) -> None:
        """Take where the salt of the hashes is kept."""
        self._context = context
        self._waiting = set(_FIRST)

    def doubts(self, probe: Probe, exchange: Exchange) -> bool:
        """Tell whether a first submission may have been refused for its deposit."""
        first = probe.name in self._waiting
        self._waiting.discard(probe.name)
        return first and exchange.refused and not self._context.salt

    def begin(self) -> None:
        """Make other hashes, for a try."""
        self._context.salt = str(wall_ms())

    def settle(self, again: Exchange) -> None:
        """Keep to the other hashes where it was the deposit that was refused."""
        if not again.succeeded:
            self._context.salt = ""
