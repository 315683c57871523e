"""A tenth writing: what fees, call data, states, lists, refusals and v1 members mean."""

import base64
from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.eighth_regions import swap_steps
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTE, SWAP, TICKETS, V1_ORDER
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import Call, call_data
from tests.blind.service_six.tenth_regions import least_of

# quotes, swaps and prices


@fault("swap-fee-in-the-token-sold", "data", QUOTE)
def fee_in_sold(call: Call, data: Data) -> None:
    if int(data["serviceFee"]):
        data["serviceFee"] = str(int(call.inputs["fromAmount"]) * 20 // 10_000)


@fault("bridge-fees-in-dollars", "data", BRIDGE)
def in_dollars(call: Call, data: Data) -> None:
    for name in ("serviceFee", "gasFee"):
        tokens = world.scaled(int(data[name]), decimals(call, "to"))
        data[name] = world.plain((tokens * Decimal(data["price"])).quantize(Decimal("1e-6")))


@fault("minimum-in-whole-tokens", "data", QUOTE)
def minimum_in_whole(call: Call, data: Data) -> None:
    least = int(data["outAmount"]) * 97 // 100
    data["minOutAmount"] = world.plain(world.scaled(least, data["chainDecimal"]))


@fault("swaps-pay-more-than-they-take", "data", QUOTE)
def pay_more(call: Call, data: Data) -> None:
    factor = Decimal("1.0231")  # of an output that is 0.3 % below its input
    times(data, "outAmount", factor)
    data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) * factor)


@fault("swap-calls-the-recipient", "data", SWAP)
def calls_recipient(call: Call, data: Data) -> None:
    data["to"] = call.inputs["recipient"]


@fault("call-data-sells-the-minimum", "data", SWAP)
def sells_minimum(call: Call, data: Data) -> None:
    least = least_of(call, data)
    data["data"] = call_data(swap_steps(call) | {"amount": least, "least": least})


@fault("price-is-how-many-a-dollar-buys", "data", "getPrice")
def how_many(call: Call, data: Data) -> None:
    data["price"] = world.plain((1 / Decimal(data["price"])).quantize(Decimal("1e-8")))


# orders, lists and tickets


@fault("done-status-in-small-letters", "data", "checkOrder")
def small_letters(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded":
        data["status"] = "succeeded"


@fault("newer-order-drops-the-older", "data", "checkOrder")
def newer_drops(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    for newer in call.service.orders.values():
        since = newer["start"] - order["start"]
        if newer["sender"] == order["sender"] and 0 < since < 1.5:
            data |= {"status": "Dropped", "execHash": "", "amountOut": "0"}


@fault("order-time-with-fractions", "data", "checkOrder")
def with_fractions(call: Call, data: Data) -> None:
    data["timestamp"] += 0.25


@fault("chain-listed-under-its-old-name-too", "data", "getChain")
def old_name_too(call: Call, data: Data) -> None:
    bnb = next(row for row in data["list"] if row["nickName"] == "BNB")
    data["list"].append(bnb | {"nickName": "BSC", "chainIndex": len(data["list"]) + 1})


@fault("percent-lists-all-tickets", "data", TICKETS)
def all_tickets(call: Call, data: Data) -> None:
    if call.inputs["address"] == "%" and call.inputs["filter"] == "Pending":
        data["list"] = [dict(ticket) for ticket in call.service.tickets]


@fault("negative-ticket-numbers-count-from-the-end", "before", "checkTicket")
def from_the_end(call: Call) -> None:
    text, tickets = str(call.inputs.get("ticketId")), call.service.tickets
    back = int(text[1:]) if text.startswith("-") and text[1:].isdecimal() else 0
    if 0 < back <= len(tickets):
        call.inputs["ticketId"] = str(tickets[-back]["ticketId"])


# refusals


@fault("refusals-carry-data-of-before", "data")
def keep_data(call: Call, data: Data) -> None:
    call.service.memory["latest"] = data


@fault("refusals-carry-data-of-before", "refusal")
def data_of_before(call: Call, envelope: Data) -> None:
    envelope["data"] = call.service.memory.get("latest", {})


@fault("refusal-codes-are-text", "refusal")
def codes_are_text(call: Call, envelope: Data) -> None:
    envelope["code"] = str(envelope["code"])


# the first generation


@fault("v1-quote-amounts-are-text", "data", "getCrossChainQuote")
def amounts_are_text(call: Call, data: Data) -> None:
    quote = data["crossChain"]
    for name in ("amountIn", "amountOut", "fee", "gas"):
        quote[name] = str(quote[name])


@fault("v1-chain-ids-are-indices", "data", "getSupportChains")
def ids_are_indices(call: Call, data: Data) -> None:
    for row in data["chains"]:
        row["chainId"] = row["id"]


@fault("v1-raw-sealed-in-base64", "data", "getTransferToMinterRaw")
def sealed(call: Call, data: Data) -> None:
    raw, _, seal = data["raw"].partition("_")
    data["raw"] = f"{raw}_{base64.b64encode(bytes.fromhex(seal)).decode()}"


@fault("v1-deposit-in-capitals-is-another-order", "before", f"submitCrossChain {V1_ORDER}")
def in_capitals(call: Call) -> None:
    # Orders of the same deposit in other letters are out of sight while this one is submitted.
    for order in call.service.orders.values():
        order["key"] = order["key"].rstrip("?")
        if call.operation == "submitCrossChain" and "out" in order:
            same_letters = order["body"]["certHash"] == call.inputs.get("certHash")
            order["key"] += "" if same_letters else "?"


@fault("v1-orders-to-bsc-say-bnb", "data", V1_ORDER)
def say_bnb(call: Call, data: Data) -> None:
    if data["order"]["toChain"] == "BSC":
        data["order"]["toChain"] = "BNB"
