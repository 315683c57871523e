"""Quotes of 2.0, each against its own request: amounts, fees and names."""

from decimal import Decimal

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    AnsweredQuote,
    chains_called,
    fair_output,
    is_elsewhere,
    known_chains,
    power_of_ten,
    prices_for,
    quotes,
    quotes_accepted,
)
from mockserver.conformance.checks.check_decorators import each
from mockserver.conformance.checks.judged_exchanges import answered_quotes, is_named
from mockserver.conformance.checks.rule import Finding, Findings, RulePack
from mockserver.conformance.checks.shared_probes import (
    BRIDGE_QUOTES,
    SWAP_QUOTES,
    V2_QUOTES,
    probes,
)
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import Reading, require_accepted
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.discovery.token_routes import plain_tokens, price_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.contract import Layer, Operation, fact_basis, ids

# Requests are worth about 100 USD (`token_routes.py`), of which no fee takes half.
_LARGEST_OUTPUT_SHARE, _SMALLEST_OUTPUT_SHARE = Decimal("1.02"), Decimal("0.5")
# Of amounts this far apart a share is not worth the same.
_OF_ANOTHER_WORTH = Decimal("1.1")
# An error of units is a power of ten: less than that is an error of the amount.
_SAME_UNIT_FACTOR = Decimal(8)
# Of fewer units, rounding to a whole one is percents.
_DUST_UNITS = 100
# Sources may disagree about a price; an error of decimals is far beyond this.
_USD_FACTOR = Decimal(3)
_OWN_PRICE_FACTOR = Decimal("1.1")
# A fee in 6 decimals where 18 are right is too small by 10^12.
_NEGLIGIBLE_SHARE = Decimal("1e-10")
_LARGE_OUTPUT = Decimal(1_000_000)
# In USD; no transaction costs as much.
_FORTUNE = 1_000
_DIGITS = {"serviceFee": "quotes.service-fee-digits", "gasFee": "quotes.gas-fee-digits"}
_RATE_OF_ALL, _FEE_TOLERANCE = Decimal(10_000), Decimal("0.02")
# USD values may be off by this however small they are: their last digit is cut off.
_CENT = Decimal("0.01")

_PACK = RulePack(Layer.EXCHANGE, operations=V2_QUOTES, needs=SWAP_QUOTES, reads=(ids.PRICE,))


@_PACK.critical("bridge-quote.out-amount", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES))
@each(answered_quotes, "data.outAmount", vacuous="outAmount is a text in no quote")
def amounts_are_whole_units(_: RunContext, exchange: Exchange) -> Findings:
    """The output of a quote is a whole number of smallest units, not negative."""
    value = required_members.text(exchange, "outAmount")
    if amounts.units(value) is None:
        message = f"outAmount is {value[:80]!r}, expected a whole number of smallest units"
        digits = fact_basis("quotes.out-amount-digits")
        number = amounts.number(value)
        # `12.0` is a whole number of units as well, only written otherwise.
        is_whole = number is None or (number >= 0 and number == number.to_integral_value())
        spelled = is_whole or exchange.operation.id != ids.BRIDGE
        yield Finding(message, basis=digits if spelled else None)


@_PACK.critical("bridge-quote.out-amount", ids.BRIDGE, needs=BRIDGE_QUOTES)
@each(quotes_accepted, "data.outAmount", vacuous="no quote has an output that is a number")
def bridge_keeps_the_amount(_: RunContext, quote: AnsweredQuote) -> Findings:
    """A transfer pays out about the amount that was paid in, in the decimals of the
    target chain.
    """
    got = required_members.value(quote.got)
    required_members.skip_unless(got >= 0)
    put, paid = (amounts.EXACT.scaleb(amount, quote.decimals) for amount in (quote.put, got))
    # Fees or rounding may leave nothing of a very small amount.
    required_members.skip_unless(put >= _DUST_UNITS or paid - put >= 1)
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


@_PACK.critical(
    "bridge-quote.out-amount-usd", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES, *probes(ids.PRICE, "usual"))
)
@each(
    quotes, "data.outAmountUsd", vacuous="no quote has a USD value and a token whose price is known"
)
def usd_value_fits_output(context: RunContext, quote: AnsweredQuote) -> Findings:
    """The USD value of a quote is its output, in the decimals of the target, times a
    known price.
    """
    usd, target = required_members.number(quote.exchange, "outAmountUsd"), quote.route.target
    values = [amounts.EXACT.multiply(quote.pays, price) for price in prices_for(context, target)]
    # A USD value with few digits says nothing about a very small amount.
    required_members.skip_unless(values and (max(values) > _CENT or abs(usd) > _CENT))
    near = (amounts.within(usd, each, _USD_FACTOR) or abs(usd - each) <= _CENT for each in values)
    if not any(near):
        nearest = min(values, key=lambda value: abs(power_of_ten(usd, value)))
        worth = f"{_brief(quote.pays)} {target.symbol} are worth about {_brief(nearest)}"
        basis = None if quote.exchange.operation.id == ids.BRIDGE else fact_basis("swaps.usd")
        yield Finding(f"outAmountUsd is {_brief(usd)}, while {worth}", basis=basis)
        return
    own = quote.number("price")
    value = amounts.EXACT.multiply(quote.pays, own or 0)
    # The price beside it is of the same moment, so that only digits are between them.
    if value and not amounts.within(usd, value, _OWN_PRICE_FACTOR) and abs(usd - value) > _CENT:
        worth = f"{_brief(quote.pays)} {target.symbol} are worth {_brief(value)}"
        message = f"outAmountUsd is {_brief(usd)}, while by the price beside it {worth}"
        basis = fact_basis("quotes.price")
        yield Finding(message, place="data.price", basis=basis, cause="own price")
        return
    fees = [amounts.units(quote.exchange.data.get(name)) for name in ("serviceFee", "gasFee")]
    price, cost = quote.number("price"), Decimal(sum(fee or 0 for fee in fees))
    taken = amounts.EXACT.scaleb(cost, -quote.decimals)
    left = quote.pays - taken
    # Only fees above the last digit tell the value before fees from that after them.
    if price and left > 0 and abs(usd - left * price) * 100 < taken * price:
        what = f"the value of {_brief(left)} {target.symbol} that are left after the fees"
        basis = fact_basis("quotes.usd-gross")
        yield Finding(f"outAmountUsd is {_brief(usd)}, {what}", basis=basis, cause="net")


@_PACK.critical("units.requests", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES))
def amount_is_read_as_smallest_units(context: RunContext, operation: Operation) -> Findings:
    """The amount of a quote is read as smallest units of the source token."""
    attempt = require_accepted(context, operation.id)
    if attempt.reading is Reading.TOKENS:
        tried = [each for each in context.of(operation.id) if each.probe == plain_probe(operation)]
        exchanges = (*tried, context.require(attempt.probe))
        place = "query.amount" if operation.id == ids.BRIDGE else "query.fromAmount"
        yield Finding("the amount of the request is read as whole tokens", exchanges, place)


@_PACK.critical("quotes.fees", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES, *probes(ids.PRICE, "usual")))
@each(quotes, "data.serviceFee", vacuous="no quote has a fee that is a text")
def fees_are_smallest_units(context: RunContext, quote: AnsweredQuote) -> Findings:
    """Fees are whole numbers, not negative, and do not use up the output unless that is tiny."""
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
    required_members.skip_unless(texts)


@_PACK.major("quotes.service-fee-share", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES))
@each(quotes, "data.serviceFee", vacuous="no quote has an output and a service fee")
def service_fee_is_a_small_share(context: RunContext, quote: AnsweredQuote) -> Findings:
    """The service fee is hundredths of a percent of the output, or the least of all fees."""
    fee = required_members.units(quote.exchange, "serviceFee")
    out = required_members.value(required_members.units(quote.exchange, "outAmount") or None)
    if fee * 50 > out and not _is_least_fee(context, quote):
        share = Decimal(fee * 10000 // out) / 100
        yield Finding(f"serviceFee is {share} percent of outAmount, expected less than 2")
    if not fee:
        yield from _fee_left_out(context, quote)


def _fee_left_out(context: RunContext, quote: AnsweredQuote) -> Findings:
    """Yield a finding where a quote is free, while less and more of the token on its route cost a
    fee of which as much as here would be seen.
    """
    alike = [
        charged
        for charged in quotes(context, quote.exchange.operation)
        if charged.route == quote.route and charged.units("serviceFee")
    ]
    less = next((charged for charged in alike if charged.put < quote.put), None)
    more = next((charged for charged in alike if charged.put > quote.put), None)
    if less is not None and more is not None:
        amount = f"{_brief(less.put)} and of {_brief(more.put)} {quote.route.source.symbol}"
        message = f"serviceFee is 0 of {_brief(quote.put)}, and more than that of {amount}"
        exchanges = (less.exchange, more.exchange, quote.exchange)
        yield Finding(message, exchanges, cause="free")


def _is_least_fee(context: RunContext, quote: AnsweredQuote) -> bool:
    """Tell whether a fee is worth as much as those of different larger amounts, of which it is a
    small share: the least that a service takes, of whatever token.
    """
    own = _fee_in_usd(quote)
    others = [
        other[1]
        for larger in quotes(context, quote.exchange.operation)
        if own and (other := _fee_in_usd(larger)) and abs(other[0] - own[0]) * 200 <= own[0]
        if other[0] * 50 <= other[1]
    ]
    return bool(others) and max(others) > min(others) * _OF_ANOTHER_WORTH


def _fee_in_usd(quote: AnsweredQuote) -> tuple[Decimal, Decimal] | None:
    """Return what the fee and the output of a quote are worth, where the quote says so."""
    usd = quote.number("outAmountUsd")
    fee, out = quote.units("serviceFee"), quote.units("outAmount")
    if not (usd and fee and out):
        return None
    return amounts.EXACT.divide(amounts.EXACT.multiply(usd, Decimal(fee)), Decimal(out)), usd


@_PACK.critical("quotes.service-fee-rate", needs=(*BRIDGE_QUOTES, *SWAP_QUOTES))
@each(quotes, "data.serviceFee", not_shown="no quote has a service fee and its rate")
def service_fee_is_its_rate(_: RunContext, quote: AnsweredQuote) -> Findings:
    """The service fee is the share of the output that serviceFeeRate gives, or nothing within a
    chain.
    """
    fee = required_members.units(quote.exchange, "serviceFee")
    rate = required_members.units(quote.exchange, "serviceFeeRate")
    out = required_members.units(quote.exchange, "outAmount")
    # A transfer executed on its source chain has no fee, whatever the rate is.
    required_members.skip_unless(fee or quote.route.source.chain != quote.route.target.chain)
    due = amounts.EXACT.divide(amounts.EXACT.multiply(Decimal(out), Decimal(rate)), _RATE_OF_ALL)
    # A contract divides before it multiplies, and so loses up to the rate in smallest units.
    if abs(fee - due) > max(due * _FEE_TOLERANCE, Decimal(rate + 1)):
        of = f"{rate} hundredths of a percent of {out} are {due:.0f}"
        yield Finding(f"serviceFee is {fee}, while {of}")


@_PACK.major("quotes.min-out-amount", ids.SWAP_QUOTE)
@each(
    answered_quotes, "data.minOutAmount", not_shown="no quote has a minOutAmount that can be read"
)
def minimum_is_not_above_output(_: RunContext, exchange: Exchange) -> Findings:
    """`minOutAmount` is empty, or not more than outAmount."""
    if exchange.data.get("minOutAmount") == "":
        return
    low = required_members.number(exchange, "minOutAmount")
    high = required_members.number(exchange, "outAmount")
    if low > high:
        yield Finding(f"minOutAmount is {low}, more than outAmount, which is {high}")


@_PACK.major("aggregate-quote.aggregator", ids.SWAP_QUOTE)
@each(answered_quotes, "data.aggregator", vacuous="aggregator is a text in no quote")
def aggregator_is_named(_: RunContext, exchange: Exchange) -> Findings:
    """The quote names the aggregator that was chosen."""
    return is_named(exchange, "aggregator")


@_PACK.critical("quotes.chain-decimal", ids.SWAP_QUOTE)
@each(quotes, "data.chainDecimal", vacuous="chainDecimal is an integer in no quote")
def chain_decimal_is_the_targets(context: RunContext, quote: AnsweredQuote) -> Findings:
    """`chainDecimal` is the number of decimals in which the quote gives its output."""
    decimals = required_members.integer(quote.exchange, "chainDecimal")
    target, source = quote.route.target, quote.route.source
    required_members.skip_unless(not is_elsewhere(context, quote.exchange, target))
    if decimals != target.decimals:
        like = " as of the source token" if decimals == source.decimals else ""
        has = f"{target.symbol} on {target.chain} has {target.decimals}"
        yield Finding(f"chainDecimal is {decimals}{like}, while {has}")


@_PACK.major("quotes.executing-chain", ids.SWAP_QUOTE, layer=Layer.CROSS)
@each(
    answered_quotes,
    "data.chain",
    vacuous="no quote names a chain that could be compared with the list",
)
def quote_names_a_listed_chain(context: RunContext, exchange: Exchange) -> Findings:
    """`chain` of an aggregate quote is a listed chain, by its network id or a name."""
    name, known = required_members.text(exchange, "chain"), known_chains(context)
    networks = {chain.network for chain in known.values() if chain.network}
    required_members.skip_unless(known and (networks or not name.isdecimal()))
    if folded(name) not in known and name not in networks:
        neither = "which is neither a name nor a network id of a listed chain"
        yield Finding(f"chain is {name[:80]!r}, {neither}")


@_PACK.major("quotes.chain-of-route", ids.SWAP_QUOTE, layer=Layer.CROSS)
@each(
    quotes,
    "data.chain",
    once=True,
    vacuous="no quote within a chain or to an EVM chain names a chain that the list shows",
)
def swap_is_executed_on_its_route(context: RunContext, quote: AnsweredQuote) -> Findings:
    """`chain` of a quote is its source or its target, where the swap is within a chain or to an
    EVM chain.
    """
    source, target = quote.route.source, quote.route.target
    named = chains_called(context, required_members.text(quote.exchange, "chain"))
    required_members.skip_unless(named)
    required_members.skip_unless(quote.route.is_within_a_chain or plain_tokens(context)(target))
    if all(chain.name not in (source.chain, target.chain) for chain in named):
        of = f"{source.symbol} on {source.chain} for {target.symbol} on {target.chain}"
        yield Finding(f"chain of the quote is {named[0].name}, the swap is of {of}")


@_PACK.major("quotes.price-impact", ids.SWAP_QUOTE)
@each(quotes, "data.priceImpact", vacuous="no quote has a priceImpact that is a number")
def price_impact_is_in_percent(context: RunContext, quote: AnsweredQuote) -> Findings:
    """`priceImpact` is a plausible percentage: small for a small amount, and at most 100."""
    impact = required_members.number(quote.exchange, "priceImpact")
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
    price = price_of(context, target)
    if price is None and (usd := quote.number("outAmountUsd")) and got:
        # Nobody asked for the price, so the answer's own value of the output has to do.
        price = amounts.EXACT.divide(usd, got)
    # Fixed fees may use up a small amount, but not a fortune.
    if price is None or (worth < 90 and amounts.EXACT.multiply(fees, price) < _FORTUNE):
        return
    if 0 < got <= fees:
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
