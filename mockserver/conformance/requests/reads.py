"""Reads of 2.0 that should succeed, and look-ups of what was never submitted."""

from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    SWAP_QUOTE,
    attempts,
    check_needed,
)
from mockserver.conformance.requests.probe import Build, Probe
from mockserver.conformance.requests.valid import price, tried, unknown, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

LISTS = (
    "v2.getChain/usual",
    "v2.getAssets/usual",
    "v2.getAssetsByChain/usual",
    "v2.getAssetsByChain/second chain",
)


def read_probes() -> tuple[Probe, ...]:
    """Return the probes of the reads of 2.0."""
    quotes = tuple(f"{BRIDGE}/{name}" for name in ATTEMPT_NAMES)
    swaps = tuple(f"{SWAP_QUOTE}/{name}" for name in ATTEMPT_NAMES)
    prices = ("v2.getPrice/usual", "v2.getPrice/swap source", "v2.getPrice/swap target")
    return (
        Probe("v2.getPrice/usual", _usual("v2.getPrice"), after=LISTS),
        Probe(prices[1], _price_of_swap(0), after=LISTS),
        Probe(prices[2], _price_of_swap(1), after=LISTS),
        *calibrating(BRIDGE, ATTEMPT_NAMES, (*LISTS, prices[0])),
        *calibrating(SWAP_QUOTE, ATTEMPT_NAMES, (*LISTS, *prices, *quotes)),
        Probe("v2.getAggregateSwap/usual", _usual("v2.getAggregateSwap"), after=(*LISTS, *swaps)),
        Probe("v2.getBalance/usual", _usual("v2.getBalance"), after=LISTS),
        Probe("v2.getAllTicketByAddress/usual", _usual("v2.getAllTicketByAddress")),
        Probe("v2.checkOrder/unknown", _unknown("v2.checkOrder")),
        Probe("v2.checkTicket/unknown", _unknown("v2.checkTicket")),
    )


def calibrating(
    operation_id: str, names: tuple[str, ...], after: tuple[str, ...]
) -> tuple[Probe, ...]:
    """Return the tries of a quote; each is sent only where those before it did not work."""
    return tuple(
        Probe(
            f"{operation_id}/{name}",
            _trying(operation_id, name),
            after=(*after, *(f"{operation_id}/{before}" for before in names[:number])),
            conditional=number > 0,
        )
        for number, name in enumerate(names)
    )


def _trying(operation_id: str, name: str) -> Build:
    probe = f"{operation_id}/{name}"

    def build(context: RunContext) -> Draft:
        one = next((one for one in attempts(context, operation_id) if one.probe == probe), None)
        if one is None:
            raise NotRun("the lists show no further route")
        check_needed(context, one)
        return tried(context, one)

    return build


def _price_of_swap(side: int) -> Build:
    def build(context: RunContext) -> Draft:
        route = attempts(context, SWAP_QUOTE)[0].route
        return price(context, (route.source, route.target)[side])

    return build


def _usual(operation_id: str) -> Build:
    return lambda context: valid_request(context, operation_id)


def _unknown(operation_id: str) -> Build:
    return lambda context: unknown(context, operation_id)
