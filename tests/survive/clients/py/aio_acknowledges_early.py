"""A consumer of a message queue: it takes a job off the queue, and works on it."""

import asyncio
import sys

import aiohttp
from common import CUSTOMER, ME, V2, load, order, save, transfer

JOBS = [{"amount": 16_000_000}, {"amount": 17_500_000}]


def take():
    jobs = load("jobs.json", JOBS)
    job = jobs.pop(0) if jobs else None
    save("jobs.json", jobs)
    return job


async def work(session, job):
    tx = transfer("ARB", "USDT", job["amount"])
    body = order(tx, job["amount"], "ARB", 5, "BNB", 5, CUSTOMER)
    headers = {"Evmaddress": ME, "Signature": "00"}
    async with session.post(f"{V2}/v1/submitOrder", json=body, headers=headers) as response:
        number = (await response.json())["data"]["id"]
    while True:
        async with session.get(f"{V2}/v1/checkOrder", params={"id": number}) as response:
            status = (await response.json())["data"]["status"]
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return status
        await asyncio.sleep(3)


async def main():
    async with aiohttp.ClientSession() as session:
        while job := take():
            try:
                print(job, await work(session, job))
            except (aiohttp.ClientError, ValueError, KeyError, TimeoutError) as problem:
                print("job failed:", job, problem)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
