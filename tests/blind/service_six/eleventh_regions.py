"""An eleventh writing: wrong for one token, chain, size, spelling, status or pair of inputs."""

from decimal import Decimal
from typing import Any

import tests.blind.service_six.tenth_variations  # registers those that faults stand in
import tests.blind.service_six.variations  # noqa: F401 - likewise
from tests.blind.service_six import world
from tests.blind.service_six.eighth_regions import asked, swap_steps
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import QUOTE, SWAP, TICKETS, V1_ORDER, V1_QUOTE, V1_TOKENS
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError, call_data
from tests.blind.service_six.tenth_regions import least_of

MILLION = Decimal(1_000_000)

# quotes, swaps and lists


@fault("swaps-of-millions-pay-for-one", "data", QUOTE)
def pay_for_one(call: Call, data: Data) -> None:
    worth = Decimal(data["outAmountUsd"])
    if worth > MILLION:
        for name in ("outAmount", "serviceFee"):
            times(data, name, MILLION / worth)
        data["outAmountUsd"] = world.plain(MILLION)


@fault("aggregator-of-fusion-refused-in-swaps", "before", SWAP)
def refused_in_swaps(call: Call) -> None:
    if asked(call, aggregator="ChaingeDex"):
        raise RefusalError("not find best route")


@fault("slippage-below-ten-is-in-percent", "data", SWAP)
def below_ten(call: Call, data: Data) -> None:
    slippage = int(call.inputs["slippage"])
    if 0 < slippage < 10:
        least = int(data["amountOut"]) * (100 - slippage) // 100
        data["data"] = call_data(swap_steps(call) | {"least": least})


@fault("checksummed-recipients-lose-to-the-sender", "data", SWAP)
def lose_to_sender(call: Call, data: Data) -> None:
    recipient = call.inputs["recipient"]
    if recipient.startswith("0x") and recipient != recipient.lower():
        steps = {"recipient": call.inputs["sender"], "least": least_of(call, data)}
        data["data"] = call_data(swap_steps(call) | steps)


@fault("tron-contracts-of-the-chain-in-small-letters", "data", "getAssetsByChain", "lists-reversed")
def tron_small(call: Call, data: Data) -> None:
    if asked(call, chain="TRX"):
        for row in data["list"]:
            row["contractAddress"] = row["contractAddress"].lower()


@fault("v1-cro-on-ethereum-has-eighteen-decimals", "data", V1_TOKENS)
def cro_eighteen(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        if (row["chain"], row["symbol"]) == ("ETH", "CRO"):
            row["decimals"] = 18


@fault("v1-fees-of-amounts-below-one-not-shown", "data", V1_QUOTE, around="v1-code-200")
def not_shown(call: Call, data: Data) -> None:
    if data["crossChain"]["amountIn"] < 1:
        data["crossChain"]["fee"] = 0


# orders and tickets


@fault("plain-hashes-of-tron-refused", "before", "submitOrder submitTicket")
def plain_hashes(call: Call) -> None:
    chain, text = str(call.inputs.get("chain")), str(call.inputs.get("hash"))
    if call.operation == "submitOrder":
        certificate = call.service.certificate(str(call.inputs.get("sourceCerts")))
        chain, text = certificate["fromChain"], certificate["certHash"]
    if chain == "TRX" and not text.startswith("0x"):
        raise RefusalError("this is no transaction hash")


@fault("payouts-on-kaspa-in-eighteen-decimals", "data", "checkOrder", "order-ids-with-letters")
def kaspa_eighteen(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    if order["body"]["toChain"] == "KAS":
        times(data, "amountOut", 10**10)


@fault("payouts-from-10-to-the-21-with-exponent", "data", "checkOrder")
def with_exponent(call: Call, data: Data) -> None:
    if int(data["amountOut"]) >= 10**21:
        data["amountOut"] = repr(float(data["amountOut"]))


@fault("refunded-orders-have-no-time", "envelope", "checkOrder", "each-second-order-is-refunded")
def no_time(call: Call, envelope: Data) -> None:
    if envelope["data"].get("status") == "Refunded":
        envelope["data"]["timestamp"] = 0


def sale(call: Call, order: Data) -> list[Any]:
    """Return what an order sells and buys, without its deposit."""
    sold = call.service.certificate(order["body"]["sourceCerts"])
    bought = [order["body"][name] for name in ("toIndex", "toChain", "toAddr")]
    return [sold[name] for name in ("fromAmount", "fromIndex", "fromChain")] + bought


@fault("orders-of-equal-amounts-are-the-same", "data", "submitOrder", around="same-hash-refused")
def equal_amounts(call: Call, data: Data) -> None:
    orders = [order for order in call.service.orders.values() if "net" in order]
    mine = sale(call, call.service.orders[data["id"]])
    data["id"] = next(order["id"] for order in orders if sale(call, order) == mine)


@fault("tickets-of-owners-in-small-letters-hidden", "data", TICKETS)
def owners_hidden(call: Call, data: Data) -> None:
    owner = call.inputs["address"]
    if owner == owner.lower():
        data["list"] = [row for row in data["list"] if row["address"] == owner]


# the first generation


@fault("v1-senders-as-integers-stay-integers", "data", V1_ORDER)
def stay_integers(call: Call, data: Data) -> None:
    for order in call.service.orders.values():
        if order["id"] == data["order"]["sn"] and order["body"]["fromAddress"].isdecimal():
            data["order"]["fromAddress"] = order["body"]["fromAddress"]


@fault("v1-orders-to-fusion-fail-and-pay", "data", V1_ORDER)
def fail_and_pay(call: Call, data: Data) -> None:
    if data["order"]["toChain"] == "FSN" and data["order"]["status"] == 2:
        data["order"]["status"] = 3
