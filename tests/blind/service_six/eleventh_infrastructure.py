"""An eleventh writing: what caches, replicas, gateways and number formats do to right answers."""

import asyncio
import json
import struct
import time
from decimal import Decimal

from aiohttp import HttpVersion10, web

from tests.blind.service_six import (  # noqa: F401 - register those that faults stand in
    eighth_variations,
    eleventh_variations,
    tenth_variations,
    variations,
)
from tests.blind.service_six.eighth_infrastructure import html
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import Answer, bytes_of, cached, count, not_now
from tests.blind.service_six.operations import (
    BRIDGE,
    RAW,
    SWAP,
    TICKETS,
    V1_ORDER,
    V1_QUOTE,
    V1_TOKENS,
)
from tests.blind.service_six.service import Call

# caches


@fault("swaps-cached-by-sorted-values", "wrap", SWAP)
async def sorted_values(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, tuple(sorted(map(str, call.inputs.values()))), 3)


@fault("balances-cached-by-shortened-address", "wrap", "getBalance")
async def shortened(call: Call, answer: Answer) -> web.Response:
    owner = str(call.inputs.get("address"))
    chain, where = call.inputs.get("chain"), call.inputs.get("contractAddress")
    return await cached(call, answer, (chain, where, owner[:6] + owner[-4:]), 10)


@fault("v1-raw-cached-by-length-of-body", "wrap", RAW, around="v1-raw-of-six-items")
async def length_of_body(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.request.content_length,), 2)


@fault("v1-tokens-kept-without-vary", "wrap", V1_TOKENS)
async def without_vary(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    response.headers["Cache-Control"] = "max-age=600"
    return response


@fault(
    "chains-a-day-old-by-their-age", "wrap", "getChain getSupportChains", around="a-cdn-in-front"
)
async def a_day_old(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    response.headers["Age"] = "90000"
    return response


@fault(
    "v1-detail-cached-without-address",
    "wrap",
    V1_ORDER,
    around="v1-refusals-have-status-400-in-the-envelope",
)
async def without_address(call: Call, answer: Answer) -> web.Response:
    return await cached(call, answer, (call.inputs.get("chain"), call.inputs.get("hash")), 5)


# HTTP


@fault("retry-after-of-minus-one", "wrap")
async def minus_one(call: Call, answer: Answer) -> web.Response:
    if count(call, "for a pause") % 120 == 0:
        return not_now(call, 503, "busy", **{"Retry-After": "-1"})
    return await answer()


@fault("head-says-length-zero", "wrap")
async def length_zero(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.method == "HEAD":
        response.headers["Content-Length"] = "0"
    return response


@fault("old-clients-get-a-kilobyte", "wrap")
async def a_kilobyte(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    transport = call.request.transport
    if call.request.version == HttpVersion10 and transport:
        kind = b"Content-Type: application/json\r\nConnection: close"
        transport.write(b"HTTP/1.0 200 OK\r\n" + kind + b"\r\n\r\n" + bytes_of(response)[:1024])
        transport.close()
    return response


@fault("absolute-targets-not-known", "wrap")
async def absolute(call: Call, answer: Answer) -> web.Response:
    return html(404) if call.request.raw_path.lower().startswith("http") else await answer()


@fault("wildcard-accept-refused", "wrap")
async def wildcard(call: Call, answer: Answer) -> web.Response:
    accepts = call.request.headers.get("Accept", "*/*").lower()
    known = ("*/*", "application/json")
    return await answer() if any(kind in accepts for kind in known) else html(406)


# state of a worker


@fault("v1-fee-level-zero-becomes-the-last", "before", V1_QUOTE, around="v1-code-200")
def last_level(call: Call) -> None:
    memory, level = call.service.memory, call.inputs.get("feeLevel")
    if level == 0:
        call.inputs["feeLevel"] = memory.get("fee level", 0)
    elif level in range(1, 11):
        memory["fee level"] = level


@fault("quotes-after-a-refusal-lose-their-gas", "refusal", BRIDGE)
def refused(call: Call, envelope: Data) -> None:
    call.service.memory["refused"] = True


@fault("quotes-after-a-refusal-lose-their-gas", "data", BRIDGE)
def lose_gas(call: Call, data: Data) -> None:
    if call.service.memory.pop("refused", False):
        data["gasFee"] = "0"


@fault("replica-counts-indexes-from-zero", "data", "getAssetsByChain")
def from_zero(call: Call, data: Data) -> None:
    if count(call, "token lists") % 3 == 0:
        for row in data["list"]:
            row["index"] -= 1


@fault("v1-detail-from-a-lagging-replica", "data", V1_ORDER)
def lagging(call: Call, data: Data) -> None:
    order = call.service.orders[data["order"]["sn"]]
    if count(call, "details") % 2 == 0 and time.time() - order["start"] < 6:
        data["order"] |= {"status": 1, "toAmount": "0", "toHash": ""}


# submissions


@fault(
    "tickets-sent-twice-by-the-gateway",
    "wrap",
    "submitTicket",
    around="tickets-are-made-anew-each-time",
)
@fault("orders-sent-twice-by-the-gateway", "wrap", "submitOrder", around="same-hash-refused")
async def sent_twice(call: Call, answer: Answer) -> web.Response:
    await answer()
    return await answer()


@fault("v1-submissions-at-once-make-two-orders", "wrap", "submitCrossChain")
async def two_orders(call: Call, answer: Answer) -> web.Response:
    certificate = call.inputs.get("certHash")
    under_way = call.service.memory.setdefault("under way", set())
    if certificate not in under_way:
        under_way.add(certificate)
        await asyncio.sleep(0.02)
        response = await answer()
        under_way.remove(certificate)
        return response
    await asyncio.sleep(0.03)
    first = dict(call.service.orders)
    call.service.orders.clear()  # its transaction began before the first one's end
    call.service.orders.update({f"hidden {sn}": {"key": ""} for sn in first})
    response = await answer()
    made = {sn: order for sn, order in call.service.orders.items() if order["key"]}
    call.service.orders.clear()
    call.service.orders.update(first | made)
    return response


@fault("v1-sn-by-the-second", "data", "submitCrossChain", around="members-in-another-order")
def by_the_second(call: Call, data: Data) -> None:
    order = call.service.orders.pop(data["sn"])
    data["sn"] = data["sn"][:-3] + "001"
    call.service.orders[data["sn"]] = order | {"id": data["sn"]}


@fault("ticket-hashes-compared-without-case", "before", "submitTicket")
def compared_without_case(call: Call) -> None:
    for ticket in call.service.tickets:
        if ticket["hash"].lower() == str(call.inputs.get("hash")).lower():
            call.inputs["hash"] = ticket["hash"]


# numbers and pages


@fault(
    "v1-amounts-in-single-precision", "before", V1_QUOTE, around="refusals-with-fitting-statuses"
)
def single_precision(call: Call) -> None:
    amount = call.inputs.get("amount")
    is_number = isinstance(amount, int | Decimal) and not isinstance(amount, bool)
    if is_number and abs(Decimal(str(amount))) < 10**30:
        (rounded,) = struct.unpack("f", struct.pack("f", amount))
        call.inputs["amount"] = Decimal(rounded)


@fault(
    "ticket-numbers-through-doubles",
    "wrap",
    f"submitTicket {TICKETS}",
    around="ticket-numbers-beyond-2-53",
)
async def through_doubles(call: Call, answer: Answer) -> web.Response:
    envelope = json.loads(bytes_of(await answer()))
    for row in [envelope["data"], *envelope["data"].get("list", [])]:
        if "ticketId" in row:
            row["ticketId"] = int(float(row["ticketId"]))
    return web.json_response(envelope)


@fault("large-order-amounts-with-exponents", "data", "checkOrder", around="other-statuses")
def with_exponents(call: Call, data: Data) -> None:
    if int(data["amountOut"]) >= 10**21:  # where JavaScript begins to
        data["amountOut"] = repr(float(data["amountOut"]))


@fault("contracts-of-a-token-cut-at-eight", "data", "getAssets")
def cut_at_eight(call: Call, data: Data) -> None:
    for row in data["list"]:
        row["contracts"] = dict(list(row["contracts"].items())[:8])


@fault("update-time-of-another-zone", "data", "getPrice", around="update-time-with-a-space")
def another_zone(call: Call, data: Data) -> None:
    data["updateTime"] = str(int(data["updateTime"]) + 8 * 3600)
