"""Breaks that the types and names of one answer give away."""

from decimal import Decimal

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.responders.breaks.amounts import whole
from mockserver.responders.breaks.answers import Page, change, drop, editing, put, rename
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    CHAINS,
    CHECK_ORDER,
    CHECK_TICKET,
    PRICE,
    SUBMIT_ORDER,
    SUBMIT_TICKET,
    SWAP,
    TICKETS,
    V1_CHAINS,
    V1_DETAIL,
    V1_QUOTE,
    V1_RAW,
    V1_SUBMIT,
    V1_TOKENS,
)
from mockserver.responders.breaks.requests import all_of
from mockserver.responders.breaks.values import Break, Layer, Verdict


def number(value: Json) -> Json:
    """Return the number that a text stands for; anything else as it is."""
    try:
        return jsontext.decode(value.encode()) if isinstance(value, str) else value
    except (jsontext.NotJson, UnicodeEncodeError):
        return value


def text(value: Json) -> Json:
    """Return a scalar as text, as a careless serialiser writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return jsontext.plain(value)
    return str(value) if isinstance(value, int) else value


def null(value: Json) -> Json:
    """Return null."""
    return None


def empty(value: Json) -> Json:
    """Return an empty text."""
    return ""


def bit(value: Json) -> Json:
    """Return 1 or 0 for a boolean."""
    return int(value) if isinstance(value, bool) else value


def exponent(value: Json) -> Json:
    """Return whole digits with an exponent, as floats of some languages are printed."""
    if not isinstance(value, str) or not value.isdecimal() or len(value) < 2:
        return value
    return f"{value[0]}.{value[1:].rstrip('0') or '0'}e+{len(value) - 1}"


def thousands(value: Json) -> Json:
    """Return whole digits grouped by commas."""
    units = whole(value)
    return value if units is None else f"{units:,}"


def keyed(value: Json) -> Json:
    """Return a list as an object with the places as names."""
    if not isinstance(value, list):
        return value
    return {str(place): item for place, item in enumerate(value)}


def fractional(value: Json) -> Json:
    """Return a whole number with a part behind the point."""
    return Decimal(value) + Decimal("0.5") if isinstance(value, int) else value


def _capitalised(page: Page) -> None:
    page.body["data"] = {name[:1].upper() + name[1:]: value for name, value in page.data.items()}


def _snake(page: Page) -> None:
    page.body["data"] = {
        "".join(f"_{char.lower()}" if char.isupper() else char for char in name): value
        for name, value in page.data.items()
    }


def _in_list(page: Page) -> None:
    page.body["data"] = [page.data]


def _as_text(page: Page) -> None:
    page.body["data"] = jsontext.encode(page.data).decode()


def _flat(page: Page) -> None:
    data = page.body.pop("data")
    page.body.update({name: value for name, value in data.items() if name not in page.body})


def _amounts_as_numbers(page: Page) -> None:
    for name in ("outAmount", "serviceFee", "gasFee"):
        if name in page.data:
            page.data[name] = number(page.data[name])


def _numbers_of_a_coin(page: Page) -> None:
    address = str(page.asked.query.get("contractAddress", ""))
    if set(address[2:].lower()) <= {"e"}:
        page.data["balance"] = number(page.data.get("balance"))


def _no_source_off_evm(page: Page) -> None:
    if not str(page.asked.query.get("contractAddress", "")).startswith("0x"):
        page.data["source"] = None


_SCHEMA, _VIOLATION, _OBSERVED = Layer.SCHEMA, Verdict.VIOLATION, Verdict.OBSERVED

BREAKS: tuple[Break, ...] = (
    Break(
        "envelope-code-as-text",
        _SCHEMA,
        "code is the text '0'",
        "2.1",
        _VIOLATION,
        (PRICE, BALANCE),
        change("$.code", text),
    ),
    Break(
        "envelope-code-as-boolean",
        _SCHEMA,
        "code is false on success",
        "2.1",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("$.code", lambda value: False),
    ),
    Break(
        "envelope-code-missing",
        _SCHEMA,
        "there is no code on success",
        "2.1",
        _VIOLATION,
        (SWAP,),
        drop("$.code"),
    ),
    Break(
        "envelope-msg-missing",
        _SCHEMA,
        "there is no msg on success",
        "2.1",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        drop("$.msg"),
    ),
    Break(
        "envelope-msg-null",
        _SCHEMA,
        "msg is null on success",
        "2.1",
        _VIOLATION,
        (AGGREGATE_QUOTE, PRICE),
        change("$.msg", null),
    ),
    Break(
        "envelope-misspelt",
        _SCHEMA,
        "the text is called message",
        "2.1",
        _VIOLATION,
        (CHAINS,),
        rename("$.msg", "message"),
    ),
    Break(
        "envelope-flat",
        _SCHEMA,
        "the data stands beside the code instead of inside data",
        "2.1",
        _VIOLATION,
        (BALANCE,),
        editing(_flat),
    ),
    Break(
        "data-in-a-list",
        _SCHEMA,
        "data is an array with the object in it",
        "2.1",
        _VIOLATION,
        (PRICE,),
        editing(_in_list),
    ),
    Break(
        "data-encoded-twice",
        _SCHEMA,
        "data is a text with JSON in it",
        "2.1",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        editing(_as_text),
    ),
    Break(
        "v1-status-missing",
        _SCHEMA,
        "the v1 envelope has no status",
        "2.1",
        _VIOLATION,
        (V1_CHAINS, V1_QUOTE),
        drop("$.status"),
    ),
    Break(
        "v1-status-as-text",
        _SCHEMA,
        "status of the v1 envelope is a text",
        "2.1",
        _VIOLATION,
        (V1_TOKENS, V1_RAW),
        change("$.status", text),
    ),
    Break(
        "v1-code-missing",
        _SCHEMA,
        "the v1 envelope has no code",
        "2.1",
        _VIOLATION,
        (V1_RAW,),
        drop("$.code"),
    ),
    Break(
        "v1-msg-null",
        _SCHEMA,
        "msg of the v1 envelope is null",
        "2.1",
        _VIOLATION,
        (V1_TOKENS,),
        change("$.msg", null),
    ),
    Break(
        "v1-data-in-a-list",
        _SCHEMA,
        "data of v1 is an array",
        "2.1",
        _VIOLATION,
        (V1_CHAINS,),
        editing(_in_list),
    ),
    Break(
        "chain-list-missing",
        _SCHEMA,
        "the chains come without list",
        "2.3",
        _VIOLATION,
        (CHAINS,),
        drop("list"),
    ),
    Break(
        "chain-version-missing",
        _SCHEMA,
        "the chains come without version",
        "2.3",
        _VIOLATION,
        (CHAINS,),
        drop("version"),
    ),
    Break(
        "asset-version-as-text",
        _SCHEMA,
        "version of the tokens is a text",
        "2.3",
        _VIOLATION,
        (ASSETS,),
        change("version", text),
    ),
    Break(
        "asset-version-fractional",
        _SCHEMA,
        "version of a chain's tokens is not whole",
        "2.3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("version", fractional),
    ),
    Break(
        "asset-list-as-object",
        _SCHEMA,
        "list of a chain's tokens is an object",
        "2.3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        change("list", keyed),
    ),
    Break(
        "chain-nickname-misspelt",
        _SCHEMA,
        "nickName is written nickname",
        "2.3",
        Verdict.VIOLATION,
        (CHAINS,),
        rename("list[].nickName", "nickname"),
    ),
    Break(
        "asset-decimals-as-text",
        _SCHEMA,
        "decimals of a chain's tokens are texts",
        "DEMO",
        _OBSERVED,
        (ASSETS_BY_CHAIN,),
        change("list[].decimals", text),
    ),
    Break(
        "asset-address-null",
        _SCHEMA,
        "contractAddress of a chain's tokens is null",
        "DEMO",
        _OBSERVED,
        (ASSETS_BY_CHAIN,),
        change("list[].contractAddress", null),
    ),
    Break(
        "asset-index-missing",
        _SCHEMA,
        "tokens come without index",
        "DEMO",
        _OBSERVED,
        (ASSETS,),
        drop("list[].index"),
    ),
    Break(
        "bridge-amounts-as-numbers",
        _SCHEMA,
        "outAmount, serviceFee and gasFee are numbers",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_amounts_as_numbers),
    ),
    Break(
        "bridge-price-as-number",
        _SCHEMA,
        "price of a quote is a number",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        change("price", number),
    ),
    Break(
        "bridge-gas-fee-null",
        _SCHEMA,
        "gasFee is null",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        change("gasFee", null),
    ),
    Break(
        "bridge-usd-missing",
        _SCHEMA,
        "outAmountUsd is left out",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        drop("outAmountUsd"),
    ),
    Break(
        "bridge-snake-case",
        _SCHEMA,
        "the fields of a quote are written out_amount and so on",
        "2.3",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_snake),
    ),
    Break(
        "bridge-out-amount-empty",
        _SCHEMA,
        "outAmount is an empty text",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        change("outAmount", empty),
    ),
    Break(
        "bridge-out-amount-exponent",
        _SCHEMA,
        "outAmount is written with an exponent",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        change("outAmount", exponent),
    ),
    Break(
        "aggregate-out-amount-grouped",
        _SCHEMA,
        "outAmount has commas between thousands",
        "DEMO",
        _OBSERVED,
        (AGGREGATE_QUOTE,),
        change("outAmount", thousands),
    ),
    Break(
        "aggregate-chain-decimal-as-text",
        _SCHEMA,
        "chainDecimal is a text",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("chainDecimal", text),
    ),
    Break(
        "aggregate-chain-as-number",
        _SCHEMA,
        "chain is a number",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("chain", number),
    ),
    Break(
        "aggregate-price-impact-as-number",
        _SCHEMA,
        "priceImpact is a number",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("priceImpact", number),
    ),
    Break(
        "aggregate-min-out-missing",
        _SCHEMA,
        "minOutAmount is left out where it is empty",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        drop("minOutAmount"),
    ),
    Break(
        "aggregate-aggregator-as-object",
        _SCHEMA,
        "aggregator is an object with a name in it",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("aggregator", lambda value: {"name": value}),
    ),
    Break(
        "swap-capitalised",
        _SCHEMA,
        "the fields of the call are written AmountOut and so on",
        "2.3",
        _VIOLATION,
        (SWAP,),
        editing(_capitalised),
    ),
    Break(
        "swap-value-as-number",
        _SCHEMA,
        "value and gas of the call are numbers",
        "2.3",
        _VIOLATION,
        (SWAP,),
        all_of(change("value", number), change("gas", number)),
    ),
    Break(
        "balance-of-a-coin-as-number",
        _SCHEMA,
        "balances of the coin of a chain are numbers, those of tokens are texts",
        "2.3",
        _VIOLATION,
        (BALANCE,),
        editing(_numbers_of_a_coin),
    ),
    Break(
        "price-source-null-off-evm",
        _SCHEMA,
        "source is null for tokens whose address is not that of an EVM chain",
        "2.3",
        _VIOLATION,
        (PRICE,),
        editing(_no_source_off_evm),
    ),
    Break(
        "balance-as-number",
        _SCHEMA,
        "balance is a number",
        "2.3",
        _VIOLATION,
        (BALANCE,),
        change("balance", number),
    ),
    Break(
        "balance-readable-missing",
        _SCHEMA,
        "hrpBalance is left out",
        "2.3",
        _VIOLATION,
        (BALANCE,),
        drop("hrpBalance"),
    ),
    Break(
        "price-as-number",
        _SCHEMA,
        "price is a number",
        "2.3",
        _VIOLATION,
        (PRICE,),
        change("price", number),
    ),
    Break(
        "price-update-time-as-number",
        _SCHEMA,
        "updateTime is a number",
        "2.3",
        _VIOLATION,
        (PRICE,),
        change("updateTime", number),
    ),
    Break(
        "price-source-null",
        _SCHEMA,
        "source of a price is null",
        "2.3",
        _VIOLATION,
        (PRICE,),
        change("source", null),
    ),
    Break(
        "ticket-list-missing",
        _SCHEMA,
        "no tickets is an answer without list",
        "2.3",
        _VIOLATION,
        (TICKETS,),
        drop("list"),
    ),
    Break(
        "ticket-list-null",
        _SCHEMA,
        "the list of tickets is null",
        "2.3",
        _VIOLATION,
        (TICKETS,),
        put("list", None),
    ),
    Break(
        "v1-quote-amounts-as-text",
        _SCHEMA,
        "amounts of the v1 quote are texts",
        "ESS1",
        _OBSERVED,
        (V1_QUOTE,),
        all_of(change("crossChain.amountIn", text), change("crossChain.amountOut", text)),
    ),
    Break(
        "v1-chain-name-missing",
        _SCHEMA,
        "chains of v1 come without name, so that no request can call them",
        "4.1 row 2",
        _VIOLATION,
        (V1_CHAINS,),
        drop("chains[].name"),
    ),
    Break(
        "v1-raw-as-object",
        _SCHEMA,
        "the raw transaction is an object",
        "OAE",
        _OBSERVED,
        (V1_RAW,),
        change("raw", lambda value: {"tx": value}),
    ),
    Break(
        "v1-submit-status-missing",
        _SCHEMA,
        "the envelope of an accepted v1 order has no status",
        "2.1",
        _VIOLATION,
        (V1_SUBMIT,),
        drop("$.status"),
        needs_writes=True,
    ),
    Break(
        "v1-order-amounts-as-numbers",
        _SCHEMA,
        "amounts of a v1 order are numbers",
        "ESS1",
        _OBSERVED,
        (V1_DETAIL,),
        all_of(change("order.fromAmount", number), change("order.toAmount", number)),
        needs_writes=True,
    ),
    Break(
        "order-id-as-number",
        _SCHEMA,
        "id of an accepted order is a number",
        "2.3",
        _VIOLATION,
        (SUBMIT_ORDER,),
        change("id", number),
        needs_writes=True,
    ),
    Break(
        "order-timestamp-as-text",
        _SCHEMA,
        "timestamp of an order is a text",
        "2.3",
        _VIOLATION,
        (CHECK_ORDER,),
        change("timestamp", text),
        needs_writes=True,
    ),
    Break(
        "order-reason-null",
        _SCHEMA,
        "reason is null where there is none",
        "2.3",
        _VIOLATION,
        (CHECK_ORDER,),
        change("reason", lambda value: value or None),
        needs_writes=True,
    ),
    Break(
        "ticket-id-as-text",
        _SCHEMA,
        "ticketId is a text",
        "2.3",
        _VIOLATION,
        (SUBMIT_TICKET, TICKETS),
        all_of(change("ticketId", text), change("list[].ticketId", text)),
        needs_writes=True,
    ),
    Break(
        "ticket-succeeded-as-number",
        _SCHEMA,
        "succeeded of a listed ticket is 1 or 0",
        "2.3",
        _VIOLATION,
        (TICKETS,),
        change("list[].succeeded", bit),
        needs_writes=True,
    ),
    Break(
        "ticket-check-succeeded-as-text",
        _SCHEMA,
        "succeeded of a ticket is the text 'true' or 'false'",
        "2.3",
        _VIOLATION,
        (CHECK_TICKET,),
        change("succeeded", text),
        needs_writes=True,
    ),
)
"""Schema breaks, in the order of the description."""
