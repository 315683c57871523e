"""The prices, rates and gas costs that recorded answers show."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.fees import FEE_LEVEL_BPS
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json
from mockserver.learning.seeding.reading import Told, items_of, number_of

_BPS = Decimal(10_000)
_MOST_BPS = 5_000
_PLACES = Decimal("0.000001")


@dataclass(slots=True)
class Rates:
    """What recordings show of what things cost; what they show several times, they show last.

    `prices` are USD by symbol, `gas_usd` by nickname of the target chain; `bridge_bps` and `v1_bps`
    are base rates; `unknown` are symbols and chains that the catalog lacks.
    """

    prices: dict[str, Decimal] = field(default_factory=dict)
    gas_usd: dict[str, Decimal] = field(default_factory=dict)
    bridge_bps: int | None = None
    v1_bps: int | None = None
    unknown: set[str] = field(default_factory=set)


def rates_of(told: Iterable[Told], catalog: Catalog) -> Rates:
    """Return what recorded successes show of prices, rates and gas."""
    rates, exchanges = Rates(), list(told)
    with localcontext() as context:
        context.prec = 60
        # A price that is told goes before one that follows from a swap. The gas of v1 is in tokens,
        # whose prices other answers tell.
        for look in (_swapped, _prices, _v2_quotes, _v1_quotes):
            for one in exchanges:
                look(rates, catalog, one.operation, one.asked, one.data)
    return rates


def rates_text(rates: Rates) -> dict[str, Json]:
    """Return what stands in a scenario for it."""
    fees: dict[str, Any] = {
        "bridge_bps": rates.bridge_bps,
        "v1_bps": rates.v1_bps,
        "gas_usd": {name: _plain(usd) for name, usd in sorted(rates.gas_usd.items())},
    }
    fees = {name: value for name, value in fees.items() if value not in (None, {})}
    usd = {name: _plain(usd) for name, usd in sorted(rates.prices.items())}
    return {**({"prices": {"usd": usd}} if usd else {}), **({"fees": fees} if fees else {})}


def _swapped(
    rates: Rates, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    """Take the prices of both tokens from a swap: what goes in is worth what comes out."""
    if operation != "v2.getAggregateQuote":
        return
    out, usd = (number_of(data.get(name)) for name in ("outAmount", "outAmountUsd"))
    decimals, amount = number_of(data.get("chainDecimal")), number_of(asked.get("fromAmount"))
    if None in (out, usd, decimals, amount):
        return
    assert out is not None and usd is not None and decimals is not None and amount is not None  # noqa: S101, PT018
    for end, units, places in (("from", amount, None), ("to", out, int(decimals))):
        chain, address = asked.get(f"{end}Chain"), asked.get(f"{end}TokenAddress")
        try:
            placed = catalog.placed_at(catalog.chain(str(chain)), str(address))
        except Refusal:
            rates.unknown.add(f"{address} on {chain}")
            continue
        whole = units / 10 ** (placed.decimals if places is None else places)
        if whole > 0:
            _price(rates, catalog, placed.symbol, usd / whole)


def _prices(
    rates: Rates, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    if operation == "v2.getPrice":
        _price(rates, catalog, asked.get("symbol"), data.get("price"))
    if operation == "v2.getBridgeQuote":
        _price(rates, catalog, asked.get("symbol"), data.get("price"))
    if operation == "v1.getSupportTokens":
        for item in items_of(data):
            _price(rates, catalog, item.get("symbol"), item.get("price"))


def _v2_quotes(
    rates: Rates, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    names = ("outAmount", "outAmountUsd", "serviceFee", "gasFee")
    out, usd, fee, gas = (number_of(data.get(name)) for name in names)
    if operation != "v2.getBridgeQuote" or out is None or out <= 0:
        return
    if fee is not None:
        rates.bridge_bps = _rate(fee * _BPS / out - (number_of(asked.get("channelFeeRate")) or 0))
    if gas is not None and usd is not None:
        _gas(rates, catalog, asked.get("toChain"), gas * usd / out)


def _v1_quotes(
    rates: Rates, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    quote = data.get("crossChain")
    if operation != "v1.getCrossChainQuote" or not isinstance(quote, dict):
        return
    amount, fee, gas = (number_of(quote.get(name)) for name in ("amountIn", "fee", "gas"))
    if amount is not None and amount > 0 and fee is not None:
        level = number_of(asked.get("feeLevel")) or 0
        rates.v1_bps = _rate(fee * _BPS / amount - level * FEE_LEVEL_BPS)
    price = rates.prices.get(str(asked.get("token")))
    if gas is not None and price is not None:
        _gas(rates, catalog, asked.get("toChain"), gas * price)


def _price(rates: Rates, catalog: Catalog, symbol: Json, price: Json) -> None:
    usd = number_of(price)
    if usd is None or usd <= 0:
        return
    if any(token.symbol == symbol for token in catalog.tokens):
        rates.prices[str(symbol)] = usd
    elif symbol:
        rates.unknown.add(str(symbol))


def _gas(rates: Rates, catalog: Catalog, name: Json, usd: Decimal) -> None:
    chain = catalog.named(str(name))
    if chain is not None:
        rates.gas_usd[chain.nickname] = usd
    elif name:
        rates.unknown.add(str(name))


def _rate(bps: Decimal) -> int | None:
    whole = int(bps.to_integral_value(ROUND_HALF_EVEN))
    return whole if 0 <= whole <= _MOST_BPS else None


def _plain(usd: Decimal) -> str:
    """Return a number of USD without an exponent; what is exact stays so, up to a millionth."""
    rounded = usd.quantize(_PLACES, ROUND_HALF_EVEN) if usd >= _PLACES else usd
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
