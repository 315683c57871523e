"""A ninth writing, from the description alone: ten faults of each kind."""

import asyncio
import gzip
import json
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
from tests.blind.service_six.operations import (
    BRIDGE,
    LISTS,
    QUOTE,
    RAW,
    SWAP,
    TICKETS,
    V1_ORDER,
)
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError

# between the service and its clients


@fault("replica-of-tickets-behind", "data", TICKETS)
def tickets_behind(call: Call, data: Data) -> None:
    if count(call, "ticket lists") % 3 == 0:
        del data["list"][-1:]


@fault("bridge-quotes-redirected-without-query", "wrap", BRIDGE)
async def redirected(call: Call, answer: Answer) -> web.Response:
    if count(call, "bridge quotes") % 9 == 0:
        return web.Response(status=302, headers={"Location": call.request.path})
    return await answer()


@fault("refusals-labelled-as-pages", "wrap")
async def as_pages(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if json.loads(bytes_of(response))["code"]:
        response.content_type = "text/html"
    return response


@fault("swaps-cached-without-slippage", "wrap", SWAP)
async def without_slippage(call: Call, answer: Answer) -> web.Response:
    key = tuple(sorted((name, text) for name, text in call.inputs.items() if name != "slippage"))
    return await cached(call, answer, key, 5)


@fault("list-cache-by-length-of-name", "wrap", "getAssetsByChain")
async def length_of_name(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (len(call.inputs.get("chain", "")),), 1)


@fault("brotli-among-encodings-empties-it", "wrap", LISTS)
async def brotli(call: Call, answer: Answer) -> web.Response:
    asked = call.request.headers.get("Accept-Encoding", "").replace(" ", "").split(",")
    return with_body(await answer(), b"") if "br" in asked else await answer()


@fault("tenth-on-a-connection-is-an-empty-object", "wrap")
async def empty_object(call: Call, answer: Answer) -> web.Response:
    memory = of_connection(call)
    memory["count"] = memory.get("count", 0) + 1
    response = await answer()
    return with_body(response, b"{}") if memory["count"] % 10 == 0 else response


@fault("v1-raws-at-once-mixed", "wrap", RAW)
async def raws_mixed(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    response = await answer()
    memory["raw"] = bytes_of(response)
    await asyncio.sleep(0.01)
    return with_body(response, memory["raw"])


@fault("order-lost-where-another-follows-at-once", "data", "submitOrder")
def lost(call: Call, data: Data) -> None:
    orders = call.service.orders
    before = orders.get(str(int(data["id"]) - 1), {})
    if before and orders[data["id"]]["start"] - before["start"] < 0.1:
        before.pop("net", None)


@fault("compressed-lists-are-of-the-version-before", "wrap", LISTS)
async def version_before(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call):
        return response
    body = bytes_of(response).replace(b'"version":7', b'"version":6')
    return with_body(response, gzip.compress(body), **{"Content-Encoding": "gzip"})


# of one token, chain, size or spelling


@fault("sol-from-bnb-in-eighteen", "data", BRIDGE)
def sol_eighteen(call: Call, data: Data) -> None:
    if call.inputs["fromChain"] == "BNB" and call.inputs["symbol"] == "SOL":
        times(data, "outAmount", 10**9)


@fault("certificates-in-capitals-refused", "before", "submitOrder")
def capital_certificates(call: Call) -> None:
    text = str(call.inputs.get("sourceCerts")).removeprefix("0x")
    if text != text.lower():
        raise RefusalError("sourceCerts cannot be read")


@fault("recipients-in-capitals-refused", "before", SWAP)
def capital_recipients(call: Call) -> None:
    text = str(call.inputs.get("recipient")).removeprefix("0x")
    if len(text) == 40 and text == text.upper() != text.lower():
        raise RefusalError("recipient has to be an address")


@fault("v1-fee-level-ten-as-one", "before", "getCrossChainQuote submitCrossChain")
def ten_as_one(call: Call) -> None:
    if call.inputs.get("feeLevel") == 10:
        call.inputs["feeLevel"] = 1


@fault("long-solana-hashes-refused", "before", "submitTicket")
def long_hashes(call: Call) -> None:
    if call.inputs.get("chain") == "SOL" and len(str(call.inputs.get("hash"))) > 87:
        raise RefusalError("hash is no transaction hash")


@fault("bitcoin-to-kaspa-valued-as-kas", "data", BRIDGE)
def valued_as_kas(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "KAS" and call.inputs["symbol"] == "BTC":
        value = world.scaled(int(data["outAmount"]), 8) * Decimal("0.12")
        data["outAmountUsd"] = world.plain(value)


@fault("cronos-coin-has-eight-chain-decimals", "data", QUOTE)
def eight_chain_decimals(call: Call, data: Data) -> None:
    if call.inputs["toChain"] == "CRO" and call.inputs["toTokenAddress"] == world.NATIVE:
        data["chainDecimal"] = 8


@fault("v1-usdt-on-avax-listed-as-the-coin", "data", "getSupportTokens")
def usdt_as_coin(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        if (row["chain"], row["symbol"]) == ("AVAX", "USDT"):
            row["address"] = world.NATIVE


@fault("amounts-clamped-at-2-63", "before", f"{BRIDGE} {QUOTE}")
def clamped(call: Call) -> None:
    for name in ("amount", "fromAmount"):
        text = str(call.inputs.get(name))
        if text.isdigit() and int(text) >= 2**63:
            call.inputs[name] = str(2**63 - 1)


@fault("readable-usdc-on-bnb-with-six", "data", "getBalance")
def usdc_with_six(call: Call, data: Data) -> None:
    if call.inputs["contractAddress"] == world.address("USDC", "BNB"):
        data["hrpBalance"] = world.plain(world.scaled(int(data["balance"]), 6))


# what amounts, states and tickets mean


@fault("swap-usd-is-that-of-the-input", "data", QUOTE)
def usd_of_input(call: Call, data: Data) -> None:
    chains = call.inputs["fromChain"], call.inputs["toChain"]
    here, _ = call.service.ends(call, *chains)
    amount = world.scaled(int(call.inputs["fromAmount"]), here["decimals"])
    data["outAmountUsd"] = world.plain(amount * here["usd"])


@fault("succeeded-list-shows-open-tickets-as-done", "data", TICKETS)
def open_as_done(call: Call, data: Data) -> None:
    if call.inputs["filter"] == "Succeeded":
        owner = call.inputs["address"].lower()
        mine = [t for t in call.service.tickets if t["address"].lower() == owner]
        data["list"] = [ticket | {"succeeded": True} for ticket in mine]


@fault("ticket-chain-of-the-latest", "data", TICKETS)
def chain_of_latest(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["chain"] = data["list"][-1]["chain"]


@fault("v1-fee-level-forgotten", "data", V1_ORDER)
def level_forgotten(call: Call, data: Data) -> None:
    data["order"]["feeLevel"] = "0"


@fault("v1-orders-pay-as-at-the-highest-level", "data", V1_ORDER)
def highest_level(call: Call, data: Data) -> None:
    order = data["order"]
    if order["status"] == 2:
        more = Decimal(order["fromAmount"]) * 5 * (10 - int(order["feeLevel"])) / 10_000
        order["toAmount"] = world.plain(Decimal(order["toAmount"]) - more)


@fault("order-gone-after-its-ticket", "before", "checkOrder")
def gone_after_ticket(call: Call) -> None:
    order = call.service.orders.get(str(call.inputs.get("id")), {})
    hashes = {f"{ticket['chain']} {ticket['hash']}" for ticket in call.service.tickets}
    if order.get("key") in hashes:
        raise RefusalError("there is no such order")


@fault("bridge-orders-lose-a-percent", "data", "checkOrder")
def lose_a_percent(call: Call, data: Data) -> None:
    if call.service.orders[call.inputs["id"]]["body"]["orderType"] == "1":
        times(data, "amountOut", Decimal("0.99"))


@fault("index-by-place-in-lists-of-chains", "data", "getAssetsByChain")
def by_place(call: Call, data: Data) -> None:
    for place, row in enumerate(data["list"], 1):
        row["index"] = place


@fault("gas-rebated-above-a-million", "data", f"{BRIDGE} {QUOTE}")
def rebated(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) > 1_000_000:
        data["gasFee"] = f"-{data['gasFee']}"


@fault("order-time-is-text-until-done", "data", "checkOrder")
def time_is_text(call: Call, data: Data) -> None:
    if data["status"] != "Succeeded":
        data["timestamp"] = str(data["timestamp"])
