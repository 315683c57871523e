"""Ten further things that the description, HTTP or JSON leave open."""

import asyncio
import hashlib
import re
import time
from datetime import datetime, timedelta, timezone

from aiohttp import web

from tests.blind.service_six.flaws import Data, variation
from tests.blind.service_six.infrastructure import Answer, bytes_of, count, with_body
from tests.blind.service_six.operations import QUOTE, SWAP, V1_QUOTE
from tests.blind.service_six.service import Call


@variation("white-space-before-and-behind", "wrap")
async def white_space(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    return with_body(response, b"\r\n \t" + bytes_of(response) + b"\r\n\r\n")


@variation("call-data-of-another-function", "data", SWAP)
def another_function(call: Call, data: Data) -> None:
    """Write the same as swapExactTokensForTokens, with a path and a time limit."""
    words = [data["data"][10 + start :][:64] for start in range(0, 320, 64)]
    here, there, recipient, amount, least = words
    limit = f"{int(time.time()) + 1200:064x}"
    path = [f"{2:064x}", here, there]
    data["data"] = "0x38ed1739" + "".join([amount, least, f"{160:064x}", recipient, limit, *path])


@variation("impact-with-many-digits", "data", QUOTE)
def many_digits(call: Call, data: Data) -> None:
    data["priceImpact"] = "-0.30000000000000004"


@variation("vary-in-three-lines", "wrap")
async def three_lines(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    for name in ("Origin", "accept-encoding, Accept", "X-Requested-With"):
        response.headers.add("Vary", name)
    return response


@variation("weak-etags-for-each-answer", "wrap")
async def weak_etags(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.method == "POST":
        return response
    etag = f'W/"{hashlib.sha256(bytes_of(response)).hexdigest()[:20]}"'
    asked = call.request.headers.get("If-None-Match", "")
    if asked.strip() == "*" or etag[2:] in re.findall(r'"[^"]*"', asked):
        return web.Response(status=304, headers={"ETag": etag})
    response.headers["ETag"] = etag
    return response


@variation("answers-after-a-jitter", "wrap")
async def jitter(call: Call, answer: Answer) -> web.Response:
    number = count(call, "jitter")
    await asyncio.sleep(0.5 if number % 150 == 1 else number * 37 % 25 / 1000)
    return await answer()


@variation("label-with-quoted-charset", "wrap")
async def quoted_charset(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    label = 'Application/JSON;Charset="UTF-8"'
    return with_body(response, bytes_of(response), **{"Content-Type": label})


@variation("execution-hash-before-success", "data", "checkOrder")
def hash_before_success(call: Call, data: Data) -> None:
    """The payout is sent, and not confirmed yet."""
    if data["status"] == "Pending":
        number = call.inputs["id"]
        data["execHash"] = "0x" + hashlib.sha256(number.encode()).hexdigest()


@variation("v1-figures-with-zeros-at-their-end", "wrap", V1_QUOTE)
async def zeros_at_end(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    figures = r'("(?:amountIn|amountOut|fee|gas)":[0-9]+)(\.[0-9]+)?(?=[,}])'

    def longer(match: re.Match[str]) -> str:
        return match[1] + (match[2] or ".0") + "000"

    return with_body(response, re.sub(figures, longer, bytes_of(response).decode()).encode())


@variation("update-time-with-nine-digits-and-an-offset", "data", "getPrice")
def nine_digits(call: Call, data: Data) -> None:
    zone = timezone(timedelta(hours=8))
    now = time.time_ns()
    whole = datetime.fromtimestamp(now // 10**9, zone).strftime("%Y-%m-%dT%H:%M:%S")
    data["updateTime"] = f"{whole}.{now % 10**9:09}+08:00"
