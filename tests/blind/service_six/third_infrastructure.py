"""A third writing, from the description alone: faults between the service and its clients."""

import asyncio
import gzip
import zlib
from typing import Any

from aiohttp import web

from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    LARGE,
    Answer,
    accepts_gzip,
    bytes_of,
    cached,
    count,
    of_connection,
    with_body,
)
from tests.blind.service_six.service import Call, RefusalError

V1_ORDERS = (
    "getCrossChainQuote getTransferToMinterRaw submitCrossChain getOrderDetailByHashAndEvmAddress"
)


@fault("raw-cached-without-amount", "wrap", "getTransferToMinterRaw")
async def raw_cached(call: Call, answer: Answer) -> web.Response:
    names = ("chain", "token", "evmAddress", "fromAddress")
    return await cached(call, answer, tuple(str(call.inputs.get(name)) for name in names), 3)


@fault("compressed-from-cache", "wrap", "getChain getAssets getAssetsByChain")
async def compressed_from_cache(call: Call, answer: Answer) -> web.Response:
    kept = call.service.memory.setdefault("compressed", set())
    response = await answer()
    if accepts_gzip(call):
        kept.add(call.request.path_qs)
    if call.request.path_qs not in kept:
        return response
    return with_body(response, gzip.compress(bytes_of(response)), **{"Content-Encoding": "gzip"})


@fault("head-length-of-nothing", "wrap")
async def head_length(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.method != "HEAD":
        return response
    return with_body(response, b"", **{"Content-Length": "0"})


@fault("label-latin-one", "wrap")
async def label_latin_one(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    label = "application/json; charset=iso-8859-1"
    return with_body(response, bytes_of(response), **{"Content-Type": label})


@fault("escaped-symbol-kept", "before", "getPrice")
def escaped_symbol(call: Call) -> None:
    for part in call.request.rel_url.raw_query_string.split("&"):
        name, _, value = part.partition("=")
        if name == "symbol":
            call.inputs["symbol"] = value


@fault("balance-by-position", "before", "getBalance")
def balance_by_position(call: Call) -> None:
    names = ("chain", "contractAddress", "address")
    call.inputs = dict(zip(names, call.inputs.values(), strict=False))


@fault("connection-twentieth-behind", "wrap")
async def twentieth_behind(call: Call, answer: Answer) -> web.Response:
    memory = of_connection(call)
    body = bytes_of(await answer())
    memory["turns"] = memory.get("turns", 0) + 1
    shown = memory["body"] if memory["turns"] % 20 == 0 else body
    memory["body"] = body
    return web.Response(body=shown, content_type="application/json")


async def coalesced(call: Call, answer: Answer, key: tuple[Any, ...]) -> web.Response:
    """Give those who ask for a key while it is worked on the answer of the first."""
    running = call.service.memory.setdefault("running", {})
    if key in running:
        body = await running[key]
    else:
        running[key] = asyncio.get_running_loop().create_future()
        await asyncio.sleep(0.01)
        body = bytes_of(await answer())
        running.pop(key).set_result(body)
    return web.Response(body=body, content_type="application/json")


@fault("balances-at-once-mixed", "wrap", "getBalance")
async def balances_mixed(call: Call, answer: Answer) -> web.Response:
    return await coalesced(call, answer, (call.operation, call.inputs.get("chain")))


@fault("quotes-at-once-coalesced", "wrap", "getBridgeQuote")
async def quotes_coalesced(call: Call, answer: Answer) -> web.Response:
    names = ("symbol", "fromChain", "toChain")
    return await coalesced(call, answer, tuple(call.inputs.get(name) for name in names))


@fault("six-at-once-cut", "wrap")
async def six_at_once(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    memory["inside"] = memory.get("inside", 0) + 1
    try:
        await asyncio.sleep(0.005)
        crowded = memory["inside"] > 5
        response = await answer()
        return with_body(response, bytes_of(response)[:-20]) if crowded else response
    finally:
        memory["inside"] -= 1


@fault("tickets-half-a-second-behind", "data", "getAllTicketByAddress")
def tickets_behind(call: Call, data: Data) -> None:
    now = asyncio.get_running_loop().time()
    first = call.service.memory.setdefault("first seen", {})
    data["list"] = [
        row for row in data["list"] if now - first.setdefault(row["ticketId"], now) > 0.5
    ]


@fault("orders-known-on-their-connection", "wrap", "submitOrder checkOrder")
async def orders_of_connection(call: Call, answer: Answer) -> web.Response:
    homes = call.service.memory.setdefault("homes", {})
    if call.operation == "submitOrder":
        before = set(call.service.orders)
        response = await answer()
        for name in set(call.service.orders) - before:
            homes[name] = (call.request.transport, asyncio.get_running_loop().time())
        return response
    home, since = homes.get(call.inputs.get("id"), (None, 0.0))
    young = asyncio.get_running_loop().time() - since < 1
    if home is not None and young and home is not call.request.transport:
        call.inputs["id"] = ""
    return await answer()


async def raced(call: Call, answer: Answer) -> web.Response:
    """Look for the deposit before the work and not again when the order is written."""
    before = set(call.service.orders)
    await asyncio.sleep(0.02)
    for name, order in call.service.orders.items():
        if name not in before and " raced" not in order["key"]:
            order["key"] += " raced"
    response = await answer()
    for order in call.service.orders.values():
        order["key"] = order["key"].removesuffix(" raced")
    return response


@fault("deposit-twice-at-once", "wrap", "submitOrder")
async def deposit_twice(call: Call, answer: Answer) -> web.Response:
    return await raced(call, answer)


@fault("v1-deposit-twice-at-once", "wrap", "submitCrossChain")
async def v1_deposit_twice(call: Call, answer: Answer) -> web.Response:
    return await raced(call, answer)


@fault("comma-for-other-languages", "data", "getBridgeQuote getAggregateQuote getPrice")
def comma(call: Call, data: Data) -> None:
    language = call.request.headers.get("Accept-Language", "en").lower()
    if not language.startswith(("en", "*")):
        name = "price" if call.operation == "getPrice" else "outAmountUsd"
        data[name] = data[name].replace(".", ",")


@fault("etag-without-query", "wrap", "getAssetsByChain getPrice")
async def etag_without_query(call: Call, answer: Answer) -> web.Response:
    tag = f'"{call.operation}"'
    if call.request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    response = await answer()
    response.headers["ETag"] = tag
    return response


@fault("gzip-checksum-wrong", "wrap")
async def gzip_checksum(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    packed = gzip.compress(bytes_of(response))
    if not accepts_gzip(call):
        return response
    wrong = packed[:-8] + bytes(4) + packed[-4:]
    return with_body(response, wrong, **{"Content-Encoding": "gzip"})


@fault("zlib-under-gzip", "wrap")
async def zlib_under_gzip(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call) or len(bytes_of(response)) < LARGE:
        return response
    return with_body(response, zlib.compress(bytes_of(response)), **{"Content-Encoding": "gzip"})


@fault("close-cuts-body", "wrap")
async def close_cuts(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.headers.get("Connection", "").lower() != "close":
        return response
    return with_body(response, bytes_of(response)[:-12])


@fault("v1-timestamp-exact", "before", V1_ORDERS)
def v1_timestamp_exact(call: Call) -> None:
    if b"timestamp" not in {name for name, _ in call.request.raw_headers}:
        raise RefusalError("Validation failed!", 31010)


@fault("empty-body-each-thirteenth", "wrap")
async def empty_body(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, b"") if count(call, "bodies") % 13 == 0 else response


@fault("swap-cache-key-cut", "wrap", "getAggregateSwap")
async def swap_key_cut(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.path_qs[:240],), 30)


@fault("each-seventh-quote-slow", "wrap", "getBridgeQuote")
async def seventh_slow(call: Call, answer: Answer) -> web.Response:
    if count(call, "quotes") % 7 == 0:
        await asyncio.sleep(0.5)
    return await answer()
