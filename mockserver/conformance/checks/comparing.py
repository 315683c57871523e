"""Two answers held against each other: moving prices, chains that come and go, and who is who."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from mockserver.conformance.checks import needs
from mockserver.conformance.checks.evidence import said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    V1_QUOTE,
    amount_asked,
    reading_of,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Chain, Token, chains_of
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.discovery.routes import Route, price_of
from mockserver.conformance.discovery.v1_data import scalar, scalar_place
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.looks import LAST_LOOK
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun
from mockserver.contract import Basis
from mockserver.jsontext import Json
from mockserver.validation import shown
from mockserver.values import dataclass

_MOST_DECIMALS = 77
_JITTER = Decimal("1.05")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that was given: what was asked, and what it pays, both in whole tokens.

    `put` is the amount of the request, `got` the output, which stands at `place`; `got` is None
    where it is no number. `decimals` are those that output and fees are counted in.
    """

    exchange: Exchange
    route: Route
    put: Decimal
    got: Decimal | None
    decimals: int
    place: str = "data.outAmount"

    @property
    def pays(self) -> Decimal:
        """The output that it has above zero. Raises `Untold`."""
        return needs.value(self.got if self.got and self.got > 0 else None)

    def number(self, name: str) -> Decimal | None:
        """Return a member of the answer's data as a number, None where it is none."""
        return amounts.number(self.exchange.data.get(name))


def quotes(context: RunContext, operation_id: str) -> tuple[Quote, ...]:
    """Return every sound quote that was given, in the order of the requests."""
    given = context.of(operation_id)

    def read() -> tuple[Quote, ...]:
        return tuple(quote for one in given if (quote := quote_of(context, one)))

    # Many checks look at all quotes, and there are hundreds of them once everything was asked.
    return context.cached(("quotes", operation_id, len(context.exchanges)), read)


def quote_of(context: RunContext, exchange: Exchange) -> Quote | None:
    """Return what a quote tells; None for a refusal or a request that is no sound one."""
    of_v1 = exchange.operation.id == V1_QUOTE
    try:
        needs.that(exchange.succeeded)
        return _v1_quote(context, exchange) if of_v1 else _quote(context, exchange)
    except needs.Untold:
        return None


def _quote(context: RunContext, exchange: Exchange) -> Quote:
    sent, tokens = exchange.parameters, inventory_of(context).tokens
    of_bridge = exchange.operation.id == BRIDGE
    route = needs.value(_transfer(tokens, sent, "symbol") if of_bridge else _swap(tokens, sent))
    put, decimals = needs.value(amount_asked(exchange)), needs.value(route.target.decimals)
    given_in = needs.value(route.source.decimals)
    needs.that(put > 0)
    if reading_of(context, exchange.operation.id) == "smallest units":
        put = amounts.EXACT.scaleb(put, -given_in)
    counted = exchange.data.get("chainDecimal")
    in_range = isinstance(counted, int) and 0 <= counted <= _MOST_DECIMALS
    if in_range and is_elsewhere(context, exchange, route.target):
        decimals = int(counted or 0)
    out = amounts.number(exchange.data.get("outAmount"))
    got = None if out is None else amounts.EXACT.scaleb(out, -decimals)
    return Quote(exchange, route, put, got, decimals)


def _v1_quote(context: RunContext, exchange: Exchange) -> Quote:
    tokens, data = inventory_of(context).v1_tokens, exchange.member("data")
    route = needs.value(_transfer(tokens, exchange.members, "token"))
    put = needs.value(amounts.number(exchange.members.get("amount")))
    needs.that(put > 0)
    got, place = amounts.number(scalar(data, "amountOut")), scalar_place(data, "amountOut")
    return Quote(exchange, route, put, got, route.target.decimals or 0, f"data{place}")


def is_elsewhere(context: RunContext, exchange: Exchange, target: Token) -> bool:
    """Tell whether a quote names another chain than the target's, on which it is then counted.

    `chain` and `chainDecimal` are those of the chain that executes the swap (GHOST); where that is
    another one, the output is in its decimals.
    """
    told = exchange.text("chain")
    by_network = {chain.network: chain for chain in inventory_of(context).chains if chain.network}
    named = known_chains(context).get(folded(told)) or by_network.get(told)
    return bool(told) and named is not None and named.name != target.chain


def known_chains(context: RunContext) -> dict[str, Chain]:
    """Return the chains that 2.0 lists, by each of their names without case."""
    chains = inventory_of(context).chains
    return {folded(name): chain for chain in chains for name in chain.names}


def named_quote(context: RunContext, probe: str) -> Quote:
    """Return the quote of a probe. Raises `NotRun` or `Inconclusive` where there is none."""
    found = quote_of(context, context.require_success(probe))
    if found is None:
        raise NotRun(f"what {probe} asked about is not in the lists with its decimals")
    return found


def out_of(quote: Quote) -> Decimal:
    """Return what a quote pays, in whole tokens.

    Raises `Inconclusive` where that is no number, and `NotApplicable` for v1, whose data is open.
    """
    if quote.got is None or quote.got <= 0:
        if quote.exchange.operation.id == V1_QUOTE:
            raise NotApplicable("the v1 quote does not tell what it pays")
        raise Inconclusive(f"outAmount of {quote.exchange.probe} is no amount above zero")
    return quote.got


def fair_output(context: RunContext, quote: Quote) -> Decimal | None:
    """Return what a swap would pay at the prices told, in whole tokens, or None."""
    one, other = price_of(context, quote.route.source), price_of(context, quote.route.target)
    if not one or not other:
        return None
    return amounts.EXACT.divide(amounts.EXACT.multiply(quote.put, one), other)


def steady(before: Decimal, after: Decimal, what: str) -> None:
    """Raise `Inconclusive` where two equal requests were answered with values far apart."""
    if not amounts.within(before, after, _JITTER):
        raise Inconclusive(f"{what} moved meanwhile: {before} became {after} for equal requests")


def last_chains(context: RunContext, generation: str = "v2") -> tuple[Chain, ...] | None:
    """Return the chains of the last look, None where it did not come or was no list."""
    operation_id = "v1.getSupportChains" if generation == "v1" else "v2.getChain"
    look = context.get(f"{operation_id}/{LAST_LOOK}")
    if look is None or not look.succeeded:
        return None
    return chains_of(look, context.bindings) or None


def check_still_offered(context: RunContext, *chains: str, generation: str = "v2") -> None:
    """Raise `Inconclusive` where a chain went out of service, or no second look tells.

    A chain may be suspended for hours or days (interface.md 1).
    """
    names = last_chains(context, generation)
    if names is None:
        raise Inconclusive("no second look at the list of chains came, so it may be suspended")
    offered = {folded(name) for chain in names if chain.offered for name in chain.names}
    for chain in chains:
        if folded(chain) not in offered:
            raise Inconclusive(f"chain {chain!r} is no longer offered at the second look")


_AWAY = re.compile(
    r"suspend|mainten|halt|paus|unavailable|not available|out of service|offline|temporar|busy"
    r"|too many|overload|try again|later",
    re.IGNORECASE,
)


def says_it_is_away(exchange: Exchange) -> bool:
    """Tell whether a refusal says that a chain, or the service, is away for a while.

    Chains may be suspended for hours or days (interface.md 1), and nothing says that the lists
    follow at once.
    """
    said = exchange.member("msg")
    return isinstance(said, str) and _AWAY.search(said) is not None


def check_is_there(context: RunContext, refused: Exchange, *chains: str) -> None:
    """Raise `Inconclusive` where a refusal may be about an outage, by its words or by the lists."""
    if says_it_is_away(refused):
        said = shown(refused.member("msg"))
        raise Inconclusive(f"{refused.probe} was refused as by a service that is away: {said}")
    generation = refused.operation.generation.id
    check_still_offered(context, *chains, generation=generation)


def wrongly_refused(
    context: RunContext,
    refused: Exchange,
    what: str,
    *before: Exchange,
    place: str = "",
    basis: Basis | None = None,
    cause: str = "",
) -> Finding:
    """Return that a sound request is refused, with what was answered.

    Raises `Inconclusive` where that may be about an outage of a chain that it names.
    """
    check_is_there(context, refused, *chains_named(refused))
    return Finding(f"{what}: {said(refused)}", (*before, refused), place, basis, cause=cause)


def chains_named(exchange: Exchange) -> tuple[str, ...]:
    """Return the chains that a request names, wherever it does."""
    headers = exchange.request.headers.items_sent
    inputs = (*exchange.parameters.items(), *headers, *exchange.members.items())
    return tuple(str(value) for name, value in inputs if name.lower().endswith("chain") and value)


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


def echoed(
    exchange: Exchange, sent: Mapping[str, Json], roles: Mapping[str, str]
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield what v1 data tells of inputs: the name, what is told and was sent, and whether that
    is the same.

    `roles` has the input by the role in the data. What either side does not show is left out.
    """
    for role, name in roles.items():
        told, wanted = scalar(exchange.member("data"), role), sent.get(name)
        if role.lower().endswith(("amount", "amountin")):
            numbers = amounts.number(told), amounts.number(wanted)
            if None not in numbers:
                yield name, str(numbers[0]), str(numbers[1]), numbers[0] == numbers[1]
        elif isinstance(told, str) and isinstance(wanted, str):
            yield name, told[:80], wanted, told.lower() == wanted.lower()


def power_of_ten(one: Decimal, other: Decimal) -> int:
    """Return how many powers of ten a number is from another one, rounded; 0 where it is near."""
    share = amounts.ratio(one, other)
    if share is None:
        return 0
    return (share * Decimal(3)).adjusted() if share >= 1 else -((1 / share) * Decimal(3)).adjusted()


def _transfer(tokens: tuple[Token, ...], sent: Mapping[str, Json], name: str) -> Route | None:
    """Return the route of one token, which the input `name` has, between two chains."""
    symbol = str(sent.get(name, ""))
    source, target = (
        token_at(tokens, str(sent.get(chain, "")), symbol=symbol)
        for chain in ("fromChain", "toChain")
    )
    return Route(source, target) if source and target else None


def _swap(tokens: tuple[Token, ...], sent: Mapping[str, str]) -> Route | None:
    """Return the route of a swap's quote whose decimals are those of the lists."""
    source, target = (
        token_at(
            tokens,
            sent.get(f"{end}Chain") or sent.get("chain", ""),
            address=sent.get(f"{end}TokenAddress", ""),
        )
        for end in ("from", "to")
    )
    if source is None or target is None:
        return None
    if sent.get("fromDecimal") != str(source.decimals):
        return None
    if sent.get("toDecimal", str(target.decimals)) != str(target.decimals):
        return None
    return Route(source, target)
