"""An eighth writing: what proxies, caches, workers and parsers do to right answers."""

import asyncio
import gzip
import json

from aiohttp import web

from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    Answer,
    accepts_gzip,
    bytes_of,
    cached,
    count,
    of_connection,
    with_body,
)
from tests.blind.service_six.operations import LISTS, V1_ORDER, V1_QUOTE
from tests.blind.service_six.service import Call, RefusalError


def html(status: int) -> web.Response:
    return web.Response(
        body=b"<html><h1>Sorry</h1></html>", status=status, content_type="text/html"
    )


# caches


@fault("order-status-by-etag-of-its-id", "wrap", "checkOrder")
async def etag_of_id(call: Call, answer: Answer) -> web.Response:
    tag = f'"order-{call.inputs.get("id")}"'
    if call.request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    response = await answer()
    response.headers["ETag"] = tag
    return response


@fault("bridge-cache-sorts-the-chains", "wrap", "getBridgeQuote")
async def sorted_chains(call: Call, answer: Answer) -> web.Response:
    chains = sorted(str(call.inputs.get(name)) for name in ("fromChain", "toChain"))
    return await cached(
        call, answer, (*chains, *(str(call.inputs.get(n)) for n in ("amount", "symbol"))), 5
    )


@fault("price-cache-by-first-letter", "wrap", "getPrice")
async def first_letter(call: Call, answer: Answer) -> web.Response:
    if not call.inputs.get("symbol"):
        return await answer()
    return await cached(call, answer, (call.inputs["symbol"][0],), 2)


@fault("head-poisons-the-cache", "wrap")
async def head_poisons(call: Call, answer: Answer) -> web.Response:
    kept = call.service.memory.setdefault("heads", set())
    if call.request.method == "HEAD":
        kept.add(call.request.path_qs)
    elif call.request.path_qs in kept:
        kept.discard(call.request.path_qs)
        return with_body(await answer(), b"")
    return await answer()


@fault("compressed-cache-by-first-letter", "wrap", "getAssetsByChain")
async def compressed_letter(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call) or not call.inputs.get("chain"):
        return response
    kept = call.service.memory.setdefault("letters", {})
    body = kept.setdefault(call.inputs["chain"][0], gzip.compress(bytes_of(response)))
    return with_body(response, body, **{"Content-Encoding": "gzip"})


@fault("unmodified-since-any-date", "wrap", LISTS)
async def unmodified(call: Call, answer: Answer) -> web.Response:
    if "If-Modified-Since" in call.request.headers:
        return web.Response(status=304)
    response = await answer()
    response.headers["Last-Modified"] = "Sat, 28 Nov 2026 12:00:00 GMT"
    return response


# workers and replicas


@fault("v1-quotes-at-once-mixed", "wrap", V1_QUOTE)
async def mixed(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    response = await answer()
    memory["last"] = bytes_of(response)
    await asyncio.sleep(0.01)
    return with_body(response, memory["last"])


@fault("v1-detail-of-a-replica-without-the-latest", "before", V1_ORDER)
def replica_without(call: Call) -> None:
    if count(call, "details") % 3 == 0 and call.service.orders:
        latest = list(call.service.orders.values())[-1]
        if latest["key"].endswith(str(call.inputs.get("hash")).lower()):
            raise RefusalError("there is no such order")


@fault("refusal-follows-on-its-connection", "wrap")
async def refusal_follows(call: Call, answer: Answer) -> web.Response:
    memory = of_connection(call)
    if (kept := memory.pop("refusal", None)) and call.request.method != "HEAD":
        return web.Response(body=kept, content_type="application/json")
    response = await answer()
    if json.loads(bytes_of(response))["code"]:
        memory["refusal"] = bytes_of(response)
    return response


@fault("tickets-of-a-second-taken-for-a-repetition", "data", "submitTicket")
def repetition(call: Call, data: Data) -> None:
    now = asyncio.get_running_loop().time()
    when, number = call.service.memory.get("ticket", (now - 9, 0))
    if now - when < 1:
        data["ticketId"] = number
    else:
        call.service.memory["ticket"] = (now, data["ticketId"])


@fault("price-time-of-shanghai-at-times", "data", "getPrice")
def shanghai(call: Call, data: Data) -> None:
    if count(call, "prices") % 3 == 0:
        data["updateTime"] = str(int(data["updateTime"]) + 8 * 3600)


# parsers


async def text_of(call: Call) -> str:
    return (await call.request.read()).decode(errors="replace")


async def unread(call: Call, answer: Answer) -> web.Response:
    """Answer as if the body were no JSON."""
    call.inputs = {"": "no JSON"}
    return await answer()


@fault("escapes-in-bodies-not-read", "wrap", V1_QUOTE)
async def escapes(call: Call, answer: Answer) -> web.Response:
    if "\\u" in await text_of(call):
        return await unread(call, answer)
    return await answer()


@fault("exponents-in-bodies-not-read", "wrap", "getCrossChainQuote getTransferToMinterRaw")
async def exponents(call: Call, answer: Answer) -> web.Response:
    text = (await text_of(call)).replace(" ", "").lower()
    _, _, behind = text.partition('"amount":')
    if "e" in behind.partition(",")[0].strip('}"') and not behind.startswith('"'):
        return await unread(call, answer)
    return await answer()


@fault("accept-of-several-types-refused", "wrap")
async def several_types(call: Call, answer: Answer) -> web.Response:
    return html(406) if "," in call.request.headers.get("Accept", "") else await answer()


@fault("compressed-in-spite-of-q-zero", "wrap")
async def q_zero(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    asked = call.request.headers.get("Accept-Encoding", "").replace(" ", "")
    if "gzip;q=0" not in asked and "identity" not in asked:
        return response
    return with_body(response, gzip.compress(bytes_of(response)), **{"Content-Encoding": "gzip"})


# pages and texts


@fault("gateway-refuses-in-html", "wrap")
async def gateway_html(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return html(401) if b'"code":31010' in bytes_of(response) else response


@fault("names-encoded-twice-by-chain", "data", "getAssetsByChain")
def encoded_twice(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["name"] = row["name"].encode().decode("latin-1")


@fault("refusals-cut-at-letters-of-two-bytes", "wrap")
async def refusals_cut(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    text = body.decode()
    if text.startswith('{"code":0') or len(text) == len(body):
        return response
    return with_body(response, body[: len(text)])


@fault("refusals-made-by-a-template", "wrap")
async def template(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    return (
        response
        if body.startswith(b'{"code":0')
        else with_body(response, body.replace(b'\\"', b'"'))
    )


@fault("zero-characters-break-it", "wrap")
async def zero_characters(call: Call, answer: Answer) -> web.Response:
    if any("\0" in str(value) for value in call.inputs.values()):
        return html(500)
    return await answer()
