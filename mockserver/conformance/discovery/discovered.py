"""What the lists of a run have shown so far, read once until a list comes anew."""

from mockserver.conformance.discovery.inventory import Chain, Inventory, Token, discover, tokens_of
from mockserver.conformance.session.caching import cached
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.looks import FIRST_LOOKS


@cached
def inventory_of(context: RunContext) -> Inventory:
    """Return what the service offers, as far as its lists were fetched."""
    looks = [one for one in context.sent(*FIRST_LOOKS) if one.succeeded]
    return discover(looks, context.bindings)


def chains_beside(context: RunContext, look: Exchange) -> tuple[Chain, ...]:
    """Return the chains that the service offers in the generation of an answer."""
    inventory = inventory_of(context)
    return inventory.v1_chains if look.operation.generation.id == "v1" else inventory.chains


def tokens_in(context: RunContext, look: Exchange) -> tuple[Token, ...]:
    """Return the tokens that an answer lists, each of them once for every chain it is on."""
    return tokens_of(look, context.bindings, chains_beside(context, look))
