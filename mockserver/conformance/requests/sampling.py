"""Which listed chains and tokens are tried beside the usual ones: the edges first, then by draw."""

import operator
from collections.abc import Iterable

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Chain, Token
from mockserver.conformance.discovery.routes import (
    Route,
    addressed_tokens,
    bridges,
    plain_tokens,
    v1_chain_pair,
)
from mockserver.conformance.requests.valid import first_chains
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import NotRun

SAMPLES = ("sampled 1", "sampled 2")
"""How the quotes are called that try further chains and tokens."""
PRICED = "priced"
"""What follows that name where the worth of the token was asked for since."""
LARGER = "larger"
"""What follows that name where an amount was refused that may not have covered the fees."""
CONTROL = "control"
"""What follows both where they were refused: the same number of the token quoted before."""


def sampled_chain(context: RunContext) -> str:
    """Return a listed chain to ask the tokens of: best one that no token is said to be on.

    Raises `NotRun` where every listed chain was asked already.
    """
    inventory = inventory_of(context)
    used = set(first_chains(context))
    rest = [chain for chain in inventory.chains if chain.offered and chain.name not in used]
    if not rest:
        raise NotRun("every chain that is offered was asked for its tokens already")
    peopled = {token.chain for token in inventory.tokens}
    bare = [chain for chain in rest if chain.name not in peopled]
    return _edge_or_drawn(context, bare or rest, "sampled chain").name


def sampled_v1_chain(context: RunContext) -> str:
    """Return a further chain of v1 to ask the tokens of: best one that 2.0 does not show."""
    inventory = inventory_of(context)
    used = {chain.name for chain in v1_chain_pair(context)}
    rest = [chain for chain in inventory.v1_chains if chain.offered and chain.name not in used]
    if not rest:
        raise NotRun("every chain that v1 offers was asked for its tokens already")
    strange = [chain for chain in rest if inventory.twin(chain) is None]
    return _edge_or_drawn(context, strange or rest, "sampled v1 chain").name


def sampled_token(context: RunContext) -> Token:
    """Return a token to ask the price of: best one whose address is not that of an EVM chain.

    Raises `NotRun` where the lists show no address.
    """
    tokens = addressed_tokens(context)
    strange = [token for token in tokens if not token.address.startswith("0x")]
    return context.draw("sampled token").choice(strange or tokens)


def sampled_route(context: RunContext, usual: Route, number: int) -> Route:
    """Return a further route of one token between chains, as different as can be from others.

    Raises `NotRun` where the lists have no chain or token left that was not tried.
    """
    pool = list(bridges(context))
    context.draw("sampled routes").shuffle(pool)
    edges = _edges(context)
    is_evm = plain_tokens(context)
    tried = _marks(usual)
    chosen = usual
    for place in range(number + 1):
        # A chain that is not an EVM chain is tried as target first, then as source.
        strange = operator.attrgetter("source" if place else "target")
        fresh = [route for route in pool if _marks(route) - tried]
        if not fresh:
            raise NotRun("every listed chain and token that can be bridged was tried already")
        chosen = max(
            fresh,
            key=lambda route: (_worth(_marks(route) - tried, edges), not is_evm(strange(route))),
        )
        tried = tried | _marks(chosen)
    return chosen


def _worth(fresh: set[str], edges: set[str]) -> int:
    """Return what a route shows that no other did; a token counts as much as both its chains."""
    return sum(2 + (mark in edges) + 2 * mark.startswith("token ") for mark in fresh)


def _edges(context: RunContext) -> set[str]:
    """Return the first and the last chain and token of the lists: where mistakes show first."""
    chains = [chain.name for chain in inventory_of(context).chains if chain.offered]
    symbols = [token.symbol for token in inventory_of(context).tokens]
    ends = [*(f"chain {name}" for name in chains), *(f"token {name}" for name in symbols)]
    picked: Iterable[str] = ()
    if chains and symbols:
        picked = (ends[0], ends[len(chains) - 1], ends[len(chains)], ends[-1])
    return set(picked)


def _edge_or_drawn(context: RunContext, chains: list[Chain], what: str) -> Chain:
    return context.draw(what).choice(
        [chains[0], chains[-1], context.draw(f"{what} 2").choice(chains)]
    )


def _marks(route: Route) -> set[str]:
    return {
        f"chain {route.source.chain}",
        f"chain {route.target.chain}",
        f"token {route.source.symbol}",
    }
