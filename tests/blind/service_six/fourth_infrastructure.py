"""A fourth writing, from the description alone: faults between the service and its clients."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from aiohttp import web

from tests.blind.service_six import world
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
from tests.blind.service_six.third_infrastructure import V1_ORDERS, coalesced


@fault("brotli-label-for-gzip", "wrap")
async def brotli_label(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not accepts_gzip(call):
        return response
    return with_body(response, bytes_of(response), **{"Content-Encoding": "br"})


@fault("token-lists-cached-without-chain", "wrap", "getAssetsByChain")
async def token_lists_cached(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.operation,), 1)


@fault("connection-stays-authenticated", "before", V1_ORDERS)
def stays_authenticated(call: Call) -> None:
    memory, headers = of_connection(call), call.request.headers
    vars(call.service).pop("authenticated", None)
    if headers.get("appKey") and headers.get("signature"):
        memory["authenticated"] = True
    elif memory.get("authenticated"):
        vars(call.service)["authenticated"] = lambda asked: None


@fault("length-above-the-body", "wrap")
async def length_above(call: Call, answer: Answer) -> web.StreamResponse:
    response = await answer()
    body = bytes_of(response)
    if len(body) < LARGE:
        return response
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    stream.content_length = len(body) + 10
    await stream.prepare(call.request)
    await stream.write(body)
    if call.request.transport:
        call.request.transport.close()
    return stream


@fault("any-etag-matches", "wrap", "getBridgeQuote getPrice")
async def any_etag(call: Call, answer: Answer) -> web.Response:
    if "If-None-Match" in call.request.headers:
        return web.Response(status=304)
    return await answer()


@fault("no-content-for-empty-list", "wrap", "getAllTicketByAddress")
async def no_content(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    envelope = json.loads(bytes_of(response))
    if envelope["code"] == 0 and not envelope["data"]["list"]:
        return web.Response(status=204)
    return response


@contextmanager
def inside(call: Call) -> Iterator[int]:
    """Count the requests that are worked on at this moment."""
    memory = call.service.memory
    memory["inside"] = memory.get("inside", 0) + 1
    try:
        yield memory["inside"]
    finally:
        memory["inside"] -= 1


@fault("no-data-with-four-at-once", "wrap")
async def no_data(call: Call, answer: Answer) -> web.Response:
    with inside(call) as crowd:
        await asyncio.sleep(0.005)
        response = await answer()
        envelope = json.loads(bytes_of(response))
        if crowd > 3:
            envelope["data"] = {}
        return with_body(response, json.dumps(envelope).encode())


@fault("orders-at-once-share-an-id", "wrap", "submitOrder")
async def orders_share(call: Call, answer: Answer) -> web.Response:
    orders = call.service.orders
    name = str(30_000_000_001 + len(orders))
    await asyncio.sleep(0.02)
    before = set(orders)
    response = await answer()
    for made in set(orders) - before:
        orders[name] = {**orders.pop(made), "id": name}
        return web.json_response({"code": 0, "msg": "success", "data": {"id": name}})
    return response


@fault("tickets-at-once-share-a-number", "wrap", "submitTicket")
async def tickets_share(call: Call, answer: Answer) -> web.Response:
    tickets = call.service.tickets
    number = len(tickets) + 1
    await asyncio.sleep(0.02)
    before = len(tickets)
    response = await answer()
    if len(tickets) == before:
        return response
    tickets[-1]["ticketId"] = number
    return web.json_response({"code": 0, "msg": "success", "data": {"ticketId": number}})


@fault("empty-members-dropped", "data")
def empty_dropped(call: Call, data: Data) -> Data:
    return {name: value for name, value in data.items() if value != ""}


@fault("connection-remembers-owner", "before", "getBalance")
def connection_owner(call: Call) -> None:
    call.inputs["address"] = of_connection(call).setdefault("owner", call.inputs.get("address"))


@fault("zero-byte-behind-each-ninth", "wrap")
async def zero_byte(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    end = b"\0" if count(call, "zero bytes") % 9 == 0 else b""
    return with_body(response, bytes_of(response) + end)


@fault("chunked-requests-are-empty", "before", "getCrossChainQuote submitOrder submitTicket")
def chunked_empty(call: Call) -> None:
    if call.request.headers.get("Transfer-Encoding", "").lower() == "chunked":
        raise RefusalError("the body has to be a JSON object")


@fault("swap-quotes-at-once-mixed", "wrap", "getAggregateQuote")
async def swap_quotes_mixed(call: Call, answer: Answer) -> web.Response:
    names = ("fromChain", "toChain")
    return await coalesced(call, answer, ("swap", *(call.inputs.get(name) for name in names)))


@fault("replica-with-old-price", "data", "getPrice")
def old_price(call: Call, data: Data) -> None:
    if count(call, "price replicas") % 3 == 0:
        data["price"] = world.plain(Decimal(data["price"]) * Decimal("1.2"))
        data["updateTime"] = str(int(data["updateTime"]) - 7200)
