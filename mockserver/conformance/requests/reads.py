"""Reads that should succeed: attempts at a quote, and the prices of what a swap is made of."""

from mockserver.conformance.discovery.amount_units import SWAP_QUOTE, attempts, check_needed
from mockserver.conformance.requests.valid import price, tried
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun


def attempt(context: RunContext, probe: str) -> Draft:
    """Try a quote, where the attempts before it did not work."""
    operation_id = probe.partition("/")[0]
    one = next((one for one in attempts(context, operation_id) if one.probe == probe), None)
    if one is None:
        raise NotRun("the lists show no further route")
    check_needed(context, one)
    return tried(context, one)


def price_of_swap(context: RunContext, side: str) -> Draft:
    """Ask for the price of the `source` or the `target` of the usual swap."""
    route = attempts(context, SWAP_QUOTE)[0].route
    return price(context, route.source if side == "source" else route.target)
