"""Further reads that are compared with the usual ones, each bracketed by an equal request."""

from dataclasses import replace
from decimal import Decimal

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    accepted,
    decimals_of,
    given,
    require_accepted,
    usual_attempt,
    usual_text,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.routes import (
    Route,
    cross_routes,
    price_of,
    usual_amount,
    v1_twin,
)
from mockserver.conformance.requests.sampling import (
    CONTROL,
    LARGER,
    PRICED,
    SAMPLES,
    sampled_chain,
    sampled_route,
    sampled_token,
    sampled_v1_chain,
)
from mockserver.conformance.requests.valid import (
    balance,
    filled,
    fresh_address,
    held_token,
    held_tokens,
    price,
    quote_for,
    quoted,
    swap,
    tried,
    v1_raw,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

TENFOLD = 10
THOUSANDFOLD = 1000
OTHER_SLIPPAGE = "500"
_ALIKE = Decimal("1.25")
_FINE = 15
"""Decimals with which some tokens are more smallest units than fit into 64 bits."""
OF_THE_COIN = "of the coin"


def again(context: RunContext, operation_id: str) -> Draft:
    """Quote once more what was quoted."""
    return tried(context, require_accepted(context, operation_id))


def tenfold(context: RunContext, operation_id: str) -> Draft:
    """Quote ten times what was quoted."""
    return quoted(context, operation_id, require_accepted(context, operation_id).route, TENFOLD)


def back(context: RunContext, operation_id: str) -> Draft:
    """Quote the way back of what the way there pays."""
    one = require_accepted(context, operation_id)
    way_back = Route(one.route.target, one.route.source)
    paid = _paid(context, operation_id)
    return quote_for(context, operation_id, way_back, paid, one.reading)


def _paid(context: RunContext, operation_id: str) -> Decimal:
    """Return what a quote pays, in whole tokens. Raises `NotRun` where that is no amount."""
    one = require_accepted(context, operation_id)
    exchange = context.require(one.probe)
    out = amounts.units(exchange.data.get("outAmount"))
    if not out:
        raise NotRun(f"outAmount of {one.probe} is no amount above zero")
    return amounts.whole(out, decimals_of(one.route.target))


def across(context: RunContext) -> Draft:
    """Quote between chains, where it can be for more smallest units than 64 bits can count."""
    require_accepted(context, SWAP_QUOTE)
    routes = cross_routes(context)
    fine = [route for route in routes if (route.target.decimals or 0) >= _FINE]
    return quoted(context, SWAP_QUOTE, (fine or routes)[0], TENFOLD)


def swap_to_another(context: RunContext) -> Draft:
    """Pay somebody else, with another slippage: what of it shows in the call?"""
    require_accepted(context, SWAP_QUOTE)
    recipient = fresh_address(context, "recipient of a swap")
    return swap(context, usual_attempt(context, SWAP_QUOTE), OTHER_SLIPPAGE).having(
        "query", "recipient", recipient
    )


def swap_of_the_coin(context: RunContext) -> Draft:
    """Give what the usual swap pays, where that is the coin of the chain."""
    one = require_accepted(context, SWAP_QUOTE)
    if not one.route.target.is_native:
        raise NotRun("the usual swap pays no coin of a chain")
    way_back = Route(one.route.target, one.route.source)
    return swap(context, replace(one, probe=f"{SWAP_QUOTE}/back", route=way_back))


def sampled_price(context: RunContext) -> Draft:
    """Ask for the price of a token that was not asked for yet."""
    return price(context, sampled_token(context))


def tenfold_call(context: RunContext) -> Draft:
    """Ask for the call of ten times as much, where the usual one pays not what was quoted."""
    one = require_accepted(context, SWAP_QUOTE)
    call, quote = context.require_each("v2.getAggregateSwap/usual", one.probe)
    paid, said = (
        amounts.number(call.data.get("amountOut")),
        amounts.number(quote.data.get("outAmount")),
    )
    if paid is None or said is None or amounts.within(paid, said, _ALIKE):
        raise NotRun("not needed, the call pays what was quoted, or no number")
    source = one.route.source
    text = usual_text(context, source, one.reading, TENFOLD)
    return swap(context, one).having("query", "fromAmount", text)


def other_balance(context: RunContext) -> Draft:
    """Ask for what the caller has of a second token."""
    return balance(context, held_tokens(context)[1], context.caller.address)


def balance_of_nobody(context: RunContext) -> Draft:
    """Ask for what an address has that nobody uses."""
    return balance(context, held_token(context), fresh_address(context, "an account without money"))


def sampled_chain_list(context: RunContext) -> Draft:
    """List the tokens of a further chain."""
    called = inventory_of(context).asked_as(sampled_chain(context))
    return filled(context, "v2.getAssetsByChain", {"chain": called})


def sampled_v1_chain_list(context: RunContext) -> Draft:
    """List the tokens of a further chain of v1."""
    return filled(context, "v1.getSupportTokens", {"chain": sampled_v1_chain(context)})


def price_where_refused(context: RunContext, sample: str) -> Draft:
    """Ask what a token is worth where its amount may have been too small or too large."""
    _check_refused(context, sample)
    token = _route_of(context, sample).source
    if price_of(context, token) is not None or not token.address:
        raise NotRun("what the token is worth is known, or no list shows its address")
    return price(context, token)


def priced_where_refused(context: RunContext, sample: str) -> Draft:
    """Ask what is worth the usual amount by the price that is known now."""
    _check_refused(context, sample)
    before = context.require(f"{BRIDGE}/{sample}").request.query
    draft = sampled_quote(context, sample)
    if draft.request(context.contract.operation(BRIDGE)).query == before:
        raise NotRun("no price was told since, so that the amount is the same")
    return draft


def larger_where_refused(context: RunContext, sample: str) -> Draft:
    """Ask a thousandfold, since the price may be wrong, or the amount next to nothing."""
    _check_refused(context, sample)
    priced = context.get(f"{BRIDGE}/{sample} {PRICED}")
    if priced is not None and priced.succeeded:
        raise NotRun(f"not needed, {priced.probe} was taken")
    one = require_accepted(context, BRIDGE)
    route = _route_of(context, sample)
    before = given(context.require(f"{BRIDGE}/{sample}"), route.source, one.reading)
    return quote_for(context, BRIDGE, route, before * THOUSANDFOLD, one.reading)


def _check_refused(context: RunContext, words: str) -> None:
    if not context.require(f"{BRIDGE}/{words}").refused:
        raise NotRun(f"not needed, {BRIDGE}/{words} was taken")


def _route_of(context: RunContext, sample: str) -> Route:
    usual = require_accepted(context, BRIDGE).route
    return sampled_route(context, usual, SAMPLES.index(sample))


def control(context: RunContext, name: str) -> Draft:
    """Ask for the number that was refused of a token that is quoted: is it the amount?"""
    sample = name.removesuffix(f" {LARGER}")
    for asked in (sample, f"{sample} {LARGER}"):
        _check_refused(context, asked)
    before = context.get(f"{BRIDGE}/{sample} {CONTROL}")
    if before is not None and before.succeeded:
        raise NotRun(f"not needed, {before.probe} was taken")
    one = require_accepted(context, BRIDGE)
    refused = _route_of(context, sample).source
    whole = given(context.require(f"{BRIDGE}/{name}"), refused, one.reading)
    return quote_for(context, BRIDGE, one.route, whole, one.reading)


def sampled_quote(context: RunContext, sample: str) -> Draft:
    """Quote the transfer of a further token between further chains."""
    return quoted(context, BRIDGE, _route_of(context, sample))


def tenfold_v1(context: RunContext) -> Draft:
    """Quote ten times as much but for half a token, since amounts of v1 may have a fraction.

    Not half a token more: a round number may be the most that a service takes.
    """
    route = require_accepted(context, V1_QUOTE).route
    usual_one = usual_amount(context, route.source)
    less = Decimal("0.5") if usual_one >= 1 else Decimal(0)
    return quote_for(context, V1_QUOTE, route, usual_one * TENFOLD - less)


def tenfold_raw(context: RunContext) -> Draft:
    """Ask for the transaction that pays ten times as much."""
    source = usual_attempt(context, V1_QUOTE).route.source
    return v1_raw(context, source, usual_amount(context, source) * TENFOLD)


def as_v1(context: RunContext) -> Draft:
    """Quote in 2.0 what was quoted in v1."""
    route = v1_twin(context, require_accepted(context, V1_QUOTE).route)
    found = accepted(context, BRIDGE)
    if found is None:
        raise NotRun("no quote of 2.0 was taken, so how it reads amounts is not known")
    whole = usual_amount(context, require_accepted(context, V1_QUOTE).route.source)
    return quote_for(context, BRIDGE, route, whole, found.reading)


def v1_name(context: RunContext) -> Draft:
    """Call a chain of 2.0 by the name that only v1 has for it."""
    inventory = inventory_of(context)
    names = {name.lower() for chain in inventory.chains for name in chain.names}
    own = [
        chain.name
        for chain in inventory.v1_chains
        if chain.offered and inventory.twin(chain) is not None and chain.name.lower() not in names
    ]
    if not own:
        raise NotRun("v1 calls every chain as 2.0 does")
    return filled(context, "v2.getAssetsByChain", {"chain": context.draw("v1 name").choice(own)})
