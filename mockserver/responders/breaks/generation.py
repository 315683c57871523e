"""Breaks that show when v1 is held against 2.0."""

from decimal import Decimal

from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.amounts import EXACT, catalog_of, times
from mockserver.responders.breaks.answers import Page, change, editing, one_more, places, put
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS_BY_CHAIN,
    BRIDGE_QUOTE,
    PRICE,
    V1_CHAINS,
    V1_QUOTE,
    V1_TOKENS,
)
from mockserver.responders.breaks.requests import all_of, correcting
from mockserver.responders.breaks.values import Break, Layer, Verdict
from mockserver.responders.responder import Call


def _non_evm(page: Page) -> None:
    """List a chain of 2.0 that is not EVM among those of v1."""
    others = [one for one in catalog_of(page.turn.call).chains if not one.evm]
    name = others[0].nickname if others else "KAS"
    one_more(page, "chains", id=90, name=name, chainId=0, fullName=name)


def _unknown_chain(page: Page) -> None:
    """List an EVM chain in v1 that 2.0 does not have."""
    one_more(page, "chains", id=91, name="OLDNET", chainId=999_999_999, fullName="Old Net")


def _new_names(page: Page) -> None:
    """Name the chains of v1 as 2.0 does."""
    names = {one.v1_name: one.nickname for one in catalog_of(page.turn.call).v1_chains()}
    for holder, key in places(page, "chains[].name"):
        if isinstance(holder[key], str):
            holder[key] = names.get(holder[key], holder[key])


def _old_name(call: Call, value: Json) -> Json:
    """Return the nickname that 2.0 has for a v1 name."""
    catalog = catalog_of(call)
    names = {one.v1_name: one.nickname for one in catalog.v1_chains()}
    known = {one.nickname for one in catalog.chains}
    if not isinstance(value, str) or value in known:
        return value
    return names.get(value, value)


def _no_fee(page: Page) -> None:
    """Pay out all that goes in."""
    quote = page.data.get("crossChain")
    if isinstance(quote, dict) and "amountIn" in quote:
        quote["amountOut"] = quote["amountIn"]


def _smallest_units(page: Page) -> None:
    """Count the v1 quote in smallest units of 18 decimals."""
    for name in ("amountIn", "amountOut", "fee", "gas"):
        for holder, key in places(page, f"crossChain.{name}"):
            holder[key] = times("1000000000000000000")(holder[key])


def _half(page: Page) -> None:
    listed = page.data.get("tokenVos")
    if isinstance(listed, list):
        page.data["tokenVos"] = listed[: max(1, len(listed) // 2)]


def _other_decimals(value: Json) -> Json:
    return 6 if value == 18 else 18


def _other_address(value: Json) -> Json:
    """Return the address with its first digit behind 0x turned."""
    if not isinstance(value, str) or len(value) < 3:
        return value
    return value[:2] + ("1" if value[2] != "1" else "2") + value[3:]


def _inverted(value: Json) -> Json:
    """Return tokens for a USD in place of USD for a token, with 18 decimals."""
    try:
        price = Decimal(value)
        upside = EXACT.divide(Decimal(1), EXACT.add(price, price))
        return plain(upside.quantize(Decimal("1e-18"), context=EXACT))
    except (ArithmeticError, TypeError, ValueError):
        return value


_LAYER, _VIOLATION, _OBSERVED = Layer.GENERATION, Verdict.VIOLATION, Verdict.OBSERVED

BREAKS: tuple[Break, ...] = (
    Break(
        "v1-lists-a-non-evm-chain",
        _LAYER,
        "v1 lists a chain that is not EVM",
        "1",
        Verdict.VIOLATION,
        (V1_CHAINS,),
        editing(_non_evm),
    ),
    Break(
        "v1-lists-a-chain-unknown-to-2.0",
        _LAYER,
        "v1 lists an EVM chain that 2.0 does not",
        "1",
        _VIOLATION,
        (V1_CHAINS,),
        editing(_unknown_chain),
    ),
    Break(
        "v1-lists-names-of-2.0",
        _LAYER,
        "v1 lists chains under names that only 2.0 takes",
        "2.2",
        _VIOLATION,
        (V1_CHAINS,),
        editing(_new_names),
    ),
    Break(
        "v1-tokens-cut-in-half",
        _LAYER,
        "v1 lists half of the tokens that 2.0 has on a chain",
        "A-233",
        Verdict.ASSUMED,
        (V1_TOKENS,),
        editing(_half),
    ),
    Break(
        "v1-token-decimals-differ",
        _LAYER,
        "decimals of v1 tokens are not those of 2.0",
        "ESS1",
        Verdict.OBSERVED,
        (V1_TOKENS,),
        change("tokenVos[].decimals", _other_decimals),
    ),
    Break(
        "v1-token-addresses-differ",
        _LAYER,
        "addresses of v1 tokens are not those of 2.0",
        "ESS1",
        _OBSERVED,
        (V1_TOKENS,),
        change("tokenVos[].address", _other_address),
    ),
    Break(
        "v1-token-prices-differ",
        _LAYER,
        "prices of v1 tokens are tokens for two USD instead of USD for a token",
        "ESS1",
        _OBSERVED,
        (V1_TOKENS,),
        change("tokenVos[].price", _inverted),
    ),
    Break(
        "v1-quote-pays-double",
        _LAYER,
        "v1 pays out twice what 2.0 does",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        change("crossChain.amountOut", times("2")),
    ),
    Break(
        "v1-quote-without-fee",
        _LAYER,
        "amountOut of v1 is amountIn although there are fees",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        editing(_no_fee),
    ),
    Break(
        "v1-quote-in-smallest-units",
        _LAYER,
        "v1 quotes smallest units as 2.0 does, instead of whole tokens",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        editing(_smallest_units),
    ),
    Break(
        "v1-names-taken-by-2.0",
        _LAYER,
        "2.0 takes the chain names of v1 beside its own",
        "4.2 row 4",
        Verdict.EXTRA,
        (BRIDGE_QUOTE, ASSETS_BY_CHAIN),
        all_of(
            correcting("query", "chain", _old_name),
            correcting("query", "fromChain", _old_name),
            correcting("query", "toChain", _old_name),
        ),
    ),
    Break(
        "v1-envelope-in-2.0",
        _LAYER,
        "2.0 answers carry the status of the v1 envelope",
        "2.1",
        Verdict.EXTRA,
        (PRICE, AGGREGATE_QUOTE),
        put("$.status", 0),
    ),
)
"""Generation breaks."""
