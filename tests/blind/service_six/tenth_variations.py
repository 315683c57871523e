"""Still further services that the description permits."""

import datetime
import gzip
import time
import zlib
from decimal import Decimal

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, switch, variation
from tests.blind.service_six.infrastructure import Answer, count, packed
from tests.blind.service_six.operations import BRIDGE, QUOTE, SWAP
from tests.blind.service_six.regions import times
from tests.blind.service_six.service import Call, RefusalError

QUOTE_INPUTS = "fromAmount fromTokenAddress fromDecimal toTokenAddress toDecimal"
# What may be asked: 4.2, and what is observed beside it.
INPUTS = {
    "getSupportTokens": "chain",
    "getAssetsByChain": "chain",
    BRIDGE: "amount symbol fromChain toChain channelFeeRate extra",
    QUOTE: f"{QUOTE_INPUTS} fromChain toChain channelFeeRate extra direct slippage",
    SWAP: f"{QUOTE_INPUTS} chain aggregator sender recipient slippage allowPartialFill"
    " routeSummary",
    "checkOrder": "id",
    "getBalance": "chain contractAddress address",
    "getPrice": "chain contractAddress symbol",
    "getAllTicketByAddress": "address filter",
    "checkTicket": "ticketId",
    "getOrderDetailByHashAndEvmAddress": "chain hash evmAddress",
}

for name in (
    "tickets-are-made-anew-each-time",
    "ticket-numbers-beyond-2-53",
    "ticket-numbers-begin-at-zero",
    "v1-raw-of-six-items",
):
    switch(name, varies=True)


# encodings and refusals


def accepts(call: Call, coding: str) -> bool:
    for part in call.request.headers.get("Accept-Encoding", "").split(","):
        name, _, quality = part.replace(" ", "").partition(";q=")
        if name == coding:
            return float(quality or 1) > 0
    return False


@variation("deflate-where-accepted", "wrap")
async def deflate(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return packed(response, "deflate", zlib.compress) if accepts(call, "deflate") else response


@variation("gzip-in-two-members", "wrap")
async def two_members(call: Call, answer: Answer) -> web.Response:
    def in_halves(body: bytes) -> bytes:
        half = len(body) // 2
        return gzip.compress(body[:half]) + gzip.compress(body[half:])

    response = await answer()
    return packed(response, "gzip", in_halves) if accepts(call, "gzip") else response


@variation("refusals-with-fitting-statuses", "refusal")
def fitting(call: Call, envelope: Data) -> tuple[int, Data]:
    return {31005: 404, 31006: 404, 31010: 401}.get(envelope["code"], 422), envelope


@variation("unknown-inputs-are-refused", "before")
def unknown_inputs(call: Call) -> None:
    known = INPUTS.get(call.operation, "").split()
    if call.request.method == "GET" and (unknown := call.inputs.keys() - known):
        raise RefusalError(f"{min(unknown)} is unknown")


# tokens


def add_token(call: Call, symbol: str, usd: str, places: dict[str, int]) -> None:
    contracts = {
        chain: {"address": world.address(symbol, chain), "decimals": decimals}
        for chain, decimals in places.items()
    }
    index = max(token["index"] for token in call.service.tokens) + 1
    token: Data = {"index": index, "symbol": symbol, "name": f"The {symbol}"}
    call.service.tokens.append(token | {"contracts": contracts, "usd": Decimal(usd)})


@variation("only-three-tokens", "before")
def only_three(call: Call) -> None:
    if count(call, "requests") == 1:
        kept = [t for t in call.service.tokens if t["symbol"] in {"ETH", "USDT", "BNB"}]
        call.service.tokens = kept


@variation("a-token-without-decimals", "before")
def without_decimals(call: Call) -> None:
    if count(call, "requests") == 1:
        add_token(call, "TIX", "25", {"BASE": 0, "LINEA": 0})


@variation("a-token-with-an-odd-symbol", "before")
def odd_symbol(call: Call) -> None:
    if count(call, "requests") == 1:
        add_token(call, "R&D +1%", "2", {"ETH": 18, "BNB": 18})


@variation("v1-chains-list-their-tokens", "data", "getSupportChains")
def list_their_tokens(call: Call, data: Data) -> None:
    for row in data["chains"]:
        chain = call.service.v1_chain(row["name"])
        row["tokens"] = [t["symbol"] for t in call.service.tokens if chain in t["contracts"]]


# quotes


@variation("large-swaps-find-no-route", "data", f"{QUOTE} {SWAP}")
def no_route(call: Call, data: Data) -> None:
    chain = call.inputs["toChain" if call.operation == QUOTE else "chain"]
    there = call.service.token(chain, "address", call.inputs["toTokenAddress"])
    out = int(data["outAmount" if call.operation == QUOTE else "amountOut"])
    if world.scaled(out, there["decimals"]) * there["usd"] > 100_000:
        raise RefusalError("not find best route")


@variation("large-swaps-pay-less-per-token", "data", QUOTE)
def say_impact(call: Call, data: Data) -> None:
    here, _ = call.service.ends(call, call.inputs["fromChain"], call.inputs["toChain"])
    value = world.scaled(int(call.inputs["fromAmount"]), here["decimals"]) * here["usd"]
    change = (Decimal(data["outAmountUsd"]) / value - 1) * 100
    data["priceImpact"] = world.plain(change.quantize(Decimal("0.01")))


@variation("gas-fee-moves", "data", f"{BRIDGE} {QUOTE}")
def gas_moves(call: Call, data: Data) -> None:
    times(data, "gasFee", 1 - Decimal(count(call, "quotes") % 7) / 100)


# numbers and times


@variation("update-time-with-a-space", "data", "getPrice")
def with_a_space(call: Call, data: Data) -> None:
    moment = datetime.datetime.fromtimestamp(int(data["updateTime"]), datetime.UTC)
    data["updateTime"] = moment.strftime("%Y-%m-%d %H:%M:%S")


@variation("readable-balance-with-six-digits", "data", "getBalance")
def six_digits(call: Call, data: Data) -> None:
    data["hrpBalance"] = world.plain(Decimal(data["hrpBalance"]).quantize(Decimal("1e-6")))


# orders


@variation("order-time-is-that-of-the-look", "data", "checkOrder")
def of_the_look(call: Call, data: Data) -> None:
    data["timestamp"] = int(time.time())


@variation("pending-orders-say-what-they-will-pay", "data", "checkOrder")
def will_pay(call: Call, data: Data) -> None:
    if data["status"] != "Succeeded":
        data["amountOut"] = str(call.service.orders[call.inputs["id"]]["net"])


@variation("each-second-order-is-refunded", "data", "checkOrder")
def refunded(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded" and int(call.inputs["id"]) % 2 == 0:
        data |= {"status": "Refunded", "reason": "price moved", "amountOut": "0", "execHash": ""}
