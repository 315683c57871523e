"""Plain aiohttp, written as its documentation shows: routes, `json_response`, jsonschema.

It does the same work on the measured operations: the whole list, a quote with exact arithmetic
whose inputs are checked, a submission held against its schema and kept, a look-up.
"""

import asyncio
import json
import signal
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from aiohttp import web
from jsonschema import Draft202012Validator

DATA = json.loads(Path(sys.argv[1]).read_text())
CHAINS = {chain["nickName"]: chain for chain in DATA["chains"]["list"]}
TOKENS = {token["symbol"]: token for token in DATA["assets"]["list"]}
SUBMISSION = Draft202012Validator(DATA["submission"])
GAS_USD, RATE_BPS = Decimal("0.3"), 6
ORDERS: dict[str, dict[str, Any]] = {}

routes = web.RouteTableDef()


def no(code: int, reason: str) -> web.Response:
    return web.json_response({"code": code, "msg": reason, "data": {}})


@routes.get("/v1/getChain")
async def get_chain(request: web.Request) -> web.Response:
    return web.json_response({"code": 0, "msg": "success", "data": DATA["chains"]})


@routes.get("/v1/getBridgeQuote")
async def get_bridge_quote(request: web.Request) -> web.Response:
    query = request.query
    for name in ("amount", "symbol", "fromChain", "toChain"):
        if name not in query:
            return no(2, f"{name!r} is missing")
    token = TOKENS.get(query["symbol"])
    source, target = CHAINS.get(query["fromChain"]), CHAINS.get(query["toChain"])
    if token is None or source is None or target is None or not query["amount"].isdecimal():
        return no(2, "a name that nobody knows, or an amount that is none")
    into = token["contracts"][target["nickName"]]["decimals"]
    back = token["contracts"][source["nickName"]]["decimals"]
    gross = int(Decimal(query["amount"]).scaleb(into - back))
    fee = gross * RATE_BPS // 10_000
    gas = int((GAS_USD / DATA["price"]).scaleb(into))
    if gross - fee - gas <= 0:
        return no(2, "the amount does not cover gas and fee")
    quote = {
        "price": str(DATA["price"]),
        "outAmount": str(gross),
        "outAmountUsd": f"{Decimal(gross).scaleb(-into) * DATA['price']:.18f}",
        "serviceFee": str(fee),
        "gasFee": str(gas),
        "serviceFeeRate": str(RATE_BPS),
    }
    return web.json_response({"code": 0, "msg": "success", "data": quote})


@routes.post("/v1/submitOrder")
async def submit_order(request: web.Request) -> web.Response:
    body = await request.json()
    errors = list(SUBMISSION.iter_errors(body))
    if errors:
        return no(2, "; ".join(error.message for error in errors))
    number = str(30_000_000_001 + len(ORDERS))
    ORDERS[number] = body
    return web.json_response({"code": 0, "msg": "success", "data": {"id": number}})


@routes.get("/v1/checkOrder")
async def check_order(request: web.Request) -> web.Response:
    order = ORDERS.get(request.query.get("id", ""))
    if order is None:
        return no(2, "the order does not exist")
    data = {"status": "Pending", "timestamp": 1, "execHash": "", "reason": "", "amountOut": "0"}
    return web.json_response({"code": 0, "msg": "success", "data": data})


async def main() -> None:
    DATA["price"] = Decimal(DATA["price"])
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"ready on http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
