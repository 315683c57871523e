"""The chains and tokens that requests are about, drawn from those that the service offers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal
from itertools import product

from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import (
    ListedChain,
    ListedToken,
    inventories,
    inventory_of,
    twins_of,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.verdict import needed
from mockserver.contract import ids
from mockserver.fast_dataclass import grouped, value_class
from mockserver.jsontext import Json

TYPICAL_USD = Decimal(100)
"""What a usual request is worth: above the fees of any chain, below the depth of any pool."""
OTHER_AMOUNTS = {"larger amount": Decimal(10), "smaller amount": Decimal("0.05")}
"""Multiples of the usual amount to try where a service refuses that: bounds are not published."""
TRIES = 3
# Routes are pairs, so their number grows with the square.
_MOST_TOKENS, _FEW_PARTNERS = 60, 10
_COMMON_DECIMALS = 18
# Beyond these a price is an error of units, and would give absurd amounts.
_HIGHEST_PRICE, _LOWEST_PRICE = Decimal(10) ** 7, Decimal(10) ** -12


_SOURCE_ROLES = {
    **dict.fromkeys(("fromChain", "chain"), "chain"),
    **dict.fromkeys(("symbol", "token", "fromToken"), "symbol"),
    **dict.fromkeys(("fromTokenAddress", "contractAddress"), "address"),
    "fromDecimal": "decimals",
}
_TARGET_ROLES = {
    "toChain": "chain",
    "toToken": "symbol",
    "toTokenAddress": "address",
    "toIndex": "index",
    "toDecimal": "decimals",
}
_DECIMAL_ROLES = ("fromDecimal", "toDecimal")
ROUTE_ROLES = frozenset((*_SOURCE_ROLES, *_TARGET_ROLES))
"""The roles of inputs that say which tokens a request is about."""


@value_class(frozen=True, slots=True)
class TokenRoute:
    """A token to give and a token to get, each on its chain; they may be the same."""

    source: ListedToken
    target: ListedToken

    @property
    def values(self) -> Mapping[str, Json]:
        """The values of inputs that follow from it, by role; without those that no list shows."""
        of_source = {role: getattr(self.source, name) for role, name in _SOURCE_ROLES.items()}
        of_target = {role: getattr(self.target, name) for role, name in _TARGET_ROLES.items()}
        shown = {
            role: value for role, value in (of_source | of_target).items() if value is not None
        }
        return shown | {role: str(shown[role]) for role in _DECIMAL_ROLES if role in shown}

    @property
    def chains(self) -> tuple[str, str]:
        return self.source.chain, self.target.chain

    @property
    def is_within_a_chain(self) -> bool:
        return self.source.chain == self.target.chain

    @property
    def rescales(self) -> bool:
        """Whether decimals differ, so that those of the wrong token show in the result."""
        return self.source.decimals != self.target.decimals


@cached
def bridge_routes(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return up to three routes of one token between two chains. Raises `NotRun`."""
    nothing = f"no token is on two of the {len(inventory_of(context).chains)} chains listed"
    return _drawn(context, "bridge routes", bridges(context), nothing)


@cached
def swap_routes(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return up to three routes between two tokens of one chain. Raises `NotRun`."""
    routes = [route for route in swaps(context) if route.is_within_a_chain]
    nothing = "no offered chain has two tokens with addresses and decimals"
    return _drawn(context, "swap routes", routes, nothing)


@cached
def cross_routes(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return up to three routes between two tokens on different chains. Raises `NotRun`."""
    routes = [route for route in swaps(context) if not route.is_within_a_chain]
    nothing = "no two offered chains have tokens with addresses and decimals"
    return _drawn(context, "cross routes", routes, nothing)


@cached
def v1_chain_pair(context: RunContext) -> tuple[ListedChain, ListedChain]:
    """Return two chains that v1 offers, where 2.0 shows a token on both. Raises `NotRun`."""
    offered = inventory_of(context, "v1").offered
    needed(offered[1:], f"v1 offers {len(offered)} chains, two are needed")
    inventory = inventory_of(context)
    twins = {twin.name: chain for chain in offered if (twin := inventory.twin(chain)) is not None}
    if routes := [route for route in bridges(context) if twins.keys() >= {*route.chains}]:
        source, target = _drawn(context, "v1 chains", routes, "")[0].chains
        return twins[source], twins[target]
    first, second = context.draw("v1 chains").sample(offered, 2)
    return first, second


def v1_bridges(context: RunContext) -> list[TokenRoute]:
    """Return the routes of one token between two chains that the v1 lists allow."""
    return v1_bridges_of(context, inventory_of(context, "v1").tokens)


def v1_bridges_of(context: RunContext, listed: Iterable[ListedToken]) -> list[TokenRoute]:
    """Return the routes of one token between two chains of v1 that some tokens allow."""
    offered = {chain.name for chain in inventory_of(context, "v1").offered}
    tokens = [token for token in listed if token.offered and token.chain in offered]
    return [
        TokenRoute(first, second)
        for first in tokens
        for second in tokens
        if first.symbol == second.symbol and first.chain != second.chain
    ]


@cached
def v1_tokens(context: RunContext) -> tuple[ListedToken, ...]:
    """Return the tokens of v1, on chains whose v1 list a run has not read those of 2.0.

    A run reads the lists of a few chains; both generations list the same tokens (A-233).
    """
    tokens = inventory_of(context, "v1").tokens
    read = {token.chain for token in tokens}
    twins = {twin.name: chain.name for chain, twin in twins_of(context) if chain.name not in read}
    elsewhere = (
        replace(token, chain=twins[token.chain])
        for token in usable_tokens(context)
        if token.bridged and token.chain in twins
    )
    return (*tokens, *elsewhere)


@cached
def v1_routes(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return up to three v1 routes of one token between two chains. Raises `NotRun`."""
    nothing = "no token is in the v1 lists of two chains"
    return _drawn(context, "v1 routes", v1_bridges(context), nothing, _is_uncommon)


def _is_uncommon(route: TokenRoute) -> bool:
    # Careless services assume 18 decimals, so tokens with other decimals show more.
    return route.source.decimals not in (None, _COMMON_DECIMALS)


def v1_twin(context: RunContext, route: TokenRoute) -> TokenRoute:
    """Return the route of 2.0 that a route of v1 is. Raises `NotRun` where there is none."""
    twins = {chain.name: twin for chain, twin in twins_of(context)}
    ends = list[ListedToken]()
    for token in (route.source, route.target):
        twin = twins.get(token.chain)
        there = inventory_of(context).on(twin.name) if twin is not None else ()
        tokens = [listed for listed in there if listed.symbol == token.symbol]
        called = f"the chain that v1 calls {token.chain}"
        ends.append(needed(tokens, f"2.0 does not show {token.symbol} on {called}")[0])
    return TokenRoute(*ends)


def usable_tokens(context: RunContext) -> tuple[ListedToken, ...]:
    """Return the tokens that are offered on a chain that is offered, with their decimals."""
    inventory = inventory_of(context)
    offered = {chain.name for chain in inventory.offered}
    there = [token for token in inventory.tokens if token.chain in offered or not inventory.chains]
    return tuple(token for token in there if token.offered and token.decimals is not None)


STABLE_COINS = ("USDT", "USDC", "DAI")
"""Tokens that are worth a dollar wherever they are traded: checks hold these alone to their peg."""


def is_stable(token: ListedToken) -> bool:
    """Whether a token is likely worth a dollar: a stable coin, or one that is named after it.

    For choices alone: nobody promises that whatever is called USD keeps a peg.
    """
    symbol = token.symbol.upper()
    return symbol in STABLE_COINS or "USD" in symbol


def is_plain(context: RunContext, route: TokenRoute) -> bool:
    """Tell whether a route leads from one EVM chain to another, as far as the lists show."""
    return all(map(plain_tokens(context), (route.source, route.target)))


def plain_tokens(context: RunContext) -> Callable[[ListedToken], bool]:
    """Return a predicate: is a token on an EVM chain, as far as the lists show?"""
    evm = {chain.name: chain.evm for each in inventories(context) for chain in each.chains}
    return lambda token: evm.get(token.chain) is not False and token.address.startswith("0x")


def addressed_tokens(context: RunContext) -> tuple[ListedToken, ...]:
    """Return the usable tokens whose contract address is known. Raises `NotRun` without any."""
    tokens = tuple(token for token in usable_tokens(context) if token.address)
    return needed(tokens, "no list shows a token with its contract address")


def default_amount_of(context: RunContext, token: ListedToken) -> Decimal:
    """Return a round number of whole tokens that is worth about 100 USD where a price is known.

    It is worth more or less where the service refused that, and accepted another amount.
    """
    usd = TYPICAL_USD
    for operation_id in (ids.BRIDGE, ids.V1_QUOTE):
        usd *= scale_of(context, operation_id)
    # The price beside an earlier transfer of it is one in USD, too, as observed.
    price = price_of(context, token) or _price_answered(context, ids.BRIDGE, token)
    if price is None or not is_plausible(price) or is_stable(token):
        return usd
    share = amounts.rounded(amounts.EXACT.divide(usd, price), 2)
    least = Decimal(1).scaleb(-(token.decimals or 0))
    return max(share, least * 1000)


def is_plausible(price: Decimal) -> bool:
    """Tell whether a price in USD is plausible, so that amounts may be computed from it."""
    return _LOWEST_PRICE < price < _HIGHEST_PRICE


def scale_of(context: RunContext, operation_id: str) -> Decimal:
    """Return the multiple of the usual amount that quotes of transfers have accepted."""
    for name, times in OTHER_AMOUNTS.items():
        if any(exchange.succeeded for exchange in context.sent(f"{operation_id}/{name}")):
            return times
    return Decimal(1)


def price_of(context: RunContext, token: ListedToken) -> Decimal | None:
    """Return a token's price in USD by getPrice, or else by its list, or None."""
    if (price := _price_answered(context, ids.PRICE, token)) is not None:
        return price
    listed = amounts.number(token.price)
    return listed if listed is not None and listed > 0 else None


def _price_answered(context: RunContext, operation_id: str, token: ListedToken) -> Decimal | None:
    for exchange in context.of(operation_id):
        symbol, price = _answered_price(exchange)
        if symbol == token.symbol and price is not None:
            return price
    return None


@cached
def _answered_price(exchange: Exchange) -> tuple[str | None, Decimal | None]:
    """Return the symbol and the price of an answer; None for what is no price."""
    if not exchange.succeeded:
        return None, None
    price = amounts.number(exchange.data.get("price"))
    symbol = exchange.parameters.get("symbol")
    return symbol, price if price is not None and price > 0 else None


@cached
def bridges(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return the routes of one token between two chains that the lists allow."""
    bridged = (token for token in usable_tokens(context) if token.bridged)
    by_symbol = grouped(bridged, lambda token: token.symbol)
    several = [tokens for tokens in by_symbol.values() if len(tokens) > 1]
    if len(several) > _MOST_TOKENS:
        context.draw("tokens of bridges").shuffle(several)
        several.sort(key=lambda tokens: not is_stable(tokens[0]))
    return tuple(
        TokenRoute(first, second)
        for tokens in several[:_MOST_TOKENS]
        for first in tokens[:_MOST_TOKENS]
        for second in tokens[:_MOST_TOKENS]
        if first.chain != second.chain
    )


@cached
def swaps(context: RunContext) -> tuple[TokenRoute, ...]:
    """Return the routes between two different tokens, on one chain or two, that the lists allow.

    Of many tokens, each is on a route to and from few, which are stable coins where there are any,
    and to and from those of its chain.
    """
    tokens = [token for token in usable_tokens(context) if token.address]
    few = frozenset(tokens)
    if len(tokens) > _MOST_TOKENS:
        context.draw("tokens of swaps").shuffle(tokens)
        few = frozenset(sorted(tokens, key=lambda token: not is_stable(token))[:_FEW_PARTNERS])
    # Hashing a token takes longer than all else that is asked here of a pair.
    partners = [(token, token in few) for token in tokens]
    return tuple(
        TokenRoute(first, second)
        for (first, is_first), (second, is_second) in product(partners, repeat=2)
        if first.symbol != second.symbol and (is_first or is_second or first.chain == second.chain)
    )


def _worth(context: RunContext) -> Callable[[TokenRoute], int]:
    """Return what rates a route by what it can reveal: steady prices, decimals, addresses."""
    is_plain_on_its_chain = plain_tokens(context)
    # Computed once a symbol: there are thousands of routes, but only dozens of symbols.
    stable = {
        token.symbol: is_stable(token) for each in inventories(context) for token in each.tokens
    }

    def worth(route: TokenRoute) -> int:
        source, target = route.source, route.target
        plain = is_plain_on_its_chain(source) + is_plain_on_its_chain(target)
        steady = stable[source.symbol]
        apart = steady and not stable[target.symbol]
        # Services treat the coin of a chain in a special way.
        coin = apart and target.is_native
        return plain * 4 + steady * 2 + route.rescales * 3 + apart * 4 + coin

    return worth


def _drawn(
    context: RunContext,
    what: str,
    routes: Sequence[TokenRoute],
    nothing: str,
    more_worth: Callable[[TokenRoute], int] = lambda route: 0,
) -> tuple[TokenRoute, ...]:
    """Return the best routes in a drawn order, those after the first as different as can be.

    Raises `NotRun`, saying `nothing`, where there is none.
    """
    chance, worth = context.draw(what), _worth(context)
    every = needed(routes, nothing)
    drawn = [(worth(route) + more_worth(route), chance.random(), route) for route in every]
    pool = sorted(drawn, key=lambda each: each[:2], reverse=True)
    chosen = [pool.pop(0)[2]]
    while pool and len(chosen) < TRIES:
        chains = {chain for route in chosen for chain in route.chains}
        symbols = {end.symbol for route in chosen for end in (route.source, route.target)}
        # The pool is in the order of worth: the first of the least known is the best of them.
        fresh = (each for each in pool if not _known_marks(each[2], chains, symbols))
        best = next(fresh, None) or min(
            pool, key=lambda each: _known_marks(each[2], chains, symbols)
        )
        pool.remove(best)
        chosen.append(best[2])
    return tuple(chosen)


def _known_marks(route: TokenRoute, chains: AbstractSet[str], symbols: AbstractSet[str]) -> int:
    source, target = route.source, route.target
    ends = {source.chain, target.chain}, {source.symbol, target.symbol}
    return len(ends[0] & chains) + len(ends[1] & symbols)
