"""Finds out by a few requests in which unit a service reads amounts, and which pairs it quotes.

The description calls the amount of a quote the "user input quantity" and leaves its unit open
(section 4.2); clients send smallest units (DEMO). So these are tried first, whole tokens next.
"""

from dataclasses import replace
from decimal import Decimal
from enum import StrEnum

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import ListedToken
from mockserver.conformance.discovery.token_routes import (
    OTHER_AMOUNTS,
    TokenRoute,
    bridge_routes,
    price_of,
    swap_routes,
    v1_routes,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import VALID, ProbeName
from mockserver.conformance.verdict import Inconclusive, NotRun, if_known
from mockserver.contract import ids
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import plain

ATTEMPT_NAMES = (VALID, "other reading", "second route", "third route")
_PLAIN, _OTHER_READING, _SECOND_ROUTE, _THIRD_ROUTE = ATTEMPT_NAMES
# A wrong unit is off by 10^6 or more for most tokens, a wrong price by less than this.
_NEAR_FACTOR = Decimal(1000)


class Reading(StrEnum):
    """The unit in which a service reads the amount of a request."""

    UNITS = "smallest units"
    TOKENS = "whole tokens"

    @property
    def opposite(self) -> "Reading":
        return Reading.TOKENS if self is Reading.UNITS else Reading.UNITS


@value_class(frozen=True, slots=True)
class Attempt:
    """One of the requests that find out what a service accepts."""

    probe: ProbeName
    route: TokenRoute
    reading: Reading
    times: Decimal = Decimal(1)
    """How many times the usual amount is requested."""


def attempts(context: RunContext, operation_id: str) -> tuple[Attempt, ...]:
    """Return the requests to try for a quote, in their order. Raises `NotRun`."""
    match operation_id:
        case ids.BRIDGE:
            routes, first = bridge_routes(context), Reading.UNITS
        case ids.SWAP_QUOTE:
            routes, first = swap_routes(context), reading_of(context, ids.BRIDGE)
        case _:
            routes, first = v1_routes(context), Reading.TOKENS
    key = (attempts, operation_id, first)
    return context.cached(key, lambda: _attempts(operation_id, routes, first))


def _attempts(
    operation_id: str, routes: tuple[TokenRoute, ...], first: Reading
) -> tuple[Attempt, ...]:
    tried = {
        _PLAIN: (0, first),
        _OTHER_READING: (0, first.opposite),
        _SECOND_ROUTE: (1, first),
        _THIRD_ROUTE: (2, first.opposite),
    }
    if operation_id == ids.V1_QUOTE:
        tried = {_PLAIN: (0, first), _SECOND_ROUTE: (1, first), _THIRD_ROUTE: (2, first)}
    # A swap follows the reading of the transfer, and needs no other amounts.
    amounts_tried = {} if operation_id == ids.SWAP_QUOTE else OTHER_AMOUNTS
    routed = ((name, *way, Decimal(1)) for name, way in tried.items() if way[0] < len(routes))
    scaled = ((name, 0, first, times) for name, times in amounts_tried.items())
    return tuple(
        Attempt(ProbeName(f"{operation_id}/{name}"), routes[number], reading, times)
        for name, number, reading, times in (*routed, *scaled)
    )


def accepted(context: RunContext, operation_id: str) -> Attempt | None:
    tried = if_known(attempts, context, operation_id) or ()
    taken = [each for each in tried if any(sent.succeeded for sent in context.sent(each.probe))]
    meant = [each for each in taken if _fitting_reading(context, each) in (each.reading, None)]
    # Taken as it was meant goes before merely taken: the output shows how it was read.
    attempt = next(iter(meant or taken), None)
    if attempt is not None and _fitting_reading(context, attempt) is Reading.UNITS:
        # The number was meant as whole tokens, but the output shows that the service has read it as
        # smallest units.
        return replace(attempt, reading=Reading.UNITS)
    return attempt


def plain_attempt(context: RunContext, operation_id: str) -> Attempt:
    """Return the attempt that was accepted, or else the first. Raises `NotRun`."""
    return accepted(context, operation_id) or attempts(context, operation_id)[0]


def require_accepted(context: RunContext, operation_id: str) -> Attempt:
    """Return the attempt that was accepted. Raises `NotRun`, or `Inconclusive` without one."""
    if attempt := accepted(context, operation_id):
        return attempt
    tried = attempts(context, operation_id)
    sent = [attempt for attempt in tried if context.get(attempt.probe) is not None]
    if not sent:
        context.require(tried[0].probe)
    context.require_success(sent[-1].probe)
    raise Inconclusive(f"none of {len(sent)} requests was answered with success")


def check_needed(context: RunContext, attempt: Attempt) -> None:
    """Raise `NotRun` where an earlier attempt was accepted."""
    taken = accepted(context, attempt.probe.operation_id)
    if taken is not None and _fitting_reading(context, taken) in (taken.reading, None):
        raise NotRun(f"not needed, {taken.probe} was taken")


def reading_of(context: RunContext, operation_id: str) -> Reading:
    """Return how the service reads amounts; smallest units if that is not known."""
    if attempt := accepted(context, operation_id):
        return attempt.reading
    return reading_of(context, ids.BRIDGE) if operation_id == ids.SWAP_QUOTE else Reading.UNITS


def amount_text(amount: Decimal, token: ListedToken, reading: Reading) -> str:
    """Return whole tokens as a request carries them. Raises `NotRun` without decimals."""
    if reading is Reading.TOKENS:
        return plain(amount)
    return str(amounts.units_of(amount, decimals_of(token)))


def decimals_of(token: ListedToken) -> int:
    """Return a token's decimals. Raises `NotRun` where the lists do not show them."""
    if token.decimals is None:
        raise NotRun(f"no list shows the decimals of {token.symbol} on {token.chain}")
    return token.decimals


def requested_amount(exchange: Exchange) -> Decimal | None:
    """Return the amount that a query names, in whatever unit; None without one."""
    field = exchange.operation.amount
    return amounts.number(exchange.parameters.get(field.name)) if field else None


def requested_tokens(exchange: Exchange, token: ListedToken, reading: Reading) -> Decimal:
    """Return the amount of a quote's request, in whole tokens. Raises `NotRun`."""
    sent = requested_amount(exchange)
    if sent is None:
        raise NotRun(f"{exchange.probe} has no amount")
    if reading is Reading.TOKENS:
        return sent
    return amounts.EXACT.scaleb(sent, -decimals_of(token))


def _fitting_reading(context: RunContext, attempt: Attempt) -> Reading | None:
    """Return the reading that fits the output of a quote, None where neither does."""
    exchange = context.get(attempt.probe)
    if exchange is None or exchange.operation.id not in (ids.BRIDGE, ids.SWAP_QUOTE):
        return None
    out, sent = amounts.units(exchange.data.get("outAmount")), requested_amount(exchange)
    source, target = attempt.route.source, attempt.route.target
    if out is None or sent is None or source.decimals is None or target.decimals is None:
        return None
    rate = Decimal(1)
    # Of two tokens the worth has to be compared, for which both prices are needed.
    if source.symbol != target.symbol:
        source_price, target_price = price_of(context, source), price_of(context, target)
        if source_price is None or target_price is None:
            return None
        rate = amounts.EXACT.divide(source_price, target_price)
    got = amounts.whole_tokens(out, target.decimals)
    expected = amounts.EXACT.multiply(sent, rate)
    if amounts.within(got, amounts.EXACT.scaleb(expected, -source.decimals), _NEAR_FACTOR):
        return Reading.UNITS
    return Reading.TOKENS if amounts.within(got, expected, _NEAR_FACTOR) else None
