"""Quotes as they were given, in whole tokens, and the prices of tokens by every source."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from itertools import islice

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.judged_exchanges import answered_quotes, request_key
from mockserver.conformance.checks.shared_probes import probes
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    reading_of,
    requested_amount,
    require_accepted,
)
from mockserver.conformance.discovery.inventory import ListedChain, ListedToken, inventory_of
from mockserver.conformance.discovery.member_roles import folded, scalar, scalar_place
from mockserver.conformance.discovery.token_routes import (
    STABLE_COINS,
    TokenRoute,
    price_of,
    v1_tokens,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, needed
from mockserver.contract import Operation, ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.limits import AMOUNT_DIGITS

# Equal requests differ by moving prices; beyond this nothing can be compared.
_STEADY_FACTOR = Decimal("1.05")
_AMOUNT_IN_TEXT = probes(ids.V1_QUOTE, "amount as text")


@dataclass(frozen=True, slots=True)
class AnsweredQuote:
    """A quote that was given: the requested amount, and what it pays, both in whole tokens.

    `put` is the amount of the request, `got` the output, which stands at `place`; `got` is None
    where it is no number. `decimals` are those that output and fees are counted in.
    """

    exchange: Exchange
    route: TokenRoute
    put: Decimal
    got: Decimal | None
    decimals: int
    place: str = "data.outAmount"

    @property
    def pays(self) -> Decimal:
        """The output. Raises `Missing` where it is not above zero."""
        return required_members.value(self.got if self.got and self.got > 0 else None)

    def number(self, name: str) -> Decimal | None:
        return amounts.number(self.exchange.data.get(name))

    def units(self, name: str) -> int | None:
        return amounts.units(self.exchange.data.get(name))


QuotePair = tuple[AnsweredQuote, AnsweredQuote]


def quotes(context: RunContext, operation: Operation | str) -> tuple[AnsweredQuote, ...]:
    """Return the quotes that were given of listed tokens with their decimals, in their order."""
    exchanges = context.of(operation)

    def read() -> tuple[AnsweredQuote, ...]:
        return tuple(quote for exchange in exchanges if (quote := quote_of(context, exchange)))

    # Many checks read all quotes, and there are hundreds of them at the end of a run.
    which = operation if isinstance(operation, str) else operation.id
    return context.cached(("quotes", which, len(context.exchanges)), read)


def most_moved(context: RunContext, operation_id: str) -> Decimal:
    """Return how many times as much as at another moment of the run an equal request paid."""

    def read() -> Decimal:
        paid = defaultdict[Hashable, list[Decimal]](list)
        for quote in quotes(context, operation_id):
            if quote.got and quote.got > 0:
                paid[request_key(quote.exchange)].append(quote.got)
        ratios = (amounts.EXACT.divide(max(outs), min(outs)) for outs in paid.values())
        return max(ratios, default=Decimal(1))

    return context.cached(("most moved", operation_id, len(context.exchanges)), read)


def quotes_accepted(context: RunContext, operation: Operation) -> tuple[AnsweredQuote, ...]:
    """Return what `quotes` does. Raises where no quote of the operation was accepted at all."""
    require_accepted(context, operation.id)
    return quotes(context, operation)


def v1_quotes(context: RunContext, operation: Operation) -> Iterator[AnsweredQuote]:
    """Yield the quotes of v1 for listed tokens whose requests keep the contract, but for an amount
    in a text: who takes it has to read it.
    """
    for exchange in answered_quotes(context, operation):
        sound = not exchange.reading.violations or exchange.probe in _AMOUNT_IN_TEXT
        quote = quote_of(context, exchange) if sound else None
        if quote is not None:
            yield quote


def quote_of(context: RunContext, exchange: Exchange) -> AnsweredQuote | None:
    """Return the quote in an answer; None for a refusal, or where the request was not sound."""
    of_v1 = exchange.operation.id == ids.V1_QUOTE
    try:
        required_members.skip_unless(exchange.succeeded)
        return _v1_quote(context, exchange) if of_v1 else _quote(context, exchange)
    except required_members.Missing:
        return None


def _quote(context: RunContext, exchange: Exchange) -> AnsweredQuote:
    sent, tokens = exchange.parameters, inventory_of(context).tokens
    of_bridge = exchange.operation.id == ids.BRIDGE
    route = _transfer(tokens, sent, "symbol") if of_bridge else _swap(tokens, sent)
    put = required_members.value(requested_amount(exchange))
    decimals = required_members.value(route.target.decimals)
    source_decimals = required_members.value(route.source.decimals)
    required_members.skip_unless(put > 0)
    if reading_of(context, exchange.operation.id) == "smallest units":
        put = amounts.EXACT.scaleb(put, -source_decimals)
    counted = exchange.data.get("chainDecimal")
    in_range = isinstance(counted, int) and 0 <= counted <= AMOUNT_DIGITS
    if in_range and is_elsewhere(context, exchange, route.target):
        decimals = int(counted or 0)
    out = amounts.number(exchange.data.get("outAmount"))
    got = None if out is None else amounts.EXACT.scaleb(out, -decimals)
    return AnsweredQuote(exchange, route, put, got, decimals)


def _v1_quote(context: RunContext, exchange: Exchange) -> AnsweredQuote:
    tokens, data = v1_tokens(context), exchange.member("data")
    route = _transfer(tokens, exchange.members, "token")
    put = required_members.value(amounts.number(exchange.members.get("amount")))
    required_members.skip_unless(put > 0)
    got, place = amounts.number(scalar(data, "amountOut")), scalar_place(data, "amountOut")
    return AnsweredQuote(exchange, route, put, got, route.target.decimals or 0, f"data{place}")


def is_elsewhere(context: RunContext, exchange: Exchange, target: ListedToken) -> bool:
    """Tell whether a quote names another chain than the target's, on which it is then counted.

    `chain` and `chainDecimal` are those of the chain that executes the swap (GHOST); where that is
    another one, the output is in its decimals.
    """
    named = chains_called(context, exchange.text("chain"))
    return bool(named) and all(chain.name != target.chain for chain in named)


def chains_called(context: RunContext, name: str) -> tuple[ListedChain, ...]:
    """Return the chain that 2.0 lists by a name, else those of a network."""
    if known := known_chains(context).get(folded(name)):
        return (known,)
    return tuple(chain for chain in inventory_of(context).chains if name and chain.network == name)


def known_chains(context: RunContext) -> dict[str, ListedChain]:
    """Return the chains that 2.0 lists, by each of their names without case."""
    chains = inventory_of(context).chains
    return {folded(name): chain for chain in chains for name in chain.names}


def named_quote(context: RunContext, probe: str) -> AnsweredQuote:
    """Return the quote of a probe. Raises `NotRun` or `Inconclusive` where there is none."""
    quote = quote_of(context, context.require_success(probe))
    return needed(quote, f"what {probe} requested is not in the lists with its decimals")


def out_of(quote: AnsweredQuote) -> Decimal:
    """Return what a quote pays, in whole tokens.

    Raises `Inconclusive` where that is no number, and `NotApplicable` for v1, whose data is open.
    """
    if quote.got is None or quote.got <= 0:
        if quote.exchange.operation.id == ids.V1_QUOTE:
            raise NotApplicable("the v1 quote does not tell what it pays")
        raise Inconclusive(f"outAmount of {quote.exchange.probe} is no amount above zero")
    return quote.got


def fair_output(context: RunContext, quote: AnsweredQuote) -> Decimal | None:
    """Return what a swap would pay by the prices of its tokens, in whole tokens, or None."""
    source, target = quote.route.source, quote.route.target
    source_price, target_price = believed_price(context, source), believed_price(context, target)
    if not source_price or not target_price:
        return None
    return amounts.EXACT.divide(amounts.EXACT.multiply(quote.put, source_price), target_price)


def believed_price(context: RunContext, token: ListedToken) -> Decimal | None:
    """Return the price of a token by getPrice, else by another source that can be believed."""

    def found() -> Decimal | None:
        return price_of(context, token) or next(iter(prices_for(context, token)), None)

    return context.cached(("believed", token.symbol, len(context.exchanges)), found)


def steady(before: Decimal, after: Decimal, what: str) -> None:
    """Raise `Inconclusive` where two equal requests were answered with values far apart."""
    if not amounts.within(before, after, _STEADY_FACTOR):
        raise Inconclusive(f"{what} moved meanwhile: {before} became {after} for equal requests")


def token_at(
    tokens: tuple[ListedToken, ...], chain: str, *, symbol: str = "", address: str = ""
) -> ListedToken | None:
    for token in tokens:
        is_called = symbol and token.symbol == symbol
        is_at = address and token.address.lower() == address.lower()
        if (is_called or is_at) and folded(token.chain) == folded(chain):
            return token
    return None


def echoed(
    exchange: Exchange, sent: Mapping[str, Json], roles: Mapping[str, str]
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the inputs that v1 data echoes: the name, the echo, what was sent, are they the same.

    `roles` has the input by the role in the data. Inputs that were not sent or echoed are left out.
    """
    for role, name in roles.items():
        echo, wanted = scalar(exchange.member("data"), role), sent.get(name)
        if role.lower().endswith(("amount", "amountin", "level")):
            echoed_number, wanted_number = amounts.number(echo), amounts.number(wanted)
            if echoed_number is not None and wanted_number is not None:
                # For who reads them as doubles, which is the published type.
                near = abs(wanted_number) * amounts.DOUBLE
                same = abs(echoed_number - wanted_number) <= near
                yield name, str(echoed_number), str(wanted_number), same
        elif isinstance(echo, str) and isinstance(wanted, str):
            yield name, echo[:80], wanted, echo.lower() == wanted.lower()


def power_of_ten(first: Decimal, second: Decimal) -> int:
    """Return how many powers of ten a number is from another one, rounded; 0 where it is near."""
    if (share := amounts.ratio(first, second)) is None:
        return 0
    return (share * Decimal(3)).adjusted() if share >= 1 else -((1 / share) * Decimal(3)).adjusted()


def _transfer(tokens: tuple[ListedToken, ...], sent: Mapping[str, Json], name: str) -> TokenRoute:
    chains = (str(sent.get(chain, "")) for chain in ("fromChain", "toChain"))
    ends = (token_at(tokens, chain, symbol=str(sent.get(name, ""))) for chain in chains)
    return TokenRoute(*map(required_members.value, ends))


def _swap(tokens: tuple[ListedToken, ...], sent: Mapping[str, str]) -> TokenRoute:
    """Return the route of a swap's quote whose decimals are those of the lists."""
    ends = []
    for end in ("from", "to"):
        chain = sent.get(f"{end}Chain") or sent.get("chain", "")
        address = sent.get(f"{end}TokenAddress", "")
        token = required_members.value(token_at(tokens, chain, address=address))
        # A quote within a chain may leave out the decimals of the token that is bought.
        decimals = str(token.decimals)
        left_out = end == "to" and f"{end}Decimal" not in sent
        required_members.skip_unless(left_out or sent.get(f"{end}Decimal") == decimals)
        ends.append(token)
    return TokenRoute(*ends)


_PRICE_FACTOR = Decimal(3)
# A stable coin may lose its peg, though not by half.
_DOLLAR_FACTOR = Decimal("1.5")


def is_a_dollar(price: Decimal) -> bool:
    """Tell whether a price can be that of a stable coin, in USD."""
    return amounts.within(price, Decimal(1), _DOLLAR_FACTOR)


def prices_for(context: RunContext, token: ListedToken) -> tuple[Decimal, ...]:
    """Return what the price of a token may be, in USD, by every source that can be believed.

    Sources are getPrice, the lists of v1, the quotes of transfers, and 1 for stable coins.
    A source that is wrong about some other token is left out, so that there may be no price.
    """
    sound = list(_prices_beside_quotes(context, token))
    for quoted in islice(prices_quoted(context, token), 1):
        near = any(amounts.within(quoted, price, _PRICE_FACTOR) for price in sound)
        if near or _quotes_sound(context):
            sound.append(quoted)
    return tuple(sound)


def prices_quoted(context: RunContext, token: ListedToken) -> Iterator[Decimal]:
    """Yield the prices above zero that quotes of transfers have of a token."""
    every = quotes(context, ids.BRIDGE)
    prices = (quote.number("price") for quote in every if quote.route.source.symbol == token.symbol)
    return (price for price in prices if price and price > 0)


def _prices_beside_quotes(context: RunContext, token: ListedToken) -> Iterator[Decimal]:
    if token.symbol in STABLE_COINS:
        yield Decimal(1)
    price = price_of(context, token)
    # getPrice counts where it is right about the stable coins that were requested.
    coins = (price_of(context, ListedToken(symbol, "", "")) for symbol in STABLE_COINS)
    if price is not None and all(coin is None or is_a_dollar(coin) for coin in coins):
        yield price
    for second_token in inventory_of(context, "v1").tokens:
        listed = amounts.number(second_token.price)
        if second_token.symbol == token.symbol and listed is not None and listed > 0:
            yield listed
            return


def _quotes_sound(context: RunContext) -> bool:
    """Tell whether the prices in quotes agree with another source wherever there is one."""
    for quote in quotes(context, ids.BRIDGE):
        if (price := quote.number("price")) is not None:
            others = list(_prices_beside_quotes(context, quote.route.source))
            if others and not any(amounts.within(price, each, _PRICE_FACTOR) for each in others):
                return False
    return True
