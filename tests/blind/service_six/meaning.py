"""Faults of meaning: answers of the right form that are wrong."""

import time
from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault, switch
from tests.blind.service_six.operations import QUOTES
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import Call

for name in (
    "call-data-keeps-sender",
    "call-data-without-slippage",
    "call-data-slippage-percent",
    "same-hash-another-order",
    "unknown-order-is-pending",
    "order-amount-gross",
    "ticket-numbers-repeat",
    "tickets-of-everybody",
    "ticket-filter-ignored",
    "v1-without-authentication",
    "v1-raw-eighteen-decimals",
    "v1-raw-pays-the-user",
    "v1-detail-by-end-of-hash",
):
    switch(name)


@fault("fees-swapped", "data", QUOTES)
def fees_swapped(call: Call, data: Data) -> None:
    data["serviceFee"], data["gasFee"] = data["gasFee"], data["serviceFee"]


@fault("fee-grows-with-each-quote", "data", "getBridgeQuote")
def fee_grows(call: Call, data: Data) -> None:
    memory = call.service.memory
    memory["quotes"] = memory.get("quotes", 0) + 1
    times(data, "serviceFee", 1 + Decimal(memory["quotes"]) / 20)


@fault("out-in-source-decimals", "data", "getBridgeQuote")
def out_in_source(call: Call, data: Data) -> None:
    data["outAmount"] = str(call.inputs["amount"])


@fault("usd-of-one-token", "data", "getBridgeQuote")
def usd_of_one(call: Call, data: Data) -> None:
    data["outAmountUsd"] = data["price"]


@fault("usd-of-the-source-units", "data", "getAggregateQuote")
def usd_of_units(call: Call, data: Data) -> None:
    data["outAmountUsd"] = str(call.inputs["fromAmount"])


@fault("bridge-price-inverted", "data", "getBridgeQuote")
def price_inverted(call: Call, data: Data) -> None:
    data["price"] = world.plain((1 / Decimal(data["price"])).quantize(Decimal("1e-9")))


@fault("swap-both-ways-same-rate", "data", "getAggregateQuote")
def same_rate(call: Call, data: Data) -> None:
    data["outAmount"] = str(
        int(
            Decimal(call.inputs["fromAmount"]).scaleb(decimals(call, "to") - decimals(call, "from"))
        )
    )


@fault("chain-decimal-of-source", "data", "getAggregateQuote")
def chain_decimal(call: Call, data: Data) -> None:
    data["chainDecimal"] = decimals(call, "from")


@fault("minimum-above-output", "data", "getAggregateQuote")
def minimum_above(call: Call, data: Data) -> None:
    data["minOutAmount"] = str(int(data["outAmount"]) * 101 // 100)


@fault("aggregator-of-the-previous", "data", "getAggregateQuote")
def aggregator_previous(call: Call, data: Data) -> None:
    memory, mine = call.service.memory, data["aggregator"]
    data["aggregator"] = memory.get("aggregator", mine)
    memory["aggregator"] = mine


@fault("quote-chain-unknown", "data", "getAggregateQuote")
def chain_unknown(call: Call, data: Data) -> None:
    data["chain"] = "0"


@fault("output-not-rising", "data", QUOTES)
def output_not_rising(call: Call, data: Data) -> None:
    amount = int(call.inputs.get("amount") or call.inputs["fromAmount"])
    if amount > 10 ** (decimals(call, "from") + 3):
        times(data, "outAmount", Decimal("0.0001"))


@fault("swap-pays-less-than-quoted", "data", "getAggregateSwap")
def swap_pays_less(call: Call, data: Data) -> None:
    times(data, "amountOut", Decimal("0.9"))


@fault("swap-from-is-recipient", "data", "getAggregateSwap")
def swap_from(call: Call, data: Data) -> None:
    data["from"] = str(call.inputs["recipient"]).lower()


@fault("swap-target-is-token", "data", "getAggregateSwap")
def swap_target(call: Call, data: Data) -> None:
    data["to"] = str(call.inputs["toTokenAddress"]).lower()


@fault("swap-value-for-tokens", "data", "getAggregateSwap")
def swap_value(call: Call, data: Data) -> None:
    data["value"] = str(call.inputs["fromAmount"])


@fault("call-data-odd-digits", "data", "getAggregateSwap")
def odd_digits(call: Call, data: Data) -> None:
    data["data"] = data["data"][:-1]


@fault("order-status-goes-back", "data", "checkOrder")
def goes_back(call: Call, data: Data) -> None:
    memory = call.service.memory
    if data["status"] == "Succeeded":
        memory[call.inputs["id"]] = memory.get(call.inputs["id"], 0) + 1
        if memory[call.inputs["id"]] == 3:
            data |= {"status": "Pending", "execHash": "", "amountOut": "0"}


@fault("order-time-in-ms", "data", "checkOrder")
def time_in_ms(call: Call, data: Data) -> None:
    data["timestamp"] *= 1000


@fault("order-time-runs-back", "data", "checkOrder")
def time_back(call: Call, data: Data) -> None:
    memory = call.service.memory
    memory["checks"] = memory.get("checks", 0) + 1
    data["timestamp"] -= 60 * memory["checks"]


@fault("success-without-hash", "data", "checkOrder")
def without_hash(call: Call, data: Data) -> None:
    data["execHash"] = ""


@fault("success-hash-changes", "data", "checkOrder")
def hash_changes(call: Call, data: Data) -> None:
    if data["execHash"]:
        data["execHash"] = f"0x{time.time_ns():064x}"


@fault("success-amount-changes", "data", "checkOrder")
def amount_changes(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded":
        data["amountOut"] = str(int(data["amountOut"]) - time.time_ns() % 9973)


@fault("orders-of-the-latest", "before", "checkOrder")
def orders_of_latest(call: Call) -> None:
    orders = [name for name, order in call.service.orders.items() if "net" in order]
    if call.inputs.get("id") in orders:
        call.inputs["id"] = orders[-1]


@fault("ticket-solved-in-one-place", "data", "checkTicket")
def solved_once(call: Call, data: Data) -> None:
    data |= {"succeeded": True, "solution": "refund"}


@fault("ticket-hash-of-latest", "data", "getAllTicketByAddress")
def hash_of_latest(call: Call, data: Data) -> None:
    for ticket in data["list"]:
        ticket["hash"] = call.service.tickets[-1]["hash"]


@fault("ticket-hash-shortened", "data", "getAllTicketByAddress")
def hash_shortened(call: Call, data: Data) -> None:
    for ticket in data["list"]:
        ticket["hash"] = ticket["hash"][:42]


@fault("tickets-forgotten", "before", "getAllTicketByAddress")
def tickets_forgotten(call: Call) -> None:
    call.service.tickets = [t for t in call.service.tickets if t["ticketId"] % 2 == 0]


@fault("refusal-with-code-zero", "refusal")
def code_zero(call: Call, envelope: Data) -> None:
    envelope["code"] = 0


@fault("refusal-says-success", "refusal")
def says_success(call: Call, envelope: Data) -> None:
    envelope["msg"] = "success"


@fault("refusal-without-words", "refusal")
def without_words(call: Call, envelope: Data) -> None:
    envelope["msg"] = None


@fault("missing-amount-is-one", "before", "getBridgeQuote")
def missing_amount(call: Call) -> None:
    if not call.inputs.get("amount"):
        call.inputs["amount"] = str(10**18)


@fault("unknown-chain-is-ethereum", "before", "getAssetsByChain getBridgeQuote getBalance getPrice")
def unknown_chain(call: Call) -> None:
    known = {item["nickName"] for item in call.service.chains}
    for name in ("chain", "fromChain", "toChain"):
        if call.inputs.get(name) and call.inputs[name] not in known:
            call.inputs[name] = "ETH"


@fault("unknown-token-has-a-price", "before", "getPrice")
def unknown_token(call: Call) -> None:
    if call.inputs.get("symbol"):
        for token in call.service.tokens:
            if token["symbol"] == call.inputs["symbol"]:
                chain, contract = next(iter(token["contracts"].items()))
                call.inputs |= {"chain": chain, "contractAddress": contract["address"]}


@fault("negative-amount-quoted", "before", "getBridgeQuote")
def negative_quoted(call: Call) -> None:
    call.inputs["amount"] = str(call.inputs.get("amount", "")).lstrip("-+")


@fault("fraction-cut-off", "before", "getBridgeQuote")
def fraction_cut(call: Call) -> None:
    call.inputs["amount"] = str(call.inputs.get("amount", "")).partition(".")[0]


@fault("asset-listed-twice", "data", "getAssets getAssetsByChain")
def listed_twice(call: Call, data: Data) -> None:
    if len(data["list"]) > 2:
        data["list"].insert(2, data["list"][0])


@fault("chain-with-tokens-missing", "data", "getChain")
def chain_missing(call: Call, data: Data) -> None:
    data["list"] = [item for item in data["list"] if item["nickName"] != "BNB"]


@fault("version-falls", "data", "getChain getAssets getAssetsByChain")
def version_falls(call: Call, data: Data) -> None:
    memory = call.service.memory
    memory["version"] = data["version"] = memory.get("version", 1000) - 1


@fault("price-time-runs-back", "data", "getPrice")
def price_time_back(call: Call, data: Data) -> None:
    memory = call.service.memory
    memory["prices"] = memory.get("prices", 0) + 1
    data["updateTime"] = str(int(data["updateTime"]) - 3600 * memory["prices"])


@fault("price-of-the-native-coin", "before", "getPrice")
def price_native(call: Call) -> None:
    for token in call.service.tokens:
        contract = token["contracts"].get(call.inputs.get("chain"))
        if contract and contract["address"] == world.NATIVE:
            call.inputs |= {"symbol": token["symbol"], "contractAddress": world.NATIVE}


@fault("balance-and-readable-differ", "data", "getBalance")
def readable_differs(call: Call, data: Data) -> None:
    data["hrpBalance"] = world.plain(Decimal(data["hrpBalance"]) / 2)


@fault("balance-of-the-first-asked", "before", "getBalance")
def balance_first(call: Call) -> None:
    owner = call.service.memory.setdefault("owner", call.inputs.get("address"))
    call.inputs["address"] = owner


@fault("v1-fees-not-taken", "data", "getCrossChainQuote")
def v1_fees(call: Call, data: Data) -> None:
    data["crossChain"]["amountOut"] = data["crossChain"]["amountIn"]


@fault("v1-token-in-of-target", "data", "getCrossChainQuote")
def v1_token(call: Call, data: Data) -> None:
    data["crossChain"]["tokenIn"] = call.inputs["toChain"]


@fault("v1-number-changes", "data", "getOrderDetailByHashAndEvmAddress")
def v1_number(call: Call, data: Data) -> None:
    data["order"]["sn"] = f"CC10102{time.time_ns()}"


@fault("v1-detail-swaps-chains", "data", "getOrderDetailByHashAndEvmAddress")
def v1_swaps(call: Call, data: Data) -> None:
    order = data["order"]
    order["fromChain"], order["toChain"] = order["toChain"], order["fromChain"]


@fault("v1-tokens-of-all-chains", "data", "getSupportTokens")
def v1_all(call: Call, data: Data) -> None:
    chains = call.service.getSupportChains(call)["chains"]
    data["tokenVos"] = [
        {**row, "chain": chain["name"]} for chain in chains for row in data["tokenVos"]
    ]
