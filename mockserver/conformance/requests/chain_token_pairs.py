"""Which tokens on which chains requests are about: what fails for one of them alone shows there."""

import operator
from collections.abc import Callable, Iterable, Mapping

from mockserver.conformance.discovery.inventory import ListedToken
from mockserver.conformance.discovery.token_routes import TokenRoute
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import EdgeKind
from mockserver.contract import Operation
from mockserver.jsontext import Json

Cell = tuple[str, str, str]
"""An end of a route, `from` or `to`, with its chain and its token, as requests name them."""

_SIDES = ("from", "to")
# The inputs that name a chain or a token, by role, the one that tells most first.
_SOURCE_CHAIN = ("fromChain", "chain")
_ADDRESSES = ("fromTokenAddress", "contractAddress")
_SOURCE_TOKEN = (*_ADDRESSES, "symbol", "token", "fromToken")
_TARGET_CHAIN = ("toChain", "chain")
_TARGET_TOKEN = ("toTokenAddress", "toIndex")


def cells_of(operation: Operation) -> Callable[[TokenRoute | ListedToken], tuple[Cell, ...]]:
    """Return a function of a route, or of a token: what its request is about, its source first."""
    roles = {field.role for field in operation.fields}
    name = operator.attrgetter("address" if roles & {*_ADDRESSES} else "symbol")

    def of(item: TokenRoute | ListedToken) -> tuple[Cell, ...]:
        ends = (item,) if isinstance(item, ListedToken) else (item.source, item.target)
        sides = zip(_SIDES, ends, strict=False)
        return tuple((side, end.chain.lower(), name(end).lower()) for side, end in sides)

    return of


def cells_asked(exchange: Exchange) -> tuple[Cell, ...]:
    parts = {"query": exchange.parameters, "body": exchange.members}
    return _cells(
        {
            field.role: parts[field.location].get(field.name)
            for field in exchange.operation.fields
            if field.location in parts
        }
    )


def cells_taken(context: RunContext, operation: Operation) -> frozenset[Cell]:
    return _asked_in(exchange for exchange in context.of(operation) if exchange.succeeded)


def cells_known(context: RunContext, operation: Operation) -> frozenset[Cell]:
    """Return what was answered, or was asked for in its usual amount and refused."""
    return _asked_in(
        exchange
        for exchange in context.of(operation)
        if exchange.succeeded
        or (exchange.probe.edge is not None and exchange.probe.edge.kind is EdgeKind.ROUTE)
    )


def _asked_in(exchanges: Iterable[Exchange]) -> frozenset[Cell]:
    return frozenset(cell for exchange in exchanges for cell in cells_asked(exchange))


def _cells(values: Mapping[str, Json]) -> tuple[Cell, ...]:
    def first(roles: tuple[str, ...]) -> str:
        # Hex digits and names may be spelled in any case.
        return next((str(values[role]).lower() for role in roles if values.get(role)), "")

    token = first(_SOURCE_TOKEN)
    ends = [(first(_SOURCE_CHAIN), token)]
    if any(values.get(role) for role in ("toChain", *_TARGET_TOKEN)):
        ends.append((first(_TARGET_CHAIN), first(_TARGET_TOKEN) or token))
    return tuple((side, *end) for side, end in zip(_SIDES, ends, strict=False) if all(end))
