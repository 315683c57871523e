"""Which few of many tokens and routes a run asks for, so that each kind of them is there."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeVar

from mockserver.conformance.discovery.inventory import ListedToken
from mockserver.conformance.discovery.token_routes import TokenRoute, plain_tokens
from mockserver.conformance.session.context import RunContext

_T = TypeVar("_T")
_MOST_ROUTES = 24
_COMMON_CHAINS, _COMMON_TOKENS = 3, 2


def sides_of(item: TokenRoute | ListedToken) -> tuple[str, ...]:
    """Return the tokens of an item, each with its chain and its side."""
    if isinstance(item, ListedToken):
        return (f"{item.symbol} on {item.chain}",)
    source, target = item.source, item.target
    return f"{source.symbol} from {source.chain}", f"{target.symbol} to {target.chain}"


def ends_of(route: TokenRoute) -> tuple[str, ...]:
    return (
        *dict.fromkeys((f"from {route.source.symbol}", f"to {route.target.symbol}")),
        f"from chain {route.source.chain}",
        f"to chain {route.target.chain}",
    )


def first_of_each(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[Hashable]], most: int = _MOST_ROUTES
) -> Iterator[tuple[str, _T]]:
    """Yield items until each feature was met once, with the features that an item adds."""
    met: set[Hashable] = set()
    for item in items:
        new = [hashable for hashable in features_of(item) if hashable not in met]
        if new and most:
            met.update(new)
            most -= 1
            yield ", ".join(map(str, new)), item


def smallest_cover(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[str]]
) -> Iterator[tuple[str, _T]]:
    """Yield few items that have every feature between them, with the features that each adds.

    Each is one that adds most: 28 chains need 28 routes to be source and target once, and more
    where these lack a token.
    """
    met: set[str] = set()
    # The features of an item that are not met yet can only become fewer, so that an item which
    # still has as many as when it was weighed is no worse than those behind it.
    waiting = [
        (-len(features), number, item, features)
        for number, item in enumerate(items)
        for features in [tuple(features_of(item))]
        if features
    ]
    heapify(waiting)
    while waiting:
        weight, number, item, features = heappop(waiting)
        new = [feature for feature in features if feature not in met]
        if len(new) < -weight:
            if new:
                heappush(waiting, (-len(new), number, item, features))
            continue
        met.update(new)
        yield ", ".join(new), item


def feature_lister(
    context: RunContext, *, by_symbol: bool = False
) -> Callable[[TokenRoute | ListedToken], tuple[str, ...]]:
    """Return a function that lists the features of a token or a route.

    Features are its chain, whether that is an EVM chain, coin or contract, and decimals; of a
    route also which tokens it is between, and of a token its symbol where that counts.
    """
    is_plain = plain_tokens(context)

    def of_token(token: ListedToken, side: str = "") -> tuple[str, ...]:
        evm = "EVM" if is_plain(token) else "not EVM"
        kind = "coin" if token.is_native else "contract"
        return f"{side}{kind} of {token.decimals} decimals, {evm}", f"{side}chain {token.chain}"

    def of(item: TokenRoute | ListedToken) -> tuple[str, ...]:
        if isinstance(item, ListedToken):
            return *of_token(item), *([item.symbol] if by_symbol else [])
        ends = (*of_token(item.source, "from "), *of_token(item.target, "to "))
        within = f"within {item.source.chain}" if item.is_within_a_chain else "between chains"
        symbols = dict.fromkeys((f"from {item.source.symbol}", f"to {item.target.symbol}"))
        return (*ends, within, *symbols)

    return of


def common_pairs(routes: Iterable[TokenRoute]) -> Callable[[TokenRoute], tuple[str, ...]]:
    """Return a function of a route that tells those apart that most people take: of a token that is
    on most chains, between the chains that most routes begin on.
    """
    sources = [route.source for route in routes]
    by_chain, by_symbol = (
        Counter(getattr(source, name) for source in sources) for name in ("chain", "symbol")
    )
    chains = {name for name, _ in by_chain.most_common(_COMMON_CHAINS)}
    symbols = {name for name, _ in by_symbol.most_common(_COMMON_TOKENS)}

    def of(route: TokenRoute) -> tuple[str, ...]:
        is_common = route.source.symbol in symbols and chains.issuperset(route.chains)
        return (f"{route.source.symbol} as most take it, {'-'.join(route.chains)}",) * is_common

    return of


def transfer_features(token: ListedToken) -> tuple[str, ...]:
    """Return what a transaction that moves a token depends on, but for its contract."""
    kind = "coin" if token.is_native else "contract"
    return (f"{kind} on {token.chain}", f"{kind} of {token.decimals} decimals")


def in_random_order(context: RunContext, what: str, items: Iterable[_T]) -> list[_T]:
    """Return items in the order in which the seed has them."""
    pool: Sequence[_T] = list(items)
    return context.draw(f"targets of {what}").sample(pool, len(pool))
