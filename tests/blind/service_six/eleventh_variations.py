"""Services that the description permits, which rules about amounts, lists and HTTP may blame."""

import copy
import email.utils
import secrets
import time
from decimal import Decimal

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, switch, variation
from tests.blind.service_six.infrastructure import Answer, count, not_now
from tests.blind.service_six.operations import BRIDGE, LISTS, QUOTE, SWAP
from tests.blind.service_six.service import Call, RefusalError
from tests.blind.service_six.tenth_variations import add_token

AGGREGATORS = ("1inch", "Kyber", "OpenOcean")

for name in ("fee-of-at-least-a-dollar", "fees-in-hundredths", "gas-is-dear-on-some-chains"):
    switch(name, varies=True)


# amounts


@variation("gas-moves-before-the-payout", "data", "checkOrder")
def other_gas(call: Call, data: Data) -> None:
    order = call.service.orders[call.inputs["id"]]
    if data["status"] == "Succeeded":
        data["amountOut"] = str(order["net"] + order["gas"] * (2 - int(order["id"]) % 5) // 3)


@variation("orders-pay-a-little-more", "data", "checkOrder")
def a_little_more(call: Call, data: Data) -> None:
    if data["status"] == "Succeeded":
        data["amountOut"] = str(int(data["amountOut"]) * 10003 // 10000)


@variation("most-500-usd", "data", f"{BRIDGE} {QUOTE}")
def most_500(call: Call, data: Data) -> None:
    if Decimal(data["outAmountUsd"]) > 500:
        raise RefusalError("from 1 to 500 USD can be moved")


@variation("usd-with-eight-digits", "data", f"{BRIDGE} {QUOTE}")
def usd_eight(call: Call, data: Data) -> None:
    data["outAmountUsd"] = world.plain(Decimal(data["outAmountUsd"]).quantize(Decimal("1e-8")))


@variation("usd-is-cut-to-six-digits", "data", f"{BRIDGE} {QUOTE}")
def usd_six(call: Call, data: Data) -> None:
    whole, _, fraction = data["outAmountUsd"].partition(".")
    data["outAmountUsd"] = f"{whole}.{fraction[:6]:0<6}"


# aggregators


@variation("aggregators-come-and-go", "data", QUOTE)
def in_turn(call: Call, data: Data) -> None:
    data["aggregator"] = AGGREGATORS[count(call, "requests") // 40 % 3]


@variation("aggregators-come-and-go", "before", SWAP)
def only_the_current(call: Call) -> None:
    asked, turn = call.inputs.get("aggregator"), count(call, "requests") // 40 % 3
    if asked in AGGREGATORS and asked != AGGREGATORS[turn]:
        raise RefusalError(f"{asked} is not available at the moment")


# lists


@variation("a-token-under-an-old-and-a-new-contract", "before")
def old_and_new(call: Call) -> None:
    if count(call, "requests") == 1:
        add_token(call, "USDC", "1", {"ARB": 6, "POLYGON": 6})
        call.service.tokens[-1]["contracts"] = {
            chain: {"address": world.address("old USDC", chain), "decimals": 6}
            for chain in ("ARB", "POLYGON")
        }


@variation("a-network-under-two-names", "before")
def two_names(call: Call) -> None:
    if count(call, "requests") == 1:
        service = call.service
        service.chains.append({**service.chain("OP"), "nickName": "OPTIMISM", "chainIndex": 99})
        for token in service.tokens:
            if "OP" in token["contracts"]:
                token["contracts"]["OPTIMISM"] = copy.copy(token["contracts"]["OP"])


@variation("lists-change-twice", "before")
def change_twice(call: Call) -> None:
    turn, memory = count(call, "requests"), call.service.memory
    memory["version"] = 7 + (turn >= 250) + (turn >= 700)
    if turn == 250:
        add_token(call, "NEW", "3", {"ETH": 18, "BNB": 18})
    if turn == 700:
        call.service.tokens = [t for t in call.service.tokens if t["symbol"] != "DAI"]


@variation("lists-change-twice", "data", LISTS)
def version_of_change(call: Call, data: Data) -> None:
    data["version"] = call.service.memory["version"]


# between the service and its clients


@variation("lists-expire-in-an-hour", "wrap", LISTS)
async def expire(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    response.headers["Expires"] = email.utils.formatdate(time.time() + 3600, usegmt=True)
    return response


@variation("http-1.0-is-refused", "wrap")
async def no_older(call: Call, answer: Answer) -> web.Response:
    if call.request.version < (1, 1):
        return web.Response(status=505, text="HTTP Version Not Supported")
    return await answer()


@variation("a-cdn-in-front", "wrap")
async def cdn(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    more = {"CF-Cache-Status": "DYNAMIC", "Vary": "Accept-Encoding, Origin", "Alt-Svc": 'h3=":443"'}
    response.headers.update({**more, "Server-Timing": f"edge;dur={count(call, 'requests') % 9}"})
    if "session" not in call.request.cookies:
        response.set_cookie("session", secrets.token_hex(16), httponly=True, samesite="Lax")
    return response


@variation("seldom-a-503", "wrap")
async def seldom_503(call: Call, answer: Answer) -> web.Response:
    if count(call, "requests") % 120 == 0:
        return not_now(call, 503, "server is busy, try again later")
    return await answer()


@variation("seldom-a-503-that-says-when", "wrap")
async def seldom_503_with_time(call: Call, answer: Answer) -> web.Response:
    if count(call, "requests") % 120 == 0:
        return web.Response(status=503, text="busy", headers={"Retry-After": "1"})
    return await answer()
