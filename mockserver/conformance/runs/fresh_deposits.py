"""Deposits of submissions: the same in each run of a seed, unless a service has had them before."""

from mockserver.clock import wall_ms
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange

_FIRST = ("v2.submitOrder/usual", "v1.submitCrossChain/usual", "v2.submitTicket/usual")


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
