"""Quotes of 2.0 against their own request, against each other, and against prices."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks import needs
from mockserver.conformance.checks.quoting import (
    AnsweredQuote,
    fair_output,
    is_elsewhere,
    known_chains,
    named_quote,
    out_of,
    power_of_ten,
    prices_for,
    quotes,
    steady,
)
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import Reading, require_accepted
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.discovery.routes import TokenRoute, is_stable, price_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName, plain_probe
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation, fact_basis, ids

# Requests are worth about 100 USD (`routes.py`), of which no fee takes half.
_LARGEST_OUTPUT_SHARE, _SMALLEST_OUTPUT_SHARE = Decimal("1.02"), Decimal("0.5")
_SMALLEST_AMOUNT_FACTOR = Decimal(3)
# An error of units is a power of ten: less than that is an error of the amount.
_SAME_UNIT_FACTOR = Decimal(8)
# How many times the gas of one amount that of another may be a moment later.
_LARGEST_GAS_FACTOR = Decimal(3)
_DUST_UNITS = 100
# Sources may disagree about a price; an error of decimals is far beyond this.
_USD_FACTOR = Decimal(3)
# A fee in 6 decimals where 18 are right is too small by 10^12.
_NEGLIGIBLE_SHARE = Decimal("1e-10")
_LARGE_OUTPUT = Decimal(1_000_000)
_RATE = "serviceFeeRate"
_DIGITS = {"serviceFee": "quotes.service-fee-digits", "gasFee": "quotes.gas-fee-digits"}
_RATE_OF_ALL, _FEE_TOLERANCE = Decimal(10_000), Decimal("0.02")
# USD values may be off by this however small they are: their last digit is cut off.
_CENT = Decimal("0.01")


def amounts_are_whole_units(exchange: Exchange) -> Findings:
    value = needs.text(exchange, "outAmount")
    if amounts.units(value) is None:
        message = f"outAmount is {value[:80]!r}, expected a whole number of smallest units"
        digits = fact_basis("quotes.out-amount-digits")
        spelled = amounts.number(value) is None or exchange.operation.id != ids.BRIDGE
        yield Finding(message, basis=digits if spelled else None)


def bridge_keeps_the_amount(quote: AnsweredQuote) -> Findings:
    got = needs.value(quote.got)
    needs.skip_unless(got >= 0)
    put, paid = (amounts.EXACT.scaleb(amount, quote.decimals) for amount in (quote.put, got))
    # Fees or rounding may leave nothing of a very small amount.
    needs.skip_unless(put >= _DUST_UNITS or paid - put >= 1)
    if not _SMALLEST_OUTPUT_SHARE <= amounts.EXACT.divide(got, quote.put) <= _LARGEST_OUTPUT_SHARE:
        source, target = quote.route.source, quote.route.target
        moved = f"{_brief(quote.put)} {source.symbol} from {source.chain} to {target.chain}"
        is_near = amounts.within(got, quote.put, _SAME_UNIT_FACTOR)
        basis = fact_basis("units.transfers") if is_near else None
        yield Finding(f"{moved} pays {_brief(got)}{_unit_hint(quote, got)}", basis=basis)
        return
    fees = (amounts.units(quote.exchange.data.get(name)) or 0 for name in ("serviceFee", "gasFee"))
    service, gas = map(Decimal, fees)
    gone = put - paid
    if any(fee and abs(gone - fee) * 100 <= fee for fee in (service, gas, service + gas)):
        less = f"{_brief(paid)} smallest units, the amount less the fees shown beside it"
        yield Finding(f"outAmount is {less}", basis=fact_basis("units.transfers"), cause="net")


def usd_value_fits_output(context: RunContext, quote: AnsweredQuote) -> Findings:
    usd, target = needs.number(quote.exchange, "outAmountUsd"), quote.route.target
    values = [
        amounts.EXACT.multiply(quote.pays, known_price)
        for known_price in prices_for(context, target)
    ]
    # A USD value with few digits says nothing about a very small amount.
    needs.skip_unless(values and (max(values) > _CENT or abs(usd) > _CENT))
    if not any(
        amounts.within(usd, value, _USD_FACTOR) or abs(usd - value) <= _CENT for value in values
    ):
        nearest = min(values, key=lambda value: abs(power_of_ten(usd, value)))
        worth = f"{_brief(quote.pays)} {target.symbol} are worth about {_brief(nearest)}"
        basis = None if quote.exchange.operation.id == ids.BRIDGE else fact_basis("swaps.usd")
        yield Finding(f"outAmountUsd is {_brief(usd)}, while {worth}", basis=basis)
        return
    fees = [amounts.units(quote.exchange.data.get(name)) for name in ("serviceFee", "gasFee")]
    price, cost = quote.number("price"), Decimal(sum(fee or 0 for fee in fees))
    taken = amounts.EXACT.scaleb(cost, -quote.decimals)
    left = quote.pays - taken
    # Only fees above the last digit tell the value before fees from that after them.
    if price and left > 0 and abs(usd - left * price) * 100 < taken * price:
        what = f"{_brief(left)} {target.symbol} that are left after the fees"
        yield Finding(
            f"outAmountUsd is {_brief(usd)}, the value of {what}",
            basis=fact_basis("quotes.usd-gross"),
            cause="net",
        )


def gas_fee_is_not_a_share(
    context: RunContext, operation: Operation, more: ProbeName
) -> Judgements:
    quote, larger_quote = _accepted_quote(context, operation), named_quote(context, more)
    fees = [amounts.units(each.exchange.data.get("gasFee")) for each in (quote, larger_quote)]
    first, last = (Decimal(needs.value(fee)) for fee in fees)
    times = amounts.EXACT.divide(larger_quote.put, quote.put)
    needs.skip_unless(first > _DUST_UNITS and times > _SMALLEST_AMOUNT_FACTOR)
    yield JUDGED
    if last > first * _LARGEST_GAS_FACTOR:
        message = f"gasFee is {first} of an amount, and {last} of {times:.6g} times as much"
        yield Finding(message, (quote.exchange, larger_quote.exchange), "data.gasFee")


def amount_is_read_as_smallest_units(context: RunContext, operation: Operation) -> Findings:
    attempt = require_accepted(context, operation.id)
    if attempt.reading is Reading.TOKENS:
        tried = [each for each in context.of(operation.id) if each.probe == plain_probe(operation)]
        exchanges = (*tried, context.require(attempt.probe))
        place = "query.amount" if operation.id == ids.BRIDGE else "query.fromAmount"
        yield Finding("the amount of the request is read as whole tokens", exchanges, place)


def fees_are_smallest_units(context: RunContext, quote: AnsweredQuote) -> Findings:
    members = {name: quote.exchange.data.get(name) for name in ("serviceFee", "gasFee")}
    texts = {name: value for name, value in members.items() if isinstance(value, str)}
    total = Decimal(0)
    for name, value in texts.items():
        if amounts.units(value) is None:
            message = f"{name} is {value[:80]!r}, expected a whole number of smallest units"
            basis = fact_basis(_DIGITS[name])
            yield Finding(message, place=f"data.{name}", basis=basis)
        else:
            total += Decimal(value)
            yield from _fee_in_other_decimals(quote, name, Decimal(value))
    yield from _used_up_by_fees(context, quote, total)
    needs.skip_unless(texts)


def service_fee_is_a_small_share(quote: AnsweredQuote) -> Findings:
    fee = needs.units(quote.exchange, "serviceFee")
    out = needs.value(needs.units(quote.exchange, "outAmount") or None)
    if fee * 50 > out:
        share = Decimal(fee * 10000 // out) / 100
        yield Finding(f"serviceFee is {share} percent of outAmount, expected less than 2")


def service_fee_is_its_rate(quote: AnsweredQuote) -> Findings:
    fee, rate = needs.units(quote.exchange, "serviceFee"), needs.units(quote.exchange, _RATE)
    out = needs.units(quote.exchange, "outAmount")
    # A transfer executed on its source chain has no fee, whatever the rate is.
    needs.skip_unless(fee or quote.route.source.chain != quote.route.target.chain)
    due = amounts.EXACT.divide(amounts.EXACT.multiply(Decimal(out), Decimal(rate)), _RATE_OF_ALL)
    # A contract divides before it multiplies, and so loses up to the rate in smallest units.
    if abs(fee - due) > max(due * _FEE_TOLERANCE, Decimal(rate + 1)):
        of = f"{rate} hundredths of a percent of {out} are {due:.0f}"
        yield Finding(f"serviceFee is {fee}, while {of}")


def minimum_is_not_above_output(exchange: Exchange) -> Findings:
    if exchange.data.get("minOutAmount") == "":
        return
    low, high = needs.number(exchange, "minOutAmount"), needs.number(exchange, "outAmount")
    if low > high:
        yield Finding(f"minOutAmount is {low}, more than outAmount, which is {high}")


def chain_decimal_is_the_targets(context: RunContext, quote: AnsweredQuote) -> Findings:
    decimals = needs.integer(quote.exchange, "chainDecimal")
    target, source = quote.route.target, quote.route.source
    needs.skip_unless(not is_elsewhere(context, quote.exchange, target))
    if decimals != target.decimals:
        like = " as of the source token" if decimals == source.decimals else ""
        has = f"{target.symbol} on {target.chain} has {target.decimals}"
        yield Finding(f"chainDecimal is {decimals}{like}, while {has}")


def quote_names_a_listed_chain(context: RunContext, exchange: Exchange) -> Findings:
    name, known = needs.text(exchange, "chain"), known_chains(context)
    networks = {chain.network for chain in known.values() if chain.network}
    needs.skip_unless(known and (networks or not name.isdecimal()))
    if folded(name) not in known and name not in networks:
        neither = "which is neither a name nor a network id of a listed chain"
        yield Finding(f"chain is {name[:80]!r}, {neither}")


def price_impact_is_in_percent(context: RunContext, quote: AnsweredQuote) -> Findings:
    impact = needs.number(quote.exchange, "priceImpact")
    fair, lost = fair_output(context, quote), None
    if fair is not None and quote.got is not None:
        lost = abs(amounts.EXACT.divide((fair - quote.got) * 100, fair))
    unlike = lost is not None and abs(impact) > 20 and abs(impact) > 20 * (lost + 1)
    if abs(impact) > 100 or unlike:
        differs = f"; the price differs by {_brief(lost)} percent" if lost is not None else ""
        yield Finding(f"priceImpact is {impact}, no plausible number of percent{differs}")


def _used_up_by_fees(context: RunContext, quote: AnsweredQuote, total: Decimal) -> Findings:
    target, got = quote.route.target, quote.got or Decimal(0)
    worth = amounts.EXACT.multiply(quote.put, price_of(context, quote.route.source) or 0)
    fees = amounts.EXACT.scaleb(total, -quote.decimals)
    if worth >= 90 and 0 < got <= fees and price_of(context, target) is not None:
        left = f"{_brief(fees)} {target.symbol}, which leaves nothing of {_brief(got)}"
        yield Finding(f"serviceFee and gasFee are {left}", place="data.gasFee")


def _fee_in_other_decimals(quote: AnsweredQuote, name: str, fee: Decimal) -> Findings:
    """Yield a finding for a fee so small that it must be counted in other decimals."""
    decimals, got = quote.decimals, quote.got or Decimal(0)
    # A fixed fee may be negligible beside a very large amount.
    if decimals < 12 or fee <= 0 or not 0 < got <= _LARGE_OUTPUT:
        return
    share = amounts.EXACT.divide(amounts.EXACT.scaleb(fee, -decimals), got)
    if share < _NEGLIGIBLE_SHARE and quote.route.rescales:
        of = f"{_brief(got)} {quote.route.target.symbol}"
        alternative = f"it may count in {quote.route.source.decimals} decimals"
        message = f"{name} is {fee} smallest units, next to nothing of {of}; {alternative}"
        yield Finding(message, place=f"data.{name}")


def _unit_hint(quote: AnsweredQuote, got: Decimal) -> str:
    """Return a hint at the decimals in which the output would be right; empty where none."""
    source, target = quote.route.source.decimals, quote.route.target.decimals
    if got <= 0 or source is None or target is None:
        return ""
    power = power_of_ten(got, quote.put)
    if power == source - target and power:
        fits = f"that fits the {source} decimals of the source chain"
        return f"; {fits}, not the {target} of the target"
    if power == -target:
        return "; that fits whole tokens, not smallest units"
    return f"; that is off by 10^{power}" if power else ""


def _brief(number: Decimal) -> str:
    return f"{number:.6g}" if number else "0"


_BASIS_OF = {
    ids.BRIDGE: fact_basis("v2.get-bridge-quote"),
    ids.SWAP_QUOTE: fact_basis("v2.get-aggregate-quote"),
}
# Small amounts, so that price impact and fees stay within a quarter.
_PRICE_FACTOR = Decimal("1.25")
_LARGEST_GAIN = Decimal("1.02")
# Price impact lets ten times the amount pay less than tenfold, a fixed fee a little more.
_SMALLEST_GROWTH, _LARGEST_GROWTH = Decimal(5), Decimal("10.5")


def output_grows_with_input(
    context: RunContext, operation: Operation, more: ProbeName, again: ProbeName
) -> Findings:
    first, tenfold, repeated = _steady(context, operation, more, again)
    times = amounts.EXACT.divide(tenfold.put, first.put)
    if times < 2:
        raise Inconclusive("the attempts at the quote were for other amounts")
    share = amounts.EXACT.divide(out_of(tenfold), out_of(first))
    if not _SMALLEST_GROWTH <= share <= _LARGEST_GROWTH:
        how = "the same" if share == 1 else f"{share:.4g} times as much"
        exchanges = (first.exchange, tenfold.exchange, repeated.exchange)
        basis = _BASIS_OF.get(operation.id)
        yield Finding(f"{times:.4g} times the amount pays {how}", exchanges, first.place, basis)


def equal_quotes_agree(context: RunContext, operation: Operation, again: ProbeName) -> Findings:
    first, repeated = _accepted_quote(context, operation), named_quote(context, again)
    exchanges = (first.exchange, repeated.exchange)
    for name in sorted(set(first.exchange.data) ^ set(repeated.exchange.data)):
        yield Finding(f"{name} is in one of two equal quotes only", exchanges, f"data.{name}")
    outs = out_of(first), out_of(repeated)
    if not amounts.within(*outs, Decimal(2)):
        message = f"equal requests pay {outs[0]:.6g} and {outs[1]:.6g}"
        yield Finding(message, exchanges, "data.outAmount")


def there_and_back_gains_nothing(
    context: RunContext, operation: Operation, back: ProbeName, again: ProbeName
) -> Findings:
    first, returned, _ = _steady(context, operation, back, again)
    yield from gained(first, returned)
    for quote, way_back in _quotes_with_ways_back(quotes(context, operation.id)):
        yield from gained(quote, way_back)


def gained(first: AnsweredQuote, back: AnsweredQuote) -> Findings:
    """Yield a finding where a way back pays over two percent more of a token than was put in."""
    share = amounts.EXACT.divide(out_of(back), back.put)
    returned = amounts.EXACT.multiply(share, amounts.EXACT.divide(out_of(first), first.put))
    if returned > _LARGEST_GAIN:
        message = f"there and back turns 1 {first.route.source.symbol} into {returned:.6g}"
        yield Finding(message, (first.exchange, back.exchange), back.place)


def _quotes_with_ways_back(
    forward: tuple[AnsweredQuote, ...],
) -> Iterator[tuple[AnsweredQuote, AnsweredQuote]]:
    """Yield a quote at an edge for each route with one of the way back, where both were given."""
    edges = [quote for quote in forward if quote.exchange.probe.edge]
    by_route = {quote.route: quote for quote in edges if quote.got is not None and quote.got > 0}
    returned: set[TokenRoute] = set()
    for route, quote in by_route.items():
        back = by_route.get(TokenRoute(route.target, route.source))
        if back is not None and back.route not in returned:
            returned.add(route)
            yield quote, back


def swap_follows_prices(context: RunContext, quote: AnsweredQuote) -> Findings:
    source, target = quote.route.source, quote.route.target
    source_price, target_price = price_of(context, source), price_of(context, target)
    got, fair = quote.pays, needs.value(fair_output(context, quote))
    # Two equal prices may be of one token by mistake, which another rule reports.
    needs.skip_unless(source_price != target_price or (is_stable(source) and is_stable(target)))
    if not amounts.within(got, fair, _PRICE_FACTOR) and not _explained_by_price_impact(quote, fair):
        pay = f"{quote.put:.6g} {source.symbol} at {source_price} USD pay {got:.6g} {target.symbol}"
        yield Finding(f"{pay} at {target_price} USD, expected about {fair:.6g}")


def quote_price_is_the_tokens(context: RunContext, quote: AnsweredQuote) -> Findings:
    source, price = quote.route.source, needs.number(quote.exchange, "price")
    known = needs.value(price_of(context, source))
    requests = [exchange for exchange in context.of(ids.PRICE) if exchange.succeeded]
    needs.skip_unless(
        any(f"symbol={source.symbol}" in exchange.request.query for exchange in requests)
    )
    if not amounts.within(price, known, _PRICE_FACTOR):
        yield Finding(f"price of {source.symbol} is {price} in the quote, {known} in getPrice")


def _accepted_quote(context: RunContext, operation: Operation) -> AnsweredQuote:
    return named_quote(context, require_accepted(context, operation.id).probe)


def _steady(
    context: RunContext, operation: Operation, probe_name: ProbeName, again: ProbeName
) -> tuple[AnsweredQuote, AnsweredQuote, AnsweredQuote]:
    """Return the usual quote, another one, and the usual one again, which still pays the same."""
    first = _accepted_quote(context, operation)
    second, repeated = named_quote(context, probe_name), named_quote(context, again)
    steady(out_of(first), out_of(repeated), "the quote")
    return first, second, repeated


def _explained_by_price_impact(quote: AnsweredQuote, fair: Decimal) -> bool:
    impact = quote.number("priceImpact")
    if impact is None or abs(impact) < 10 or quote.pays > fair:
        return False
    lost = amounts.EXACT.divide((fair - quote.pays) * 100, fair)
    return abs(impact) * Decimal("1.5") >= lost
