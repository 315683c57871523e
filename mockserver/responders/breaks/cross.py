"""Breaks that show when two answers to reads are laid side by side."""

import copy
from decimal import Decimal

from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.amounts import (
    EXACT,
    decimals_of,
    hundred_tokens,
    on_whole,
    times,
    whole,
)
from mockserver.responders.breaks.answers import Page, change, editing, one_more, places
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    CHAINS,
    SWAP,
    V1_QUOTE,
)
from mockserver.responders.breaks.requests import asked_of, correcting
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

_NOWHERE = "0x00000000000000000000000000000000000000aa"


def _hundred(call: Call, value: Json) -> Json:
    """Quote a hundred tokens, whichever amount was asked for."""
    return hundred_tokens(call) if whole(value) else value


def _v1_hundred(call: Call, value: Json) -> Json:
    good = isinstance(value, int | Decimal) and not isinstance(value, bool) and value > 0
    return 100 if good else value


def _shrinking(page: Page) -> None:
    """Let outputs fall as inputs rise: a thousand tokens squared over what it would be."""
    query, units = page.asked.query, whole(page.data.get("outAmount"))
    if units:
        decimals = decimals_of(page, query.get("toChain", ""), query.get("symbol", ""))
        page.data["outAmount"] = str(10 ** (2 * decimals + 6) // units)


def _first_half(page: Page) -> None:
    page.data["list"] = page.items[: max(1, len(page.items) // 2)]


def _first_ten(page: Page) -> None:
    page.data["list"] = page.items[:10]


def _twice(page: Page) -> None:
    page.data["list"] = [copy.deepcopy(item) for item in page.items for _ in range(2)]


def _none(page: Page) -> None:
    page.data["list"] = []


def _ghost_token(page: Page) -> None:
    """List a token that is in no other list."""
    ghost = {"symbol": "GHOSTLY", "name": "Ghostly", "index": 99_999}
    one_more(page, "list", **ghost, contractAddress=_NOWHERE)


def _dead_chain(page: Page) -> None:
    """List a chain that no other operation knows."""
    one_more(page, "list", nickName="PHANTOM", fullName="Phantom", chainIndex=999)


def _lower_names(page: Page) -> None:
    for holder, key in places(page, "list[].nickName"):
        holder[key] = str(holder[key]).lower()


def _lower_symbols(page: Page) -> None:
    for holder, key in places(page, "list[].symbol"):
        holder[key] = str(holder[key]).lower()


def _eighteen(value: Json) -> Json:
    """Return other decimals than there are: 18, and 6 in place of 18."""
    return 6 if value == 18 else 18


def _shifted(value: Json) -> Json:
    return value + 1000 if isinstance(value, int) else value


def _next_address(value: Json) -> Json:
    """Return the address with its last digit turned."""
    if not isinstance(value, str) or not value:
        return value
    return value[:-1] + ("0" if value[-1] != "0" else "1")


def _unquotable(turn: Turn) -> Delivery:
    """Refuse the tokens with an odd index, which the lists have nevertheless."""
    symbol = asked_of(turn.call).query.get("symbol")
    tokens = {one.symbol: one for one in turn.call.hosted.world.scenario.catalog.tokens}
    found = tokens.get(symbol or "")
    if found is None or found.index % 2 == 0:
        return turn.answer()
    hosted, generation = turn.call.hosted, turn.call.operation.generation
    return Delivery(hosted.refuser.refuse(generation, "unknown-token", f"token {symbol!r}"))


def _unbalanced(turn: Turn) -> Delivery:
    """Refuse balances of tokens other than the chain's own coin."""
    address = asked_of(turn.call).query.get("contractAddress", "")
    if not address.startswith("0x") or address.lower() == "0x" + "e" * 40:
        return turn.answer()
    hosted, generation = turn.call.hosted, turn.call.operation.generation
    return Delivery(hosted.refuser.refuse(generation, "unknown-token", f"no contract {address}"))


def _scaled_wrongly(page: Page) -> None:
    """Show whole tokens as if every token had 18 decimals, and those with 18 as if they had 6."""
    units = whole(page.data.get("balance"))
    if units is None:
        return
    right = plain(EXACT.scaleb(Decimal(units), -18)) == page.data.get("hrpBalance")
    page.data["hrpBalance"] = plain(EXACT.scaleb(Decimal(units), -6 if right else -18))


def _wrong_network(value: Json) -> Json:
    return f"{value}0" if isinstance(value, str) else value


def _constant(location: str) -> Act:
    how = _v1_hundred if location == "body" else _hundred
    return correcting(location, "amount", how)


_LAYER, _VIOLATION, _OBSERVED = Layer.CROSS, Verdict.VIOLATION, Verdict.OBSERVED

BREAKS: tuple[Break, ...] = (
    Break(
        "bridge-output-constant",
        _LAYER,
        "outAmount is the same for every amount",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        _constant("query"),
    ),
    Break(
        "bridge-output-shrinks",
        _LAYER,
        "outAmount falls as the amount rises",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_shrinking),
    ),
    Break(
        "v1-output-constant",
        _LAYER,
        "the v1 quote is the same for every amount",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        _constant("body"),
    ),
    Break(
        "swap-output-doubled",
        _LAYER,
        "the call pays twice what the quote for the same swap says",
        "SDK2",
        _OBSERVED,
        (SWAP,),
        change("amountOut", on_whole(lambda units: units * 2)),
    ),
    Break(
        "chains-cut-to-ten",
        _LAYER,
        "ten chains are listed, while tokens are on others as well",
        "1",
        _VIOLATION,
        (CHAINS,),
        editing(_first_ten),
    ),
    Break(
        "chains-listed-twice",
        _LAYER,
        "every chain is listed twice",
        "A-263",
        Verdict.ASSUMED,
        (CHAINS,),
        editing(_twice),
    ),
    Break(
        "chain-listed-but-unknown",
        _LAYER,
        "a chain is listed that no other operation knows",
        "4.2 row 3",
        _VIOLATION,
        (CHAINS,),
        editing(_dead_chain),
    ),
    Break(
        "chain-names-in-lower-case",
        _LAYER,
        "nickName is listed in lower case, which no request takes",
        "4.2 row 3",
        _VIOLATION,
        (CHAINS,),
        editing(_lower_names),
    ),
    Break(
        "assets-empty",
        _LAYER,
        "no tokens are listed, while chains have some",
        "4.2 row 2",
        _VIOLATION,
        (ASSETS,),
        editing(_none),
    ),
    Break(
        "assets-cut-in-half",
        _LAYER,
        "half of the tokens is listed that the chains have",
        "4.2 row 2",
        _VIOLATION,
        (ASSETS,),
        editing(_first_half),
    ),
    Break(
        "chain-tokens-cut-in-half",
        _LAYER,
        "half of the tokens of a chain is listed",
        "DEMO",
        _OBSERVED,
        (ASSETS_BY_CHAIN,),
        editing(_first_half),
    ),
    Break(
        "chain-token-unknown",
        _LAYER,
        "a chain has a token that the list of tokens lacks",
        "4.2 row 3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        editing(_ghost_token),
    ),
    Break(
        "chain-token-decimals-differ",
        _LAYER,
        "decimals of a chain's tokens are not those that quotes take",
        "4.2 row 5",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("list[].decimals", _eighteen),
    ),
    Break(
        "chain-token-addresses-differ",
        _LAYER,
        "addresses of a chain's tokens are not those that quotes take",
        "4.2 row 5",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("list[].contractAddress", _next_address),
    ),
    Break(
        "chain-token-indexes-differ",
        _LAYER,
        "a token has another index in the two lists",
        "4.2",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("list[].index", _shifted),
    ),
    Break(
        "asset-symbols-in-lower-case",
        _LAYER,
        "symbols of the list of tokens are in lower case, which no quote takes",
        "4.2 row 4",
        _VIOLATION,
        (ASSETS,),
        editing(_lower_symbols),
    ),
    Break(
        "listed-token-unquotable",
        _LAYER,
        "half of the listed tokens cannot be quoted",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        _unquotable,
    ),
    Break(
        "listed-token-without-balance",
        _LAYER,
        "balances of listed tokens are refused but for the chain's own coin",
        "4.2 row 9",
        _VIOLATION,
        (BALANCE,),
        _unbalanced,
    ),
    Break(
        "quote-price-differs",
        _LAYER,
        "a quote tells ten times the price of the token that getPrice tells",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        change("price", times("10")),
    ),
    Break(
        "aggregate-network-unknown",
        _LAYER,
        "chain of a swap's quote is the network id of no chain listed",
        "DEMO",
        _OBSERVED,
        (AGGREGATE_QUOTE,),
        change("chain", _wrong_network),
    ),
    Break(
        "balance-scaled-wrongly",
        _LAYER,
        "hrpBalance is not balance in the token's decimals",
        "A-022",
        Verdict.ASSUMED,
        (BALANCE,),
        editing(_scaled_wrongly),
    ),
)
"""Cross breaks."""
