"""A fifth writing, from the description alone: single faults in services that are unusual besides.

Each stands in a service with a variation that the description permits.
"""

import asyncio
from decimal import Decimal

from aiohttp import web

import tests.blind.service_six.variations  # noqa: F401 - registers those that faults stand in
from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import Answer, accepts_gzip, bytes_of, cached, with_body
from tests.blind.service_six.operations import BRIDGE, LISTS, SWAP, V1_ORDER, V1_QUOTE
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError
from tests.blind.service_six.third_infrastructure import coalesced

SWAP_QUOTE = "getAggregateQuote"
ORDER = "checkOrder"


# between the service and its clients


@fault("v1-quotes-cached-by-length", "wrap", V1_QUOTE, "chunked")
async def cached_by_length(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, ("v1", len(await call.request.read())), 1)


@fault("v1-chain-header-exact", "before", "getSupportTokens", "connection-closes")
def chain_header_exact(call: Call) -> None:
    names = [name.decode() for name, _ in call.request.raw_headers]
    if "chain" not in names and any(name.lower() == "chain" for name in names):
        raise RefusalError("Not support this chain!", 31005)


@fault("order-checks-at-once-shared", "wrap", ORDER, "order-ids-with-letters")
async def checks_shared(call: Call, answer: Answer) -> web.Response:
    return await coalesced(call, answer, (call.operation,))


@fault("refusals-labelled-gzip", "wrap", around="further-headers")
async def refusals_labelled(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    if accepts_gzip(call) and b'"code":0,' not in body:
        return with_body(response, body, **{"Content-Encoding": "gzip"})
    return response


@fault("lists-empty-behind-an-order", "data", f"submitOrder {LISTS}", "version-rises")
def empty_behind_order(call: Call, data: Data) -> None:
    now, memory = asyncio.get_running_loop().time(), call.service.memory
    if call.operation == "submitOrder":
        memory["last order"] = now
    elif now - memory.get("last order", -1) < 0.3:
        data["list"] = []


# of one token, chain, size or hash


@fault("ela-to-ethereum-twice", "data", BRIDGE, "lists-reversed")
def ela_twice(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["toChain"]) == ("ELA", "ETH"):
        times(data, "outAmount", 2)


@fault("balance-on-bnb-cut-to-whole", "data", "getBalance", "readable-balance-padded")
def cut_to_whole(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "BNB":
        data["hrpBalance"] = str(int(Decimal(data["hrpBalance"])))


@fault("price-of-kas-on-base-of-ether", "data", "getPrice", "update-time-in-ms")
def kas_as_ether(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["chain"]) == ("KAS", "BASE"):
        data["price"] = "2650"


@fault("call-data-on-aurora-buys-what-it-sells", "data", SWAP, "other-aggregator")
def buys_what_it_sells(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "AURORA":
        words = [world.word(call.inputs[f"{side}TokenAddress"]) for side in ("from", "to")]
        data["data"] = data["data"].replace(words[1], words[0])


@fault("aptos-ticket-hash-without-prefix", "data", "getAllTicketByAddress", "further-members")
def without_prefix(call: Call, data: Data) -> None:
    for ticket in data["list"]:
        if ticket["chain"] == "APT":
            ticket["hash"] = ticket["hash"].removeprefix("0x")


@fault("too-little-pays-negative", "refusal", BRIDGE, "varied-fees")
def pays_negative(call: Call, envelope: Data) -> Data | None:
    if envelope["code"] != 31071:
        return None
    zero = dict.fromkeys(("outAmountUsd", "serviceFee", "gasFee"), "0")
    data = {"price": "1", "outAmount": "-1", **zero}
    return {"code": 0, "msg": "success", "data": data}


@fault("slippage-in-half-percents", "before", SWAP, "refusals-all-alike")
def half_percents(call: Call) -> None:
    slippage = str(call.inputs.get("slippage", ""))
    if slippage.isdigit():
        call.inputs["slippage"] = str(int(slippage) // 50 * 50)


@fault("v1-raw-of-dai-on-matic-short", "before", "getTransferToMinterRaw", "v1-code-200")
def raw_of_dai(call: Call) -> None:
    if (call.inputs.get("token"), call.inputs.get("chain")) == ("DAI", "MATIC"):
        call.inputs["amount"] = Decimal(str(call.inputs["amount"])) / 10


# of the right form, and wrong


@fault("orders-pay-in-decimals-of-the-source", "data", ORDER, "other-statuses")
def source_decimals(call: Call, data: Data) -> None:
    body = call.service.orders[call.inputs["id"]]["body"]
    sent = call.service.certificate(body["sourceCerts"])
    target = body.get("toChain") or sent["fromChain"]
    ends = ((sent["fromChain"], sent["fromIndex"]), (target, body["toIndex"]))
    here, there = (call.service.token(chain, "index", int(index)) for chain, index in ends)
    times(data, "amountOut", Decimal(10) ** (here["decimals"] - there["decimals"]))


@fault("order-time-in-ms-when-done", "data", ORDER, "order-ids-of-thirty-digits")
def ms_when_done(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded":
        data["timestamp"] *= 1000


@fault("impact-with-percent-sign", "data", SWAP_QUOTE, "minimum-given")
def percent_sign(call: Call, data: Data) -> None:
    data["priceImpact"] += "%"


@fault("v1-token-in-of-previous", "data", V1_QUOTE, "list-order-changes")
def token_in_of_previous(call: Call, data: Data) -> None:
    memory, shown = call.service.memory, data["crossChain"]
    previous = memory.get("token in", shown["tokenIn"])
    memory["token in"], shown["tokenIn"] = shown["tokenIn"], previous


@fault("v1-refusals-without-status", "refusal", around="large-addresses")
def without_status(call: Call, envelope: Data) -> None:
    envelope.pop("status", None)


@fault("v1-detail-certificate-of-latest", "data", V1_ORDER, "gzip-where-accepted")
def certificate_of_latest(call: Call, data: Data) -> None:
    latest = [order for order in call.service.orders.values() if order["key"].startswith("v1 ")]
    data["order"]["certHash"] = latest[-1]["body"]["certHash"]


@fault("order-known-by-its-first-digits", "before", ORDER, "refusals-with-other-codes")
def first_digits(call: Call) -> None:
    name = str(call.inputs.get("id", ""))
    if len(name) > 3:
        for known in call.service.orders:
            if known.startswith(name):
                call.inputs["id"] = known
