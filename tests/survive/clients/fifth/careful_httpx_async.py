"""Two payments at once with asyncio and httpx, a file each. Odd but right."""

import asyncio
import fcntl
import random
import sys
import time

import httpx
from wallet import (
    CUSTOMER,
    FINAL,
    ME,
    SENDER,
    STATE,
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

BATCH = {"anna": (31, CUSTOMER), "bert": (44, ME)}
TROUBLE = (httpx.HTTPError, ValueError, RefusedError, KeyError, TypeError)


async def ask(client, address, body=None):
    answer = await client.request("POST" if body else "GET", address, json=body)
    answer.raise_for_status()
    return opened(answer.json())


async def insist(client, address, body=None, limit=40_000):
    dice, pause, waited = random.Random(address), 2.0, 0.0
    while True:
        try:
            return await ask(client, address, body)
        except TROUBLE as problem:
            print(problem, file=sys.stderr)
            if waited > limit:
                raise
        await asyncio.sleep(pause * dice.uniform(1, 1.2))
        waited, pause = waited + pause, min(2 * pause, 3_600)


async def prepared(client, file, whole, receiver, alone):
    began = time.monotonic()
    chains = await ask(client, url("getChain"))
    tokens = []
    for chain in ("ARB", "BNB"):
        chain_of(chains, chain)
        tokens.append(usdt_of(await ask(client, url("getAssetsByChain", chain=chain))))
    amount = whole * 10 ** tokens[0]["decimals"]
    asked = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    net = net_of(await ask(client, url("getBridgeQuote", **asked)))
    if time.monotonic() - began > 50:
        raise ValueError("what was read is old")
    if net < (whole - 2) * 10 ** tokens[1]["decimals"]:
        raise RefusedError("too dear")
    async with alone:
        state = deposit(amount, *tokens, receiver) | {"least": net * 98 // 100}
        save(file, state)
        broadcast(state["tx"], state["nonce"])
    return state


async def pay(client, name, whole, receiver, alone):
    file = f"{name}.json"
    state = load(file)
    if state is None:
        try:
            state = await prepared(client, file, whole, receiver, alone)
        except TROUBLE as problem:
            print(name, "is not paid:", problem, file=sys.stderr)
            return 4
    if not broadcast(state["tx"], state["nonce"]):
        # Another payment has the number; nothing of this one is on the chain.
        (STATE / file).unlink()
        return 5
    if "id" not in state:
        try:
            state["id"] = (await insist(client, url("submitOrder"), state["body"]))["id"]
            save(file, state)
        except TROUBLE:
            state["end"] = "no order"
    began = time.monotonic()
    while "end" not in state and time.monotonic() - began < 100_000:
        await asyncio.sleep(10 + (time.monotonic() - began) / 20)
        try:
            seen = await ask(client, url("checkOrder", id=state["id"]))
            if seen["status"] in FINAL:
                arrived = int(seen["amountOut"] or 0) >= state["least"]
                state["end"] = seen["status"] if arrived else "short"
                save(file, state)
        except TROUBLE as problem:
            print(name, problem, file=sys.stderr)
    if state.get("end") == "Succeeded":
        return 0
    if state.get("end") != "Refunded" and "ticket" not in state:
        report = {"hash": state["tx"], "chain": "ARB"}
        state["ticket"] = (await insist(client, url("submitTicket"), report, 90_000))["ticketId"]
        save(file, state)
    return 1


async def main():
    guard = (STATE / "lock").open("w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    alone = asyncio.Lock()
    async with httpx.AsyncClient(timeout=20, trust_env=False, headers=SENDER) as client:
        codes = await asyncio.gather(
            *(pay(client, name, *payment, alone) for name, payment in BATCH.items())
        )
    return max(codes)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
