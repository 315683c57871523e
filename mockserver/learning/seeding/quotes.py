"""Recorded quotes and swaps as those that a scenario fixes."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from mockserver.engine import amounts
from mockserver.engine.aggregates import ROUTERS
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.fees import MAX_FEE_LEVEL
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json, plain
from mockserver.learning.seeding.reading import Told, number_of

NEAR_PERCENT = 25
"""How far an amount may be off from a recorded one and still follow its rate, in percent."""

_SOURCE = "recorded"
_MOST_DIGITS = 77


def quotes_of(told: Iterable[Told], catalog: Catalog) -> dict[str, Json]:
    """Return the quotes that recordings show; what is asked several times counts as last told."""
    found: dict[str, dict[Any, Json]] = {
        "bridge": {},
        "aggregate": {},
        "swaps": {},
        "cross_chain": {},
    }
    for one in told:
        kind, make = _MAKERS.get(one.operation, ("", None))
        try:
            made = make(one.asked, one.data, catalog) if make else None
        except Refusal:
            # The catalog lacks the chain or the token, which the lists tell of, or nobody can ask.
            continue
        if made is not None:
            found[kind][repr({name: made[name] for name in made if name in _ASKED})] = made
    lists = {kind: list(rows.values()) for kind, rows in found.items() if rows}
    return {"near_percent": NEAR_PERCENT, **lists} if lists else {}


_ASKED = ("token", "chain", "from", "to", "amount", "channel_bps", "fee_level")


def _bridge(asked: Mapping[str, Any], data: Mapping[str, Any], catalog: Catalog) -> Json:
    source, target = (catalog.chain(str(asked.get(end))) for end in ("fromChain", "toChain"))
    token = catalog.token(str(asked.get("symbol")))
    for chain in (source, target):
        catalog.placed(chain, token)
    gives = _given(data)
    price = _decimal(data.get("price"))
    if gives is None or price is None:
        return None
    row = {"token": token.symbol, "from": source.nickname, "to": target.nickname}
    return _row(row, asked.get("amount"), asked, {"price": price, **gives}, [])


def _aggregate(asked: Mapping[str, Any], data: Mapping[str, Any], catalog: Catalog) -> Json:
    ends = {end: _end(asked, f"{end}Chain", end, catalog) for end in ("from", "to")}
    network = str(data.get("chain"))
    execution = [one for one in catalog.chains if network in (one.network, one.nickname)]
    gives, impact = _given(data), _decimal(data.get("priceImpact"), signed=True)
    if gives is None or impact is None or not execution or data.get("aggregator") not in ROUTERS:
        return None
    slippage = _decimal(data.get("slippage"))
    gives = {
        "execution": execution[0].nickname,
        "aggregator": data["aggregator"],
        **gives,
        "slippage_percent": slippage or "1",
        "price_impact_percent": impact,
    }
    row = {
        end: {"chain": placed.chain.nickname, "token": placed.symbol}
        for end, placed in ends.items()
    }
    assumed = [] if slippage else ["gives.slippage_percent"]
    return _row(row, asked.get("fromAmount"), asked, gives, assumed)


def _swap(asked: Mapping[str, Any], data: Mapping[str, Any], catalog: Catalog) -> Json:
    source, target = (_end(asked, "chain", end, catalog) for end in ("from", "to"))
    out = _units(data.get("amountOut"))
    if not out or out == "0":
        return None
    row = {"chain": source.chain.nickname, "from": source.symbol, "to": target.symbol}
    made = _row(row, asked.get("fromAmount"), {}, {}, [])
    if made is None:
        return None
    del made["gives"]
    return {**made, "out": out}


def _cross_chain(asked: Mapping[str, Any], data: Mapping[str, Any], catalog: Catalog) -> Json:
    source, target = (catalog.chain_v1(str(asked.get(end))) for end in ("fromChain", "toChain"))
    token = catalog.token(str(asked.get("token")))
    placed = catalog.placed(source, token)
    catalog.placed(target, token)
    told, level = data.get("crossChain"), number_of(asked.get("feeLevel", 0))
    amount = _decimal(asked.get("amount"))
    if not isinstance(told, dict) or amount is None or level not in range(MAX_FEE_LEVEL + 1):
        return None
    members = {"out": "amountOut", "fee": "fee", "gas": "gas"}
    gives = {name: _decimal(told.get(member)) for name, member in members.items()}
    if None in gives.values() or number_of(told.get("amountIn")) != Decimal(amount):
        return None
    # Raises `Refusal` for an amount of 0, or of more decimals than the token has.
    amounts.units_exact(Decimal(amount), placed.decimals)
    row = {"token": token.symbol, "from": source.nickname, "to": target.nickname}
    fee = {"fee_level": int(level)} if level else {}
    whole = plain(Decimal(amount))
    return {**row, "amount": whole, **fee, "gives": gives, "source": _SOURCE, "assumed": []}


_MAKERS = {
    "v2.getBridgeQuote": ("bridge", _bridge),
    "v1.getCrossChainQuote": ("cross_chain", _cross_chain),
    "v2.getAggregateQuote": ("aggregate", _aggregate),
    "v2.getAggregateSwap": ("swaps", _swap),
}


def _row(
    row: dict[str, Json],
    amount: Json,
    asked: Mapping[str, Any],
    gives: dict[str, Json],
    assumed: list[str],
) -> Any:
    units, channel = _units(amount), number_of(asked.get("channelFeeRate", 0))
    if not units or units == "0" or channel is None or not 0 <= channel <= 50:
        return None
    fee = {"channel_bps": int(channel)} if channel else {}
    told = {"source": _SOURCE, "assumed": assumed}
    return {**row, "amount": units, **fee, "gives": gives, **told}


def _given(data: Mapping[str, Any]) -> dict[str, Json] | None:
    out, fee, gas = (_units(data.get(name)) for name in ("outAmount", "serviceFee", "gasFee"))
    usd, rate = _decimal(data.get("outAmountUsd")), number_of(data.get("serviceFeeRate"))
    if not out or out == "0" or fee is None or gas is None or usd is None:
        return None
    # A fee is rounded down to a smallest unit; its rate was a whole number before.
    bps = (int(fee) * 10_000 + int(out) // 2) // int(out) if rate is None else int(rate)
    if not 0 <= bps <= 5_000:
        return None
    return {"out": out, "out_usd": usd, "service_fee": fee, "gas_fee": gas, "rate_bps": bps}


def _end(asked: Mapping[str, Any], chain: str, end: str, catalog: Catalog) -> Placed:
    known = catalog.chain(str(asked.get(chain)))
    return catalog.placed_at(known, str(asked.get(f"{end}TokenAddress")))


def _units(value: Json) -> str | None:
    """Return a whole number of smallest units as text; None for anything else."""
    text = str(value)
    right = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return str(int(text)) if right and not isinstance(value, bool) else None


def _decimal(value: Json, *, signed: bool = False) -> str | None:
    """Return a decimal number as it was told, without an exponent; None for anything else."""
    number = number_of(value)
    if number is None or (number < 0 and not signed):
        return None
    text = f"{number:f}"
    return text if len(text) <= 60 and len(text.partition(".")[2]) <= 36 else None
