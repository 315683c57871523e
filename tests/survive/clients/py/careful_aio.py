"""Two payouts side by side in asyncio, each with its own record."""

import asyncio
import json
import sys

import aiohttp
from careful import DAY, ENDS, alone, on_chain
from common import CUSTOMER, ME, V2, broadcast, load, next_nonce, order, save, sign

PAYOUTS = {"ann": 10_000_000, "bob": 20_000_000}
ROUTE = {"symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}


class Refused(Exception):
    """The service said no."""


class Bot:
    def __init__(self, session):
        self.session = session
        self.records = load("payouts.json", {})

    def keep(self):
        save("payouts.json", self.records)

    async def ask(self, path, need, body=None, hard=False, **query):
        """Ask until the answer has the member `need`; a refusal ends it where `hard`."""
        pause, waited = 1, 0
        while waited < DAY:
            headers = {"EvmAddress": ME, "Signature": "00"}
            method = "GET" if body is None else "POST"
            try:
                async with self.session.request(
                    method, f"{V2}/v1/{path}", json=body, params=query, headers=headers
                ) as response:
                    answer = json.loads(await response.text())
                if answer["code"] != 0 and hard:
                    raise Refused(answer.get("msg"))
                if answer["code"] == 0:
                    answer["data"][need]
                    return answer["data"]
            except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as problem:
                print(path, repr(problem), file=sys.stderr)
            await asyncio.sleep(pause)
            waited, pause = waited + pause, min(pause * 2, 300)
        raise Refused("no answer for a day")

    async def pay(self, name, amount):
        record = self.records.get(name, {})
        if not record or not on_chain(record):
            await self.offered()
            quote = await self.ask("getBridgeQuote", "gasFee", hard=True, amount=amount, **ROUTE)
            net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
            if net * 10 < amount * 10**12 * 9:
                raise Refused("the fees take more than a tenth")
            nonce = next_nonce()  # no await from here to the broadcast
            tx = sign("ARB", "USDT", amount, nonce)
            record = {"tx": tx, "nonce": nonce, "least": net * 99 // 100}
            self.records[name] = record
            self.keep()
            if not broadcast(tx, nonce):
                raise Refused("the nonce is taken")
        if "id" not in record:
            body = order(record["tx"], amount, "ARB", 5, "BNB", 5, CUSTOMER)
            record["id"] = str((await self.ask("submitOrder", "id", body))["id"])
            self.keep()
        return await self.follow(record)

    async def offered(self):
        chains = (await self.ask("getChain", "list"))["list"]
        good = {c["nickName"] for c in chains if not (c.get("disabled") or c.get("delisted"))}
        assets = (await self.ask("getAssets", "list"))["list"]
        usdt = next((a for a in assets if a["symbol"] == "USDT" and not a.get("delisted")), None)
        if not {"ARB", "BNB"} <= good or usdt is None or usdt["index"] != 5:
            raise Refused("not offered now")
        if [usdt["contracts"][chain]["decimals"] for chain in ("ARB", "BNB")] != [6, 18]:
            raise Refused("the decimals are not those this was written for")

    async def follow(self, record):
        waited, pause, end = 0, 4, {"status": "Unknown"}
        while end["status"] not in ENDS and waited < DAY:
            await asyncio.sleep(pause)
            end = await self.ask("checkOrder", "status", id=record["id"])
            waited, pause = waited + pause, min(pause * 2, 60)
        if end["status"] == "Succeeded" and int(end["amountOut"]) >= record["least"]:
            return 0
        if end["status"] != "Refunded" and "ticket" not in record:
            complaint = {"hash": record["tx"], "chain": "ARB"}
            record["ticket"] = (await self.ask("submitTicket", "ticketId", complaint))["ticketId"]
            self.keep()
        return 3


async def main():
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        bot = Bot(session)
        ends = await asyncio.gather(
            *(bot.pay(*item) for item in PAYOUTS.items()), return_exceptions=True
        )
    print(ends)
    return 0 if ends == [0, 0] else 3


if __name__ == "__main__":
    lock = alone()
    sys.exit(asyncio.run(main()))
