"""Quotes of 2.0 against their own request: units, decimals, fees, and what is said of the swap."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks.comparing import (
    Quote,
    fair_output,
    is_elsewhere,
    power_of_ten,
)
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.pricing import prices_for
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    Reading,
    require_accepted,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.discovery.routes import price_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation, observed

SWAP_USD = observed("DEMO", "outAmountUsd of a swap is the value of its output in USD, too")
KEPT = observed("DEMO", "a transfer keeps the amount 1:1, rescaled to the target's decimals")
_MOST, _LEAST = Decimal("1.02"), Decimal("0.5")
_OFF = Decimal(8)
_USD_FACTOR = Decimal(3)
_NOTHING = Decimal("1e-10")
_LARGE = Decimal(1_000_000)
_CENT = Decimal("0.01")
"""What a text of USD may be off by, however little is quoted: a last digit that is cut off."""


def amounts_are_whole_units(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    value = exchange.data.get("outAmount")
    if not isinstance(value, str):
        return
    yield JUDGED
    if amounts.units(value) is None:
        spelled = amounts.number(value) is None or exchange.operation.id != BRIDGE
        yield Finding(
            f"outAmount is {value[:80]!r}, expected a whole number of smallest units",
            basis=observed("DEMO", "outAmount is digits only") if spelled else None,
        )


def bridge_keeps_the_amount(_: RunContext, quote: Quote) -> Iterator[Said]:
    if quote.got is None or quote.got < 0:
        return
    yield JUDGED
    share = amounts.EXACT.divide(quote.got, quote.put)
    if not _LEAST <= share <= _MOST:
        source, target = quote.route.source, quote.route.target
        yield Finding(
            f"{_shown(quote.put)} {source.symbol} from {source.chain} to {target.chain} pays "
            f"{_shown(quote.got)}{_hint(quote)}",
            basis=KEPT if amounts.within(quote.got, quote.put, _OFF) else None,
        )


def usd_value_fits_output(context: RunContext, quote: Quote) -> Iterator[Said]:
    usd = quote.number("outAmountUsd")
    prices = prices_for(context, quote.route.target)
    if usd is None or quote.got is None or quote.got <= 0 or not prices:
        return
    values = [amounts.EXACT.multiply(quote.got, price) for price in prices]
    if max(values) <= _CENT and abs(usd) <= _CENT:
        # Dust: a text of USD with few digits says nothing about it.
        return
    yield JUDGED
    if not any(_is_worth(usd, value) for value in values):
        nearest = min(values, key=lambda value: abs(power_of_ten(usd, value)))
        yield Finding(
            f"outAmountUsd is {_shown(usd)}, while {_shown(quote.got)} "
            f"{quote.route.target.symbol} are worth about {_shown(nearest)}",
            basis=None if quote.exchange.operation.id == BRIDGE else SWAP_USD,
        )


def amount_is_read_as_smallest_units(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    one = require_accepted(context, operation.id)
    if one.reading is Reading.WHOLE:
        tried = [
            exchange for exchange in context.of(operation.id) if exchange.probe.endswith("usual")
        ]
        yield Finding(
            "the amount of the request is read as whole tokens",
            (*tried, context.require(one.probe)),
            "query.amount" if operation.id == BRIDGE else "query.fromAmount",
        )


def fees_are_smallest_units(context: RunContext, quote: Quote) -> Iterator[Said]:
    total = Decimal(0)
    for name in ("serviceFee", "gasFee"):
        value = quote.exchange.data.get(name)
        if not isinstance(value, str):
            continue
        yield JUDGED
        if amounts.units(value) is None:
            yield Finding(
                f"{name} is {value[:80]!r}, expected a whole number of smallest units",
                place=f"data.{name}",
                basis=observed("DEMO", f"{name} is digits only"),
            )
            continue
        fee = amounts.number(value) or Decimal(0)
        total += fee
        yield from _vanishing(quote, name, fee)
    yield from _eaten(context, quote, total)


def service_fee_is_a_small_share(_: RunContext, quote: Quote) -> Iterator[Said]:
    fee = amounts.units(quote.exchange.data.get("serviceFee"))
    out = amounts.units(quote.exchange.data.get("outAmount"))
    if fee is None or not out:
        return
    yield JUDGED
    if fee * 50 > out:
        share = Decimal(fee * 10000 // out) / 100
        yield Finding(f"serviceFee is {share} percent of outAmount, expected less than 2")


def minimum_is_not_above_output(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    least, out = exchange.data.get("minOutAmount"), exchange.data.get("outAmount")
    low, high = amounts.number(least), amounts.number(out)
    if least == "":
        yield JUDGED
    elif low is not None and high is not None:
        yield JUDGED
        if low > high:
            yield Finding(f"minOutAmount is {low}, more than outAmount, which is {high}")


def chain_decimal_is_the_targets(context: RunContext, quote: Quote) -> Iterator[Said]:
    told = quote.exchange.data.get("chainDecimal")
    target, source = quote.route.target, quote.route.source
    if not isinstance(told, int) or isinstance(told, bool):
        return
    if is_elsewhere(context, quote.exchange, target):
        return
    yield JUDGED
    if told != target.decimals:
        like = " as the token given has" if told == source.decimals else ""
        yield Finding(
            f"chainDecimal is {told}{like}, while {target.symbol} on {target.chain} has "
            f"{target.decimals}"
        )


def quote_names_a_listed_chain(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    known, told = inventory_of(context).chains, exchange.data.get("chain")
    networks = {chain.network for chain in known if chain.network}
    if not isinstance(told, str) or not known or (told.isdecimal() and not networks):
        return
    yield JUDGED
    names = {folded(name) for chain in known for name in chain.names}
    if folded(told) not in names and told not in networks:
        yield Finding(
            f"chain is {told[:80]!r}, which is neither a name nor a network id of a listed chain"
        )


def price_impact_is_in_percent(context: RunContext, quote: Quote) -> Iterator[Said]:
    impact = quote.number("priceImpact")
    if impact is None:
        return
    yield JUDGED
    fair = fair_output(context, quote)
    lost = None
    if fair is not None and quote.got is not None:
        lost = abs(amounts.EXACT.divide((fair - quote.got) * 100, fair))
    unlike = lost is not None and abs(impact) > 20 and abs(impact) > 20 * (lost + 1)
    if abs(impact) > 100 or unlike:
        differs = f"; the price differs by {_shown(lost)} percent" if lost is not None else ""
        yield Finding(f"priceImpact is {impact}, no plausible number of percent{differs}")


def _is_worth(usd: Decimal, value: Decimal) -> bool:
    return amounts.within(usd, value, _USD_FACTOR) or abs(usd - value) <= _CENT


def _eaten(context: RunContext, quote: Quote, total: Decimal) -> Iterator[Finding]:
    """Yield a finding where fees eat up an output that is worth a good deal."""
    price = price_of(context, quote.route.target)
    if price is None or quote.got is None or quote.got <= 0:
        return
    fees = amounts.EXACT.scaleb(total, -quote.decimals)
    if amounts.EXACT.multiply(quote.put, price_of(context, quote.route.source) or 0) < 90:
        return
    if fees >= quote.got:
        yield Finding(
            f"serviceFee and gasFee are {_shown(fees)} {quote.route.target.symbol}, which leaves "
            f"nothing of {_shown(quote.got)}",
            place="data.gasFee",
        )


def _vanishing(quote: Quote, name: str, fee: Decimal) -> Iterator[Finding]:
    """Yield a finding for a fee that is so small that it is counted in other decimals."""
    decimals = quote.decimals
    if decimals < 12 or fee <= 0 or quote.got is None or quote.got <= 0:
        return
    if quote.got > _LARGE:
        # A fee that does not grow with the amount is next to nothing of a very large one.
        return
    share = amounts.EXACT.divide(amounts.EXACT.scaleb(fee, -decimals), quote.got)
    if share < _NOTHING and quote.route.rescales:
        yield Finding(
            f"{name} is {fee} smallest units, next to nothing of {_shown(quote.got)} "
            f"{quote.route.target.symbol}; it may count in {quote.route.source.decimals} decimals",
            place=f"data.{name}",
        )


def _hint(quote: Quote) -> str:
    """Return in which decimals the output would fit; empty where in none."""
    source, target = quote.route.source.decimals, quote.route.target.decimals
    if quote.got is None or quote.got <= 0 or source is None or target is None:
        return ""
    power = power_of_ten(quote.got, quote.put)
    if power == source - target and power:
        return (
            f"; that fits the {source} decimals of the source chain, not the {target} of the target"
        )
    if power == -target:
        return "; that fits whole tokens, not smallest units"
    return f"; that is off by 10^{power}" if power else ""


def _shown(number: Decimal | None) -> str:
    return f"{number:.6g}" if number is not None else "unknown"
