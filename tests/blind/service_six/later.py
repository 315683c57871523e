"""Twenty faults of a second writing, by somebody who knew the service and not the rules."""

import asyncio
import gzip
from decimal import Decimal

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    Answer,
    accepts_gzip,
    bytes_of,
    cached,
    count,
    of_connection,
    with_body,
)
from tests.blind.service_six.regions import item, times
from tests.blind.service_six.service import Call, RefusalError, call_data

SWAP_QUOTE = "getAggregateQuote"


@fault("replica-with-other-decimals", "data", "getAssetsByChain")
def other_decimals(call: Call, data: Data) -> None:
    row = item(data, symbol="USDT")
    if row and count(call, "token lists") % 3 == 0:
        row["decimals"] = 12


@fault("empty-lists-under-load", "wrap", "getChain getAssets getAssetsByChain")
async def empty_under_load(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    memory["running"] = memory.get("running", 0) + 1
    try:
        await asyncio.sleep(0.005)
        if memory["running"] > 2:
            empty = {"code": 0, "msg": "success", "data": {"version": 7, "list": []}}
            return web.json_response(empty)
        return await answer()
    finally:
        memory["running"] -= 1


@fault("slow-every-tenth", "wrap")
async def slow_tenth(call: Call, answer: Answer) -> web.Response:
    if count(call, "turns") % 10 == 0:
        await asyncio.sleep(0.4)
    return await answer()


@fault("slower-with-each-request", "wrap")
async def slower(call: Call, answer: Answer) -> web.Response:
    await asyncio.sleep(0.0004 * count(call, "turns"))
    return await answer()


@fault("gzip-twice", "wrap")
async def gzip_twice(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call):
        return response
    body = gzip.compress(gzip.compress(bytes_of(response)))
    return with_body(response, body, **{"Content-Encoding": "gzip"})


@fault("connection-keeps-first-body", "before", "getCrossChainQuote")
def first_body(call: Call) -> None:
    call.inputs = of_connection(call).setdefault("body", call.inputs)


@fault("swap-quote-cache-without-target", "wrap", SWAP_QUOTE)
async def cache_without_target(call: Call, answer: Answer) -> web.Response:
    names = ("fromAmount", "fromTokenAddress", "fromDecimal", "fromChain", "toTokenAddress")
    return await cached(call, answer, tuple(call.inputs.get(name) for name in names), 5)


@fault("v1-quote-cached-by-second", "wrap", "getCrossChainQuote")
async def cached_by_second(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, ("v1", call.request.headers.get("timestamp", "")[:10]), 1)


@fault("tickets-cached", "wrap", "getAllTicketByAddress")
async def tickets_cached(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.path_qs,), 20)


@fault("one-replica-in-four-behind", "before", "checkOrder")
def one_in_four(call: Call) -> None:
    if call.inputs.get("id") in call.service.orders and count(call, "looks") % 4 == 0:
        raise RefusalError(f"there is no order {call.inputs['id']}")


@fault("swap-from-avax-half", "data", SWAP_QUOTE)
def avax_half(call: Call, data: Data) -> None:
    source = call.inputs["fromChain"]
    here = call.service.token(source, "address", call.inputs["fromTokenAddress"])
    if here["symbol"] == "AVAX":
        times(data, "outAmount", Decimal("0.5"))


@fault("index-of-sol-elsewhere", "data", "getAssets")
def index_of_sol(call: Call, data: Data) -> None:
    row = item(data, symbol="SOL")
    if row:
        row["index"] = 151


@fault("elastos-price-behind", "data", "getPrice")
def elastos_behind(call: Call, data: Data) -> None:
    if call.inputs["symbol"] == "ELA":
        data["price"] = world.plain(Decimal(data["price"]) * Decimal("0.7"))


@fault("call-data-amount-wraps", "data", "getAggregateSwap")
def amount_wraps(call: Call, data: Data) -> None:
    amount = int(call.inputs["fromAmount"])
    if amount >= 2**64:
        data["data"] = data["data"].replace(f"{amount:064x}", f"{amount % 2**64:064x}")


@fault("usdt-to-bnb-in-six", "data", "getBridgeQuote")
def usdt_in_six(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["toChain"]) == ("USDT", "BNB"):
        times(data, "outAmount", Decimal("1e-12"))


@fault("order-amount-of-the-source", "data", "checkOrder")
def amount_of_source(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    if data["status"] == "Succeeded":
        data["amountOut"] = call.service.certificate(order["body"]["sourceCerts"])["fromAmount"]


@fault("tickets-of-kaspa-under-ethereum", "data", "getAllTicketByAddress")
def kaspa_under_ethereum(call: Call, data: Data) -> None:
    for ticket in data["list"]:
        if ticket["chain"] == "KAS":
            ticket["chain"] = "ETH"


@fault("token-not-on-target-quoted", "before", "getBridgeQuote")
def not_on_target(call: Call) -> None:
    target, symbol = call.inputs.get("toChain"), call.inputs.get("symbol")
    known = any(chain["nickName"] == target for chain in call.service.chains)
    for token in call.service.tokens:
        if known and token["symbol"] == symbol and target not in token["contracts"]:
            call.inputs["toChain"] = next(
                chain for chain in token["contracts"] if chain != call.inputs.get("fromChain")
            )


@fault("v1-raw-on-avalanche-of-another-token", "before", "getTransferToMinterRaw")
def raw_of_another(call: Call) -> None:
    if call.inputs.get("chain") == "AVAX" and call.inputs.get("token") == "USDT":
        call.inputs["token"] = "USDC"  # noqa: S105


@fault("slippage-above-ten-percent-ignored", "data", "getAggregateSwap")
def slippage_ignored(call: Call, data: Data) -> None:
    if int(call.inputs["slippage"]) >= 1000:
        here, there = call.service.ends(call, call.inputs["chain"], call.inputs["chain"])
        steps: Data = {"here": here, "there": there, "recipient": call.inputs["recipient"]}
        steps |= {"amount": int(call.inputs["fromAmount"]), "least": int(data["amountOut"])}
        data["data"] = call_data(steps)
