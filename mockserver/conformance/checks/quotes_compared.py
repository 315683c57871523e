"""Quotes of 2.0 against each other, and against prices: ten times as much, and back again."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from operator import itemgetter

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    AnsweredQuote,
    QuotePair,
    believed_price,
    fair_output,
    most_moved,
    named_quote,
    out_of,
    quotes,
    quotes_accepted,
    steady,
)
from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import (
    COMPARED_QUOTES,
    PRICES,
    V2_QUOTES,
    probe,
    probes,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import require_accepted
from mockserver.conformance.discovery.token_routes import TokenRoute, is_stable, price_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.fast_dataclass import grouped

_BASIS_OF = {
    ids.BRIDGE: fact_basis("v2.get-bridge-quote"),
    ids.SWAP_QUOTE: fact_basis("v2.get-aggregate-quote"),
}
# Small amounts, so that price impact and fees stay within a quarter.
_PRICE_FACTOR = Decimal("1.25")
_MUCH_USD = 10
_LARGEST_GAIN = Decimal("1.02")
# Price impact lets ten times the amount pay less than tenfold, a fixed fee a little more.
_SMALLEST_GROWTH, _LARGEST_GROWTH = Decimal(5), Decimal("10.5")

# How many times the gas of one amount that of another may be a moment later.
_LARGEST_GAS_FACTOR = Decimal(3)
# Fees are the service's own: no market moves them between two requests.
_FEE_FACTOR = Decimal("1.2")
_LEAST_GAS_UNITS, _SMALLEST_AMOUNT_FACTOR = 100, 3
_PACK = RulePack(
    Layer.CROSS,
    operations=V2_QUOTES,
    needs=(*COMPARED_QUOTES, *probes(ids.PRICE, "usual", "swap source", "swap target")),
    reads=(ids.PRICE,),
)


def grows_with_input(context: RunContext, operation: Operation) -> Findings:
    first, tenfold, repeated = steady_quotes(context, operation, probe(operation, "tenfold"))
    times = amounts.EXACT.divide(tenfold.put, first.put)
    if times < 2:
        raise Inconclusive("the attempts at the quote were for other amounts")
    share = amounts.EXACT.divide(out_of(tenfold), out_of(first))
    if not _SMALLEST_GROWTH <= share <= _LARGEST_GROWTH:
        how = "the same" if share == 1 else f"{share:.4g} times as much"
        exchanges = (first.exchange, tenfold.exchange, repeated.exchange)
        basis = _BASIS_OF.get(operation.id)
        yield Finding(f"{times:.4g} times the amount pays {how}", exchanges, first.place, basis)


def equal_quotes(context: RunContext, operation: Operation) -> Iterator[QuotePair]:
    """Yield of each request that was quoted twice the quotes with the least and the largest fee."""
    every = [each for each in quotes_accepted(context, operation) if _fee_share(each) is not None]
    by_request = grouped(every, lambda quote: frozenset(quote.exchange.parameters.items()))
    for equal in by_request.values():
        if len(equal) > 1:
            ordered = sorted(equal, key=lambda quote: _fee_share(quote) or 0)
            yield ordered[0], ordered[-1]


@_PACK.major("requests.equal", needs=COMPARED_QUOTES, every_exchange=True)
@each(equal_quotes, "data.serviceFee", not_shown="no request was quoted twice with a service fee")
def equal_quotes_cost_the_same(_: RunContext, pair: QuotePair) -> Findings:
    """The service fee of two equal requests is the same share of what they pay."""
    least, most = (_fee_share(quote) or Decimal(0) for quote in pair)
    if not amounts.within(least, most, _FEE_FACTOR):
        shares = " and ".join(f"{share * 100:.4g}" for share in (least, most))
        yield Finding(f"the service fee of equal requests is {shares} percent of the output")


# So many quotes have to repeat what the request before them was about.
_FEWEST_REPEATED, _FEWEST_CHANGES = 10, 3


@_PACK.major("requests.equal", ids.SWAP_QUOTE, needs=COMPARED_QUOTES, every_exchange=True)
@counting(not_shown="the aggregator does not depend on the chains, or too little was quoted")
def aggregator_is_that_of_its_own_quote(context: RunContext, operation: Operation) -> Judgements:
    """The aggregator of a quote follows from its own chains, not from those of the quote before."""
    every = [quote for quote in quotes(context, operation) if quote.exchange.text("aggregator")]
    names = [quote.exchange.text("aggregator") for quote in every]
    targets = [quote.route.target.chain for quote in every]
    if len(set(names)) < 2 or len(every) < _FEWEST_REPEATED * 2:
        return
    own, before = _conflicts(targets, names), _conflicts(targets[:-1], names[1:])
    yield JUDGED
    repeated = len(every) - 1 - len(set(targets[:-1]))
    if len(own) >= _FEWEST_CHANGES and not before and repeated >= _FEWEST_REPEATED:
        at = own[0]
        message = (
            f"aggregator is {names[at]!r} after a quote to {targets[at - 1]}, as after each such "
            f"quote; of quotes to {targets[at]} itself others have another"
        )
        yield Finding(message, (every[at - 1].exchange, every[at].exchange), "data.aggregator")


def _conflicts(about: Sequence[str], values: Sequence[str]) -> list[int]:
    """Return where the value is another one than at first about the same."""
    first: dict[str, str] = {}
    pairs = enumerate(zip(about, values, strict=True))
    return [at for at, (key, value) in pairs if first.setdefault(key, value) != value]


def _fee_share(quote: AnsweredQuote) -> Decimal | None:
    """Return the service fee as a share of the output; None where either is too small to tell."""
    fee, out = quote.units("serviceFee"), quote.units("outAmount")
    if not out or fee is None or fee < _LEAST_GAS_UNITS:
        return None
    return amounts.EXACT.divide(Decimal(fee), Decimal(out))


@_PACK.critical("v2.get-bridge-quote", each=("usual", "tenfold", "back", "again"))
def output_grows_with_input(context: RunContext, operation: Operation) -> Findings:
    """Ten times the amount pays out more, and about ten times as much."""
    return grows_with_input(context, operation)


def gained(context: RunContext, first: AnsweredQuote, back: AnsweredQuote) -> Findings:
    """Yield a finding where a way back pays over two percent more of a token than was put in, and
    more than prices may have risen between the two quotes.
    """
    share = amounts.EXACT.divide(out_of(back), back.put)
    returned = amounts.EXACT.multiply(share, amounts.EXACT.divide(out_of(first), first.put))
    if returned > _LARGEST_GAIN * most_moved(context, first.exchange.operation.id):
        message = f"there and back turns 1 {first.route.source.symbol} into {returned:.6g}"
        yield Finding(message, (first.exchange, back.exchange), back.place)


def _quotes_with_ways_back(forward: tuple[AnsweredQuote, ...]) -> Iterator[QuotePair]:
    """Yield a quote at an edge for each route with one of the way back, where both were given."""
    edges = [quote for quote in forward if quote.exchange.probe.edge]
    by_route = {quote.route: quote for quote in edges if quote.got is not None and quote.got > 0}
    returned: set[TokenRoute] = set()
    for route, quote in by_route.items():
        back = by_route.get(TokenRoute(route.target, route.source))
        if back is not None and back.route not in returned:
            returned.add(route)
            yield quote, back


def _accepted_quote(context: RunContext, operation: Operation) -> AnsweredQuote:
    return named_quote(context, require_accepted(context, operation.id).probe)


def steady_quotes(
    context: RunContext, operation: Operation, other: ProbeName
) -> tuple[AnsweredQuote, AnsweredQuote, AnsweredQuote]:
    """Return the usual quote, another one, and the usual one again, which still pays the same."""
    first, second = _accepted_quote(context, operation), named_quote(context, other)
    repeated = named_quote(context, probe(operation, "again"))
    steady(out_of(first), out_of(repeated), "the quote")
    return first, second, repeated


def _explained_by_price_impact(quote: AnsweredQuote, fair: Decimal) -> bool:
    impact = quote.number("priceImpact")
    if impact is None or abs(impact) < 10 or quote.pays > fair:
        return False
    lost = amounts.EXACT.divide((fair - quote.pays) * 100, fair)
    return abs(impact) * Decimal("1.5") >= lost


@_PACK.major("quotes.gas-fee-fixed", ids.BRIDGE)
@counting(vacuous="no two amounts have a gas fee")
def gas_fee_is_not_a_share(context: RunContext, operation: Operation) -> Judgements:
    """The gas fee is no share of the amount: ten times as much costs about the same gas."""
    quote = _accepted_quote(context, operation)
    larger = named_quote(context, probe(operation, "tenfold"))
    fees = [required_members.units(each.exchange, "gasFee") for each in (quote, larger)]
    (first, last), times = map(Decimal, fees), amounts.EXACT.divide(larger.put, quote.put)
    required_members.skip_unless(first > _LEAST_GAS_UNITS and times > _SMALLEST_AMOUNT_FACTOR)
    yield JUDGED
    if last > first * _LARGEST_GAS_FACTOR:
        message = f"gasFee is {first} of an amount, and {last} of {times:.6g} times as much"
        yield Finding(message, (quote.exchange, larger.exchange), "data.gasFee")


@_PACK.major("quotes.equal", each=("usual", "tenfold", "back", "again"))
def equal_quotes_agree(context: RunContext, operation: Operation) -> Findings:
    """The same quote, requested twice within a moment, has the same members and about the same
    value.
    """
    first = _accepted_quote(context, operation)
    repeated = named_quote(context, probe(operation, "again"))
    exchanges = (first.exchange, repeated.exchange)
    for name in sorted(set(first.exchange.data) ^ set(repeated.exchange.data)):
        yield Finding(f"{name} is in one of two equal quotes only", exchanges, f"data.{name}")
    outs = out_of(first), out_of(repeated)
    if not amounts.within(*outs, Decimal(2)):
        message = f"equal requests pay {outs[0]:.6g} and {outs[1]:.6g}"
        yield Finding(message, exchanges, "data.outAmount")


@_PACK.critical("quotes.there-and-back", each=("usual", "tenfold", "back", "again"))
def there_and_back_gains_nothing(context: RunContext, operation: Operation) -> Findings:
    """Moving or swapping an amount there and back does not increase it."""
    first, returned, _ = steady_quotes(context, operation, probe(operation, "back"))
    yield from gained(context, first, returned)
    for quote, way_back in _quotes_with_ways_back(quotes(context, operation.id)):
        yield from gained(context, quote, way_back)


@_PACK.critical("swaps.prices", ids.SWAP_QUOTE)
@each(quotes, "data.outAmount", vacuous="no swap was quoted between tokens whose prices are known")
def swap_follows_prices(context: RunContext, quote: AnsweredQuote) -> Findings:
    """A swap pays about what the prices of its two tokens suggest."""
    source, target = quote.route.source, quote.route.target
    source_price, target_price = (believed_price(context, end) for end in (source, target))
    got, fair = map(required_members.value, (quote.got, fair_output(context, quote)))
    # Fees or rounding may leave nothing of little.
    required_members.skip_unless(got > 0 or (got == 0 and fair * (target_price or 0) > _MUCH_USD))
    # Two equal prices may be of one token by mistake, which another rule reports.
    is_one_price = source_price == target_price and not (is_stable(source) and is_stable(target))
    required_members.skip_unless(not is_one_price)
    # What is less than a smallest unit is not paid, which is much of a token without decimals.
    before_rounding = min(max(got, fair), got + Decimal(1).scaleb(-quote.decimals))
    fits = amounts.within(before_rounding, fair, _PRICE_FACTOR)
    if not fits and not _explained_by_price_impact(quote, fair):
        put, paid = f"{quote.put:.6g} {source.symbol}", f"{got or 0:.6g} {target.symbol}"
        pay = f"{put} at {source_price} USD pay {paid}"
        yield Finding(f"{pay} at {target_price} USD, expected about {fair:.6g}")


# Prices that move never leave so many values on one share of what they are of, to so many digits.
_FEWEST_VALUES, _APART = 3, Decimal("1e-3")
_ON_A_VALUE, _ON_A_SHARE = Decimal("1e-6"), Decimal("1e-5")


@_PACK.critical("swaps.usd")
@counting(vacuous="no quote has a USD value and tokens whose prices are known")
def values_are_those_of_outputs(context: RunContext, operation: Operation) -> Judgements:
    """The USD value of a quote is that of its output: neither that of the amount which is given for
    it, nor the same share of it each time.
    """
    judged, of_amounts = list[tuple[Decimal, AnsweredQuote]](), 0
    valued = [
        (quote, usd)
        for quote in quotes_accepted(context, operation)
        # Of less than a dollar, what is cut off is more than a share shows.
        if (usd := quote.number("outAmountUsd")) and usd >= 1
    ]
    # Zeros at the end of a value may be left out, those of all values are none that it could have.
    digits = min((int(usd.as_tuple().exponent) for _, usd in valued), default=0)
    for quote, usd in valued:
        own = quote.number("price")
        ends = (quote.route.source, quote.route.target)
        given, got = [own or price_of(context, end) for end in ends]
        near = max(usd * _ON_A_VALUE, Decimal(1).scaleb(digits))
        if not given or not got or not quote.got or near > usd * _ON_A_SHARE:
            continue
        # Of a transfer that pays more than it gets the output is wrong, and another rule's.
        if quote.route.source.symbol == quote.route.target.symbol and quote.got > quote.put:
            continue
        yield JUDGED
        output = amounts.EXACT.multiply(quote.got, got)
        if abs(usd - output) <= near:
            return
        judged.append((amounts.EXACT.divide(usd, output), quote))
        of_amounts += abs(usd - amounts.EXACT.multiply(quote.put, given)) <= near
    # One token may have another price than that which it is valued at.
    symbols = {quote.route.target.symbol for _, quote in judged}
    if len(judged) < _FEWEST_VALUES or len(symbols) < 2:
        return
    (least, quote), (most, _) = (bound(judged, key=itemgetter(0)) for bound in (min, max))
    value, source = f"outAmountUsd is {quote.number('outAmountUsd'):.6g}", quote.route.source
    place, exchanges = "data.outAmountUsd", (quote.exchange,)
    if of_amounts >= max(_FEWEST_VALUES, len(judged) // 2):
        message = f"{value}, the value of the {quote.put:.6g} {source.symbol} that are given"
        yield Finding(message, exchanges, place, cause="amount")
    elif most - least < _ON_A_SHARE and abs(least - 1) > _APART:
        message = f"{value}, {least:.5g} of what the output is worth, as in each of {len(judged)}"
        yield Finding(f"{message} quotes", exchanges, place, cause="share")


@_PACK.major(
    "quotes.price", ids.BRIDGE, needs=(*COMPARED_QUOTES, *PRICES, *probes(ids.BRIDGE, "sampled 1"))
)
@each(
    quotes, "data.price", vacuous="no quote has a price of a token that was requested of getPrice"
)
def quote_price_is_the_tokens(context: RunContext, quote: AnsweredQuote) -> Findings:
    """`price` in the quote of a transfer is the price that getPrice gives for the token."""
    source, price = quote.route.source, required_members.number(quote.exchange, "price")
    known = required_members.value(price_of(context, source))
    queries = [exchange.request.query for exchange in context.successes(ids.PRICE)]
    required_members.skip_unless(any(f"symbol={source.symbol}" in query for query in queries))
    if not amounts.within(price, known, _PRICE_FACTOR):
        yield Finding(f"price of {source.symbol} is {price} in the quote, {known} in getPrice")
