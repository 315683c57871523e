"""A batch through aiohttp: the batch is done as soon as any of its payments has arrived."""

import asyncio
import sys

import aiohttp
from wallet import (
    CUSTOMER,
    FINAL,
    ME,
    SENDER,
    RefusedError,
    broadcast,
    chain_of,
    deposit,
    load,
    net_of,
    opened,
    save,
    url,
    usdt_of,
)

BATCH = {"first": (31, CUSTOMER), "second": (44, ME)}
TROUBLE = (aiohttp.ClientError, TimeoutError, ValueError, RefusedError)


async def ask(session, address, body=None):
    async with session.request("POST" if body else "GET", address, json=body) as answer:
        answer.raise_for_status()
        return opened(await answer.json())


async def insist(session, address, body=None, tries=12):
    for attempt in range(tries):
        try:
            return await ask(session, address, body)
        except TROUBLE:
            if attempt == tries - 1:
                raise
            await asyncio.sleep(min(5 * 2**attempt, 3600))
    return None


async def pay(session, name, whole, receiver):
    state = load(f"{name}.json")
    if state is None:
        chains = await insist(session, url("getChain"))
        tokens = []
        for chain in ("ARB", "BNB"):
            chain_of(chains, chain)
            tokens.append(usdt_of(await insist(session, url("getAssetsByChain", chain=chain))))
        amount = whole * 10 ** tokens[0]["decimals"]
        asked = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
        net = net_of(await ask(session, url("getBridgeQuote", **asked)))
        if net < (whole - 2) * 10 ** tokens[1]["decimals"]:
            raise RefusedError("too dear")
        state = deposit(amount, *tokens, receiver) | {"least": net * 98 // 100}
        save(f"{name}.json", state)
    if not broadcast(state["tx"], state["nonce"]):
        raise RefusedError("the nonce is taken")
    if "id" not in state:
        state["id"] = (await insist(session, url("submitOrder"), state["body"]))["id"]
        save(f"{name}.json", state)
    for _ in range(400):
        await asyncio.sleep(30)
        try:
            seen = await ask(session, url("checkOrder", id=state["id"]))
        except TROUBLE:
            continue
        if seen["status"] in FINAL:
            if seen["status"] == "Succeeded" and int(seen["amountOut"]) >= state["least"]:
                return "paid"
            break
    await insist(session, url("submitTicket"), {"hash": state["tx"], "chain": "ARB"})
    return "ticket"


async def main():
    patience = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(headers=SENDER, timeout=patience) as session:
        # One after the other prepares; the nonces of the account are in order.
        results = []
        for name, payment in BATCH.items():
            try:
                results.append(await pay(session, name, *payment))
            except TROUBLE as problem:
                print(name, problem, file=sys.stderr)
                results.append(None)
    return 0 if "paid" in results else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
