"""A seventh writing, from other sentences of the description than the sixth."""

import gzip
from decimal import Decimal

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    LARGE,
    Answer,
    accepts_gzip,
    bytes_of,
    count,
    of_connection,
    with_body,
)
from tests.blind.service_six.operations import SWAP, V1_ORDER
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError, call_data

SWAP_QUOTE = "getAggregateQuote"


# what money means


@fault("swap-fee-of-what-gas-leaves", "data", SWAP_QUOTE)
def fee_behind_gas(call: Call, data: Data) -> None:
    fee, out = int(data["serviceFee"]), int(data["outAmount"])
    data["serviceFee"] = str(fee * (out - int(data["gasFee"])) // out)


@fault("swap-promises-more-than-its-quote", "data", SWAP)
def promises_more(call: Call, data: Data) -> None:
    times(data, "amountOut", Decimal("1.05"))


@fault("v1-token-prices-in-cents", "data", "getSupportTokens")
def prices_in_cents(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        row["price"] = world.plain(Decimal(row["price"]) * 100)


@fault("impact-in-words-above-a-million", "data", SWAP_QUOTE)
def impact_in_words(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) > 1_000_000:
        data["priceImpact"] = "high"


@fault("v1-amount-in-whole-cents", "data", "getCrossChainQuote")
def whole_cents(call: Call, data: Data) -> None:
    quote = data["crossChain"]
    quote["amountIn"] = float(round(Decimal(str(quote["amountIn"])), 2))


# of one token, chain, size or sort of address


@fault("swaps-to-elastos-name-its-index", "data", SWAP_QUOTE)
def elastos_index(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "ELA":
        data["chain"] = str(call.service.chain("ELA")["chainIndex"])


@fault("orders-to-kaspa-paid-gross", "data", "checkOrder")
def kaspa_gross(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    if order["body"]["toChain"] == "KAS" and data["amountOut"] != "0":
        data["amountOut"] = str(order["gross"])


@fault("v1-tokens-of-cronos-have-addresses-of-ethereum", "data", "getSupportTokens")
def addresses_of_ethereum(call: Call, data: Data) -> None:
    contracts = {token["symbol"]: token["contracts"].get("ETH") for token in call.service.tokens}
    for row in data["tokenVos"]:
        if row["chain"] == "CRO" and (there := contracts[row["symbol"]]):
            row["address"] = there["address"]


@fault("slippage-below-ten-is-none", "data", SWAP)
def small_slippage(call: Call, data: Data) -> None:
    if int(call.inputs["slippage"]) < 10:
        chain, out = call.inputs["chain"], int(data["amountOut"])
        here, there = call.service.ends(call, chain, chain)
        steps = {"here": here, "there": there, "recipient": call.inputs["recipient"]}
        data["data"] = call_data(steps | {"amount": int(call.inputs["fromAmount"]), "least": out})


# states and sequences


@fault("orders-of-one-second-share-an-id", "data", "submitOrder")
def shared_id(call: Call, data: Data) -> None:
    second = int(call.service.orders[data["id"]]["start"])
    ids = call.service.memory.setdefault("ids", {})
    data["id"] = ids.setdefault(second, data["id"])


@fault("v1-payout-hash-shown-once", "data", V1_ORDER)
def hash_shown_once(call: Call, data: Data) -> None:
    order = data["order"]
    if order["status"] == 2 and count(call, order["sn"]) > 1:
        order["toHash"] = ""


@fault("even-tickets-succeeded-where-looked-up", "data", "checkTicket")
def even_succeeded(call: Call, data: Data) -> None:
    data["succeeded"] |= int(call.inputs["ticketId"]) % 2 == 0


# between the service and its clients


@fault("v1-headers-lost-after-twelve-on-a-connection", "before", "getCrossChainQuote")
def headers_lost(call: Call) -> None:
    memory = of_connection(call)
    memory["count"] = memory.get("count", 0) + 1
    if memory["count"] > 12:
        raise RefusalError("Validation failed!", 31010)


@fault("escaped-colons-of-addresses-kept", "before", "getBalance")
def colons_kept(call: Call) -> None:
    if "%3A" in call.request.raw_path.upper():
        call.inputs["address"] = str(call.inputs.get("address")).replace(":", "%3A")


@fault("large-lists-compressed-twice", "wrap", "getChain getAssets getAssetsByChain")
async def compressed_twice(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    if not accepts_gzip(call) or len(body) < LARGE:
        return response
    twice = gzip.compress(gzip.compress(body))
    return with_body(response, twice, **{"Content-Encoding": "gzip"})
