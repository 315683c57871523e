"""What requests at edges are about: of many tokens and routes those that stand for their class.

Each comes with a label, as what the maker of requests takes (`valid.py`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import accepted, usual_attempt
from mockserver.conformance.discovery.inventory import Token, inventory_of
from mockserver.conformance.discovery.known_elsewhere import tokens_elsewhere, unlisted_chains
from mockserver.conformance.discovery.routes import (
    Route,
    addressed_tokens,
    bridges,
    cross_routes,
    plain_tokens,
    swaps,
    usable_tokens,
    v1_bridges,
)
from mockserver.conformance.requests.valid import fresh_address, fresh_hash, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.names import Edge, EdgeKind
from mockserver.contract import ids

_T = TypeVar("_T")
_MOST_ROUTES, _MOST_ORDERS, _MOST_BACK, _MOST_SYMBOLS = 24, 4, 3, 8
_NEXT_TO_NOTHING = "500"
_MANY_COINS = Decimal(10)
_SLIPPAGES = ("1", "500", "1001", "2001")
_FEE_LEVELS = (1, 5)
_LONG, _VERY_LONG = 120, 600

About = Mapping[str, Any]


class _Pool(NamedTuple):
    """What an operation can be asked about: as `what` of a request, drawn by a name."""

    what: str
    name: str
    items: Callable[[RunContext], Iterable[Any]]


def _within_chains(context: RunContext) -> list[Route]:
    return [route for route in swaps(context) if route.is_within_a_chain]


def _within_and_across(context: RunContext) -> list[Route]:
    return [*swaps(context), *cross_routes(context)]


_POOLS: Mapping[str, _Pool] = {
    ids.BRIDGE: _Pool("route", ids.BRIDGE, bridges),
    ids.SWAP_QUOTE: _Pool("route", ids.SWAP_QUOTE, _within_and_across),
    ids.SWAP: _Pool("route", "calls", _within_chains),
    ids.PRICE: _Pool("asset", "prices", addressed_tokens),
    ids.BALANCE: _Pool("asset", "balances", addressed_tokens),
    ids.V1_QUOTE: _Pool("route", ids.V1_QUOTE, v1_bridges),
    ids.V1_RAW: _Pool("asset", "v1 raw", lambda context: inventory_of(context, "v1").tokens),
}


def subjects(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, About]]:
    """Yield what an operation that reads is asked about beside the usual. Raises `NotRun`."""
    quoted = accepted(context, operation_id) if operation_id in _QUOTES else None
    if quoted is not None:
        for times, kind in _AMOUNTS:
            about = {"route": quoted.route, "times": times}
            yield Edge(f"{times} usual amounts", kind), about
    if operation_id in _POOLS:
        what, name, items = _POOLS[operation_id]
        drawn = _drawn(context, name, items(context))
        if operation_id == ids.BRIDGE:
            for label, route in covering(drawn, lambda one: (f"{one.source.decimals} decimals",)):
                about = {"route": route, "amount": _NEXT_TO_NOTHING}
                yield Edge(f"next to nothing of {label}"), about
        chosen = list(covering(drawn, features(context)))
        yield from ((Edge(label), {what: item}) for label, item in chosen)
        if operation_id in (ids.BRIDGE, ids.SWAP_QUOTE):
            for _, route in chosen[:_MOST_BACK]:
                label = f"back: {route.target.chain} to {route.source.chain}"
                yield Edge(label), {"route": Route(route.target, route.source)}
    if operation_id == ids.SWAP:
        coins = [route for route in _within_chains(context) if route.source.is_native]
        for route in _drawn(context, "large calls", coins)[:1]:
            yield Edge(f"{_MANY_COINS} coins"), {"route": route, "whole": _MANY_COINS}
        edge = Edge("recipient other than the sender", EdgeKind.RECIPIENT)
        yield edge, {"recipient": fresh_address(context, "recipient at an edge")}
    if operation_id in (ids.OF_CHAIN, ids.V1_TOKENS):
        inventory = inventory_of(context, operation_id.partition(".")[0])
        for chain in inventory.chains[:_MOST_ROUTES]:
            if chain.offered:
                yield Edge(chain.name), {"chain": inventory.asked_as(chain.name)}


_QUOTES = (ids.BRIDGE, ids.SWAP_QUOTE, ids.V1_QUOTE)


def other_subjects(
    context: RunContext, operation_id: str, place: str
) -> Iterator[tuple[str, About]]:
    """Yield what a request can be about that is wrong at a place, beside the usual."""
    if operation_id == ids.BRIDGE and place == "amount":
        # Of the token with the fewest decimals any amount is much.
        for route in sorted(bridges(context), key=lambda one: one.source.decimals or 0)[:1]:
            yield "the fewest decimals", {"route": route}
    elif operation_id in (ids.SWAP_QUOTE, ids.SWAP):
        routes = _within_chains(context)
        coins = {one.source.chain: one for one in routes if one.source.is_native}
        if place in ("fromChain", "chain"):
            for name, one in sorted(coins.items()):
                yield f"the coin of {name}", {"route": one}
        elif place in ("fromTokenAddress", "toTokenAddress"):
            plain = [one for one in routes if not one.source.is_native and not one.target.is_native]
            for label, found in (("a coin", list(coins.values())), ("contracts", plain)):
                if found:
                    yield label, {"route": context.draw(f"{label} {place}").choice(found)}
    elif operation_id in (ids.PRICE, ids.BALANCE) and place == "chain":
        native = [one for one in usable_tokens(context) if one.is_native]
        # Most chains have the address of their coin in common.
        for coin in native[: _MOST_ROUTES if operation_id == ids.PRICE else 1]:
            yield f"the coin of {coin.chain}", {"asset": coin}
    elif operation_id == ids.PRICE and place == "symbol":
        tokens = addressed_tokens(context)
        often = Counter(one.symbol for one in tokens).most_common(_MOST_SYMBOLS)
        for symbol, _ in often:
            yield symbol, {"asset": next(one for one in tokens if one.symbol == symbol)}


_CHAINS = {
    ids.OF_CHAIN: ("chain",),
    ids.BRIDGE: ("fromChain", "toChain"),
    ids.SWAP_QUOTE: ("fromChain", "toChain"),
    ids.V1_TOKENS: ("chain",),
    ids.V1_QUOTE: ("fromChain", "toChain"),
}
"""The inputs that take the name of a listed chain, by their roles."""
_TOKENS = {
    ids.BRIDGE: "symbol",
    ids.SWAP_QUOTE: "fromTokenAddress",
    ids.V1_QUOTE: "token",
}
"""The inputs that take a token of a listed chain, by their roles."""

_FEW, _SOME = 3, 6
_AMOUNTS = ((3, EdgeKind.PART), (7, EdgeKind.PART), (10, EdgeKind.WHOLE))
"""Two parts of an amount, and the whole, in usual amounts."""


def known_elsewhere(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, About]]:
    """Yield what is known and not listed, for the operations alone whose names are said to come
    from the lists: a balance or a price on a suspended chain is told by whoever knows it.
    """
    if operation_id in _TOKENS:
        yield from _with_tokens(context, operation_id)
    chains = unlisted_chains(context, context.contract.operation(operation_id).generation.id)
    for chain in chains[:_SOME] if operation_id == ids.SWAP_QUOTE else chains:
        for role in _CHAINS.get(operation_id, ()):
            yield _unlisted(role, chain.name), {role: chain.name}


def _unlisted(role: str, name: str) -> Edge:
    label = f"known and not listed, {role} {name}"
    return Edge(label, EdgeKind.UNLISTED, sound=False, of=role, name=name)


def _with_tokens(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, About]]:
    """Yield routes of tokens that other chains have, and the chain of the request has not."""
    tokens = inventory_of(context, operation_id.partition(".")[0]).tokens
    sound = [one for one in tokens if one.decimals is not None and one.offered]
    role, chains = _TOKENS[operation_id], list(dict.fromkeys(one.chain for one in sound))
    draw = context.draw(f"tokens of other chains for {operation_id}")
    for chain in draw.sample(chains, min(_FEW, len(chains))):
        there = [one for one in sound if one.chain != chain]
        for token in list(tokens_elsewhere(sound, chain))[:_FEW]:
            route = Route(replace(token, chain=chain), draw.choice(there))
            yield _unlisted(role, f"{token.symbol} on {chain}"), {"route": route}


def submissions(context: RunContext, operation_id: str) -> Iterator[tuple[Edge, About]]:
    """Yield what is submitted beside the usual, each for a deposit of its own. Raises `NotRun`.

    Each may be an order that somebody pays for, so there are few: they are sent only where writes
    are armed, and within the cap of submissions.
    """
    pools = {ids.ORDER: (bridges, "orders"), ids.V1_ORDER: (v1_bridges, ids.V1_QUOTE)}
    if operation_id == ids.ORDER:
        swap = usual_attempt(context, ids.SWAP_QUOTE).route
        for slippage in _SLIPPAGES:
            about = {"route": swap, "orderType": "2", "slippage": slippage}
            yield Edge(f"orderType 2, slippage {slippage}"), about
        label = "sourceCerts in upper-case hex"
        upper = _certificate(context, label).upper()
        yield Edge(label, EdgeKind.SAME_MEANING), {"sourceCerts": upper}
    for level in _FEE_LEVELS if operation_id == ids.V1_ORDER else ():
        yield Edge(f"feeLevel is {level}"), {"feeLevel": level}
    if operation_id in pools:
        routes, name = pools[operation_id]
        ends = features(context)
        drawn = _drawn(context, name, routes(context))
        for label, route in covering(drawn, lambda one: ends(one)[2:3], _MOST_ORDERS):
            yield Edge(label), {"route": route}
    if operation_id == ids.ORDER:
        yield Edge("channel that is not ASCII", sound=False), {"channel": "é漢"}
        yield Edge(f"channel of {_LONG} characters", sound=False), {"channel": "x" * _LONG}
        label = "long sourceCerts"
        told = jsontext.decode(bytes.fromhex(_certificate(context, label)))
        longer = jsontext.encode({**told, "fromPublicKey": "a" * _VERY_LONG}).hex()
        yield Edge(label, sound=False), {"sourceCerts": longer}
    if operation_id == ids.TICKET:
        yield from _tickets(context)


def _tickets(context: RunContext) -> Iterator[tuple[Edge, About]]:
    label = "hash in upper-case hex"
    upper = f"0x{deposit_of(context, label)[2:].upper()}"
    yield Edge(label, EdgeKind.SAME_MEANING), {"hash": upper}
    is_plain = plain_tokens(context)
    tokens = _drawn(context, "tickets", inventory_of(context).tokens)
    for label, token in covering(
        tokens, lambda one: (f"chain that is {'' if is_plain(one) else 'not '}EVM",), 2
    ):
        hashed = deposit_of(context, label)
        # How a hash looks elsewhere is not shown.
        told = hashed if is_plain(token) else hashed[2:]
        yield Edge(label, sound=is_plain(token)), {"chain": token.chain, "hash": told}
    yield Edge(f"hash of {_LONG} characters", sound=False), {"hash": "9" * _LONG}


def deposit_of(context: RunContext, label: str) -> str:
    """Return the hash of the deposit that a submission at an edge is about."""
    return fresh_hash(context, f"deposit of {label}")


def _certificate(context: RunContext, label: str) -> str:
    usual = valid_request(context, ids.ORDER, deposit=deposit_of(context, label))
    return str(usual.part("body").get("sourceCerts", ""))


def covering(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[Hashable]], most: int = _MOST_ROUTES
) -> Iterator[tuple[str, _T]]:
    """Yield items until each feature was met once, with the features that an item adds."""
    met: set[Hashable] = set()
    count = 0
    for item in items:
        new = [one for one in features_of(item) if one not in met]
        if not new or count >= most:
            continue
        met.update(new)
        count += 1
        yield ", ".join(map(str, new)), item


def features(context: RunContext) -> Callable[[Route | Token], tuple[str, ...]]:
    """Return what tells what sets a token or a route apart: chain, EVM or not, coin or contract,
    decimals.
    """
    is_plain = plain_tokens(context)

    def of_token(token: Token, side: str) -> tuple[str, ...]:
        evm = "EVM" if is_plain(token) else "not EVM"
        kind = "coin" if token.is_native else "contract"
        return f"{side}{kind} of {token.decimals} decimals, {evm}", f"{side}chain {token.chain}"

    def of(item: Route | Token) -> tuple[str, ...]:
        if isinstance(item, Token):
            return of_token(item, "")
        ends = (*of_token(item.source, "from "), *of_token(item.target, "to "))
        return (*ends, "within one chain" if item.is_within_a_chain else "between chains")

    return of


def _drawn(context: RunContext, what: str, items: Iterable[_T]) -> list[_T]:
    """Return items in the order in which the seed has them."""
    pool: Sequence[_T] = list(items)
    return context.draw(f"targets of {what}").sample(pool, len(pool))
