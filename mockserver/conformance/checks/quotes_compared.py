"""Quotes of 2.0 compared with each other and with prices, bracketed by an equal request."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks import needs
from mockserver.conformance.checks.comparing import (
    Quote,
    fair_output,
    named_quote,
    out_of,
    quotes,
    steady,
)
from mockserver.conformance.checks.rule import Finding, Findings
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import BRIDGE, SWAP_QUOTE, require_accepted
from mockserver.conformance.discovery.routes import Route, is_stable, price_of
from mockserver.conformance.requests.words import label_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation, documented

_ASKED = {
    BRIDGE: documented("v2.get-bridge-quote"),
    SWAP_QUOTE: documented("v2.get-aggregate-quote"),
}
_AGREE = Decimal("1.25")
_GAIN = Decimal("1.02")
_FEWEST, _MOST = Decimal(5), Decimal("10.5")


def output_grows_with_input(context: RunContext, operation: Operation) -> Findings:
    first, more, again = _steady(context, operation, "tenfold")
    times = amounts.EXACT.divide(more.put, first.put)
    if times < 2:
        raise Inconclusive("the tries of the quote asked for other amounts")
    share = amounts.EXACT.divide(out_of(more), out_of(first))
    if not _FEWEST <= share <= _MOST:
        how = "the same" if share == 1 else f"{share:.4g} times as much"
        seen, basis = (first.exchange, more.exchange, again.exchange), _ASKED.get(operation.id)
        yield Finding(f"{times:.4g} times the amount pays {how}", seen, first.place, basis)


def equal_quotes_agree(context: RunContext, operation: Operation) -> Findings:
    first, again = _usual(context, operation), named_quote(context, f"{operation.id}/again")
    seen = (first.exchange, again.exchange)
    for name in sorted(set(first.exchange.data) ^ set(again.exchange.data)):
        yield Finding(f"{name} is in one of two equal quotes only", seen, f"data.{name}")
    outs = out_of(first), out_of(again)
    if not amounts.within(*outs, Decimal(2)):
        message = f"equal requests pay {outs[0]:.6g} and {outs[1]:.6g}"
        yield Finding(message, seen, "data.outAmount")


def there_and_back_gains_nothing(context: RunContext, operation: Operation) -> Findings:
    first, back, _ = _steady(context, operation, "back")
    yield from gained(first, back)
    for one, other in _ways_back(quotes(context, operation.id)):
        yield from gained(one, other)


def gained(first: Quote, back: Quote) -> Findings:
    """Find that a way back gives more of a token than the way there took, beyond two percent."""
    share = amounts.EXACT.divide(out_of(back), back.put)
    whole = amounts.EXACT.multiply(share, amounts.EXACT.divide(out_of(first), first.put))
    if whole > _GAIN:
        message = f"there and back turns 1 {first.route.source.symbol} into {whole:.6g}"
        yield Finding(message, (first.exchange, back.exchange), back.place)


def _ways_back(given: tuple[Quote, ...]) -> Iterator[tuple[Quote, Quote]]:
    """Yield one quote at an edge for each route, with one of the way back where that was quoted."""
    asked = [quote for quote in given if label_of(quote.exchange.probe)]
    by_route = {quote.route: quote for quote in asked if quote.got is not None and quote.got > 0}
    told: set[Route] = set()
    for route, quote in by_route.items():
        back = by_route.get(Route(route.target, route.source))
        if back is not None and back.route not in told:
            told.add(route)
            yield quote, back


def swap_follows_prices(context: RunContext, quote: Quote) -> Findings:
    source, target = quote.route.source, quote.route.target
    one, other = price_of(context, source), price_of(context, target)
    got, fair = quote.pays, needs.value(fair_output(context, quote))
    # Of equal prices either may be that of another token, which is for another rule to say.
    needs.that(one != other or (is_stable(source) and is_stable(target)))
    if not amounts.within(got, fair, _AGREE) and not _impacted(quote, fair):
        pay = f"{quote.put:.6g} {source.symbol} at {one} USD pay {got:.6g} {target.symbol}"
        yield Finding(f"{pay} at {other} USD, expected about {fair:.6g}")


def quote_price_is_the_tokens(context: RunContext, quote: Quote) -> Findings:
    source, told = quote.route.source, needs.number(quote.exchange, "price")
    known = needs.value(price_of(context, source))
    asked = [one for one in context.of("v2.getPrice") if one.succeeded]
    needs.that(any(f"symbol={source.symbol}" in one.request.query for one in asked))
    if not amounts.within(told, known, _AGREE):
        yield Finding(f"price of {source.symbol} is {told} in the quote, {known} in getPrice")


def _usual(context: RunContext, operation: Operation) -> Quote:
    return named_quote(context, require_accepted(context, operation.id).probe)


def _steady(context: RunContext, operation: Operation, name: str) -> tuple[Quote, Quote, Quote]:
    """Return the usual quote, another one, and the usual one again, which pays the same still."""
    first, other = _usual(context, operation), named_quote(context, f"{operation.id}/{name}")
    again = named_quote(context, f"{operation.id}/again")
    steady(out_of(first), out_of(again), "the quote")
    return first, other, again


def _impacted(quote: Quote, fair: Decimal) -> bool:
    """Tell whether the quote itself says that its amount moves the price so far."""
    impact = quote.number("priceImpact")
    if impact is None or abs(impact) < 10 or quote.pays > fair:
        return False
    lost = amounts.EXACT.divide((fair - quote.pays) * 100, fair)
    return abs(impact) * Decimal("1.5") >= lost
