"""A second service that is asked the same requests as the first, right after it."""

from collections.abc import Callable

from mockserver.clock import wall_ms
from mockserver.conformance.comparison.resigning import is_signed_by, stamped
from mockserver.conformance.comparison.translating import Translation, draft_from
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.exchange import Request
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """What both sides answered to the same request."""

    source: Exchange
    other: Exchange


class Mirror:
    """Is told of every exchange with one service, and asks the other service the same."""

    def __init__(self, session: Session, caller: Caller, now: Callable[[], int] = wall_ms) -> None:
        """Take the conversation with the other service."""
        self._session = session
        self._caller = caller
        self._now = now
        self._translation = Translation()
        self._minds_time: bool | None = None
        self.pairs: list[Pair] = []
        self.left_out: dict[str, str] = {}

    def sent(self, exchange: Exchange, planned: int) -> None:
        """Ask the other service what was just asked the first."""
        request = self._translation.of(exchange.request)
        try:
            other = self._asked(exchange, request)
        except (Refusing, Spent) as error:
            self.left_out[exchange.probe] = str(error)
            return
        self._translation.learn(exchange, other)
        self.pairs.append(Pair(exchange, other))

    def _asked(self, exchange: Exchange, request: Request) -> Exchange:
        can_stamp = is_signed_by(request, self._caller)
        if self._minds_time and can_stamp:
            request = stamped(request, self._caller, self._now())
        other = self._session.ask(exchange.probe, draft_from(request))
        if self._minds_time is None and can_stamp and exchange.succeeded:
            if not other.refused:
                self._minds_time = False
                return other
            # A service may hold the time of a request against its clock, where the first did not.
            now = stamped(request, self._caller, self._now())
            tried = self._session.ask(exchange.probe, draft_from(now))
            self._minds_time = tried.succeeded
            return tried if tried.succeeded else other
        return other
