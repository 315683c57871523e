"""Plain aiohttp, written as its documentation shows: routes, `json_response`, jsonschema.

Run: `python -m benchmarks.peers.plain DATA.json`.
"""

import asyncio
import signal
import sys

from aiohttp import web

from benchmarks.peers.work import Work

WORK = Work(sys.argv[1])
routes = web.RouteTableDef()


@routes.get("/v1/getChain")
async def get_chain(request: web.Request) -> web.Response:
    return web.json_response(WORK.chains())


@routes.get("/v1/getBridgeQuote")
async def get_bridge_quote(request: web.Request) -> web.Response:
    return web.json_response(WORK.quote(request.query))


@routes.post("/v1/submitOrder")
async def submit_order(request: web.Request) -> web.Response:
    return web.json_response(WORK.submit(await request.json()))


@routes.get("/v1/checkOrder")
async def check_order(request: web.Request) -> web.Response:
    return web.json_response(WORK.check(request.query))


async def main() -> None:
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
