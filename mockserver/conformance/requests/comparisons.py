"""Further reads that are compared with the usual ones, each bracketed by an equal request."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    accepted,
    amount_text,
    decimals_of,
    given,
    require_accepted,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.routes import (
    Route,
    cross_routes,
    price_of,
    usual_amount,
    v1_twin,
)
from mockserver.conformance.requests.probe import Build, Probe
from mockserver.conformance.requests.reads import LISTS
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
from mockserver.conformance.requests.v1_reads import V1_ATTEMPTS, V1_LISTS
from mockserver.conformance.requests.valid import (
    aggregate,
    balance,
    bridge,
    filled,
    fresh_address,
    held_token,
    held_tokens,
    price,
    quoted_attempt,
    swap,
    tried,
    v1_attempt,
    v1_quote,
    v1_raw,
    valid_request,
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
NOBODYS = "of nobody"
"""What is asked of an address that nobody uses, and that most likely has nothing."""
_BEFORE = ("", f" {LARGER}")
_BRIDGES = (*LISTS, *(f"{BRIDGE}/{name}" for name in ATTEMPT_NAMES))
_SWAPS = (*LISTS, *(f"{SWAP_QUOTE}/{name}" for name in ATTEMPT_NAMES))
_V1 = (*V1_LISTS, *(f"{V1_QUOTE}/{name}" for name in V1_ATTEMPTS))


def comparison_probes() -> tuple[Probe, ...]:
    """Return the probes of what is compared, in an order that brackets what may move."""
    return (
        Probe("v2.getPrice/again", _usual("v2.getPrice"), after=("v2.getPrice/usual",)),
        Probe("v2.getPrice/sampled", _sampled_price, after=LISTS),
        Probe(f"{BRIDGE}/tenfold", _tenfold(BRIDGE), after=_BRIDGES),
        Probe(f"{BRIDGE}/back", _back(BRIDGE), after=_BRIDGES),
        Probe(f"{BRIDGE}/again", _again(BRIDGE), after=_BRIDGES),
        Probe(f"{SWAP_QUOTE}/tenfold", _tenfold(SWAP_QUOTE), after=_SWAPS),
        Probe(f"{SWAP_QUOTE}/back", _back(SWAP_QUOTE), after=_SWAPS),
        Probe("v2.getAggregateSwap/to another", _swap_to_another, after=_SWAPS),
        Probe(
            f"v2.getAggregateSwap/{OF_THE_COIN}",
            _swap_of_the_coin,
            after=(*_SWAPS, f"{SWAP_QUOTE}/back"),
        ),
        Probe(
            "v2.getAggregateSwap/tenfold",
            _tenfold_call,
            after=(*_SWAPS, "v2.getAggregateSwap/usual"),
            conditional=True,
        ),
        Probe(f"{SWAP_QUOTE}/again", _again(SWAP_QUOTE), after=_SWAPS),
        Probe(f"{SWAP_QUOTE}/across", _across, after=_SWAPS),
        Probe("v2.getBalance/other token", _other_balance, after=LISTS),
        Probe(f"v2.getBalance/{NOBODYS}", _nobodys_balance, after=LISTS),
        Probe("v2.getAssetsByChain/sampled", _sampled_chain, after=LISTS),
        *(
            Probe(f"{BRIDGE}/{name}", _sampled_bridge(number), after=_BRIDGES)
            for number, name in enumerate(SAMPLES)
        ),
        *_in_need("v2.getPrice/{}", _price_where_refused, f"{BRIDGE}/{{}}"),
        *_in_need(
            f"{BRIDGE}/{{}} {PRICED}",
            _priced_where_refused,
            f"{BRIDGE}/{{}}",
            "v2.getPrice/{}",
        ),
        *_in_need(
            f"{BRIDGE}/{{}} {LARGER}",
            _larger_where_refused,
            f"{BRIDGE}/{{}}",
            f"{BRIDGE}/{{}} {PRICED}",
        ),
        *(
            Probe(
                f"{BRIDGE}/{name} {CONTROL}",
                _control(number, name),
                after=(*_BRIDGES, *(f"{BRIDGE}/{sample}{end}" for end in _BEFORE)),
                conditional=True,
            )
            for number, sample in enumerate(SAMPLES)
            for name in (sample, f"{sample} {LARGER}")
        ),
    )


def _in_need(name: str, build: Callable[[int], Build], *after: str) -> tuple[Probe, ...]:
    """Return the spare probes of each sample; names have `{}` where that of the sample goes."""
    return tuple(
        Probe(
            name.format(sample),
            build(number),
            after=(*_BRIDGES, *(one.format(sample) for one in after)),
            conditional=True,
        )
        for number, sample in enumerate(SAMPLES)
    )


def v1_comparison_probes() -> tuple[Probe, ...]:
    """Return the probes of what is compared in v1, and with it."""
    return (
        Probe(f"{V1_QUOTE}/tenfold", tenfold_v1, after=_V1),
        Probe(f"{BRIDGE}/as v1", _as_v1, after=(*_V1, *_BRIDGES)),
        Probe(f"{V1_QUOTE}/again", _again(V1_QUOTE), after=_V1),
        Probe("v1.getTransferToMinterRaw/tenfold", _tenfold_raw, after=_V1),
        Probe("v1.getSupportTokens/sampled", _sampled_v1_chain, after=V1_LISTS),
        Probe("v2.getAssetsByChain/v1 name", _v1_name, after=(*V1_LISTS, *LISTS)),
    )


def _usual(operation_id: str) -> Build:
    return lambda context: valid_request(context, operation_id)


def _again(operation_id: str) -> Build:
    return lambda context: tried(context, require_accepted(context, operation_id))


def _tenfold(operation_id: str) -> Build:
    """Quote ten times what was quoted."""

    def build(context: RunContext) -> Draft:
        one = require_accepted(context, operation_id)
        whole = usual_amount(context, one.route.source) * TENFOLD
        amount = amount_text(whole, one.route.source, one.reading)
        return _QUOTES[operation_id](context, one.route, amount)

    return build


def _back(operation_id: str) -> Build:
    """Quote the way back of what the way there pays."""

    def build(context: RunContext) -> Draft:
        one = require_accepted(context, operation_id)
        back = Route(one.route.target, one.route.source)
        amount = amount_text(_paid(context, operation_id), back.source, one.reading)
        return _QUOTES[operation_id](context, back, amount)

    return build


_QUOTES = {BRIDGE: bridge, SWAP_QUOTE: aggregate}


def _paid(context: RunContext, operation_id: str) -> Decimal:
    """Return what a quote pays, in whole tokens. Raises `NotRun` where that is no amount."""
    one = require_accepted(context, operation_id)
    exchange = context.require(one.probe)
    out = amounts.units(exchange.data.get("outAmount"))
    if not out:
        raise NotRun(f"outAmount of {one.probe} is no amount above zero")
    return amounts.whole(out, decimals_of(one.route.target))


def _across(context: RunContext) -> Draft:
    """Quote between chains, where it can be for more smallest units than 64 bits can count."""
    one = require_accepted(context, SWAP_QUOTE)
    routes = cross_routes(context)
    fine = [route for route in routes if (route.target.decimals or 0) >= _FINE]
    route = (fine or routes)[0]
    whole = usual_amount(context, route.source) * TENFOLD
    return aggregate(context, route, amount_text(whole, route.source, one.reading))


def _swap_to_another(context: RunContext) -> Draft:
    """Pay somebody else, with another slippage: what of it shows in the call?"""
    require_accepted(context, SWAP_QUOTE)
    recipient = fresh_address(context, "recipient of a swap")
    return swap(context, quoted_attempt(context), OTHER_SLIPPAGE).having(
        "query", "recipient", recipient
    )


def _swap_of_the_coin(context: RunContext) -> Draft:
    """Give what the usual swap pays, where that is the coin of the chain."""
    one = require_accepted(context, SWAP_QUOTE)
    if not one.route.target.is_native:
        raise NotRun("the usual swap pays no coin of a chain")
    back = Route(one.route.target, one.route.source)
    return swap(context, replace(one, probe=f"{SWAP_QUOTE}/back", route=back))


def _sampled_price(context: RunContext) -> Draft:
    return price(context, sampled_token(context))


def _tenfold_call(context: RunContext) -> Draft:
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
    text = amount_text(usual_amount(context, source) * TENFOLD, source, one.reading)
    return swap(context, one).having("query", "fromAmount", text)


def _other_balance(context: RunContext) -> Draft:
    return balance(context, held_tokens(context)[1], context.caller.address)


def _nobodys_balance(context: RunContext) -> Draft:
    return balance(context, held_token(context), fresh_address(context, "an account without money"))


def _sampled_chain(context: RunContext) -> Draft:
    called = inventory_of(context).asked_as(sampled_chain(context))
    return filled(context, "v2.getAssetsByChain", {"chain": called})


def _sampled_v1_chain(context: RunContext) -> Draft:
    return filled(context, "v1.getSupportTokens", {"chain": sampled_v1_chain(context)})


def _price_where_refused(number: int) -> Build:
    """Ask what a token is worth where its amount may have been too small or too large."""

    def where_refused(context: RunContext) -> Draft:
        _check_refused(context, number)
        token = sampled_route(context, require_accepted(context, BRIDGE).route, number).source
        if price_of(context, token) is not None or not token.address:
            raise NotRun("what the token is worth is known, or no list shows its address")
        return price(context, token)

    return where_refused


def _priced_where_refused(number: int) -> Build:
    """Ask what is worth the usual amount by the price that is known now."""

    def where_refused(context: RunContext) -> Draft:
        _check_refused(context, number)
        before = context.require(f"{BRIDGE}/{SAMPLES[number]}").request.query
        again = _sampled_bridge(number)(context)
        if again.request(context.contract.operation(BRIDGE)).query == before:
            raise NotRun("no price was told since, so that the amount is the same")
        return again

    return where_refused


def _larger_where_refused(number: int) -> Build:
    """Ask a thousandfold, since the price may be wrong, or the amount next to nothing."""

    def where_refused(context: RunContext) -> Draft:
        _check_refused(context, number)
        priced = context.get(f"{BRIDGE}/{SAMPLES[number]} {PRICED}")
        if priced is not None and priced.succeeded:
            raise NotRun(f"not needed, {priced.probe} was taken")
        one = require_accepted(context, BRIDGE)
        route = sampled_route(context, one.route, number)
        before = given(context.require(f"{BRIDGE}/{SAMPLES[number]}"), route.source, one.reading)
        return bridge(context, route, amount_text(before * THOUSANDFOLD, route.source, one.reading))

    return where_refused


def _check_refused(context: RunContext, number: int) -> None:
    if not context.require(f"{BRIDGE}/{SAMPLES[number]}").refused:
        raise NotRun(f"not needed, {BRIDGE}/{SAMPLES[number]} was taken")


def _control(number: int, name: str) -> Build:
    """Ask for the number that was refused of a token that is quoted: is it the amount?"""

    def build(context: RunContext) -> Draft:
        sample = SAMPLES[number]
        for asked in (sample, f"{sample} {LARGER}"):
            if not context.require(f"{BRIDGE}/{asked}").refused:
                raise NotRun(f"not needed, {BRIDGE}/{asked} was taken")
        before = context.get(f"{BRIDGE}/{sample} {CONTROL}")
        if before is not None and before.succeeded:
            raise NotRun(f"not needed, {before.probe} was taken")
        one = require_accepted(context, BRIDGE)
        refused = sampled_route(context, one.route, number).source
        whole = given(context.require(f"{BRIDGE}/{name}"), refused, one.reading)
        return bridge(context, one.route, amount_text(whole, one.route.source, one.reading))

    return build


def _sampled_bridge(number: int) -> Build:
    def build(context: RunContext) -> Draft:
        one = require_accepted(context, BRIDGE)
        route = sampled_route(context, one.route, number)
        whole = usual_amount(context, route.source)
        return bridge(context, route, amount_text(whole, route.source, one.reading))

    return build


def tenfold_v1(context: RunContext) -> Draft:
    """Quote ten times as much but for half a token, since amounts of v1 may have a fraction.

    Not half a token more: a round number may be the most that a service takes.
    """
    route = require_accepted(context, V1_QUOTE).route
    usual_one = usual_amount(context, route.source)
    less = Decimal("0.5") if usual_one >= 1 else Decimal(0)
    return v1_quote(context, route, usual_one * TENFOLD - less)


def _tenfold_raw(context: RunContext) -> Draft:
    source = v1_attempt(context).route.source
    return v1_raw(context, source, usual_amount(context, source) * TENFOLD)


def _as_v1(context: RunContext) -> Draft:
    """Quote in 2.0 what was quoted in v1."""
    route = v1_twin(context, require_accepted(context, V1_QUOTE).route)
    found = accepted(context, BRIDGE)
    if found is None:
        raise NotRun("no quote of 2.0 was taken, so how it reads amounts is not known")
    whole = usual_amount(context, require_accepted(context, V1_QUOTE).route.source)
    return bridge(context, route, amount_text(whole, route.source, found.reading))


def _v1_name(context: RunContext) -> Draft:
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
