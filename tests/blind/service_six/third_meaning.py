"""A third writing, from the description alone: answers of the right form that are wrong."""

import json
import time
from decimal import Decimal

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.operations import BRIDGE, QUOTES, SWAP, V1_QUOTE
from tests.blind.service_six.regions import decimals, times
from tests.blind.service_six.service import EVM, Call


@fault("reason-of-success", "data", "checkOrder")
def reason_of_success(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded":
        data["reason"] = "insufficient liquidity"


@fault("execution-hash-of-all", "data", "checkOrder")
def hash_of_all(call: Call, data: Data) -> None:
    if data["execHash"]:
        data["execHash"] = "0x" + "7e" * 32


@fault("order-time-an-hour-ahead", "data", "checkOrder")
def hour_ahead(call: Call, data: Data) -> None:
    data["timestamp"] += 3600


@fault("ticket-of-nobody", "data", "getAllTicketByAddress")
def ticket_of_nobody(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["address"] = "0x" + "0" * 40


@fault("unknown-ticket-is-open", "refusal", "checkTicket")
def unknown_ticket(call: Call, envelope: Data) -> None:
    if str(call.inputs.get("ticketId", "")).isdigit():
        envelope |= {"code": 0, "msg": "success", "data": {"succeeded": False, "solution": ""}}


@fault("bridge-value-tenfold", "data", BRIDGE)
def value_tenfold(call: Call, data: Data) -> None:
    data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]) * 10)


@fault("decimals-of-the-request-believed", "before", "getAggregateQuote")
def decimals_believed(call: Call) -> None:
    chain, where = call.inputs.get("fromChain"), call.inputs.get("fromTokenAddress")
    wanted = str(call.inputs.get("fromDecimal", ""))
    for token in call.service.tokens:
        contract = token["contracts"].get(chain)
        if contract and contract["address"] == where and wanted.isdigit() and len(wanted) < 3:
            amount = str(call.inputs.get("fromAmount", ""))
            if amount.isdigit():
                shift = contract["decimals"] - int(wanted)
                call.inputs["fromAmount"] = str(int(Decimal(amount).scaleb(shift)) or 1)
            call.inputs["fromDecimal"] = str(contract["decimals"])


@fault("any-word-fills-in-part", "before", SWAP)
def any_word(call: Call) -> None:
    if call.inputs.get("allowPartialFill"):
        call.inputs["allowPartialFill"] = "true"


@fault("recipient-optional", "before", SWAP)
def recipient_optional(call: Call) -> None:
    call.inputs.setdefault("recipient", call.inputs.get("sender"))


@fault("orders-without-signature", "before", "submitOrder")
def without_signature(call: Call) -> None:
    sender = call.request.headers.get("Evmaddress", "")
    vars(call.service).pop("sender", None)
    if EVM.fullmatch(sender):
        vars(call.service)["sender"] = lambda asked: sender


@fault("certificates-not-hex-taken", "before", "submitOrder")
def not_hex(call: Call) -> None:
    try:
        bytes.fromhex(str(call.inputs.get("sourceCerts")).removeprefix("0x"))
    except ValueError:
        certificate = {"fromAmount": "10000000", "fromIndex": "5", "fromChain": "ETH"}
        certificate |= {"fromAddr": "0x" + "12" * 20, "certHash": f"0x{time.time_ns():064x}"}
        call.inputs["sourceCerts"] = json.dumps(certificate).encode().hex()


@fault("order-type-three-taken", "before", "submitOrder")
def type_three(call: Call) -> None:
    if call.inputs.get("orderType") not in {"1", "2"} and "orderType" in call.inputs:
        call.inputs["orderType"] = "1"


@fault("v1-detail-for-anybody", "before", "getOrderDetailByHashAndEvmAddress")
def detail_for_anybody(call: Call) -> None:
    key = f"v1 {call.inputs.get('chain')} {str(call.inputs.get('hash')).lower()}"
    for order in call.service.orders.values():
        if order["key"] == key and call.inputs.get("evmAddress"):
            call.inputs["evmAddress"] = order["sender"]


@fault("v1-fee-level-half-taken", "before", "getCrossChainQuote submitCrossChain")
def half_level(call: Call) -> None:
    level = call.inputs.get("feeLevel")
    if isinstance(level, Decimal | float):
        call.inputs["feeLevel"] = int(level)


@fault("v1-fee-level-text-taken", "before", "getCrossChainQuote submitCrossChain")
def text_level(call: Call) -> None:
    level = call.inputs.get("feeLevel")
    if isinstance(level, str) and level.isdigit():
        call.inputs["feeLevel"] = int(level)


@fault("v1-amount-in-with-fees", "data", V1_QUOTE)
def in_with_fees(call: Call, data: Data) -> None:
    data["crossChain"]["amountIn"] += data["crossChain"]["fee"]


@fault("v1-raw-approves", "data", "getTransferToMinterRaw")
def raw_approves(call: Call, data: Data) -> None:
    data["raw"] = data["raw"].replace("a9059cbb", "095ea7b3")


@fault("success-without-amount", "data", "checkOrder")
def without_amount(call: Call, data: Data) -> None:
    data["amountOut"] = "0"


@fault("assets-with-decimals-of-the-first", "data", "getAssets")
def decimals_of_first(call: Call, data: Data) -> None:
    for row in data["list"]:
        contracts = list(row["contracts"].values())
        for contract in contracts:
            contract["decimals"] = contracts[0]["decimals"]


@fault("refusals-with-http-500", "refusal")
def http_500(call: Call, envelope: Data) -> tuple[int, Data]:
    return 500, envelope


@fault("refusals-with-traceback", "refusal")
def with_traceback(call: Call, envelope: Data) -> None:
    envelope["msg"] = (
        'Traceback (most recent call last):\n  File "/srv/app/orders.py", line 71, in quote\n'
        f"ValueError: {envelope['msg']}"
    )


@fault("gas-above-output", "data", QUOTES)
def gas_above(call: Call, data: Data) -> None:
    data["gasFee"] = str(int(data["outAmount"]) * 2)


@fault("output-in-whole-tokens", "data", QUOTES)
def in_whole_tokens(call: Call, data: Data) -> None:
    data["outAmount"] = str(int(data["outAmount"]) // 10 ** decimals(call, "to"))


@fault("sold-is-bought", "data", SWAP)
def sold_is_bought(call: Call, data: Data) -> None:
    data["amountOut"] = call.inputs["fromAmount"]


@fault("call-data-of-previous-amount", "data", SWAP)
def previous_amount(call: Call, data: Data) -> None:
    memory, mine = call.service.memory, f"{int(call.inputs['fromAmount']):064x}"
    data["data"] = data["data"].replace(mine, memory.get("amount", mine))
    memory["amount"] = mine


@fault("balance-halves-each-time", "data", "getBalance")
def balance_halves(call: Call, data: Data) -> None:
    memory = call.service.memory
    key = " ".join(map(str, call.inputs.values()))
    times(data, "balance", Decimal(1) / 2 ** memory.get(key, 0))
    memory[key] = memory.get(key, 0) + 1
    places = call.service.token(call.inputs["chain"], "address", call.inputs["contractAddress"])
    human = world.scaled(int(data["balance"]), places["decimals"]).normalize()
    data["hrpBalance"] = world.plain(human)


@fault("price-time-a-day-ahead", "data", "getPrice")
def day_ahead(call: Call, data: Data) -> None:
    data["updateTime"] = str(int(data["updateTime"]) + 86_400)


@fault("latest-ticket-alone", "data", "getAllTicketByAddress")
def latest_alone(call: Call, data: Data) -> None:
    data["list"] = data["list"][-1:]


@fault("v1-expire-time-in-words", "before", V1_QUOTE)
def expire_in_words(call: Call) -> None:
    headers = call.request.headers
    vars(call.service).pop("authenticated", None)
    if all(headers.get(name) for name in ("appKey", "signature", "expireTime", "timestamp")):
        vars(call.service)["authenticated"] = lambda asked: None
