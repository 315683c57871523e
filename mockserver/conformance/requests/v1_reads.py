"""Reads of v1 that should succeed, and the look-up of an order that was never submitted."""

from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.requests.reads import calibrating
from mockserver.conformance.requests.valid import unknown, valid_request

V1_LISTS = (
    "v2.getChain/usual",
    "v2.getAssets/usual",
    "v1.getSupportChains/usual",
    "v1.getSupportTokens/usual",
    "v1.getSupportTokens/second chain",
)
V1_ATTEMPTS = ("usual", "second route", "third route")
_DETAIL = "v1.getOrderDetailByHashAndEvmAddress"


def v1_probes() -> tuple[Probe, ...]:
    """Return the probes of the reads of v1, the two POSTs that submit nothing among them."""
    quotes = tuple(f"{V1_QUOTE}/{name}" for name in V1_ATTEMPTS)
    return (
        *calibrating(V1_QUOTE, V1_ATTEMPTS, (*V1_LISTS, "v2.getPrice/usual")),
        Probe(
            "v1.getTransferToMinterRaw/usual",
            lambda context: valid_request(context, "v1.getTransferToMinterRaw"),
            after=(*V1_LISTS, *quotes),
        ),
        Probe(f"{_DETAIL}/unknown", lambda context: unknown(context, _DETAIL), after=V1_LISTS),
    )
