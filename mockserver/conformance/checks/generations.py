"""The two generations of one service against each other: chains, tokens, quotes, transactions."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks.comparing import (
    Quote,
    echoed,
    named_quote,
    out_of,
    steady,
)
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.raw_transactions import moved
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import BRIDGE, V1_QUOTE, require_accepted
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Chain, Token, asked_chain
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.discovery.routes import price_of
from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Operation, assumed, shipped_facts

V1_CHAINS, V1_TOKENS, RAW = (
    "v1.getSupportChains",
    "v1.getSupportTokens",
    "v1.getTransferToMinterRaw",
)
_NO_EVM = frozenset(shipped_facts().names["words"]["not-evm"])
_ECHOED = {"amountIn": "amount", "tokenIn": "token"}
_BAND = Decimal("1.25")
_GAIN = Decimal("1.02")


def v1_chains_are_chains_of_the_service(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    inventory = inventory_of(context)
    nothing = tuple(_no_v1_chain(context))
    if nothing:
        yield from nothing
        return
    chains = _v1_chains(context)
    if not inventory.chains:
        context.require_success("v2.getChain/usual")
        raise Vacuous("2.0 lists no chain")
    strange = [chain for chain in chains if inventory.twin(chain) is None]
    # Each generation has names of its own, so that a name alone proves nothing.
    known = [chain for chain in strange if chain.network]
    if len(strange) * 2 > len(chains) or (strange and not known):
        raise Inconclusive("chains of v1 have other names than in 2.0, and no network id")
    for chain in known:
        yield Finding(
            f"v1 lists {chain.name} with network {chain.network}, which 2.0 does not list",
            (context.require("v2.getChain/usual"), context.require(f"{V1_CHAINS}/usual")),
            "data.chains[]",
            cause="unknown chain",
        )


def _no_v1_chain(context: RunContext) -> Iterator[Finding]:
    """Yield a finding where v1 offers nothing at all, while 2.0 lists an EVM chain."""
    look = context.require_success(f"{V1_CHAINS}/usual")
    lists = [value for value in look.data.values() if isinstance(value, list)]
    evm = [chain for chain in inventory_of(context).chains if chain.evm and chain.offered]
    if lists and not any(lists) and evm:
        yield Finding(
            f"v1 lists no chain, 2.0 lists {evm[0].name} and {len(evm) - 1} more EVM chains",
            (context.require("v2.getChain/usual"), look),
            "data.chains[]",
            assumed("A-276", "v1 offers chains while 2.0 offers EVM chains"),
            cause="no chain",
        )


def v1_chains_are_evm_chains(context: RunContext, operation: Operation) -> Iterator[Finding]:
    for chain in _v1_chains(context):
        twin = inventory_of(context).twin(chain)
        evm = chain.evm if chain.evm is not None else twin.evm if twin is not None else None
        if evm is None and {folded(name) for name in chain.names} & _NO_EVM:
            evm = False
        if evm is False:
            yield Finding(
                f"v1 lists {chain.name}, which is no EVM chain",
                (context.require(f"{V1_CHAINS}/usual"),),
                "data.chains[]",
                cause="no EVM chain",
            )


def v1_tokens_are_those_of_2(context: RunContext, operation: Operation) -> Iterator[Said]:
    told: set[str] = set()
    for token, others in _pairs(context):
        same = [one for one in others if folded(one.symbol) == folded(token.symbol)]
        if len(same) != 1:
            continue
        yield JUDGED
        other = same[0]
        facts = (
            ("decimals", token.decimals, other.decimals),
            ("address", token.address.lower(), other.address.lower()),
        )
        for role, here, there in facts:
            if here in (None, "") or there in (None, "") or here == there or role in told:
                continue
            told.add(role)
            yield Finding(
                f"{token.symbol} on {token.chain} has {role} {here} in v1, {there} in 2.0",
                _looks(context, token),
                f"data.tokenVos[].{role}",
            )


def v1_tokens_are_in_2(context: RunContext, operation: Operation) -> Iterator[Said]:
    for chain, twin in _twins(context):
        here, there = inventory_of(context).v1_on(chain.name), inventory_of(context).on(twin.name)
        empty = _empty_list(context, chain)
        if not there or not (here or empty):
            continue
        yield JUDGED
        if empty is not None:
            yield Finding(
                f"v1 lists no token on {chain.name}, 2.0 has {len(there)}",
                (empty,),
                "data.tokenVos[]",
                cause="missing in v1",
            )
            continue
        offered = tuple(token for token in here if token.offered)
        only_here = _symbols_not_in(offered, there)
        only_there = _symbols_not_in(tuple(token for token in there if token.offered), here)
        for missing, where in ((only_here, "2.0"), (only_there, "v1")):
            if missing:
                yield Finding(
                    f"{where} does not list {', '.join(sorted(missing)[:5])} on {chain.name}",
                    _looks(context, inventory_of(context).v1_on(chain.name)[0]),
                    "data.tokenVos[]",
                    cause=f"missing in {where}",
                )


def v1_prices_are_in_usd(context: RunContext, operation: Operation) -> Iterator[Said]:
    for token in inventory_of(context).v1_tokens:
        listed = amounts.number(token.price)
        bare = Token(token.symbol, token.chain, token.address)
        told = price_of(context, bare)
        if listed is None or told is None:
            continue
        yield JUDGED
        if not amounts.within(listed, told, _BAND):
            yield Finding(
                f"price of {token.symbol} is {listed} in the list of v1, {told} in getPrice",
                _looks(context, token),
                "data.tokenVos[].price",
            )
            return


def v1_quote_echoes_the_request(_: RunContext, quote: Quote) -> Iterator[Said]:
    for name, told, sent, same in echoed(quote.exchange, quote.exchange.members, _ECHOED):
        yield JUDGED
        is_address = name == "token" and told.lower() == quote.route.source.address.lower()
        if not same and not is_address:
            place = f"data.crossChain.{name}In"
            yield Finding(f"the quote is of {told!r}, asked was {sent!r}", place=place)


def v1_quote_adds_up(_: RunContext, quote: Quote) -> Iterator[Said]:
    put, got = quote.put, quote.got
    if got is None:
        return
    yield JUDGED
    told = {role: scalar(quote.exchange.member("data"), role) for role in ("fee", "gas")}
    costs = {role: amounts.number(value) for role, value in told.items()}
    for role, cost in costs.items():
        if cost is not None and cost < 0:
            yield Finding(f"{role} is {cost}", place=f"data.crossChain.{role}")
    if not Decimal(0) < got <= put * _GAIN or got * 2 < put:
        yield Finding(f"{put} whole tokens pay {got}")
        return
    total = sum((cost for cost in costs.values() if cost is not None), Decimal(0))
    if None not in costs.values() and abs(put - total - got) > max(put / 1000, total / 100):
        left = f"{put} less fee and gas of {total} is {put - total}"
        yield Finding(f"amountOut is {got}, while {left}")


def v1_quote_is_like_that_of_2(context: RunContext, operation: Operation) -> Iterator[Finding]:
    first = named_quote(context, require_accepted(context, V1_QUOTE).probe)
    other, again = (named_quote(context, one) for one in (f"{BRIDGE}/as v1", f"{V1_QUOTE}/again"))
    steady(out_of(first), out_of(again), "the v1 quote")
    if not amounts.within(first.put, other.put, Decimal("1.001")):
        raise Inconclusive("the two generations were asked about other amounts")
    if not amounts.within(out_of(first), out_of(other), _BAND):
        pays = f"{out_of(first)} in v1 and {out_of(other):.6g} in 2.0"
        yield Finding(
            f"{first.put} {other.route.source.symbol} pay {pays}",
            (first.exchange, other.exchange, again.exchange),
            first.place,
        )


def raw_moves_the_amount(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    found, token = moved(exchange), _raw_token(context, exchange)
    put = amounts.number(exchange.members.get("amount"))
    if found is None or token is None or token.decimals is None or put is None or put <= 0:
        return
    yield JUDGED
    wanted = amounts.units_of(put, token.decimals)
    if found.units != wanted:
        moves = f"{found.units} smallest units, asked for were {wanted}"
        yield Finding(f"the transaction moves {moves}")
    if found.contract and not token.is_native and found.contract != token.address.lower():
        at = f"{token.symbol} is at {token.address}"
        yield Finding(f"the transaction calls {found.contract}, {at}")
    if found.coins:
        yield Finding(
            f"{found.coins} of the chain's coin are sent along with a token", cause="coins"
        )
    if not int(found.payee, 16):
        yield Finding(f"the transaction pays {found.payee}, which is nobody", cause="nobody")


def raw_depends_on_the_amount(_: RunContext, one: Exchange, other: Exchange) -> Iterator[Finding]:
    texts = [scalar(exchange.member("data"), "raw") for exchange in (one, other)]
    if not all(isinstance(text, str) and text for text in texts):
        raise NotApplicable("the raw transaction is not shown under a name that is known")
    if texts[0] == texts[1]:
        yield Finding("ten times the amount makes the same transaction")


def _v1_chains(context: RunContext) -> tuple[Chain, ...]:
    context.require_success(f"{V1_CHAINS}/usual")
    chains = inventory_of(context).v1_chains
    if not chains:
        raise Vacuous("v1 lists no chain whose name can be read")
    return chains


def _twins(context: RunContext) -> Iterator[tuple[Chain, Chain]]:
    for chain in inventory_of(context).v1_chains:
        twin = inventory_of(context).twin(chain)
        if twin is not None:
            yield chain, twin


def _empty_list(context: RunContext, chain: Chain) -> Exchange | None:
    """Return the list of tokens of a v1 chain that was given, and has no item."""
    for look in context.of(V1_TOKENS):
        if look.succeeded and asked_chain(look) in chain.names:
            lists = [value for value in look.data.values() if isinstance(value, list)]
            if lists and not any(lists):
                return look
    return None


def _pairs(context: RunContext) -> Iterator[tuple[Token, tuple[Token, ...]]]:
    """Yield each token of v1 with the tokens that 2.0 has on its chain."""
    for chain, twin in _twins(context):
        others = inventory_of(context).on(twin.name)
        for token in inventory_of(context).v1_on(chain.name):
            yield token, others


def _symbols_not_in(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> set[str]:
    """Return the symbols, as the service writes them, that others do not have in any case."""
    known = {token.symbol.upper() for token in others}
    return {token.symbol for token in tokens if token.symbol.upper() not in known}


def _looks(context: RunContext, token: Token) -> tuple[Exchange, ...]:
    return (
        tuple(
            one
            for one in context.of(V1_TOKENS)
            if one.succeeded and one.request.headers.get("chain") == token.chain
        )
        or tuple(one for one in context.of(V1_TOKENS) if one.succeeded)[:1]
    )


def _raw_token(context: RunContext, exchange: Exchange) -> Token | None:
    body = exchange.members
    chain, symbol = body.get("chain"), body.get("token")
    tokens = (token for token in inventory_of(context).v1_tokens if token.chain == chain)
    return next((token for token in tokens if token.symbol == symbol), None)
