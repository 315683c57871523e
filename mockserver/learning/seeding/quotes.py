"""Recorded costs: prices, rates and gas, and whole quotes as those that a scenario fixes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import product
from typing import Any

from mockserver.contract import ids
from mockserver.engine import amounts
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.pricing import FEE_LEVEL_BPS, MAX_CHANNEL_BPS, MAX_FEE_LEVEL
from mockserver.engine.refusal import Refusal
from mockserver.engine.swap_quotes import ROUTERS
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, plain
from mockserver.learning.seeding.recorded_successes import Success, items_of, number_of
from mockserver.limits import AMOUNT_DIGITS
from mockserver.scenarios.catalog_files import stored_address

NEAR_PERCENT = 25
"""How far an amount may be off from a recorded one and still follow its rate, in percent."""

_SOURCE = "recorded"
_BPS = Decimal(10_000)
_MOST_BPS = 5_000
_PLACES = Decimal("0.000001")
# The bounds of USD values in a scenario (`schemas/meta/scenario.json`).
_LEAST_USD, _MOST_USD = Decimal("1E-36"), Decimal("1E60")

QuoteRow = dict[str, Any]


@dataclass(slots=True)
class SeededRates:
    """Prices, rates and gas in recordings; of several values the last one counts.

    `prices` are USD by symbol, `gas_usd` by nickname of the target chain; `bridge_bps` and `v1_bps`
    are base rates; `unknown` are symbols and chains that the catalog lacks.
    """

    catalog: Catalog
    prices: dict[str, Decimal] = field(default_factory=dict)
    gas_usd: dict[str, Decimal] = field(default_factory=dict)
    bridge_bps: int | None = None
    v1_bps: int | None = None
    unknown: set[str] = field(default_factory=set)


def rates_of(successes: Iterable[Success], catalog: Catalog) -> SeededRates:
    """Return the prices, rates and gas in recorded successes."""
    rates, exchanges = SeededRates(catalog), list(successes)
    with localcontext() as context:
        # More digits than amounts have, so that only the last step rounds.
        context.prec = 60
        for readers, success in product(_RATE_READERS, exchanges):
            if success.operation in readers:
                readers[success.operation](rates, success)
    return rates


def rates_text(rates: SeededRates) -> dict[str, Json]:
    fees: dict[str, Any] = {
        "bridge_bps": rates.bridge_bps,
        "v1_bps": rates.v1_bps,
        "gas_usd": {name: _plain(usd) for name, usd in sorted(rates.gas_usd.items())},
    }
    fees = {name: value for name, value in fees.items() if value not in (None, {})}
    usd = {name: _plain(usd) for name, usd in sorted(rates.prices.items())}
    return {**({"prices": {"usd": usd}} if usd else {}), **({"fees": fees} if fees else {})}


def _prices_of_swap(rates: SeededRates, success: Success) -> None:
    """Take the prices of both tokens from a swap: what goes in is worth what comes out."""
    out, usd, decimals = (
        number_of(success.data.get(name)) for name in ("outAmount", "outAmountUsd", "chainDecimal")
    )
    amount = number_of(success.inputs.get("fromAmount"))
    if out is None or usd is None or amount is None or decimals not in range(AMOUNT_DIGITS + 1):
        return
    for end, units, places in (("from", amount, None), ("to", out, decimals)):
        chain, address = success.inputs.get(f"{end}Chain"), success.inputs.get(f"{end}TokenAddress")
        try:
            known = rates.catalog.chain(str(chain))
            placed = rates.catalog.placed_at(known, stored_address(str(address)))
        except Refusal:
            rates.unknown.add(f"{address} on {chain}")
            continue
        tokens = units / 10 ** (placed.decimals if places is None else places)
        if tokens > 0:
            _add_price(rates, placed.symbol, usd / tokens)


def _price_of_token(rates: SeededRates, success: Success) -> None:
    _add_price(rates, success.inputs.get("symbol"), success.data.get("price"))


def _prices_of_list(rates: SeededRates, success: Success) -> None:
    for item in items_of(success.data):
        _add_price(rates, item.get("symbol"), item.get("price"))


def _rates_of_bridge_quote(rates: SeededRates, success: Success) -> None:
    names = ("outAmount", "outAmountUsd", "serviceFee", "gasFee")
    out, usd, fee, gas = (number_of(success.data.get(name)) for name in names)
    if out is None or out <= 0:
        return
    if fee is not None:
        channel = number_of(success.inputs.get("channelFeeRate")) or 0
        rates.bridge_bps = _rate_or_none(fee * _BPS / out - channel)
    if gas is not None and usd is not None:
        _add_gas(rates, success.inputs.get("toChain"), gas * usd / out)


def _rates_of_v1_quote(rates: SeededRates, success: Success) -> None:
    quote = success.data.get("crossChain")
    if not isinstance(quote, dict):
        return
    amount, fee, gas = (number_of(quote.get(name)) for name in ("amountIn", "fee", "gas"))
    if amount is not None and amount > 0 and fee is not None:
        level = number_of(success.inputs.get("feeLevel")) or 0
        rates.v1_bps = _rate_or_none(fee * _BPS / amount - level * FEE_LEVEL_BPS)
    price = rates.prices.get(str(success.inputs.get("token")))
    if gas is not None and price is not None:
        _add_gas(rates, success.inputs.get("toChain"), gas * price)


_RATE_READERS: tuple[Mapping[str, Callable[[SeededRates, Success], None]], ...] = (
    # A price that is answered goes before one of a swap. The gas of v1 is in tokens, whose
    # prices other answers show.
    {ids.SWAP_QUOTE: _prices_of_swap},
    {ids.PRICE: _price_of_token, ids.BRIDGE: _price_of_token, ids.V1_TOKENS: _prices_of_list},
    {ids.BRIDGE: _rates_of_bridge_quote},
    {ids.V1_QUOTE: _rates_of_v1_quote},
)


def _add_price(rates: SeededRates, symbol: Json, price: Json) -> None:
    usd = number_of(price)
    if usd is None or not _LEAST_USD <= usd < _MOST_USD:
        return
    if any(token.symbol == symbol for token in rates.catalog.tokens):
        rates.prices[str(symbol)] = usd
    elif symbol:
        rates.unknown.add(str(symbol))


def _add_gas(rates: SeededRates, name: Json, usd: Decimal) -> None:
    # Free is a price as well: 0 is below the bounds, and taken.
    if usd and not _LEAST_USD <= usd < _MOST_USD:
        return
    chain = rates.catalog.named(str(name))
    if chain is not None:
        rates.gas_usd[chain.nickname] = usd
    elif name:
        rates.unknown.add(str(name))


def _rate_or_none(bps: Decimal) -> int | None:
    rounded = int(bps.to_integral_value(ROUND_HALF_EVEN))
    return rounded if 0 <= rounded <= _MOST_BPS else None


def _plain(usd: Decimal) -> str:
    """Return a number of USD without an exponent; what is exact stays so, up to a millionth."""
    with localcontext(prec=200):
        places = _PLACES if usd >= _PLACES else _LEAST_USD
        rounded = usd.quantize(places, ROUND_HALF_EVEN)
    text = f"{rounded:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quotes_of(successes: Iterable[Success], catalog: Catalog) -> dict[str, Json]:
    """Return the quotes that recordings show; of equal requests the last one counts."""
    rows_by_kind: dict[str, dict[str, QuoteRow]] = {kind: {} for kind, _ in _QUOTE_READERS.values()}
    for success in successes:
        kind, make = _QUOTE_READERS.get(success.operation, ("", None))
        try:
            row = make(success, catalog) if make else None
        except Refusal:
            # The catalog lacks the chain or the token, or the simulation would refuse the request.
            continue
        if row is not None:
            inputs = {name: value for name, value in row.items() if name in _REQUEST_MEMBERS}
            # The answer is no part of the key: the last one of a request replaces those before.
            rows_by_kind[kind][repr(inputs)] = row
    lists = {kind: list(rows.values()) for kind, rows in rows_by_kind.items() if rows}
    return {"near_percent": NEAR_PERCENT, **lists} if lists else {}


_REQUEST_MEMBERS = ("token", "chain", "from", "to", "amount", "channel_bps", "fee_level")


def _bridge_quote(success: Success, catalog: Catalog) -> QuoteRow | None:
    ends = {end: catalog.chain(str(success.inputs.get(f"{end}Chain"))) for end in ("from", "to")}
    token = catalog.token(str(success.inputs.get("symbol")))
    for chain in ends.values():
        catalog.placed(chain, token)
    gives, price = _promised(success.data), _decimal(success.data.get("price"))
    amount, channel = _units(success.inputs.get("amount")), _channel(success)
    if gives is None or price is None or not amount or channel is None:
        return None
    places = {end: chain.nickname for end, chain in ends.items()}
    row = {"token": token.symbol, **places, "amount": amount, **channel}
    return {**row, "gives": {"price": price, **gives}, "source": _SOURCE, "assumed": []}


def _aggregate_quote(success: Success, catalog: Catalog) -> QuoteRow | None:
    ends = {end: _placed(success, f"{end}Chain", end, catalog) for end in ("from", "to")}
    network, aggregator = str(success.data.get("chain")), success.data.get("aggregator")
    # By either name: services show the network where they mean the chain.
    execution = [chain for chain in catalog.chains if network in (chain.network, chain.nickname)]
    gives, impact = _promised(success.data), _decimal(success.data.get("priceImpact"), signed=True)
    amount, channel = _units(success.inputs.get("fromAmount")), _channel(success)
    good = gives is not None and impact is not None and amount and channel is not None
    if not good or not execution or aggregator not in ROUTERS:
        return None
    slippage = _decimal(success.data.get("slippage"))
    return {
        **{end: {"chain": at.chain.nickname, "token": at.symbol} for end, at in ends.items()},
        "amount": amount,
        **(channel or {}),
        "gives": {
            "execution": execution[0].nickname,
            "aggregator": aggregator,
            **(gives or {}),
            "slippage_percent": slippage or "1",
            "price_impact_percent": impact,
        },
        "source": _SOURCE,
        "assumed": [] if slippage else ["gives.slippage_percent"],
    }


def _swap_quote(success: Success, catalog: Catalog) -> QuoteRow | None:
    source, target = (_placed(success, "chain", end, catalog) for end in ("from", "to"))
    out, amount = _units(success.data.get("amountOut")), _units(success.inputs.get("fromAmount"))
    if not out or not amount:
        return None
    row = {"chain": source.chain.nickname, "from": source.symbol, "to": target.symbol}
    return {**row, "amount": amount, "source": _SOURCE, "assumed": [], "out": out}


def _cross_chain_quote(success: Success, catalog: Catalog) -> QuoteRow | None:
    source, target = (
        catalog.chain_v1(str(success.inputs.get(f"{end}Chain"))) for end in ("from", "to")
    )
    token = catalog.token(str(success.inputs.get("token")))
    placed = catalog.placed(source, token)
    catalog.placed(target, token)
    quote, level = success.data.get("crossChain"), number_of(success.inputs.get("feeLevel", 0))
    amount = _decimal(success.inputs.get("amount"))
    if not isinstance(quote, dict) or amount is None or level not in range(MAX_FEE_LEVEL + 1):
        return None
    members = {"out": "amountOut", "fee": "fee", "gas": "gas"}
    gives = {name: _decimal(quote.get(member)) for name, member in members.items()}
    # A quote for another amount than was asked is no example of that amount.
    if None in gives.values() or number_of(quote.get("amountIn")) != Decimal(amount):
        return None
    # Raises `Refusal` for an amount of 0, or of more decimals than the token has.
    amounts.units_exact(Decimal(amount), placed.decimals)
    row = {"token": token.symbol, "from": source.nickname, "to": target.nickname}
    fee = {"fee_level": int(level)} if level else {}
    amount_text = plain(Decimal(amount))
    return {**row, "amount": amount_text, **fee, "gives": gives, "source": _SOURCE, "assumed": []}


_QUOTE_READERS: Mapping[str, tuple[str, Callable[[Success, Catalog], QuoteRow | None]]] = {
    ids.BRIDGE: ("bridge", _bridge_quote),
    ids.SWAP_QUOTE: ("aggregate", _aggregate_quote),
    ids.SWAP: ("swaps", _swap_quote),
    ids.V1_QUOTE: ("cross_chain", _cross_chain_quote),
}


def _channel(success: Success) -> QuoteRow | None:
    """Return the channel's fee as a scenario has it; None for one that no request can name."""
    bps = number_of(success.inputs.get("channelFeeRate", 0))
    if bps is None or not 0 <= bps <= MAX_CHANNEL_BPS:
        return None
    return {"channel_bps": int(bps)} if bps else {}


def _promised(data: Mapping[str, Any]) -> QuoteRow | None:
    out, usd, rate = (
        _units(data.get("outAmount")),
        _decimal(data.get("outAmountUsd")),
        number_of(data.get("serviceFeeRate")),
    )
    fee, gas = (_units(data.get(name), least=0) for name in ("serviceFee", "gasFee"))
    if out is None or fee is None or gas is None or usd is None:
        return None
    # Rounded, since the fee was cut to smallest units, and its rate is a whole number.
    bps = (int(fee) * 10_000 + int(out) // 2) // int(out) if rate is None else int(rate)
    if not 0 <= bps <= _MOST_BPS:
        return None
    return {"out": out, "out_usd": usd, "service_fee": fee, "gas_fee": gas, "rate_bps": bps}


def _placed(success: Success, chain: str, end: str, catalog: Catalog) -> Placed:
    known = catalog.chain(str(success.inputs.get(chain)))
    address = str(success.inputs.get(f"{end}TokenAddress"))
    return catalog.placed_at(known, stored_address(address))


def _units(value: Json, least: int = 1) -> str | None:
    """Return a whole number of smallest units as text; None for anything else."""
    text = str(value)
    right = text.isascii() and text.isdigit() and len(text) <= AMOUNT_DIGITS
    good = right and not isinstance(value, bool) and int(text) >= least
    return str(int(text)) if good else None


def _decimal(value: Json, *, signed: bool = False) -> str | None:
    """Return a decimal number as it was sent, without an exponent; None for anything else."""
    number = number_of(value)
    if number is None or (number < 0 and not signed):
        return None
    text = f"{number:f}"
    return text if len(text) <= 60 and len(text.partition(".")[2]) <= 36 else None
