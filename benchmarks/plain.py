"""The yardstick: a minimal aiohttp application that answers constant bytes on every path."""

import asyncio
import signal
import sys

from aiohttp import web

BODY = b'{"code":0,"msg":"success","data":{"id":"30000000001"}}'


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    return web.Response(body=BODY, content_type="application/json")


async def _main() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    sys.stdout.write(f"ready on http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    await stop.wait()
    await runner.cleanup()


asyncio.run(_main())
