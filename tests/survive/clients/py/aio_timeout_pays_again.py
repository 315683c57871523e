"""A payment bot in asyncio: each payment has ten seconds, then it is tried again."""

import asyncio
import sys

import aiohttp
from common import CUSTOMER, ME, V2, order, transfer

AMOUNT = 13_000_000
HEADERS = {"Evmaddress": ME, "Signature": "00"}


async def data(response):
    answer = await response.json(content_type=None)
    if answer["code"] != 0:
        raise RuntimeError(answer["msg"])
    return answer["data"]


async def pay(session):
    tx = transfer("ARB", "USDT", AMOUNT)
    body = order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER)
    async with session.post(f"{V2}/v1/submitOrder", json=body, headers=HEADERS) as response:
        return (await data(response))["id"]


async def status(session, number):
    async with session.get(f"{V2}/v1/checkOrder", params={"id": number}) as response:
        return (await data(response))["status"]


async def main():
    async with aiohttp.ClientSession() as session:
        for _ in range(3):
            try:
                number = await asyncio.wait_for(pay(session), timeout=10)
                break
            except (TimeoutError, aiohttp.ClientError):
                continue
        else:
            return 1
        while True:
            current = await status(session, number)
            if current in {"Succeeded", "Failed", "Dropped", "Refunded"}:
                return 0 if current == "Succeeded" else 1
            await asyncio.sleep(5)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
