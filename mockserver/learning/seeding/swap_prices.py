"""Prices that recorded swaps determine, of tokens whose price nobody asked for."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal

from mockserver.jsontext import Json
from mockserver.learning.seeding.recorded_successes import number_of
from mockserver.limits import AMOUNT_DIGITS
from mockserver.scenarios.template_names import NamedInputs

_EXACT = Context(prec=200)
_INPUTS: tuple[str, str] = ("chain", "contractAddress")

SwapPrices = Mapping[tuple[str, str], str]
"""Prices in USD by chain and address of a token."""


def prices_of_swaps(quotes: Iterable[tuple[NamedInputs, Json]]) -> SwapPrices:
    """Return the prices of bought tokens; of several quotes the last one counts.

    That of a sold token is not certain: it is worth more than what comes out, by fees and by the
    impact on its price.
    """
    prices: dict[tuple[str, str], str] = {}
    for inputs, data in quotes:
        shown = data if isinstance(data, dict) else {}
        out, usd = (number_of(shown.get(name)) for name in ("outAmount", "outAmountUsd"))
        decimals = number_of(inputs.get("toDecimal"))
        if out and usd and decimals in range(AMOUNT_DIGITS + 1):
            price = _determined(usd, out.scaleb(-int(decimals or 0), _EXACT))
            prices[str(inputs.get("toChain")), str(inputs.get("toTokenAddress"))] = price
    return prices


def _determined(usd: Decimal, tokens: Decimal) -> str:
    """Return the price of a token to the last digit that its recorded value determines."""
    price = _EXACT.divide(usd, tokens)
    # The value was cut or rounded in its last digit, so that the price is uncertain by as much.
    doubt = _EXACT.divide(Decimal(1).scaleb(int(usd.as_tuple().exponent)), tokens)
    step = Decimal(1).scaleb(min(0, doubt.adjusted() + 1))
    return f"{price.quantize(step, ROUND_HALF_EVEN, _EXACT):f}"


def with_prices(body: Json, prices: SwapPrices, asked: Sequence[NamedInputs]) -> Json:
    """Return the template of a price that also has those of swaps, for tokens nobody asked for."""
    known = {tuple(str(inputs.get(name)).lower() for name in _INPUTS) for inputs in asked}
    rows: list[Json] = [
        [[*token], price]
        for token, price in prices.items()
        if tuple(name.lower() for name in token) not in known
    ]
    data = body.get("data") if isinstance(body, dict) else None
    if not rows or not isinstance(body, dict) or not isinstance(data, dict) or "price" not in data:
        return body
    choice: Json = {"$by": [*_INPUTS], "rows": rows, "else": data["price"]}
    return {**body, "data": {**data, "price": choice}}
