"""Two answers held against each other: moving prices, chains that come and go, and who is who."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from mockserver import jsontext
from mockserver.conformance import amounts
from mockserver.conformance.calibration import BRIDGE, SWAP_QUOTE, V1_QUOTE, asked, reading_of
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import LAST_LOOK, Chain, Token, chains_of
from mockserver.conformance.listing import folded
from mockserver.conformance.routes import Route
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.jsontext import Json, NotJson

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen

_JITTER = Decimal("1.05")
_AMOUNT_NAMES = {BRIDGE: "amount", SWAP_QUOTE: "fromAmount"}


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that was given: what was asked, and what it pays, both in whole tokens.

    `put` is the amount of the request, `got` the output; `got` is None where it is no number.
    """

    exchange: Exchange
    route: Route
    put: Decimal
    got: Decimal | None


def quotes(seen: "Seen", operation_id: str) -> Iterator[Quote]:
    """Yield every sound quote of 2.0 that was given, in the order of the requests."""
    for exchange in seen.of(operation_id):
        found = quote_of(seen, exchange)
        if found is not None:
            yield found


def quote_of(seen: "Seen", exchange: Exchange) -> Quote | None:
    """Return what a quote of 2.0 tells; None for a refusal or a request that is no sound one."""
    if not exchange.succeeded:
        return None
    sent = asked(exchange)
    operation_id = exchange.operation.id
    route = _bridge_route(seen, sent) if operation_id == BRIDGE else _swap_route(seen, sent)
    put = amounts.number(sent.get(_AMOUNT_NAMES.get(operation_id, "fromAmount")))
    if route is None or put is None or put <= 0:
        return None
    source, target = route.source, route.target
    if source.decimals is None or target.decimals is None:
        return None
    if reading_of(seen, operation_id) == "smallest units":
        put = amounts.EXACT.scaleb(put, -source.decimals)
    out = amounts.number(exchange.data.get("outAmount"))
    got = None if out is None else amounts.EXACT.scaleb(out, -target.decimals)
    return Quote(exchange, route, put, got)


def named_quote(seen: "Seen", probe: str) -> Quote:
    """Return the quote of a probe. Raises `NotRun` or `Inconclusive` where there is none."""
    found = quote_of(seen, seen.success(probe))
    if found is None:
        raise NotRun(f"what {probe} asked about is not in the lists with its decimals")
    return found


def out_of(quote: Quote) -> Decimal:
    """Return what a quote pays, in whole tokens. Raises `Inconclusive` where that is no number."""
    if quote.got is None or quote.got <= 0:
        raise Inconclusive(f"outAmount of {quote.exchange.probe} is no amount above zero")
    return quote.got


def steady(before: Decimal, after: Decimal, what: str) -> None:
    """Raise `Inconclusive` where two equal requests were answered with values far apart."""
    if not amounts.within(before, after, _JITTER):
        raise Inconclusive(f"{what} moved meanwhile: {before} became {after} for equal requests")


def last_chains(seen: "Seen", generation: str = "v2") -> tuple[Chain, ...] | None:
    """Return the chains of the last look, None where it did not come or was no list."""
    operation_id = "v1.getSupportChains" if generation == "v1" else "v2.getChain"
    look = seen.maybe(f"{operation_id}/{LAST_LOOK}")
    if look is None or not look.succeeded:
        return None
    return chains_of(look, seen.bindings) or None


def check_still_offered(seen: "Seen", *chains: str, generation: str = "v2") -> None:
    """Raise `Inconclusive` where a chain went out of service, or no second look tells.

    A chain may be suspended for hours or days (interface.md 1).
    """
    names = last_chains(seen, generation)
    if names is None:
        raise Inconclusive("no second look at the list of chains came, so it may be suspended")
    offered = {folded(name) for chain in names if chain.offered for name in chain.names}
    for chain in chains:
        if folded(chain) not in offered:
            raise Inconclusive(f"chain {chain!r} is no longer offered at the second look")


def token_at(
    tokens: tuple[Token, ...], chain: str, *, symbol: str = "", address: str = ""
) -> Token | None:
    """Return the token of a chain by symbol or by address, or None."""
    for token in tokens:
        if folded(token.chain) != folded(chain):
            continue
        if symbol and token.symbol == symbol:
            return token
        if address and token.address.lower() == address.lower():
            return token
    return None


def body_of(exchange: Exchange) -> dict[str, Json]:
    """Return the fields of a request's body; none where it is no JSON object."""
    try:
        body = jsontext.decode(exchange.request.body)
    except NotJson:
        return {}
    return body if isinstance(body, dict) else {}


def v1_route(seen: "Seen", exchange: Exchange) -> Route | None:
    """Return the route that a v1 request asks about, or None."""
    if exchange.operation.id != V1_QUOTE:
        return None
    body = body_of(exchange)
    tokens = seen.known.v1_tokens
    symbol = str(body.get("token", ""))
    source = token_at(tokens, str(body.get("fromChain", "")), symbol=symbol)
    target = token_at(tokens, str(body.get("toChain", "")), symbol=symbol)
    return Route(source, target) if source and target else None


def power_of_ten(one: Decimal, other: Decimal) -> int:
    """Return how many powers of ten a number is from another one, rounded; 0 where it is near."""
    share = amounts.ratio(one, other)
    if share is None:
        return 0
    return (share * Decimal(3)).adjusted() if share >= 1 else -((1 / share) * Decimal(3)).adjusted()


def _bridge_route(seen: "Seen", sent: dict[str, str]) -> Route | None:
    symbol, tokens = sent.get("symbol", ""), seen.known.tokens
    source = token_at(tokens, sent.get("fromChain", ""), symbol=symbol)
    target = token_at(tokens, sent.get("toChain", ""), symbol=symbol)
    return Route(source, target) if source and target else None


def _swap_route(seen: "Seen", sent: dict[str, str]) -> Route | None:
    """Return the route of a swap's quote whose decimals are those of the lists."""
    tokens = seen.known.tokens
    source = token_at(
        tokens,
        sent.get("fromChain") or sent.get("chain", ""),
        address=sent.get("fromTokenAddress", ""),
    )
    target = token_at(
        tokens,
        sent.get("toChain") or sent.get("chain", ""),
        address=sent.get("toTokenAddress", ""),
    )
    if source is None or target is None:
        return None
    if sent.get("fromDecimal") != str(source.decimals):
        return None
    if sent.get("toDecimal", str(target.decimals)) != str(target.decimals):
        return None
    return Route(source, target)
