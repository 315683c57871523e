"""Which chains and tokens requests are made of: drawn among those the service itself offers."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

from mockserver.conformance import amounts
from mockserver.conformance.known import Chain, Token
from mockserver.conformance.verdict import NotRun
from mockserver.exchange import query_pairs

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

USUAL_USD = Decimal(100)
"""What a usual request is worth: above the fees of any chain, below the depth of any pool."""
TRIES = 3
_SAMPLE = 60
_COMMON = 18
_DEAREST, _CHEAPEST = Decimal(10) ** 7, Decimal(10) ** -9


@dataclass(frozen=True, slots=True)
class Route:
    """A token to give and a token to get, each on its chain."""

    source: Token
    target: Token

    @property
    def rescales(self) -> bool:
        """Whether decimals differ, so that those of the wrong token show in the result."""
        return self.source.decimals != self.target.decimals


def bridge_routes(seen: "Seen") -> tuple[Route, ...]:
    """Return up to three routes of one token between two chains. Raises `NotRun`."""
    return seen.worked_out("bridge routes", lambda: _bridge_routes(seen))


def _bridge_routes(seen: "Seen") -> tuple[Route, ...]:
    found = bridges(seen)
    if not found:
        raise NotRun(f"no token is on two of the {len(seen.known.chains)} chains listed")
    return _chosen(found, seen.draw("bridge routes"), _worth(seen))


def swap_routes(seen: "Seen") -> tuple[Route, ...]:
    """Return up to three routes between two tokens of one chain. Raises `NotRun`."""
    return seen.worked_out("swap routes", lambda: _swap_routes(seen))


def _swap_routes(seen: "Seen") -> tuple[Route, ...]:
    found = [route for route in _swaps(seen) if route.source.chain == route.target.chain]
    if not found:
        raise NotRun("no offered chain has two tokens with addresses and decimals")
    return _chosen(found, seen.draw("swap routes"), _worth(seen))


def cross_routes(seen: "Seen") -> tuple[Route, ...]:
    """Return up to three routes between two tokens on different chains. Raises `NotRun`."""
    return seen.worked_out("cross routes", lambda: _cross_routes(seen))


def _cross_routes(seen: "Seen") -> tuple[Route, ...]:
    found = [route for route in _swaps(seen) if route.source.chain != route.target.chain]
    if not found:
        raise NotRun("no two offered chains have tokens with addresses and decimals")
    return _chosen(found, seen.draw("cross routes"), _worth(seen))


def v1_chain_pair(seen: "Seen") -> tuple[Chain, Chain]:
    """Return two chains that v1 offers, where 2.0 shows a token on both. Raises `NotRun`."""
    return seen.worked_out("v1 chains", lambda: _v1_chain_pair(seen))


def _v1_chain_pair(seen: "Seen") -> tuple[Chain, Chain]:
    known = seen.known
    offered = [chain for chain in known.v1_chains if chain.offered]
    if len(offered) < 2:
        raise NotRun(f"v1 offers {len(offered)} chains, two are needed")
    twins = {twin.name: chain for chain in offered if (twin := known.twin(chain)) is not None}
    try:
        routes = [
            route
            for route in bridges(seen)
            if route.source.chain in twins and route.target.chain in twins
        ]
        if routes:
            best = _chosen(routes, seen.draw("v1 chains"), _worth(seen))[0]
            return twins[best.source.chain], twins[best.target.chain]
    except NotRun:
        pass
    one, other = seen.draw("v1 chains").sample(offered, 2)
    return one, other


def v1_routes(seen: "Seen") -> tuple[Route, ...]:
    """Return up to three v1 routes of one token between two chains. Raises `NotRun`."""
    return seen.worked_out("v1 routes", lambda: _v1_routes(seen))


def _v1_routes(seen: "Seen") -> tuple[Route, ...]:
    known = seen.known
    offered = {chain.name for chain in known.v1_chains if chain.offered}
    tokens = [one for one in known.v1_tokens if one.offered and one.chain in offered]
    found = [
        Route(one, other)
        for one in tokens
        for other in tokens
        if one.symbol == other.symbol and one.chain != other.chain
    ]
    if not found:
        raise NotRun("no token is in the v1 lists of two chains")
    worth = _worth(seen)
    # Eighteen decimals are what careless services take every token to have.
    return _chosen(
        found,
        seen.draw("v1 routes"),
        lambda route: worth(route) + (route.source.decimals not in (None, _COMMON)),
    )


def v1_twin(seen: "Seen", route: Route) -> Route:
    """Return the route of 2.0 that a route of v1 is. Raises `NotRun` where there is none."""
    known = seen.known
    ends: list[Token] = []
    for token in (route.source, route.target):
        chain = next((one for one in known.v1_chains if one.name == token.chain), None)
        twin = known.twin(chain) if chain is not None else None
        found = [] if twin is None else [t for t in known.on(twin.name) if t.symbol == token.symbol]
        if not found:
            raise NotRun(
                f"2.0 does not show {token.symbol} on the chain that v1 calls {token.chain}"
            )
        ends.append(found[0])
    return Route(ends[0], ends[1])


def usable_tokens(seen: "Seen") -> tuple[Token, ...]:
    """Return the tokens that are offered on a chain that is offered, with their decimals."""
    known = seen.known
    offered = {chain.name for chain in known.chains if chain.offered}
    return tuple(
        token
        for token in known.tokens
        if token.offered
        and token.decimals is not None
        and (token.chain in offered or not known.chains)
    )


def is_stable(token: Token) -> bool:
    """Tell whether a token is, by its symbol, worth a dollar."""
    return "USD" in token.symbol.upper() or token.symbol.upper() == "DAI"


def is_plain(seen: "Seen", route: Route) -> bool:
    """Tell whether a route leads from one EVM chain to another, as far as the lists show."""
    plain = plain_tokens(seen)
    return plain(route.source) and plain(route.target)


def plain_tokens(seen: "Seen") -> Callable[[Token], bool]:
    """Return what tells whether a token is on an EVM chain, as far as the lists show."""
    known = seen.known
    evm = {chain.name: chain.evm for chain in (*known.chains, *known.v1_chains)}
    return lambda token: evm.get(token.chain) is not False and token.address.startswith("0x")


def addressed_tokens(seen: "Seen") -> tuple[Token, ...]:
    """Return the usable tokens whose contract address is known. Raises `NotRun` without any."""
    found = tuple(token for token in usable_tokens(seen) if token.address)
    if not found:
        raise NotRun("no list shows a token with its contract address")
    return found


def usual_amount(seen: "Seen", token: Token) -> Decimal:
    """Return a round number of whole tokens that is worth about 100 USD where a price is known."""
    price = price_of(seen, token)
    if price is None or not _CHEAPEST < price < _DEAREST or is_stable(token):
        return USUAL_USD
    share = amounts.rounded(amounts.EXACT.divide(USUAL_USD, price), 2)
    least = Decimal(1).scaleb(-(token.decimals or 0))
    return max(share, least * 1000)


def price_of(seen: "Seen", token: Token) -> Decimal | None:
    """Return a token's price in USD as getPrice told it, or else its list; None where none did."""
    for exchange in seen.of("v2.getPrice"):
        if exchange.succeeded:
            asked = dict(query_pairs(exchange.request.query))
            if asked.get("symbol") == token.symbol:
                price = amounts.number(exchange.data.get("price"))
                if price is not None and price > 0:
                    return price
    listed = amounts.number(token.price)
    return listed if listed is not None and listed > 0 else None


def bridges(seen: "Seen") -> list[Route]:
    """Return the routes of one token between two chains that the lists allow."""
    by_symbol: dict[str, list[Token]] = {}
    for token in usable_tokens(seen):
        if token.bridged:
            by_symbol.setdefault(token.symbol, []).append(token)
    several = [tokens for tokens in by_symbol.values() if len(tokens) > 1]
    if len(several) > _SAMPLE:
        seen.draw("tokens of bridges").shuffle(several)
        several.sort(key=lambda tokens: not is_stable(tokens[0]))
    return [
        Route(one, other)
        for tokens in several[:_SAMPLE]
        for one in tokens[:_SAMPLE]
        for other in tokens[:_SAMPLE]
        if one.chain != other.chain
    ]


def _swaps(seen: "Seen") -> tuple[Route, ...]:
    return seen.worked_out("swaps", lambda: tuple(_swaps_of(seen)))


def _swaps_of(seen: "Seen") -> Iterator[Route]:
    tokens = [token for token in usable_tokens(seen) if token.address]
    if len(tokens) > _SAMPLE:
        seen.draw("tokens of swaps").shuffle(tokens)
        tokens.sort(key=lambda token: not is_stable(token))
        stable = tokens[: _SAMPLE // 3]
        chains = {token.chain for token in stable}
        near = [token for token in tokens[len(stable) :] if token.chain in chains]
        tokens = (stable + near)[:_SAMPLE] if len(near) > 3 else tokens[:_SAMPLE]
    for one in tokens:
        for other in tokens:
            if one.symbol != other.symbol:
                yield Route(one, other)


def _worth(seen: "Seen") -> Callable[[Route], int]:
    """Return what tells how much a route can show: steady prices, decimals, plain addresses."""
    known = seen.known
    is_plain_on_its_chain = plain_tokens(seen)
    # There are thousands of routes of some dozens of symbols.
    stable = {token.symbol: is_stable(token) for token in (*known.tokens, *known.v1_tokens)}

    def worth(route: Route) -> int:
        source, target = route.source, route.target
        plain = is_plain_on_its_chain(source) + is_plain_on_its_chain(target)
        steady = stable[source.symbol]
        apart = steady and not stable[target.symbol]
        # The coin of a chain is what services treat apart.
        coin = apart and target.is_native
        return plain * 4 + steady * 2 + route.rescales * 3 + apart * 4 + coin

    return worth


def _chosen(
    routes: Sequence[Route], chance: Random, worth: Callable[[Route], int]
) -> tuple[Route, ...]:
    """Return the best routes in a drawn order, those after the first as different as can be."""
    drawn = [(worth(route), chance.random(), route) for route in routes]
    pool = sorted(drawn, key=lambda each: each[:2], reverse=True)
    found = [pool.pop(0)[2]]
    while pool and len(found) < TRIES:
        chains = {end.chain for route in found for end in (route.source, route.target)}
        symbols = {end.symbol for route in found for end in (route.source, route.target)}
        place, best = 0, (-5, 0)
        for number, (value, _, route) in enumerate(pool):
            fit = (-_known_marks(route, chains, symbols), value)
            if fit > best:
                place, best = number, fit
        found.append(pool.pop(place)[2])
    return tuple(found)


def _known_marks(route: Route, chains: AbstractSet[str], symbols: AbstractSet[str]) -> int:
    """Return how many of a route's chains and symbols are among the given ones."""
    source, target = route.source, route.target
    return (
        (source.chain in chains)
        + (target.chain != source.chain and target.chain in chains)
        + (source.symbol in symbols)
        + (target.symbol != source.symbol and target.symbol in symbols)
    )
