"""Faults of what stands between the service and its clients."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

from aiohttp import web

from tests.blind.service_six.flaws import Data, fault, switch
from tests.blind.service_six.service import ROUTES, Call, RefusalError

Answer = Callable[[], Awaitable[web.Response]]
LARGE = 4096

switch("trailing-slash-empty")


def bytes_of(response: web.Response) -> bytes:
    body = response.body
    return body if isinstance(body, bytes) else b""


def with_body(response: web.Response, body: bytes, **headers: str) -> web.Response:
    """Return the same answer with another body and further headers."""
    shown = {"Content-Type": "application/json; charset=utf-8", **headers}
    return web.Response(body=body, status=response.status, headers=shown)


def packed(response: web.Response, coding: str, pack: Callable[[bytes], bytes]) -> web.Response:
    """Return the same answer in a coding that its client accepts."""
    headers = {"Content-Encoding": coding, "Vary": "Accept-Encoding"}
    return with_body(response, pack(bytes_of(response)), **headers)


def not_now(call: Call, status: int, message: str, **headers: str) -> web.Response:
    """Return the envelope of a service that answers no request at the moment."""
    envelope: Data = {"code": status, "msg": message, "data": {}}
    if call.generation == 1:
        envelope["status"] = status
    return web.json_response(envelope, status=status, headers=headers)


def accepts_gzip(call: Call) -> bool:
    return "gzip" in call.request.headers.get("Accept-Encoding", "")


def count(call: Call, name: str) -> int:
    """Count the requests of this service."""
    memory = call.service.memory
    memory[name] = memory.get(name, 0) + 1
    return int(memory[name])


def of_connection(call: Call) -> Data:
    """Return what is remembered of the request's connection."""
    memory = call.service.memory.setdefault("connections", WeakKeyDictionary())
    kept: Data = memory.setdefault(call.request.transport, {})
    return kept


@fault("gzip-unasked", "wrap")
async def gzip_unasked(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if accepts_gzip(call):
        return response
    return with_body(response, gzip.compress(bytes_of(response)), **{"Content-Encoding": "gzip"})


@fault("gzip-label-only", "wrap")
async def gzip_label(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call):
        return response
    return with_body(response, bytes_of(response), **{"Content-Encoding": "gzip"})


@fault("gzip-large-cut", "wrap")
async def gzip_cut(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    if not accepts_gzip(call) or len(body) < LARGE:
        return response
    return with_body(response, gzip.compress(body)[:-200], **{"Content-Encoding": "gzip"})


@fault("keep-alive-dies", "wrap")
async def keep_alive_dies(call: Call, answer: Answer) -> web.Response:
    memory = of_connection(call)
    memory["count"] = memory.get("count", 0) + 1
    if memory["count"] == 4 and call.request.transport:
        call.request.transport.abort()
    return await answer()


@fault("keep-alive-one-behind", "wrap")
async def one_behind(call: Call, answer: Answer) -> web.Response:
    memory = of_connection(call)
    body = bytes_of(await answer())
    previous = memory.get("body", body)
    memory["body"] = body
    return web.Response(body=previous, content_type="application/json")


@fault("connection-remembers-chain", "before", "getAssetsByChain")
def connection_chain(call: Call) -> None:
    call.inputs["chain"] = of_connection(call).setdefault("chain", call.inputs.get("chain"))


@fault("etag-of-everything", "wrap", "getChain getAssets getAssetsByChain")
async def etag_of_everything(call: Call, answer: Answer) -> web.Response:
    if call.request.headers.get("If-None-Match") == '"v7"':
        return web.Response(status=304, headers={"ETag": '"v7"'})
    response = await answer()
    response.headers["ETag"] = '"v7"'
    return response


@fault("not-modified-status", "wrap", "checkOrder")
async def not_modified_status(call: Call, answer: Answer) -> web.Response:
    if "If-Modified-Since" in call.request.headers:
        return web.Response(status=304)
    response = await answer()
    response.headers["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
    return response


@fault("quotes-cacheable-for-a-day", "wrap", "getBridgeQuote getAggregateQuote getPrice checkOrder")
async def cacheable(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


@fault("latin-one-bytes", "wrap")
async def latin_bytes(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, bytes_of(response).decode().encode("latin-1"))


@fault("utf-16-label", "wrap")
async def utf16_label(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    label = "application/json; charset=utf-16"
    return with_body(response, bytes_of(response), **{"Content-Type": label})


@fault("byte-order-mark", "wrap")
async def byte_order_mark(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, b"\xef\xbb\xbf" + bytes_of(response))


@fault("html-label", "wrap")
async def html_label(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, bytes_of(response), **{"Content-Type": "text/html"})


@fault("header-names-exact", "before", "submitOrder submitTicket")
def header_names_exact(call: Call) -> None:
    if not {name for name, _ in call.request.raw_headers} & {b"Evmaddress", b"EvmAddress"}:
        raise RefusalError("Evmaddress is required")


@fault(
    "v1-header-names-exact",
    "before",
    "getCrossChainQuote getTransferToMinterRaw submitCrossChain getOrderDetailByHashAndEvmAddress",
)
def v1_header_names_exact(call: Call) -> None:
    if b"appKey" not in {name for name, _ in call.request.raw_headers}:
        raise RefusalError("Validation failed!", 31010)


@fault("answers-swapped", "wrap")
async def answers_swapped(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    body = bytes_of(await answer())
    partner = memory.pop("waiting", None)
    if partner is not None and not partner[1].done():
        partner[1].set_result(body)
        return web.Response(body=partner[0], content_type="application/json")
    mine = (body, asyncio.get_running_loop().create_future())
    memory["waiting"] = mine
    await asyncio.wait([mine[1]], timeout=0.03)
    if memory.get("waiting") is mine:
        del memory["waiting"]
    swapped = mine[1].result() if mine[1].done() else body
    return web.Response(body=swapped, content_type="application/json")


@fault("latest-inputs", "wrap")
async def latest_inputs(call: Call, answer: Answer) -> web.Response:
    memory = call.service.memory
    memory[call.operation] = call.inputs
    await asyncio.sleep(0.02)
    call.inputs = memory[call.operation]
    return await answer()


@fault("answer-twice", "wrap")
async def answer_twice(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    times = 2 if count(call, "answers") % 5 == 0 else 1
    return with_body(response, bytes_of(response) * times)


@fault("replica-without-new-orders", "before", "checkOrder")
def replica_without_new_orders(call: Call) -> None:
    order = call.service.orders.get(str(call.inputs.get("id")))
    if order and count(call, "looks") % 2 and call.service.memory["looks"] < 8:
        raise RefusalError(f"there is no order {order['id']}")


@fault("replica-with-old-list", "data", "getAssets getChain")
def replica_with_old_list(call: Call, data: Data) -> None:
    if count(call, "lists") % 2 == 0:
        data["version"] -= 1
        data["list"].pop()


@fault("head-fails", "wrap")
async def head_fails(call: Call, answer: Answer) -> web.Response:
    return web.Response(status=500) if call.request.method == "HEAD" else await answer()


@fault("percent-encoding-kept", "before")
def percent_encoding_kept(call: Call) -> None:
    if call.request.method == "GET":
        pairs = [part.partition("=") for part in call.request.rel_url.raw_query_string.split("&")]
        call.inputs = {name: value for name, _, value in pairs}


@fault("parameters-by-position", "before", "getBridgeQuote")
def parameters_by_position(call: Call) -> None:
    names = ("amount", "symbol", "fromChain", "toChain")
    call.inputs = dict(zip(names, call.inputs.values(), strict=False))


@fault("length-in-characters", "wrap")
async def length_in_characters(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    return with_body(response, body[: len(body.decode())])


@fault("chunked-cut", "wrap")
async def chunked_cut(call: Call, answer: Answer) -> web.StreamResponse:
    response = await answer()
    body = bytes_of(response)
    if len(body) < LARGE:
        return response
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    stream.enable_chunked_encoding()
    await stream.prepare(call.request)
    await stream.write(body[:-64])
    if call.request.transport:
        call.request.transport.close()
    return stream


@fault("quote-cache-without-amount", "wrap", "getBridgeQuote")
async def cache_without_amount(call: Call, answer: Answer) -> web.Response:
    key = tuple(call.inputs.get(name) for name in ("symbol", "fromChain", "toChain"))
    return await cached(call, answer, key, 2)


@fault("balance-cache-key-cut", "wrap", "getBalance")
async def cache_key_cut(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.path_qs[:90],), 60)


@fault("refusals-are-cached", "wrap")
async def refusals_are_cached(call: Call, answer: Answer) -> web.Response:
    now, memory = asyncio.get_running_loop().time(), call.service.memory
    until, body = memory.get(call.operation, (0, b""))
    if now < until:
        return web.Response(body=body, content_type="application/json")
    response = await answer()
    if json.loads(bytes_of(response))["code"] != 0:
        memory[call.operation] = (now + 0.5, bytes_of(response))
    return response


async def cached(call: Call, answer: Answer, key: tuple[Any, ...], seconds: float) -> web.Response:
    now, memory = asyncio.get_running_loop().time(), call.service.memory.setdefault("cache", {})
    until, body = memory.get(key, (0, b""))
    if now >= until:
        body = bytes_of(await answer())
        memory[key] = (now + seconds, body)
    return web.Response(body=body, content_type="application/json")


@fault("gateway-repeats-submission", "wrap", "submitOrder")
async def repeats_submission(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.headers.get("Evmaddress"),), 10)


@fault("post-redirected", "wrap", "getCrossChainQuote getTransferToMinterRaw submitOrder")
async def post_redirected(call: Call, answer: Answer) -> web.Response:
    return web.Response(status=302, headers={"Location": ROUTES[call.operation][1]})


@fault("body-limit", "before", "submitOrder submitCrossChain")
def body_limit(call: Call) -> None:
    if (call.request.content_length or 0) > 900:
        raise RefusalError("the body has to be a JSON object")


@fault("query-limit", "before", "getAggregateSwap")
def query_limit(call: Call) -> None:
    call.inputs = dict(parse_qsl(call.request.query_string[:400]))


@fault("bad-gateway-at-times", "wrap")
async def bad_gateway(call: Call, answer: Answer) -> web.Response:
    if count(call, "gateway") % 11 == 0:
        text = "<html><h1>502 Bad Gateway</h1></html>"
        return web.Response(status=502, text=text, content_type="text/html")
    return await answer()


@fault("json-charset-refused", "before", "getCrossChainQuote submitOrder submitTicket")
def json_charset_refused(call: Call) -> None:
    if "charset" in call.request.headers.get("Content-Type", "").lower():
        raise RefusalError("the body has to be a JSON object")
