"""A sixth writing, from the description alone: each fault has the sentence that it contradicts."""

import re
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
    with_body,
)
from tests.blind.service_six.operations import BRIDGE, SWAP, V1_ORDER, V1_QUOTE
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import Call, call_data, index

SWAP_QUOTE = "getAggregateQuote"
ORDER = "checkOrder"


# what money means


@fault("bridge-fee-in-source-decimals", "data", BRIDGE)
def fee_in_source_decimals(call: Call, data: Data) -> None:
    shift = decimals(call, "to") - decimals(call, "from")
    if shift > 0:
        data["serviceFee"] = str(int(data["serviceFee"]) // 10**shift)


@fault("usd-net-above-a-thousand", "data", BRIDGE)
def usd_net(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) > 1000:
        net = int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])
        value = Decimal(data["outAmountUsd"]) * net / int(data["outAmount"])
        data["outAmountUsd"] = world.plain(value)


@fault("swap-gas-of-eighteen-decimals", "data", SWAP_QUOTE)
def gas_of_eighteen(call: Call, data: Data) -> None:
    times(data, "gasFee", 10 ** max(18 - data["chainDecimal"], 0))


@fault("minimum-above-output-without-fees", "data", SWAP_QUOTE)
def minimum_above(call: Call, data: Data) -> None:
    if data["serviceFee"] == "0":
        data["minOutAmount"] = str(int(data["outAmount"]) * 101 // 100)


@fault("slippage-from-three-percent-twice", "data", SWAP)
def slippage_twice(call: Call, data: Data) -> None:
    slippage = int(call.inputs["slippage"])
    if slippage >= 300:
        chain, out = call.inputs["chain"], int(data["amountOut"])
        here, there = call.service.ends(call, chain, chain)
        steps = {"here": here, "there": there, "recipient": call.inputs["recipient"]}
        steps |= {"amount": int(call.inputs["fromAmount"])}
        steps |= {"least": out * (10_000 - slippage) ** 2 // 10_000**2}
        data["data"] = call_data(steps)


@fault("native-value-short-for-partial-fill", "data", SWAP)
def value_short(call: Call, data: Data) -> None:
    if call.inputs["allowPartialFill"] == "true":
        data["value"] = str(int(data["value"]) * 999 // 1000)


@fault("swap-order-paid-in-source-decimals", "data", ORDER)
def paid_in_source_decimals(call: Call, data: Data) -> None:
    body = call.service.orders[call.inputs["id"]]["body"]
    if body["orderType"] == "2" and data["amountOut"] != "0":
        certificate = call.service.certificate(body["sourceCerts"])
        source, tokens = certificate["fromChain"], call.service.token
        here = tokens(source, "index", index(certificate["fromIndex"]))["decimals"]
        there = tokens(body["toChain"] or source, "index", index(body["toIndex"]))["decimals"]
        value = world.scaled(int(data["amountOut"]), there).scaleb(here)
        data["amountOut"] = str(int(value))


@fault("price-of-cheap-tokens-is-the-value", "data", BRIDGE)
def price_is_value(call: Call, data: Data) -> None:
    if Decimal(data["price"]) < Decimal("0.1"):
        data["price"] = data["outAmountUsd"]


@fault("v1-gas-taken-twice-with-a-level", "data", V1_QUOTE)
def v1_gas_twice(call: Call, data: Data) -> None:
    if call.inputs["feeLevel"]:
        data["crossChain"]["amountOut"] -= data["crossChain"]["gas"]


@fault("v1-delivered-and-paid-back", "data", V1_ORDER)
def delivered_and_back(call: Call, data: Data) -> None:
    order = data["order"]
    if order["status"] == 2:
        order |= {"backAmount": order["fromAmount"], "backHash": order["toHash"]}


# of one token, chain, size or sort of address


@fault("usdc-on-aurora-eighteen", "data", "getAssetsByChain")
def usdc_on_aurora(call: Call, data: Data) -> None:
    for row in data["list"]:
        if (row["symbol"], call.inputs["chain"]) == ("USDC", "AURORA"):
            row["decimals"] = 18


@fault("readable-balance-double-on-koinos", "data", "getBalance")
def double_on_koinos(call: Call, data: Data) -> None:
    if call.inputs["chain"] == "KOIN":
        data["hrpBalance"] = world.plain(Decimal(data["hrpBalance"]) * 2)


@fault("cro-to-ethereum-unscaled-above-a-hundred", "data", BRIDGE)
def cro_unscaled(call: Call, data: Data) -> None:
    way = (call.inputs["symbol"], call.inputs["toChain"])
    if way == ("CRO", "ETH") and int(call.inputs["amount"]) > 10**20:
        data["outAmount"] = call.inputs["amount"]


@fault("v1-fee-of-level-seven-is-that-of-six", "data", V1_QUOTE)
def level_seven(call: Call, data: Data) -> None:
    quote = data["crossChain"]
    if call.inputs["feeLevel"] == 7:
        less = Decimal(str(quote["amountIn"])) * 5 / 10_000
        quote["fee"] = float(Decimal(str(quote["fee"])) - less)
        quote["amountOut"] = float(Decimal(str(quote["amountOut"])) + less)


@fault("v1-raw-of-usdc-on-optimism-twice", "before", "getTransferToMinterRaw")
def raw_twice(call: Call) -> None:
    if (call.inputs.get("token"), call.inputs.get("chain")) == ("USDC", "OP"):
        call.inputs["amount"] = Decimal(str(call.inputs.get("amount"))) * 2


@fault("swaps-to-eight-decimals-tenfold-above-10000", "data", SWAP_QUOTE)
def eight_tenfold_large(call: Call, data: Data) -> None:
    large = Decimal(data["outAmountUsd"]) > 10_000
    if large and (call.inputs["fromDecimal"], data["chainDecimal"]) == ("6", 8):
        times(data, "outAmount", 10)


@fault("mixed-case-recipients-lost", "before", SWAP)
def mixed_case_lost(call: Call) -> None:
    recipient = str(call.inputs.get("recipient"))
    if re.fullmatch(r"0x(?=.*[A-F])(?=.*[a-f])[0-9a-fA-F]{40}", recipient):
        call.inputs["recipient"] = call.inputs.get("sender")


@fault("price-of-kas-to-base-a-tenth", "data", BRIDGE)
def kas_to_base(call: Call, data: Data) -> None:
    if (call.inputs["symbol"], call.inputs["toChain"]) == ("KAS", "BASE"):
        data["price"] = world.plain(Decimal(data["price"]) / 10)


# states and sequences


@fault("third-look-at-a-done-order-is-pending", "data", ORDER)
def third_look(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded" and count(call, call.inputs["id"]) == 3:
        data |= {"status": "Pending", "execHash": "", "amountOut": "0"}


@fault("exec-hash-of-every-second-look", "data", ORDER)
def second_look(call: Call, data: Data) -> None:
    if data["execHash"] and count(call, call.inputs["id"]) % 2 == 0:
        data["execHash"] = "0x" + data["execHash"][:1:-1]


@fault("second-order-pays-as-the-first", "data", ORDER)
def pays_as_the_first(call: Call, data: Data) -> None:
    orders = [order for order in call.service.orders.values() if "net" in order]
    mine = call.service.orders[call.inputs["id"]]
    if data["status"] == "Succeeded":
        first = next(order for order in orders if order["sender"] == mine["sender"])
        data["amountOut"] = str(first["net"])


@fault("ticket-turns-its-order-back", "data", ORDER)
def ticket_turns_back(call: Call, data: Data) -> None:
    key = call.service.orders[call.inputs["id"]]["key"]
    if any(f"{ticket['chain']} {ticket['hash']}" == key for ticket in call.service.tickets):
        data |= {"status": "Unknown", "execHash": "", "amountOut": "0"}


@fault("tickets-of-lower-case-addresses-only", "data", "getAllTicketByAddress")
def lower_case_only(call: Call, data: Data) -> None:
    if call.inputs["address"] != call.inputs["address"].lower():
        data["list"] = []


@fault("only-the-two-newest-tickets", "data", "getAllTicketByAddress")
def two_newest(call: Call, data: Data) -> None:
    del data["list"][:-2]


# between the service and its clients


@fault("swaps-cached-without-their-recipient", "wrap", SWAP)
async def without_recipient(call: Call, answer: Answer) -> web.Response:
    names = ("fromAmount", "fromTokenAddress", "toTokenAddress", "chain", "slippage", "sender")
    return await cached(call, answer, tuple(call.inputs.get(name) for name in names), 5)


@fault("compressed-lists-in-latin-letters", "wrap", "getAssets getAssetsByChain")
async def latin_when_compressed(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if accepts_gzip(call):
        text = bytes_of(response).decode("utf-8", "replace")
        return with_body(response, text.encode("latin-1", "replace"))
    return response


@fault("decimal-comma-for-germans", "data", "getPrice getBalance getBridgeQuote")
def decimal_comma(call: Call, data: Data) -> None:
    if call.request.headers.get("Accept-Language", "").startswith("de"):
        for name, value in data.items():
            data[name] = value.replace(".", ",")


@fault("last-answers-of-connections-cut", "wrap", "getAssets getAssetsByChain getChain")
async def last_cut(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.headers.get("Connection", "").lower() == "close":
        return with_body(response, bytes_of(response)[:4096])
    return response


@fault("bodies-behind-white-space-refused", "wrap", f"{V1_QUOTE} getTransferToMinterRaw")
async def white_space_refused(call: Call, answer: Answer) -> web.Response:
    if (await call.request.read())[:1].isspace():
        call.inputs = {"": "no object"}
    return await answer()


@fault("every-eleventh-list-lacks-its-last-token", "data", "getAssetsByChain")
def eleventh_short(call: Call, data: Data) -> None:
    if count(call, "lists") % 11 == 0:
        del data["list"][-1:]
