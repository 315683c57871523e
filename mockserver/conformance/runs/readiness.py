"""Waiting for a service that is still starting."""

from dataclasses import replace
from decimal import Decimal

from mockserver import contract as contracts
from mockserver.conformance.session.pace import Limits, Spent
from mockserver.conformance.session.permit import Permit
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.exchange import Request

OPENERS = {"v1": "v1.getSupportChains", "v2": "v2.getChain"}
"""The list of each generation that a client reads first, and which needs nothing."""
_STARTING = frozenset({502, 503, 504})
"""What a gateway answers for a service behind it that is not up yet."""
_POLLS_A_SECOND = Decimal(4)
_POLL_MS = 2_000


def wait_until_ready(target: Target, permit: Permit, limits: Limits, wait_ms: int) -> bool:
    """Ask each base address until it answers HTTP; tell whether all did within `wait_ms`.

    These requests read a list, and belong to no run: neither its budget nor its journal has them.
    Raises `Refusing` where not even that may be sent.
    """
    polls = int(wait_ms * _POLLS_A_SECOND) // 1000 + len(target.bases) + 1
    rate, within = min(_POLLS_A_SECOND, limits.rate), min(_POLL_MS, limits.request_ms)
    waiting = replace(limits, rate=rate, budget=polls, time_ms=wait_ms, request_ms=within)
    contract = contracts.load()
    # The generations mostly have one address; the later one reads without a signature.
    bases = {base: generation for generation, base in target.bases.items()}
    with Transport(target, permit, waiting) as transport:
        try:
            for generation in bases.values():
                request = Request("GET", contract.operation(OPENERS[generation]).path)
                while not _ready(transport.send(generation, request).status):
                    pass
        except Spent:
            return False
    return True


def _ready(status: int) -> bool:
    return status != 0 and status not in _STARTING
