"""An eleventh writing: what worth, call data, fees, payouts, states and v1 members mean."""

import hashlib
import re
import time
from decimal import Decimal

import tests.blind.service_six.tenth_variations  # registers those that faults stand in
import tests.blind.service_six.variations  # noqa: F401 - likewise
from tests.blind.service_six import world
from tests.blind.service_six.eighth_regions import swap_steps
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTE, RAW, SWAP, TICKETS, V1_ORDER, V1_QUOTE
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError, call_data, figure

# quotes, swaps and balances


@fault("swap-worth-is-that-of-the-input", "data", QUOTE, around="large-swaps-pay-less-per-token")
def worth_of_input(call: Call, data: Data) -> None:
    here, _ = call.service.ends(call, call.inputs["fromChain"], call.inputs["toChain"])
    sold = world.scaled(int(call.inputs["fromAmount"]), here["decimals"])
    data["outAmountUsd"] = world.plain(sold * here["usd"])


@fault("price-impact-as-a-fraction", "envelope", QUOTE, around="large-swaps-pay-less-per-token")
def as_a_fraction(call: Call, envelope: Data) -> None:
    if data := envelope["data"]:
        data["priceImpact"] = world.plain(Decimal(data["priceImpact"]) / 100)


@fault("partial-fill-has-no-minimum", "data", SWAP, around="other-aggregator")
def no_minimum(call: Call, data: Data) -> None:
    if call.inputs["allowPartialFill"] == "true":
        data["data"] = call_data(swap_steps(call) | {"least": 0})


@fault("swaps-into-the-coin-send-it-along", "data", SWAP)
def send_it_along(call: Call, data: Data) -> None:
    if call.inputs["toTokenAddress"].lower() == world.NATIVE and data["value"] == "0":
        data["value"] = data["amountOut"]


@fault("channel-fee-lowers-the-output", "data", BRIDGE)
def lowers_output(call: Call, data: Data) -> None:
    rate = call.inputs.get("channelFeeRate", "0")
    if rate.isdecimal():
        share = 1 - Decimal(int(rate)) / 10_000
        times(data, "outAmount", share)
        data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) * share)


@fault("balances-are-those-of-the-coin", "before", "getBalance")
def of_the_coin(call: Call) -> None:
    chain, where, _ = call.need("chain", "contractAddress", "address")
    call.service.token(chain, "address", where)
    if any(
        token["contracts"].get(chain, {}).get("address") == world.NATIVE
        for token in call.service.tokens
    ):
        call.inputs["contractAddress"] = world.NATIVE


# orders and tickets


@fault("payout-hash-is-another-each-second", "data", "checkOrder", around="other-statuses")
def another_hash(call: Call, data: Data) -> None:
    if data["execHash"]:
        seed = f"{call.inputs['id']} {int(time.time())}"
        data["execHash"] = "0x" + hashlib.sha256(seed.encode()).hexdigest()


@fault("newer-order-shares-the-older-payout", "data", "checkOrder")
def shares_payout(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    newer = [
        another
        for another in call.service.orders.values()
        if another["sender"] == order["sender"] and another["start"] > order["start"]
    ]
    if newer and data["status"] == "Succeeded":
        times(data, "amountOut", Decimal("0.5"))


@fault("orders-pay-below-their-minimum", "data", "checkOrder")
def below_minimum(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    rule = re.search(r"(?:^|;)4_([0-9]+)", order["body"]["extra"])
    if rule and data["status"] == "Succeeded":
        data["amountOut"] = str(min(order["net"], int(rule[1]) * 99 // 100))


@fault("order-slippage-is-in-percent", "before", "submitOrder", around="refusals-with-http-400")
def in_percent(call: Call) -> None:
    slippage = str(call.inputs.get("slippage"))
    if slippage.isdecimal() and int(slippage) > 100:
        raise RefusalError("slippage has to be from 0 to 100")


@fault("ticket-list-kept-from-the-first-look", "data", TICKETS)
def kept_from_first(call: Call, data: Data) -> None:
    key = f"tickets {call.inputs['address'].lower()} {call.inputs['filter']}"
    data["list"] = call.service.memory.setdefault(key, data["list"])


# the first generation


def share(body: Data, amount: str, basis_points: int) -> Decimal:
    """Return a part of an amount for each fee level."""
    return Decimal(str(body[amount])) * basis_points * int(body["feeLevel"]) / 10_000


@fault("v1-fee-levels-are-ten-times-dearer", "data", f"{V1_QUOTE} {V1_ORDER}")
def ten_times_dearer(call: Call, data: Data) -> None:
    if order := data.get("order"):
        if order["toHash"]:
            left = Decimal(order["toAmount"]) - share(order, "fromAmount", 45)
            order["toAmount"] = world.plain(left)
        return
    more, quote = share(call.inputs, "amount", 45), data["crossChain"]
    left = Decimal(str(quote["amountOut"])) - more
    if left <= 0:
        raise RefusalError("Get cross chain quote error! Amount can't cover gas and fee!", 31071)
    quote |= {"amountOut": figure(left), "fee": figure(Decimal(str(quote["fee"])) + more)}


@fault("v1-raw-of-tokens-without-gas-for-the-call", "data", RAW)
def without_gas(call: Call, data: Data) -> None:
    raw, _, seal = data["raw"].partition("_")
    # 90,000 and 21,000 as RLP: three bytes and two.
    if "a9059cbb" in raw and "83015f90" in raw:
        items = bytes.fromhex(raw.replace("83015f90", "825208", 1))
        length = 2 if items[0] == 0xF8 else 3
        items = bytes([*items[: length - 1], items[length - 1] - 1, *items[length:]])
        data["raw"] = f"{items.hex()}_{seal}"


@fault("v1-orders-take-their-fee-twice", "data", V1_ORDER)
def fee_twice(call: Call, data: Data) -> None:
    order = data["order"]
    if order["toHash"]:
        paid = Decimal(order["fromAmount"])
        fee = paid * (6 + 5 * int(order["feeLevel"])) / 10_000
        order["toAmount"] = world.plain((Decimal(order["toAmount"]) - fee).normalize())


@fault("v1-completed-orders-are-refunded-too", "data", V1_ORDER, around="v1-code-200")
def refunded_too(call: Call, data: Data) -> None:
    order = data["order"]
    if order["status"] == 2:
        order["backAmount"] = order["fromAmount"]
        order["backHash"] = "0x" + hashlib.sha256(order["toHash"].encode()).hexdigest()
