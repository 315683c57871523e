"""The prices, rates and gas costs that recorded answers show."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import product
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.fees import FEE_LEVEL_BPS
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json
from mockserver.learning.seeding.reading import Told, items_of, number_of
from mockserver.values import dataclass

_BPS = Decimal(10_000)
_MOST_BPS = 5_000
_PLACES = Decimal("0.000001")


@dataclass(slots=True)
class Rates:
    """What recordings show of what things cost; what they show several times, they show last.

    `prices` are USD by symbol, `gas_usd` by nickname of the target chain; `bridge_bps` and `v1_bps`
    are base rates; `unknown` are symbols and chains that the catalog lacks.
    """

    catalog: Catalog
    prices: dict[str, Decimal] = field(default_factory=dict)
    gas_usd: dict[str, Decimal] = field(default_factory=dict)
    bridge_bps: int | None = None
    v1_bps: int | None = None
    unknown: set[str] = field(default_factory=set)


def rates_of(told: Iterable[Told], catalog: Catalog) -> Rates:
    """Return what recorded successes show of prices, rates and gas."""
    rates, exchanges = Rates(catalog), list(told)
    with localcontext() as context:
        context.prec = 60
        for looks, one in product(_LOOKS, exchanges):
            if one.operation in looks:
                looks[one.operation](rates, one)
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


def _swapped(rates: Rates, one: Told) -> None:
    """Take the prices of both tokens from a swap: what goes in is worth what comes out."""
    out, usd, decimals = (
        one.number(name) for name in ("outAmount", "outAmountUsd", "chainDecimal")
    )
    amount = number_of(one.asked.get("fromAmount"))
    if out is None or usd is None or decimals is None or amount is None:
        return
    for end, units, places in (("from", amount, None), ("to", out, int(decimals))):
        chain, address = one.asked.get(f"{end}Chain"), one.asked.get(f"{end}TokenAddress")
        try:
            placed = rates.catalog.placed_at(rates.catalog.chain(str(chain)), str(address))
        except Refusal:
            rates.unknown.add(f"{address} on {chain}")
            continue
        whole = units / 10 ** (placed.decimals if places is None else places)
        if whole > 0:
            _price(rates, placed.symbol, usd / whole)


def _priced(rates: Rates, one: Told) -> None:
    _price(rates, one.asked.get("symbol"), one.data.get("price"))


def _listed(rates: Rates, one: Told) -> None:
    for item in items_of(one.data):
        _price(rates, item.get("symbol"), item.get("price"))


def _v2_quoted(rates: Rates, one: Told) -> None:
    names = ("outAmount", "outAmountUsd", "serviceFee", "gasFee")
    out, usd, fee, gas = (one.number(name) for name in names)
    if out is None or out <= 0:
        return
    if fee is not None:
        channel = number_of(one.asked.get("channelFeeRate")) or 0
        rates.bridge_bps = _rate(fee * _BPS / out - channel)
    if gas is not None and usd is not None:
        _gas(rates, one.asked.get("toChain"), gas * usd / out)


def _v1_quoted(rates: Rates, one: Told) -> None:
    quote = one.data.get("crossChain")
    if not isinstance(quote, dict):
        return
    amount, fee, gas = (number_of(quote.get(name)) for name in ("amountIn", "fee", "gas"))
    if amount is not None and amount > 0 and fee is not None:
        level = number_of(one.asked.get("feeLevel")) or 0
        rates.v1_bps = _rate(fee * _BPS / amount - level * FEE_LEVEL_BPS)
    price = rates.prices.get(str(one.asked.get("token")))
    if gas is not None and price is not None:
        _gas(rates, one.asked.get("toChain"), gas * price)


_LOOKS: tuple[Mapping[str, Callable[[Rates, Told], None]], ...] = (
    # A price that is told goes before one of a swap. The gas of v1 is in tokens, whose
    # prices other answers tell.
    {"v2.getAggregateQuote": _swapped},
    {"v2.getPrice": _priced, "v2.getBridgeQuote": _priced, "v1.getSupportTokens": _listed},
    {"v2.getBridgeQuote": _v2_quoted},
    {"v1.getCrossChainQuote": _v1_quoted},
)


def _price(rates: Rates, symbol: Json, price: Json) -> None:
    usd = number_of(price)
    if usd is None or usd <= 0:
        return
    if any(token.symbol == symbol for token in rates.catalog.tokens):
        rates.prices[str(symbol)] = usd
    elif symbol:
        rates.unknown.add(str(symbol))


def _gas(rates: Rates, name: Json, usd: Decimal) -> None:
    chain = rates.catalog.named(str(name))
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
