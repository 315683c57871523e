"""A scenario made of recordings: the prices, rates and gas costs that recorded answers show."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation, localcontext
from typing import Any

import yaml

from mockserver import jsontext
from mockserver.engine.catalog import Catalog
from mockserver.engine.fees import FEE_LEVEL_BPS
from mockserver.exchange import BadEncoding, query_pairs
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source

_BPS = Decimal(10_000)
_MOST_BPS = 5_000
_PLACES = Decimal("0.000001")


@dataclass(slots=True)
class Seed:
    """What recordings show of a world; what they show several times, they show last.

    `prices` are USD by symbol, `gas_usd` by nickname of the target chain; `bridge_bps` and `v1_bps`
    are base rates; `unknown` are symbols and chains that the catalog lacks.
    """

    prices: dict[str, Decimal] = field(default_factory=dict)
    gas_usd: dict[str, Decimal] = field(default_factory=dict)
    bridge_bps: int | None = None
    v1_bps: int | None = None
    unknown: set[str] = field(default_factory=set)


def seed_of(sources: Iterable[Source], catalog: Catalog) -> Seed:
    """Return what recorded successes show of prices, rates and gas."""
    seed = Seed()
    exchanges = [one for source in sources for one in source.recording.exchanges]
    with localcontext() as context:
        context.prec = 60
        # The gas of v1 is in tokens, whose prices other answers tell.
        for look in (_prices, _v2_quotes, _v1_quotes):
            for one in exchanges:
                data, asked = _data(one), _asked(one)
                if data is not None:
                    look(seed, catalog, one.operation, asked, data)
    return seed


def scenario_text(seed: Seed, title: str) -> str:
    """Return the text of a scenario with what was seen; everything else is as by default."""
    fees: dict[str, Any] = {
        "bridge_bps": seed.bridge_bps,
        "v1_bps": seed.v1_bps,
        "gas_usd": {name: _plain(usd) for name, usd in sorted(seed.gas_usd.items())},
    }
    told: dict[str, Any] = {
        "format": "crosschain-mock/scenario@1",
        "title": title,
        "extends": "default",
        "prices": {"usd": {name: _plain(usd) for name, usd in sorted(seed.prices.items())}},
        "fees": {name: value for name, value in fees.items() if value not in (None, {})},
    }
    if not told["prices"]["usd"]:
        del told["prices"]
    if not told["fees"]:
        del told["fees"]
    return str(yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100))


def _prices(
    seed: Seed, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    if operation == "v2.getPrice":
        _price(seed, catalog, asked.get("symbol"), data.get("price"))
    if operation == "v2.getBridgeQuote":
        _price(seed, catalog, asked.get("symbol"), data.get("price"))
    if operation == "v1.getSupportTokens":
        for item in _items(data):
            _price(seed, catalog, item.get("symbol"), item.get("price"))


def _v2_quotes(
    seed: Seed, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    names = ("outAmount", "outAmountUsd", "serviceFee", "gasFee")
    out, usd, fee, gas = (_number(data.get(name)) for name in names)
    if operation != "v2.getBridgeQuote" or out is None or out <= 0:
        return
    if fee is not None:
        seed.bridge_bps = _rate(fee * _BPS / out - (_number(asked.get("channelFeeRate")) or 0))
    if gas is not None and usd is not None:
        _gas(seed, catalog, asked.get("toChain"), gas * usd / out)


def _v1_quotes(
    seed: Seed, catalog: Catalog, operation: str, asked: Mapping[str, Any], data: Any
) -> None:
    quote = data.get("crossChain")
    if operation != "v1.getCrossChainQuote" or not isinstance(quote, dict):
        return
    amount, fee, gas = (_number(quote.get(name)) for name in ("amountIn", "fee", "gas"))
    if amount is not None and amount > 0 and fee is not None:
        level = _number(asked.get("feeLevel")) or 0
        seed.v1_bps = _rate(fee * _BPS / amount - level * FEE_LEVEL_BPS)
    price = seed.prices.get(str(asked.get("token")))
    if gas is not None and price is not None:
        _gas(seed, catalog, asked.get("toChain"), gas * price)


def _price(seed: Seed, catalog: Catalog, symbol: Json, price: Json) -> None:
    usd = _number(price)
    if usd is None or usd <= 0:
        return
    if any(token.symbol == symbol for token in catalog.tokens):
        seed.prices[str(symbol)] = usd
    elif symbol:
        seed.unknown.add(str(symbol))


def _gas(seed: Seed, catalog: Catalog, name: Json, usd: Decimal) -> None:
    for chain in catalog.chains:
        if name in (chain.nickname, chain.v1_name):
            seed.gas_usd[chain.nickname] = usd
            return
    if name:
        seed.unknown.add(str(name))


def _rate(bps: Decimal) -> int | None:
    whole = int(bps.to_integral_value(ROUND_HALF_EVEN))
    return whole if 0 <= whole <= _MOST_BPS else None


def _data(one: RecordedExchange) -> Any:
    """Return the data of a success; None for any other answer."""
    if one.response_omitted or one.response.status != 200:
        return None
    try:
        body = one.response_json()
    except jsontext.NotJson:
        return None
    if not isinstance(body, dict) or body.get("code") not in (0, 200):
        return None
    data = body.get("data")
    return data if isinstance(data, dict) else None


def _asked(one: RecordedExchange) -> dict[str, Any]:
    try:
        found: dict[str, Any] = dict(query_pairs(one.request.query))
    except BadEncoding:
        found = {}
    try:
        body = jsontext.decode(one.request.body) if one.request.body else {}
    except jsontext.NotJson:
        body = {}
    return {**found, **(body if isinstance(body, dict) else {})}


def _items(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in data.values():
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    try:
        found = Decimal(str(value)[:100])
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _plain(usd: Decimal) -> str:
    """Return a number of USD without an exponent; what is exact stays so, up to a millionth."""
    rounded = usd.quantize(_PLACES, ROUND_HALF_EVEN) if usd >= _PLACES else usd
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
