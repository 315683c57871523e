"""Three payouts side by side, by one payer object."""

import asyncio
import sys

import aiohttp
from common import CUSTOMER, ME, V2, order, transfer


class Payer:
    def __init__(self, session):
        self.session = session
        self.tx = ""

    async def read(self, operation, **query):
        async with self.session.get(f"{V2}/v1/{operation}", params=query) as response:
            return (await response.json())["data"]

    async def pay(self, amount):
        self.tx = transfer("ARB", "USDT", amount)
        query = {"symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
        quote = await self.read("getBridgeQuote", amount=str(amount), **query)
        body = order(self.tx, amount, "ARB", 5, "BNB", 5, CUSTOMER)
        headers = {"Evmaddress": ME, "Signature": "00"}
        async with self.session.post(
            f"{V2}/v1/submitOrder", json=body, headers=headers
        ) as response:
            answer = await response.json()
        # an order that exists already is refused, which is fine
        number = answer["data"].get("id")
        while number and (await self.read("checkOrder", id=number))["status"] != "Succeeded":
            await asyncio.sleep(5)
        return quote["outAmountUsd"]


async def main():
    async with aiohttp.ClientSession() as session:
        payer = Payer(session)
        amounts = (10_000_000, 20_000_000, 30_000_000)
        print("paid", await asyncio.gather(*(payer.pay(amount) for amount in amounts)))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
