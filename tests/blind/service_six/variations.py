"""What the description leaves open, done otherwise: nobody may be blamed for it."""

import datetime
import gzip
import hashlib
import json
from decimal import Decimal
from typing import Any

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, switch, variation
from tests.blind.service_six.infrastructure import Answer, accepts_gzip, bytes_of, packed, with_body
from tests.blind.service_six.operations import LISTS
from tests.blind.service_six.service import EVM, Call

for name in (
    "varied-fees",
    "same-chain-fees",
    "order-ids-with-letters",
    "order-ids-of-thirty-digits",
    "other-statuses",
    "orders-take-an-hour",
    "same-hash-refused",
):
    switch(name, varies=True)


@variation("further-members", "data")
def further_members(call: Call, data: Data) -> None:
    data["requestId"] = "f00d"
    for item in data.get("list", []):
        item["tags"] = ["new"]


@variation("further-envelope-member", "envelope")
def further_envelope(call: Call, envelope: Data) -> None:
    envelope["traceId"] = "4bf92f35"


@variation("other-words-of-success", "envelope")
def other_words(call: Call, envelope: Data) -> None:
    if envelope["code"] == 0:
        envelope["msg"] = "OK"


@variation("v1-code-200", "envelope")
def code_200(call: Call, envelope: Data) -> None:
    if call.generation == 1 and envelope["code"] == 0:
        envelope |= {"status": 200, "msg": ""}


@variation("lists-reversed", "data", LISTS)
def reversed_lists(call: Call, data: Data) -> None:
    data["list"].reverse()


@variation("list-order-changes", "data", LISTS)
def order_changes(call: Call, data: Data) -> None:
    memory = call.service.memory
    turn = memory["turn"] = memory.get("turn", 0) + 1
    data["list"] = data["list"][turn % 5 :] + data["list"][: turn % 5]


@variation("version-rises", "data", LISTS)
def version_rises(call: Call, data: Data) -> None:
    memory = call.service.memory
    memory["version"] = data["version"] = memory.get("version", 2**40) + 1


@variation("large-addresses", "data", "getAssetsByChain getAssets getSupportTokens")
def mixed_case(call: Call, data: Data) -> Data:
    def upper(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: upper(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [upper(entry) for entry in value]
        if isinstance(value, str) and EVM.fullmatch(value):
            return "0x" + value[2:].upper()
        return value

    changed: Data = upper(data)
    return changed


@variation("minimum-given", "data", "getAggregateQuote")
def minimum_given(call: Call, data: Data) -> None:
    data["minOutAmount"] = str(int(data["outAmount"]) * 97 // 100)


@variation("impact-positive", "data", "getAggregateQuote")
def impact_positive(call: Call, data: Data) -> None:
    data["priceImpact"] = "0.48"


@variation("other-aggregator", "data", "getAggregateQuote")
def other_aggregator(call: Call, data: Data) -> None:
    data |= {"aggregator": "Kyber", "routeSummary": "eyJyb3V0ZSI6W119"}


@variation("refusals-with-http-400", "refusal")
def http_400(call: Call, envelope: Data) -> tuple[int, Data]:
    return 400, envelope


@variation("refusals-without-data", "refusal")
def without_data(call: Call, envelope: Data) -> None:
    del envelope["data"]


@variation("refusals-with-other-codes", "refusal")
def other_codes(call: Call, envelope: Data) -> None:
    envelope["code"] = -int(hashlib.sha256(envelope["msg"].encode()).hexdigest()[:4], 16) - 1


@variation("refusals-all-alike", "refusal")
def all_alike(call: Call, envelope: Data) -> None:
    envelope |= {"code": 3, "msg": "fail"}


@variation("gzip-where-accepted", "wrap")
async def gzip_accepted(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return packed(response, "gzip", gzip.compress) if accepts_gzip(call) else response


@variation("chunked", "wrap")
async def chunked(call: Call, answer: Answer) -> web.StreamResponse:
    response = await answer()
    response.enable_chunked_encoding()
    return response


@variation("connection-closes", "wrap")
async def closes(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    response.force_close()
    return response


@variation("indented-json", "wrap")
async def indented(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, json.dumps(json.loads(bytes_of(response)), indent=2).encode())


@variation("members-in-another-order", "wrap")
async def another_order(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    parsed = json.loads(bytes_of(response))
    body = json.dumps(dict(reversed(parsed.items())), sort_keys=False, ensure_ascii=False)
    return with_body(response, body.encode())


@variation("etags-that-are-right", "wrap")
async def right_etags(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    tag = f'"{hashlib.sha256(bytes_of(response)).hexdigest()[:16]}"'
    if call.request.method == "GET" and call.request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    response.headers.update({"ETag": tag, "Cache-Control": "no-cache"})
    return response


@variation("further-headers", "wrap")
async def further_headers(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    more = {"Server": "cloud", "X-Request-Id": "1", "Strict-Transport-Security": "max-age=60"}
    response.headers.update(more)
    return response


@variation("update-time-as-iso", "data", "getPrice")
def time_iso(call: Call, data: Data) -> None:
    moment = datetime.datetime.fromtimestamp(int(data["updateTime"]), datetime.UTC)
    data["updateTime"] = moment.isoformat()


@variation("update-time-in-ms", "data", "getPrice")
def time_ms(call: Call, data: Data) -> None:
    data["updateTime"] += "000"


@variation("usd-with-two-digits", "data", "getBridgeQuote getAggregateQuote")
def usd_two(call: Call, data: Data) -> None:
    data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]).quantize(Decimal("0.01")))


@variation("readable-balance-padded", "data", "getBalance")
def padded(call: Call, data: Data) -> None:
    data["hrpBalance"] = world.plain(Decimal(data["hrpBalance"]) + Decimal("0.000000000000000000"))


@variation("prices-move", "before", "getPrice getBridgeQuote getAggregateQuote getCrossChainQuote")
def prices_move(call: Call) -> None:
    for token in call.service.tokens:
        if token["symbol"] not in {"USDT", "USDC", "DAI"}:
            token["usd"] = (token["usd"] * Decimal("1.0003")).quantize(Decimal("1e-8"))
