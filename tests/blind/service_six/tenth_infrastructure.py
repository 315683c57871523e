"""A tenth writing: what gateways, firewalls, caches, workers and columns do to right answers."""

import asyncio
import email.utils
import json
import time

from aiohttp import HttpVersion10, web

from tests.blind.service_six import world
from tests.blind.service_six.eighth_infrastructure import html, unread
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import (
    Answer,
    bytes_of,
    cached,
    count,
    of_connection,
    with_body,
)
from tests.blind.service_six.operations import (
    BRIDGE,
    LISTS,
    QUOTE,
    SWAP,
    V1_ORDER,
    V1_QUOTE,
    V1_TOKENS,
)
from tests.blind.service_six.service import Call, RefusalError

# caches


@fault("price-etag-by-length", "wrap", "getPrice")
async def etag_by_length(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    tag = f'"{len(bytes_of(response)):x}"'
    if call.request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response


@fault("lists-expire-in-a-week", "wrap", LISTS)
async def expire(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    week = time.time() + 7 * 24 * 3600
    response.headers["Expires"] = email.utils.formatdate(week, usegmt=True)
    return response


@fault("v1-tokens-cached-in-spite-of-their-header", "wrap", V1_TOKENS)
async def in_spite_of_header(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.path_qs,), 3)


@fault("native-balances-cached-without-chain", "wrap", "getBalance")
async def without_chain(call: Call, answer: Answer) -> web.Response:
    where, owner = call.inputs.get("contractAddress"), call.inputs.get("address")
    return (
        await cached(call, answer, (where, owner), 5) if where == world.NATIVE else await answer()
    )


# gateways and firewalls


@fault("requests-from-pages-refused", "wrap")
async def from_pages(call: Call, answer: Answer) -> web.Response:
    return html(403) if "Origin" in call.request.headers else await answer()


@fault("nameless-clients-refused", "wrap")
async def nameless(call: Call, answer: Answer) -> web.Response:
    return await answer() if call.request.headers.get("User-Agent") else html(403)


@fault("apostrophes-stopped-by-a-firewall", "wrap")
async def apostrophes(call: Call, answer: Answer) -> web.Response:
    stopped = any("'" in str(value) for value in call.inputs.values())
    return html(403) if stopped else await answer()


@fault("content-type-in-capitals-refused", "wrap", f"{V1_QUOTE} submitOrder submitTicket")
async def type_in_capitals(call: Call, answer: Answer) -> web.Response:
    kind = call.request.headers.get("Content-Type", "")
    return await answer() if kind == kind.lower() else await unread(call, answer)


@fault("ampersand-first-loses-an-input", "before")
def ampersand_first(call: Call) -> None:
    query = call.request.raw_path.partition("?")[2]
    if query.startswith("&") and call.inputs:
        call.inputs.pop(next(iter(call.inputs)))


@fault("ranges-answered-with-200", "wrap", LISTS)
async def ranges(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    unit, _, bounds = call.request.headers.get("Range", "").partition("=")
    first, _, last = bounds.partition("-")
    if unit != "bytes" or not (first.isdigit() and last.isdigit()):
        return response
    return with_body(response, bytes_of(response)[int(first) : int(last) + 1])


@fault("chunked-for-http-1-0", "wrap")
async def chunked_old(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    transport = call.request.transport
    if call.request.version == HttpVersion10 and transport:
        body = bytes_of(response)
        kind = b"Content-Type: application/json\r\nTransfer-Encoding: chunked"
        head = b"HTTP/1.1 200 OK\r\n" + kind + b"\r\nConnection: close\r\n\r\n"
        transport.write(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        transport.close()
    return response


@fault("cookie-remembers-the-chain", "wrap", "getAssetsByChain")
async def cookie_chain(call: Call, answer: Answer) -> web.Response:
    remembered = call.request.cookies.get("chain")
    if remembered:
        call.inputs["chain"] = remembered
        return await answer()
    response = await answer()
    if not json.loads(bytes_of(response))["code"]:
        response.set_cookie("chain", call.inputs["chain"])
    return response


# workers and connections


@fault("swaps-at-once-pay-one-recipient", "wrap", SWAP)
async def one_recipient(call: Call, answer: Answer) -> web.Response:
    names = ("fromAmount", "fromTokenAddress", "toTokenAddress", "chain", "slippage")
    key = tuple(call.inputs.get(name) for name in names)
    under_way = call.service.memory.setdefault("swaps", {})
    if key in under_way:
        return web.Response(body=await under_way[key], content_type="application/json")
    under_way[key] = asyncio.get_running_loop().create_future()
    await asyncio.sleep(0.02)
    response = await answer()
    under_way.pop(key).set_result(bytes_of(response))
    return response


@fault("connection-keeps-the-first-reporter", "data", "submitTicket")
def first_reporter(call: Call, data: Data) -> None:
    ticket = next(t for t in call.service.tickets if t["ticketId"] == data["ticketId"])
    ticket["address"] = of_connection(call).setdefault("reporter", ticket["address"])


@fault("ticket-unknown-in-its-first-moments", "data", "submitTicket checkTicket")
def made_now(call: Call, data: Data) -> None:
    if call.operation == "submitTicket":
        call.service.memory.setdefault(f"made {data['ticketId']}", time.time())


@fault("ticket-unknown-in-its-first-moments", "before", "submitTicket checkTicket")
def not_yet_known(call: Call) -> None:
    made = call.service.memory.get(f"made {call.inputs.get('ticketId')}", 0)
    if time.time() - made < 0.3:
        raise RefusalError(f"there is no ticket {call.inputs['ticketId']}")


@fault("value-lost-after-forty-quotes", "data", BRIDGE)
def value_lost(call: Call, data: Data) -> None:
    if count(call, "bridge quotes") > 40:
        data["outAmountUsd"] = "0"


# writers, columns and pages


@fault("data-comes-twice", "wrap", f"{BRIDGE} {QUOTE} {V1_QUOTE}")
async def data_twice(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    body = bytes_of(response)
    return with_body(response, body.replace(b'"data":', b'"data":{},"data":', 1))


@fault("token-lists-end-after-ten", "data", "getAssetsByChain")
def end_after_ten(call: Call, data: Data) -> None:
    del data["list"][10:]


@fault("v1-certificates-cut-at-64-characters", "data", V1_ORDER)
def certificates_cut(call: Call, data: Data) -> None:
    data["order"]["certHash"] = data["order"]["certHash"][:64]


@fault("v1-names-with-html-entities", "data", V1_TOKENS)
def html_entities(call: Call, data: Data) -> None:
    for row in data["tokenVos"]:
        row["name"] = row["name"].encode("ascii", "xmlcharrefreplace").decode()
