"""A fourth writing, from the description alone: answers of the right form that are wrong."""

import re
from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import RAW, SWAP, V1_ORDER
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import ORDER_BODY, Call

ORDER = "checkOrder"


@fault("swap-out-of-the-first-amount", "data", SWAP)
def out_of_first(call: Call, data: Data) -> None:
    names = ("chain", "fromTokenAddress", "toTokenAddress")
    key = " ".join(["first out", *(call.inputs[name] for name in names)])
    data["amountOut"] = call.service.memory.setdefault(key, data["amountOut"])


@fault("call-data-without-recipient", "data", SWAP)
def without_recipient(call: Call, data: Data) -> None:
    data["data"] = data["data"].replace(world.word(call.inputs["recipient"]), "0" * 64)


@fault("slippage-in-words-taken", "before", SWAP)
def slippage_in_words(call: Call) -> None:
    if call.inputs.get("slippage") and not str(call.inputs["slippage"]).isdigit():
        call.inputs["slippage"] = "100"


@fault("sender-optional", "before", SWAP)
def sender_optional(call: Call) -> None:
    call.inputs.setdefault("sender", call.inputs.get("recipient"))


@fault("target-chain-optional", "before", "getAggregateQuote")
def target_optional(call: Call) -> None:
    for token in call.service.tokens:
        for chain, contract in token["contracts"].items():
            if contract["address"] == call.inputs.get("toTokenAddress"):
                call.inputs.setdefault("toChain", chain)


@fault("execution-hash-is-the-deposit", "data", ORDER)
def hash_is_deposit(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    if data["execHash"]:
        data["execHash"] = call.service.certificate(order["body"]["sourceCerts"])["certHash"]


@fault("order-time-of-last-year", "data", ORDER)
def last_year(call: Call, data: Data) -> None:
    data["timestamp"] -= 365 * 86_400


@fault("order-pays-double", "data", ORDER)
def pays_double(call: Call, data: Data) -> None:
    times(data, "amountOut", 2)


@fault("order-ids-read-to-the-first-letter", "before", ORDER)
def to_first_letter(call: Call) -> None:
    start = re.match(r"[0-9]+", str(call.inputs.get("id", "")))
    if start:
        call.inputs["id"] = start.group()


@fault("order-needs-no-channel", "before", "submitOrder")
def no_channel(call: Call) -> None:
    call.inputs.setdefault("channel", "")


@fault("order-takes-numbers-for-text", "before", "submitOrder")
def numbers_for_text(call: Call) -> None:
    for name in ORDER_BODY:
        value = call.inputs.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            call.inputs[name] = str(value)


@fault("tickets-by-exact-case", "data", "getAllTicketByAddress")
def exact_case(call: Call, data: Data) -> None:
    data["list"] = [row for row in data["list"] if row["address"] == call.inputs["address"]]


@fault("pending-list-shows-succeeded", "data", "getAllTicketByAddress")
def pending_succeeded(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["succeeded"] = True


@fault("price-needs-no-symbol", "before", "getPrice")
def price_without_symbol(call: Call) -> None:
    if not call.inputs.get("symbol"):
        symbol_of_contract(call)


@fault("price-for-any-symbol", "before", "getPrice")
def price_any_symbol(call: Call) -> None:
    if call.inputs.get("symbol"):
        symbol_of_contract(call)


def symbol_of_contract(call: Call) -> None:
    for token in call.service.tokens:
        contract = token["contracts"].get(call.inputs.get("chain"))
        if contract and contract["address"] == call.inputs.get("contractAddress"):
            call.inputs["symbol"] = token["symbol"]


@fault("price-in-cents", "data", "getPrice")
def price_in_cents(call: Call, data: Data) -> None:
    data["price"] = world.plain(Decimal(data["price"]) * 100)


@fault("balance-of-nobody", "before", "getBalance")
def balance_of_nobody(call: Call) -> None:
    call.inputs.setdefault("address", "0x" + "0" * 40)


@fault("amount-with-exponent-taken", "before", "getBridgeQuote")
def exponent_taken(call: Call) -> None:
    amount = str(call.inputs.get("amount", ""))
    if re.fullmatch(r"[0-9]+[eE][0-9]{1,2}", amount):
        call.inputs["amount"] = str(int(Decimal(amount)))


@fault("v1-number-of-all", "data", f"submitCrossChain {V1_ORDER}")
def v1_number_of_all(call: Call, data: Data) -> None:
    data.get("order", data)["sn"] = "CC1010220260101000000001"


@fault("v1-detail-of-any-chain", "before", V1_ORDER)
def v1_any_chain(call: Call) -> None:
    text = str(call.inputs.get("hash", "")).lower()
    for order in call.service.orders.values():
        if call.inputs.get("chain") and order["key"].startswith("v1 "):
            _, chain, known = order["key"].split(" ")
            if known == text:
                call.inputs["chain"] = chain


@fault("v1-raw-moves-double", "before", RAW)
def raw_double(call: Call) -> None:
    amount = call.inputs.get("amount")
    if re.fullmatch(r"[0-9]+([.][0-9]+)?", str(amount)):
        call.inputs["amount"] = str(Decimal(str(amount)) * 2)


@fault("v1-order-pays-what-was-sent", "data", V1_ORDER)
def pays_what_was_sent(call: Call, data: Data) -> None:
    if data["order"]["status"] == 2:
        data["order"]["toAmount"] = data["order"]["fromAmount"]
