"""The lists: looked at first, since everything is made of them, and once more at the end."""

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import asked_chain
from mockserver.conformance.discovery.routes import v1_chain_pair
from mockserver.conformance.requests.valid import filled, first_chains
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.looks import FIRST_LOOK
from mockserver.conformance.verdict import NotRun

_USUAL, _, _RENAMED = FIRST_LOOK


def again(context: RunContext, operation_id: str) -> Draft:
    """Ask for the same list as in the first look."""
    first = context.require(f"{operation_id}/{_USUAL}")
    other = context.get(f"{operation_id}/{_RENAMED}")
    chain = asked_chain(other if other is not None and other.succeeded else first)
    return filled(context, operation_id, {"chain": chain} if chain else {})


def second_chain(context: RunContext) -> Draft:
    """Ask for the tokens of another chain."""
    chains = first_chains(context)
    if len(chains) < 2:
        raise NotRun("getChain shows one chain only")
    return filled(
        context, "v2.getAssetsByChain", {"chain": inventory_of(context).asked_as(chains[1])}
    )


def second_v1_chain(context: RunContext) -> Draft:
    """Ask for the tokens of another chain of v1."""
    return filled(context, "v1.getSupportTokens", {"chain": v1_chain_pair(context)[1].name})


def renamed(context: RunContext) -> Draft:
    """Call a chain by its other name, where the service did not take its nickName."""
    _only_where_refused(context, "v2.getAssetsByChain")
    chain = inventory_of(context).chain(first_chains(context)[0])
    if chain is None or not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(context, "v2.getAssetsByChain", {"chain": chain.aliases[0]})


def renamed_v1(context: RunContext) -> Draft:
    """Call a chain of v1 by its other name, where the service did not take the first."""
    _only_where_refused(context, "v1.getSupportTokens")
    chain = v1_chain_pair(context)[0]
    if not chain.aliases:
        raise NotRun("the chain has no other name")
    return filled(context, "v1.getSupportTokens", {"chain": chain.aliases[0]})


def _only_where_refused(context: RunContext, operation_id: str) -> None:
    if not context.require(f"{operation_id}/{_USUAL}").refused:
        raise NotRun(f"not needed, {operation_id}/{_USUAL} was taken")
