"""Requests with a chain or a token that is known, and that the list in question does not show.

They are sent for the operations alone whose names are said to come from the lists: a balance or a
price on a suspended chain is told by whoever knows it.
"""

from collections.abc import Iterator
from dataclasses import replace

from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.known_elsewhere import tokens_elsewhere, unlisted_chains
from mockserver.conformance.discovery.routes import Route
from mockserver.conformance.requests.subjects import About
from mockserver.conformance.requests.valid import OF_CHAIN, V1_OF_CHAIN
from mockserver.conformance.requests.words import KNOWN
from mockserver.conformance.session.context import RunContext

CHAINS = {
    OF_CHAIN: ("chain",),
    BRIDGE: ("fromChain", "toChain"),
    SWAP_QUOTE: ("fromChain", "toChain"),
    V1_OF_CHAIN: ("chain",),
    V1_QUOTE: ("fromChain", "toChain"),
}
"""The inputs that take the name of a listed chain, by their roles."""
TOKENS = {
    BRIDGE: "symbol",
    SWAP_QUOTE: "fromTokenAddress",
    V1_QUOTE: "token",
}
"""The inputs that take a token of a listed chain, by their roles."""

_FEW, _SOME = 3, 6


def known_elsewhere(context: RunContext, operation_id: str) -> Iterator[tuple[str, About]]:
    """Yield what an operation is asked about, each with what is known and not listed in its label.

    Raises `NotRun` or `Inconclusive` where the lists do not suffice.
    """
    if operation_id in TOKENS:
        yield from _with_tokens(context, operation_id)
    chains = unlisted_chains(context, context.contract.operation(operation_id).generation.id)
    for chain in chains[:_SOME] if operation_id == SWAP_QUOTE else chains:
        for role in CHAINS.get(operation_id, ()):
            yield f"{KNOWN}{role} {chain.name}", {role: chain.name}


def _with_tokens(context: RunContext, operation_id: str) -> Iterator[tuple[str, About]]:
    """Yield routes of tokens that other chains have, and the chain of the request has not."""
    inventory = inventory_of(context)
    tokens = inventory.v1_tokens if operation_id == V1_QUOTE else inventory.tokens
    sound = [one for one in tokens if one.decimals is not None and one.offered]
    role, chains = TOKENS[operation_id], list(dict.fromkeys(one.chain for one in sound))
    draw = context.draw(f"tokens of other chains for {operation_id}")
    for chain in draw.sample(chains, min(_FEW, len(chains))):
        there = [one for one in sound if one.chain != chain]
        for token in list(tokens_elsewhere(sound, chain))[:_FEW]:
            route = Route(replace(token, chain=chain), draw.choice(there))
            yield f"{KNOWN}{role} {token.symbol} on {chain}", {"route": route}
