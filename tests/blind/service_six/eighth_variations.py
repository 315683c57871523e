"""Further services that the description permits."""

import email.utils
import gzip
import hashlib
import json
import math
import time
from decimal import Decimal
from typing import Any

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, switch, variation
from tests.blind.service_six.infrastructure import (
    LARGE,
    Answer,
    accepts_gzip,
    bytes_of,
    count,
    not_now,
    packed,
    with_body,
)
from tests.blind.service_six.operations import BRIDGE, LISTS, QUOTE, SWAP
from tests.blind.service_six.service import Call, RefusalError

PRICED = "getPrice getBridgeQuote getAggregateQuote getCrossChainQuote getSupportTokens"

for name in ("fees-by-tier", "fee-capped"):
    switch(name, varies=True)


# refusals


@variation("refusals-in-chinese", "refusal")
def in_chinese(call: Call, envelope: Data) -> None:
    envelope["msg"] = "请求被拒绝"


@variation("refusals-alternate-between-two-texts", "refusal")
def two_texts(call: Call, envelope: Data) -> None:
    envelope["msg"] = ("fail", "Please try again later")[count(call, "refusals") % 2]


@variation("v1-refusals-have-status-400-in-the-envelope", "refusal")
def status_400(call: Call, envelope: Data) -> None:
    if call.generation == 1:
        envelope["status"] = 400


@variation("seldom-a-429", "wrap")
async def seldom_429(call: Call, answer: Answer) -> web.Response:
    if count(call, "requests") % 150 == 0:
        return not_now(call, 429, "too many requests", **{"Retry-After": "1"})
    return await answer()


# numbers and texts


@variation("usd-without-zeros-at-its-end", "data", f"{BRIDGE} {QUOTE}")
def short_usd(call: Call, data: Data) -> None:
    data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]).normalize())


@variation("update-time-as-in-mails", "data", "getPrice")
def mail_time(call: Call, data: Data) -> None:
    data["updateTime"] = email.utils.formatdate(int(data["updateTime"]), usegmt=True)


@variation("aggregator-by-size", "data", QUOTE)
def by_size(call: Call, data: Data) -> None:
    small = Decimal(data["outAmountUsd"]) < 1000
    data["aggregator"] = "OpenOcean" if small else "Kyber"


@variation("route-summary-is-an-object", "data", QUOTE)
def route_object(call: Call, data: Data) -> None:
    data["routeSummary"] = {"route": [{"pool": "v3", "share": 100}]}


@variation("swaps-say-their-gas", "data", SWAP)
def say_gas(call: Call, data: Data) -> None:
    data["gas"] = "210000"


@variation("all-members-sorted-backwards", "wrap")
async def sorted_backwards(call: Call, answer: Answer) -> web.Response:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in sorted(value, reverse=True)}
        return [turned(entry) for entry in value] if isinstance(value, list) else value

    response = await answer()
    parsed = json.loads(bytes_of(response), parse_float=Decimal)
    text = json.dumps(turned(parsed), ensure_ascii=False, default=float)
    return with_body(response, text.encode())


@variation("further-members-that-are-null", "data")
def null_members(call: Call, data: Data) -> None:
    data["warning"] = None
    for row in data.get("list", []):
        row["labels"] = {"risk": None}


# lists


@variation("versions-of-their-own", "data", LISTS)
def own_versions(call: Call, data: Data) -> None:
    data["version"] = {"getChain": 3, "getAssets": 12, "getAssetsByChain": 900}[call.operation]


@variation("a-token-joins-during-the-run", "before")
def joins(call: Call) -> None:
    if count(call, "requests") == 60:
        dai = next(token for token in call.service.tokens if token["symbol"] == "DAI")
        dai["contracts"]["OP"] = {"address": world.address("DAI", "OP"), "decimals": 18}


@variation("a-token-joins-during-the-run", "data")
def joined(call: Call, data: Data) -> None:
    if "version" in data and call.service.memory["requests"] >= 60:
        data["version"] = 8


@variation("two-hundred-tokens-on-linea", "before")
def two_hundred(call: Call) -> None:
    if count(call, "requests") == 1:
        for number in range(200):
            symbol = f"LN{number}"
            place = {"address": world.address(symbol, "LINEA"), "decimals": 6 + number % 13}
            token: Data = {"index": 1000 + number, "symbol": symbol, "name": f"Linea {number}"}
            token |= {"contracts": {"LINEA": place}, "usd": Decimal(1 + number) / 4}
            call.service.tokens.append(token)


@variation("a-chain-is-listed-and-delisted", "before")
def delisted(call: Call) -> None:
    call.service.chain("METIS")["delisted"] = True
    if "METIS" in (call.inputs.get(name) for name in ("chain", "fromChain", "toChain")):
        raise RefusalError("chain METIS is not supported", 31005)


# time


@variation("prices-by-the-second", "before", PRICED)
def by_second(call: Call) -> None:
    factor = 1 + Decimal(round(math.sin(time.time()) * 1000)) / 2_000_000
    listed = {row[1]: Decimal(row[3]) for row in world.TOKENS}
    for token in call.service.tokens:
        if token["symbol"] not in {"USDT", "USDC", "DAI"}:
            token["usd"] = (listed[token["symbol"]] * factor).quantize(Decimal("1e-10"))


@variation("a-chain-is-away-for-a-while", "before")
def away(call: Call) -> None:
    item = call.service.chain("FTM")
    turn = count(call, "requests")
    item["disabled"] = 100 <= turn < 250
    call.service.memory["version"] = 7 + (turn >= 100) + (turn >= 250)
    named = (call.inputs.get(name) for name in ("chain", "fromChain", "toChain"))
    if item["disabled"] and "FTM" in named and call.operation != "getAssetsByChain":
        raise RefusalError("chain FTM is suspended")


@variation("a-chain-is-away-for-a-while", "data")
def shown_away(call: Call, data: Data) -> None:
    if "version" in data:
        data["version"] = call.service.memory["version"]
    for row in data.get("chains", []):
        row["isActive"] = not (row["name"] == "FTM" and call.service.chain("FTM")["disabled"])


@variation("bounds-by-chain", "data", BRIDGE)
def bounds(call: Call, data: Data) -> None:
    least = 20 if call.inputs["toChain"] in {"ETH", "ARB"} else 1
    if not least <= Decimal(data["outAmountUsd"]) <= 5_000_000:
        raise RefusalError(f"from {least} to 5000000 USD can be moved")


# orders and tickets


@variation("each-third-order-fails-with-its-reason", "data", "checkOrder")
def third_fails(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded" and int(call.inputs["id"]) % 3 == 0:
        data |= {"status": "Failed", "reason": "price moved", "execHash": "", "amountOut": "0"}


@variation("tickets-are-solved-after-a-second", "before", "checkTicket getAllTicketByAddress")
def solve(call: Call) -> None:
    for ticket in call.service.tickets:
        since = ticket.setdefault("_since", time.time())
        if time.time() - since > 1:
            ticket |= {"succeeded": True, "solution": "refund"}


@variation("tickets-are-solved-after-a-second", "data", "checkTicket getAllTicketByAddress")
def solved(call: Call, data: Data) -> None:
    word = call.inputs.get("filter")
    if word == "Succeeded":
        owner = call.inputs["address"].lower()
        mine = [t for t in call.service.tickets if t["address"].lower() == owner]
        data["list"] = [dict(ticket) for ticket in mine]
    if "list" in data:
        data["list"] = [t for t in data["list"] if t["succeeded"] == (word == "Succeeded")]
        for row in data["list"]:
            row.pop("_since", None)


@variation("execution-hashes-without-prefix", "data", "checkOrder")
def without_prefix(call: Call, data: Data) -> None:
    data["execHash"] = data["execHash"].removeprefix("0x")


# between the service and its clients


@variation("large-lists-compressed-in-chunks", "wrap", LISTS)
async def compressed_chunks(call: Call, answer: Answer) -> web.StreamResponse:
    response = await answer()
    if not accepts_gzip(call) or len(bytes_of(response)) < LARGE:
        return response
    changed = packed(response, "gzip", gzip.compress)
    if call.request.method != "HEAD":
        changed.enable_chunked_encoding()
    return changed


@variation("a-proxy-adds-its-headers", "wrap")
async def proxy_headers(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    digest = hashlib.sha256(bytes_of(response)).hexdigest()
    more = {"via": "1.1 edge", "age": "0", "x-cache": "MISS", "cf-ray": digest[:16]}
    response.headers.update(more)
    response.headers.add("Set-Cookie", "lb=2; Path=/; HttpOnly")
    return response
