"""Sends requests again that may be refused for being equal in each run of a seed.

That is for their time, or for the deposits of submissions.
"""

from mockserver.clock import wall_ms
from mockserver.conformance.generation.stages import adopt_service_time
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.session.session import Session
from mockserver.contract import ids

SERVICE_TIME = "time of the service"
"""The end of the name of a probe that reads the time from a price, if v1 refuses other times."""
_FIRST_DEPOSITS = tuple(map(plain_probe, ids.WRITES))
_ATTEMPTS = 2
# The begin of the year 2000.
_LONG_PAST_MS = 946_684_800_000


def begin_with_the_time(context: RunContext) -> None:
    """Stamp the requests of an account of the user's own with the wall clock, from the first on.

    Such an account is for a service that compares `timestamp` with its clock.
    """
    if context.caller.own_keys and not context.caller.fixed_time:
        context.now = wall_ms


class Retries:
    """Repeats requests that may have been refused for what is equal in each run of a seed.

    A fixed time and hashes that follow from the seed make runs equal byte for byte. A service that
    compares `timestamp` with its clock refuses it (section 5: it is the current time); then
    requests carry the wall clock's, or, where a mock has a clock of its own, the time that it shows
    elsewhere. A service that accepts each deposit once refuses those of an earlier run; then the
    run goes on with new hashes. The journal has them, so a resumed run uses the same ones.
    """

    def __init__(self, session: Session) -> None:
        """Begin with the fixed time, or with the wall clock's for an account of the user's own."""
        self._session = session
        self._context = session.context
        caller = self._context.caller
        self._attempts = 0 if caller.fixed_time or caller.own_keys else _ATTEMPTS
        self._service_time_tried = False
        self._deposits = set(_FIRST_DEPOSITS)
        begin_with_the_time(self._context)

    @property
    def settled(self) -> bool:
        """Whether no other time of v1 requests is tried any more."""
        return not self._attempts

    def after(self, probe: Probe, exchange: Exchange) -> None:
        """Repeat a probe that was refused, and keep to what the service accepts."""
        if self._attempts and "timestamp" in exchange.request.headers:
            if exchange.succeeded:
                self._attempts = 0
            elif exchange.refused and probe.stage in (Stage.LISTS, Stage.READS):
                self._try_times(probe, exchange)
        if probe.name in self._deposits:
            self._deposits.discard(probe.name)
            if exchange.refused and not self._context.salt:
                self._context.salt = str(wall_ms())
                if not self._ask(probe).succeeded:
                    self._context.salt = ""

    def _try_times(self, probe: Probe, fixed: Exchange) -> None:
        """Try the wall clock's time, and then, once, the time that the service shows."""
        context = self._context
        self._attempts -= 1
        context.now = wall_ms
        now, past = self._ask(probe), None
        if now.refused and refusal_of(now) != refusal_of(fixed):
            # One of the two times was accepted, and the request refused for another reason. A time
            # that no service accepts shows which: the same refusal is one for the time.
            context.now = lambda: _LONG_PAST_MS
            past = self._ask(probe)
        is_taken = now.succeeded or (past is not None and _is_refused_like(fixed, past, now))
        self._attempts = 0 if is_taken else self._attempts
        context.now = wall_ms if is_taken else None
        if now.succeeded or self._service_time_tried:
            return
        self._service_time_tried = True
        before = context.now
        ask = self._session.ask
        adopted = adopt_service_time(context, lambda of, draft: ask(f"{of}/{SERVICE_TIME}", draft))
        if adopted and not self._ask(probe).succeeded:
            context.now = before

    def _ask(self, probe: Probe) -> Exchange:
        return self._session.ask(probe.name, probe.build(self._context))


def _is_refused_like(first: Exchange, past: Exchange, second: Exchange) -> bool:
    """Tell whether `past` is refused like `first`, and not like the other."""
    if first.code != second.code:
        return past.code == first.code
    return refusal_of(past) == refusal_of(first)
