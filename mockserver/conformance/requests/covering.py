"""Of many tokens and routes those that stand for their class: chain, coin or contract, decimals."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.routes import Route, plain_tokens
from mockserver.conformance.session.context import RunContext

_T = TypeVar("_T")
MOST_ROUTES = 24
"""How many routes of an operation a run asks about, at the most."""


def covering(
    items: Iterable[_T], features_of: Callable[[_T], Iterable[Hashable]], most: int = MOST_ROUTES
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


def features(context: RunContext, token: Token, side: str) -> tuple[str, ...]:
    """Return what sets a token apart: its chain, EVM or not, coin or contract, its decimals."""
    evm = "EVM" if plain_tokens(context)(token) else "not EVM"
    kind = "coin" if token.is_native else "contract"
    return (f"{side}{kind} of {token.decimals} decimals, {evm}", f"{side}chain {token.chain}")


def route_features(context: RunContext) -> Callable[[Route], tuple[str, ...]]:
    """Return what tells what sets a route apart."""
    return lambda route: (
        *features(context, route.source, "from "),
        *features(context, route.target, "to "),
        "within one chain" if route.source.chain == route.target.chain else "between chains",
    )


def drawn(context: RunContext, what: str, items: Sequence[_T]) -> list[_T]:
    """Return items in the order in which the seed has them."""
    return context.draw(f"targets of {what}").sample(list(items), len(items))
