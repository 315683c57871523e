"""Functions for `schemas/probes.yaml`: what the requests of the plan are about in each run.

Each takes the run, and further arguments of its row. It raises `NotRun` where the lists do not
show enough, or where the request is not needed.
"""

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    Attempt,
    accepted,
    amount_text,
    attempts,
    check_needed,
    decimals_of,
    plain_attempt,
    requested_tokens,
    require_accepted,
)
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    inventory_of,
    requested_chain,
    twins_of,
)
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    addressed_tokens,
    bridges,
    cross_routes,
    default_amount_of,
    is_stable,
    plain_tokens,
    price_of,
    swap_routes,
    swaps,
    v1_chain_pair,
    v1_twin,
)
from mockserver.conformance.requests import probe_labels
from mockserver.conformance.requests.probe_labels import NAMED
from mockserver.conformance.requests.valid import (
    first_chains,
    fresh_hash,
    named_v1_order,
    order_route,
    submitted_id,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.list_probes import ANOTHER_NAME
from mockserver.conformance.session.probe_names import ProbeName, plain_probe
from mockserver.conformance.verdict import NotRun, if_known, needed
from mockserver.contract import ids
from mockserver.signing.keyring import EXAMPLE_ADDRESS

# With so many decimals, a few tokens are an amount that does not fit into 64 bits.
_MANY_DECIMALS = 15
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
LENGTH_IN_BASE58 = 88


# Chains whose tokens are requested.


def chain_listed_first(context: RunContext, operation_id: str) -> str | None:
    """Return the chain of the first look at a list, by the name that was accepted."""
    first, again = plain_probe(operation_id), f"{operation_id}/{ANOTHER_NAME}"
    taken = [exchange for exchange in context.sent(again) if exchange.succeeded]
    return requested_chain((*taken, context.require(first))[0]) or None


def second_chain(context: RunContext) -> str:
    # By another chain than the first alone, a list that ignores the chain is seen.
    others = needed(first_chains(context)[1:], "getChain shows one chain only")
    return inventory_of(context).listing_name(others[0])


def other_name(context: RunContext) -> str:
    """Return another name of the usual chain than its nickName."""
    default_chain, listed = first_chains(context)[0], inventory_of(context).chains
    return _other_name(next((chain for chain in listed if chain.name == default_chain), None))


def _other_name(chain: ListedChain | None) -> str:
    return needed(chain.aliases if chain else (), "the chain has no other name")[0]


def chain_without_evm(context: RunContext) -> str:
    """Return an offered chain that is no EVM chain, as far as the lists show. Raises `NotRun`."""
    is_plain, inventory = plain_tokens(context), inventory_of(context)
    offered = {chain.name for chain in inventory.offered}
    evm = {token.chain for token in inventory.tokens if is_plain(token)}
    names = sorted({token.chain for token in inventory.tokens if token.chain in offered} - evm)
    pool = needed(names, "every chain with tokens is an EVM chain")
    return context.draw("chain without EVM").choice(pool)


def hash_in_base58(context: RunContext) -> str:
    """Return a hash as Solana and others write them: the case of its letters counts."""
    return "".join(context.draw("hash in base58").choices(BASE58, k=LENGTH_IN_BASE58))


def sampled_chain(context: RunContext) -> str:
    """Return a further chain, preferably one that no token is listed on."""
    inventory, used = inventory_of(context), first_chains(context)
    rest = [chain for chain in inventory.offered if chain.name not in used]
    needed(rest, "every chain that is offered had its tokens requested already")
    # A service that forgets chains without tokens is not seen by those that have some.
    peopled = {token.chain for token in inventory.tokens}
    bare = [chain for chain in rest if chain.name not in peopled]
    return inventory.listing_name(_edge_or_drawn(context, bare or rest, "sampled chain"))


def sampled_v1_chain(context: RunContext) -> str:
    """Return a further chain of v1, preferably one that 2.0 does not show."""
    used = v1_chain_pair(context)
    rest = [chain for chain in inventory_of(context, "v1").offered if chain not in used]
    needed(rest, "every chain that v1 offers had its tokens requested already")
    own = [chain for chain in rest if inventory_of(context).twin(chain) is None]
    return _edge_or_drawn(context, own or rest, "sampled v1 chain")


def _edge_or_drawn(context: RunContext, chains: list[ListedChain], what: str) -> str:
    ends = [chains[0], chains[-1], context.draw(f"{what} 2").choice(chains)]
    return context.draw(what).choice(ends).name


def v1_name(context: RunContext) -> str:
    """Return the name that only v1 has for a chain of 2.0."""
    names = {name.lower() for chain in inventory_of(context).chains for name in chain.names}
    offered = (chain.name for chain, _ in twins_of(context) if chain.offered)
    own = [name for name in offered if name.lower() not in names]
    return context.draw("v1 name").choice(needed(own, "v1 calls every chain as 2.0 does"))


# Tokens and routes.


def sampled_token(context: RunContext) -> ListedToken:
    """Return a token to request the price of, preferably one not on an EVM chain."""
    # It is on a route that is quoted where there is one, since the quote shows its worth.
    tokens = addressed_tokens(context)
    route = if_known(sampled_route, context, probe_labels.SAMPLES[0])
    quoted = [end for end in (route.target, route.source) if end in tokens] if route else []
    for pool in (quoted, tokens):
        if not_evm := [token for token in pool if not token.address.startswith("0x")]:
            return context.draw("sampled token").choice(not_evm)
    return context.draw("sampled token").choice(quoted or tokens)


def unpriced_token(context: RunContext, sample: str) -> ListedToken:
    """Return the token of a sampled route whose price is not known."""
    token = sampled_route(context, sample).source
    if price_of(context, token) is not None or not token.address:
        raise NotRun("what the token is worth is known, or no list shows its address")
    return token


def attempt(context: RunContext, probe: str) -> Attempt:
    """Return an attempt at a quote, where those before it were not accepted."""
    tried = attempts(context, ProbeName(probe).operation_id)
    of_probe = [attempt for attempt in tried if attempt.probe == probe]
    chosen = needed(of_probe, "the lists show no further route")[0]
    check_needed(context, chosen)
    return chosen


def taken_route(context: RunContext, operation_id: str) -> TokenRoute:
    return require_accepted(context, operation_id).route


def way_back(context: RunContext, operation_id: str) -> TokenRoute:
    route = taken_route(context, operation_id)
    return TokenRoute(route.target, route.source)


def way_back_of_the_coin(context: RunContext) -> TokenRoute:
    """Return the way back of the usual swap, where that pays the coin of the chain."""
    back = way_back(context, ids.SWAP_QUOTE)
    needed(back.source.is_native, "the usual swap pays no coin of a chain")
    return back


def swap_on_another_chain(context: RunContext, best: str) -> TokenRoute:
    """Return a swap on another chain than the usual one: of two tokens, on the first of `best`."""
    default_chain = taken_route(context, ids.SWAP_QUOTE).source.chain
    evm = plain_tokens(context)
    on_a_chain = (route for route in swaps(context) if route.is_within_a_chain)
    elsewhere = (route for route in on_a_chain if route.source.chain != default_chain)
    routes = [route for route in elsewhere if evm(route.source) and evm(route.target)]
    needed(routes, "no other EVM chain has two tokens")
    context.draw("swaps on another chain").shuffle(routes)
    routes.sort(key=lambda route: route.source.is_native + route.target.is_native)
    places = {chain: place for place, chain in enumerate(best.split())}
    return min(routes, key=lambda route: places.get(route.source.chain, len(places)))


def coin_in_v1(context: RunContext) -> ListedToken:
    """Return the coin of a chain that v1 offers, at its published address."""
    inventory = inventory_of(context, "v1")
    offered = {chain.name for chain in inventory.offered}
    tokens = [token for token in inventory.tokens if token.offered and token.chain in offered]
    coins = [token for token in tokens if token.is_native and token.address]
    return context.draw("coin in v1").choice(needed(coins, "v1 lists no coin of a chain"))


def route_across(context: RunContext) -> TokenRoute:
    """Return a swap between chains, where it can be for more smallest units than 64 bits count."""
    require_accepted(context, ids.SWAP_QUOTE)
    routes = cross_routes(context)
    fine = [route for route in routes if (route.target.decimals or 0) >= _MANY_DECIMALS]
    return (fine or routes)[0]


def twin_of_v1(context: RunContext) -> TokenRoute:
    """Return the route of 2.0 that was quoted in v1, where 2.0 is known to read amounts."""
    route = v1_twin(context, taken_route(context, ids.V1_QUOTE))
    if accepted(context, ids.BRIDGE) is None:
        raise NotRun("no quote of 2.0 was taken, so how it reads amounts is not known")
    return route


def sampled_route(context: RunContext, sample: str) -> TokenRoute:
    """Return a further route of one token between chains, as different as can be from others."""
    chosen = taken_route(context, ids.BRIDGE)
    pool = list(bridges(context))
    context.draw("sampled routes").shuffle(pool)
    edges = _edges(context)
    is_evm = plain_tokens(context)
    tried = _marks(chosen)
    for place in range(probe_labels.SAMPLES.index(sample) + 1):
        # A chain that is not an EVM chain is tried as target first, then as source.
        end = operator.attrgetter("source" if place else "target")
        fresh = [route for route in pool if _marks(route) - tried]
        chosen = max(
            needed(fresh, "every listed chain and token that can be bridged was tried already"),
            key=lambda route: (_worth(_marks(route) - tried, edges), not is_evm(end(route))),
        )
        tried = tried | _marks(chosen)
    return chosen


def neighbouring_route(context: RunContext, quote: str) -> TokenRoute:
    """Return the route of another token between the chains of a quote, of a stable one if any is.

    The quote is a sampled one, or the usual one. Raises `NotRun` where there is no such token.
    """
    is_plain = quote not in probe_labels.SAMPLES
    route = attempts(context, ids.BRIDGE)[0].route if is_plain else sampled_route(context, quote)
    beside = (bridge for bridge in bridges(context) if bridge.chains == route.chains)
    others = [bridge for bridge in beside if bridge.source.symbol != route.source.symbol]
    pool = needed(others, "no other token is listed on both chains")
    return min(pool, key=lambda route: not is_stable(route.source))


def _worth(fresh: set[str], edges: set[str]) -> int:
    """Rate what a route shows that no other did; a token counts as much as both its chains."""
    return sum(2 + (mark in edges) + 2 * mark.startswith("token ") for mark in fresh)


def _edges(context: RunContext) -> set[str]:
    """Return the first and the last chain and token of the lists: where mistakes show first."""
    chains = [f"chain {chain.name}" for chain in inventory_of(context).offered]
    tokens = [f"token {token.symbol}" for token in inventory_of(context).tokens]
    lists = (chains, tokens) if chains and tokens else ()
    return {names[end] for names in lists for end in (0, -1)}


def _marks(route: TokenRoute) -> set[str]:
    return {f"token {route.source.symbol}", *(f"chain {chain}" for chain in route.chains)}


# Attempts and amounts, in whole tokens.


def amount_paid(context: RunContext, operation_id: str) -> Decimal:
    accepted = require_accepted(context, operation_id)
    out = amounts.units(context.require(accepted.probe).data.get("outAmount"))
    paid = needed(out, f"outAmount of {accepted.probe} is no amount above zero")
    return amounts.whole_tokens(paid, decimals_of(accepted.route.target))


def amount_in_v1(context: RunContext) -> Decimal:
    """Return the usual amount of what was quoted in v1."""
    return default_amount_of(context, taken_route(context, ids.V1_QUOTE).source)


def tenfold_in_v1(context: RunContext) -> Decimal:
    """Return ten times as much less half a token, since amounts of v1 may have a fraction.

    Not half a token more: a round number may be the largest that a service accepts.
    """
    amount = amount_in_v1(context)
    return amount * 10 - (Decimal("0.5") if amount >= 1 else 0)


def requested_amount(context: RunContext, sample: str) -> Decimal:
    """Return the amount that was requested last on a sampled route."""
    source = sampled_route(context, " ".join(sample.split()[:2])).source
    reading = require_accepted(context, ids.BRIDGE).reading
    return requested_tokens(context.require(f"{ids.BRIDGE}/{sample}"), source, reading)


def amount_by_new_price(context: RunContext, sample: str) -> Decimal:
    source = sampled_route(context, sample).source
    reading = require_accepted(context, ids.BRIDGE).reading
    tokens = default_amount_of(context, source)
    before = context.require(f"{ids.BRIDGE}/{sample}").parameters.get("amount")
    if amount_text(tokens, source, reading) == before:
        raise NotRun("no price has come since, so that the amount is the same")
    return tokens


def impossible_minimum(context: RunContext) -> str:
    """Return a least output that no quote can reach, in the observed form of `extra`."""
    target = order_route(context).target
    # More than there is of any token, whatever its decimals.
    least = 10 ** ((target.decimals or 0) + 12)
    return f"1_{least};3_2;4_{least};5_{target.chain}"


# What the user has named, and what lists show.


def named_account(context: RunContext) -> str:
    if context.caller.address == EXAMPLE_ADDRESS:
        raise NotRun("no account was named whose tickets could be read")
    return context.caller.address


def account_in_another_case(context: RunContext) -> str:
    """Return the caller's address with hex in lower case, or in upper case if it was in lower."""
    digits = context.caller.address.removeprefix("0x")
    return f"0x{digits.upper() if digits == digits.lower() else digits.lower()}"


def named_order(context: RunContext, name: str) -> str:
    return _one_of(context.caller.orders, NAMED.index(name), "order")


def known_ticket(context: RunContext, name: str) -> str:
    """Return the id of a ticket that was named, or that a list shows."""
    lists = context.sent(*probe_labels.TICKET_LISTS)
    items = (item for exchange in lists for item in exchange.items())
    listed = [text(item.get("ticketId")) for item in items if isinstance(item, dict)]
    every = dict.fromkeys(filter(None, (*context.caller.tickets, *listed)))
    return _one_of(tuple(every), probe_labels.LISTED.index(name), "ticket")


def _one_of(names: tuple[str, ...], number: int, what: str) -> str:
    return needed(names[number:], f"no {what} was named")[0]


def _with_another_end(transaction: str) -> str:
    end = "00000000" if not transaction.endswith("00000000") else "11111111"
    return f"{transaction[:-8]}{end}"


def another_chain(context: RunContext) -> str:
    """Return a chain that v1 lists, other than that of the order which was named."""
    own, _ = named_v1_order(context)
    others = [chain.name for chain in inventory_of(context, "v1").chains if chain.name != own]
    pool = needed(others, "v1 lists no other chain")
    return context.draw("another chain of a v1 order").choice(pool)


CHOICES: Mapping[str, Callable[..., Any]] = {
    "second_v1_chain": lambda context: v1_chain_pair(context)[1].name,
    "other_v1_name": lambda context: _other_name(v1_chain_pair(context)[0]),
    "target_v1_chain": lambda context: plain_attempt(context, ids.V1_QUOTE).route.target.chain,
    "swap_source": lambda context: attempts(context, ids.SWAP_QUOTE)[0].route.source,
    "swap_target": lambda context: attempts(context, ids.SWAP_QUOTE)[0].route.target,
    "swap_route": lambda context: plain_attempt(context, ids.SWAP_QUOTE).route,
    "other_held_token": lambda context: swap_routes(context)[0].target,
    # A sampled amount may be negligible: its price may be wrong.
    "thousandfold": lambda context, sample: requested_amount(context, sample) * 1000,
    "chain_of_named": lambda context, name: named_v1_order(context, NAMED.index(name))[0],
    "hash_of_named": lambda context, name: named_v1_order(context, NAMED.index(name))[1],
    # Ids that do not exist, though they begin like what was named.
    "longer_order": lambda context: f"{named_order(context, NAMED[0])}7000003",
    "longer_ticket": lambda context: f"{known_ticket(context, probe_labels.LISTED[0])}7000003",
    "longer_id": lambda context, probe: f"{submitted_id(context, probe)}abc",
    "hash_with_another_end": lambda context: _with_another_end(named_v1_order(context)[1]),
    # It may be somebody else's.
    "shorter_id": lambda context, probe: submitted_id(context, probe)[:-1],
    "v1_deposit_in_another_case": lambda context: (
        f"0x{fresh_hash(context, 'usual v1 order')[2:].upper()}"
    ),
    "other_v1_hash": lambda context: _with_another_end(fresh_hash(context, "usual v1 order")),
    "no_chain": lambda context: f"{named_v1_order(context)[0]}QZ",
}
"""The choices that need arguments or a few calls, by their name in the table."""
