"""Chains and tokens that are known to exist, and that a list of the service does not show.

They are known from the other generation's list, from the chains that ship with this package, or
from the tokens of the service's other chains. Any service that looks names up refuses an invented
one; these are refused only by a service that checks its own list.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from mockserver import file_formats, resources
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    inventories,
    inventory_of,
)
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import cached

MOST_UNLISTED = 16
"""How many chains, and how many tokens of a chain, are requested at most."""


@cached
def unlisted_chains(context: RunContext, generation: str) -> tuple[ListedChain, ...]:
    """Return chains that are known and not in the list of a generation, likely ones first.

    Their names are those that requests of the generation use. A listed chain that cannot be
    identified (`unidentified_chains`) may be any of them.
    """
    listed = inventory_of(context, generation).chains
    others = inventory_of(context, "v2" if generation == "v1" else "v1").chains
    # The shipped chains have the names of both generations, the other list only its own.
    known = (*_shipped_chains(generation), *others)
    if not listed:
        return ()
    chains: list[ListedChain] = []
    for chain in known:
        chains += [] if _is_among(chain, (*listed, *chains)) else [chain]
    context.draw(f"unlisted chains of {generation}").shuffle(chains)
    # Chains that the other generation offers now are most likely to be answered by mistake.
    return tuple(sorted(chains, key=lambda chain: not _is_among(chain, others))[:MOST_UNLISTED])


def unidentified_chains(context: RunContext, generation: str) -> int:
    """Return how many listed chains may be known ones by names that nobody knows."""
    others = inventory_of(context, "v2" if generation == "v1" else "v1").chains
    known = (*_shipped_chains(generation), *others)
    listed = inventory_of(context, generation).chains
    return sum(not chain.network and not _is_among(chain, known) for chain in listed)


def known_chain_names(context: RunContext) -> Iterator[str]:
    """Yield every name of a chain that is listed or known; none where 2.0 lists no chain."""
    v2, v1 = inventories(context)
    for chain in (*v2.chains, *v1.chains, *_shipped_chains("v2")) if v2.chains else ():
        yield from chain.names


def tokens_elsewhere(tokens: Sequence[ListedToken], chain: str) -> Iterator[ListedToken]:
    """Yield tokens of other chains whose symbol and address a chain does not have.

    Each symbol comes once; coins do not come, since their address is the same on every chain.
    """
    here = [token for token in tokens if token.chain == chain]
    known = {folded(token.symbol) for token in here} | {token.address.lower() for token in here}
    for token in tokens:
        names = (folded(token.symbol), token.address.lower())
        if token.is_native or not known.isdisjoint(names):
            continue
        known.update(names)
        yield token


@cache
def _shipped_chains(generation: str) -> tuple[ListedChain, ...]:
    path, chains = resources.fixtures() / "catalog" / "chains.yaml", list[ListedChain]()
    for row in file_formats.read(path, "catalog").value["chains"]:
        first = row.get("v1", {}).get("name", "")
        names = tuple(filter(None, (first, row["nickname"], row.get("full_name", ""))))
        name = first if generation == "v1" and first else row["nickname"]
        aliases = tuple(alias for alias in dict.fromkeys(names) if alias != name)
        network = row.get("network", "")
        network = network if network.isdecimal() else ""
        chains.append(ListedChain(name, aliases=aliases, network=network))
    return tuple(chains)


def _is_among(chain: ListedChain, others: Iterable[ListedChain]) -> bool:
    names = {folded(name) for name in chain.names}
    return any(
        (chain.network and chain.network == listed.network)
        or not names.isdisjoint(folded(name) for name in listed.names)
        for listed in others
    )
