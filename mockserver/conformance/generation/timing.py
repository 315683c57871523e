"""The time that v1 requests are stamped with, where a service's own clock has run ahead of it.

A stand-in whose clock jumps from event to event soon finds a fixed `timestamp` expired. What it
tells of its time elsewhere is taken then: `updateTime` of a price (interface.md 2.3).
"""

from collections.abc import Callable

from mockserver.conformance.discovery.amounts import number
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotRun

PRICE = "v2.getPrice"
_NEAR_MS = 2_000
_SECONDS_UNTIL = 10**11

Ask = Callable[[str, Draft], Exchange | None]
"""Sends a request for an operation; None where it may not be sent."""


def catch_up(context: RunContext, ask: Ask) -> bool:
    """Stamp what follows with the time that the service tells; tell whether that is another time.

    Nothing changes where it tells none.
    """
    try:
        draft = valid_request(context, PRICE)
    except (NotRun, Inconclusive):
        return False
    exchange = ask(PRICE, draft)
    told = None if exchange is None else number(exchange.data.get("updateTime"))
    if told is None or told <= 0:
        return False
    told_ms = int(told * 1000 if told < _SECONDS_UNTIL else told)
    if abs(told_ms - context.caller.timestamp_ms) <= _NEAR_MS:
        return False
    context.now = lambda: told_ms
    return True
