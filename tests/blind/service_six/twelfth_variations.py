"""Services that the description permits and HTTP, JSON or wallets make unusual."""

import json
import re
from decimal import Decimal

from aiohttp import HttpVersion11, web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, variation
from tests.blind.service_six.infrastructure import Answer, bytes_of, count, with_body
from tests.blind.service_six.operations import V1_QUOTE
from tests.blind.service_six.service import Call


@variation("early-hints-first", "wrap")
async def early_hints(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if call.request.version == HttpVersion11 and call.request.transport:
        hint = b"HTTP/1.1 103 Early Hints\r\nLink: </icons>; rel=preconnect\r\n\r\n"
        call.request.transport.write(hint)
    return response


@variation("chunks-with-extensions-and-a-trailer", "wrap")
async def extensions(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    transport = call.request.transport
    if call.request.version != HttpVersion11 or call.request.method == "HEAD" or not transport:
        return response
    body, head = bytes_of(response), f"HTTP/1.1 {response.status} {response.reason}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    head += "Trailer: X-Took\r\nConnection: close\r\n\r\n"
    transport.write(head.encode())
    for start in range(0, len(body), 1000):
        part = body[start : start + 1000]
        transport.write(b'%x;part="%d"\r\n%s\r\n' % (len(part), start // 1000, part))
    transport.write(b"0;end\r\nX-Took: 3\r\n\r\n")
    transport.close()
    return response


@variation("submissions-answered-with-201", "wrap", "submitOrder submitTicket submitCrossChain")
async def created(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    if not json.loads(bytes_of(response))["code"]:
        response.set_status(201)
    return response


@variation("v1-figures-with-exponents", "wrap", V1_QUOTE)
async def figures(call: Call, answer: Answer) -> web.Response:
    def shown(match: re.Match[str]) -> str:
        return f"{match[1]}{Decimal(match[2]):E}"

    response = await answer()
    text = re.sub(
        r'("(?:amountIn|amountOut|fee|gas)":)([-+0-9.eE]+)', shown, bytes_of(response).decode()
    )
    return with_body(response, text.encode())


@variation("balances-grow", "data", "getBalance")
def grow(call: Call, data: Data) -> None:
    token = call.service.token(call.inputs["chain"], "address", call.inputs["contractAddress"])
    units = int(data["balance"]) + count(call, "balances")
    data["balance"] = str(units)
    data["hrpBalance"] = world.plain(world.scaled(units, token["decimals"]))


@variation("all-text-escaped", "wrap")
async def escaped(call: Call, answer: Answer) -> web.Response:
    response = await answer()
    text = json.dumps(json.loads(bytes_of(response), parse_float=Decimal), default=float)
    return with_body(response, text.replace("/", "\\/").encode())
