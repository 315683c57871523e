"""Two transfers with asyncio; their results are gathered, failures among them."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, RefusedError, get, order, post, sign


class Transfer:
    def __init__(self, nonce, amount):
        self.nonce, self.amount = nonce, amount
        self.state = "new"

    async def run(self):
        amount = self.amount
        await asyncio.to_thread(
            get, "getBridgeQuote", amount=amount, symbol="USDC", fromChain="ARB", toChain="BNB"
        )
        token = next(
            token
            for token in (await asyncio.to_thread(get, "getAssetsByChain", chain="ARB"))["list"]
            if token["symbol"] == "USDC"
        )
        tx = sign("ARB", "USDC", amount, self.nonce)
        body = order(tx, amount, "ARB", token["index"], "BNB", token["index"], CUSTOMER)
        made = await asyncio.to_thread(post, "submitOrder", body)
        self.state = "ordered"
        while self.state != "Succeeded":
            await asyncio.sleep(7)
            self.state = (await asyncio.to_thread(get, "checkOrder", id=made["id"]))["status"]
            if self.state in {"Failed", "Refunded", "Dropped"}:
                raise RefusedError(self.state)


async def main():
    transfers = [Transfer(1, 21_000_000), Transfer(2, 22_000_000)]
    for transfer in transfers:
        await asyncio.gather(transfer.run(), return_exceptions=True)
    print("transfers:", *(transfer.state for transfer in transfers))


asyncio.run(main())
