"""An eighth writing: what amounts, fees, states, tickets and epochs mean."""

import time
from decimal import Decimal
from types import SimpleNamespace
from typing import cast

from aiohttp import web
from multidict import CIMultiDict

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import count
from tests.blind.service_six.operations import BRIDGE, QUOTE, SWAP, V1_ORDER
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError

STABLE = {"USDT", "USDC", "DAI"}


# quotes and swaps


@fault("bridge-price-cut-to-whole-dollars", "data", BRIDGE)
def whole_dollars(call: Call, data: Data) -> None:
    data["price"] = str(int(Decimal(data["price"])))


@fault("bridge-output-already-less-its-fee", "data", BRIDGE)
def less_its_fee(call: Call, data: Data) -> None:
    data["outAmount"] = str(int(data["outAmount"]) - int(data["serviceFee"]))


@fault("impact-empty-between-stablecoins", "data", QUOTE)
def empty_impact(call: Call, data: Data) -> None:
    ends = call.service.ends(call, call.inputs["fromChain"], call.inputs["toChain"])
    if {token["symbol"] for token in ends} <= STABLE:
        data["priceImpact"] = ""


@fault("swap-refuses-the-aggregator-of-its-quote", "before", SWAP)
def refuses_aggregator(call: Call) -> None:
    if call.inputs.get("aggregator") == "ChaingeDex":
        raise RefusalError("aggregator is unknown")


@fault("native-swaps-send-a-fee-on-top", "data", SWAP)
def fee_on_top(call: Call, data: Data) -> None:
    data["value"] = str(int(data["value"]) * 1003 // 1000)


@fault("swap-output-already-less-slippage", "data", SWAP)
def less_slippage(call: Call, data: Data) -> None:
    times(data, "amountOut", 1 - Decimal(call.inputs["slippage"]) / 10_000)


@fault("fee-of-the-largest-quote-so-far", "data", BRIDGE)
def largest_fee(call: Call, data: Data) -> None:
    place = (call.inputs["symbol"], call.inputs["toChain"])
    fees = call.service.memory.setdefault("fees", {})
    fees[place] = max(fees.get(place, 0), int(data["serviceFee"]))
    data["serviceFee"] = str(fees[place])


# lists


@fault("v1-token-decimals-are-those-of-the-coin", "data", "getSupportTokens")
def of_the_coin(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        row["decimals"] = 18


@fault("dai-delisted-in-every-fifth-list", "data", "getAssets")
def dai_delisted(call: Call, data: Data) -> None:
    if count(call, "assets") % 5 == 0:
        for row in data["list"]:
            row["delisted"] |= row["symbol"] == "DAI"


# orders


def is_done(data: Data) -> bool:
    return bool(data["status"] == "Succeeded")


@fault("done-orders-alternate-between-two-names", "data", "checkOrder")
def two_names(call: Call, data: Data) -> None:
    if is_done(data) and count(call, call.inputs["id"]) % 2 == 0:
        data["status"] = "Success"


@fault("order-amount-in-whole-tokens", "data", "checkOrder")
def whole_tokens(call: Call, data: Data) -> None:
    if is_done(data):
        body = call.service.orders[call.inputs["id"]]["body"]
        token = next(t for t in call.service.tokens if str(t["index"]) == body["toIndex"])
        decimals = token["contracts"][body["toChain"]]["decimals"] if body["toChain"] else 18
        data["amountOut"] = world.plain(world.scaled(int(data["amountOut"]), decimals))


@fault("failures-without-reason-and-with-a-payout", "data", "checkOrder")
def failures(call: Call, data: Data) -> None:
    if is_done(data) and int(call.inputs["id"]) % 3 == 0:
        data["status"] = "Failed"


def again(call: Call, data: Data) -> bool:
    """Whether this order was submitted before."""
    return count(call, f"submitted {data['id']}") > 1


@fault("order-sent-again-begins-anew", "data", "submitOrder")
def begins_anew(call: Call, data: Data) -> None:
    if again(call, data):
        call.service.orders[data["id"]]["start"] = time.time()


@fault("order-sent-again-pays-twice", "data", "submitOrder")
def pays_twice(call: Call, data: Data) -> None:
    if again(call, data):
        call.service.orders[data["id"]]["net"] *= 2


# tickets


@fault("tickets-name-the-full-chain", "data", "getAllTicketByAddress")
def full_chain(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["chain"] = call.service.chain(row["chain"])["fullName"]


@fault("listed-tickets-count-from-zero", "data", "getAllTicketByAddress")
def from_zero(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["ticketId"] -= 1


@fault("tickets-without-signature", "before", "submitTicket")
def unsigned(call: Call) -> None:
    if not call.request.headers.get("Signature"):
        headers = CIMultiDict(call.request.headers, Signature="00")
        call.request = cast("web.Request", SimpleNamespace(headers=headers, path=call.request.path))


# orders of the first generation


@fault("v1-order-delivers-the-native-coin", "data", V1_ORDER)
def native_coin(call: Call, data: Data) -> None:
    order = data["order"]
    chain = call.service.chain(call.service.v1_chain(order["toChain"]))
    order["toToken"] = chain["baseCoin"]


@fault("v1-orders-done-before-payout", "data", V1_ORDER)
def before_payout(call: Call, data: Data) -> None:
    data["order"]["status"] = 2


@fault("v1-from-amount-in-units", "data", V1_ORDER)
def from_units(call: Call, data: Data) -> None:
    order = data["order"]
    chain = call.service.v1_chain(order["fromChain"])
    token = call.service.token(chain, "symbol", order["fromToken"])
    order["fromAmount"] = str(int(Decimal(order["fromAmount"]).scaleb(token["decimals"])))
