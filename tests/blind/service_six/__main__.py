"""Serve: python -m tests.blind.service_six --port 0 [--fault NAME | --variation NAME]."""

import argparse
import asyncio
import contextlib

from aiohttp import web

from tests.blind.service_six import catalogue
from tests.blind.service_six.flaws import Flaw
from tests.blind.service_six.service import Service


async def serve(flaw: Flaw, port: int) -> None:
    app = web.Application()
    Service(flaw).routes(app)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound = runner.addresses[0][:2]
    print(f"http://{host}:{bound}", flush=True)  # noqa: T201
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="service_six")
    parser.add_argument("--port", type=int, default=0)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--fault", help="a name of faults.yaml, or KIND@OPERATION.MEMBER")
    which.add_argument("--variation", help="a name of variations in faults.yaml")
    parser.add_argument("--list", action="store_true", help="print all names, and end")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(catalogue.names()))  # noqa: T201
        return
    try:
        flaw = catalogue.flaw(arguments.fault, arguments.variation)
    except KeyError as unknown:
        parser.error(f"there is no {unknown}")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(flaw, arguments.port))


if __name__ == "__main__":
    main()
