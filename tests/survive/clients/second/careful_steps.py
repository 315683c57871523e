"""A state machine in asyncio: each step is written down before the next is taken."""

import asyncio
import fcntl
import http.client
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, RefusedError, broadcast, get, next_nonce, order, post, sign

TROUBLE = (OSError, ValueError, KeyError, TypeError, TimeoutError, http.client.HTTPException)
FILE = STATE / "steps.json"
AMOUNT = 55_000_000
ROUTE = {"amount": AMOUNT, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}


def write(job):
    draft = FILE.with_name("steps.draft")
    draft.write_text(json.dumps(job))
    draft.rename(FILE)


async def keep_trying(work, days=1.0, refused=True):
    waited, pause = 0, 1
    while True:
        try:
            return await asyncio.wait_for(asyncio.to_thread(work), 60)
        except RefusedError:
            if not refused or waited > days * 86_400:
                raise
        except TROUBLE:
            if waited > days * 86_400:
                raise
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(pause * 3, 900)


def offer():
    chains = {chain["nickName"]: chain for chain in get("getChain")["list"]}
    here = {token["symbol"]: token for token in get("getAssetsByChain", chain="ARB")["list"]}
    there = {token["symbol"]: token for token in get("getAssetsByChain", chain="BNB")["list"]}
    open_chains = [
        name for name in ("ARB", "BNB") if name in chains and not chains[name].get("disabled")
    ]
    if len(open_chains) < 2 or "USDT" not in here or "USDT" not in there:
        raise RefusedError("not offered")
    if here["USDT"]["decimals"] != 6:
        raise RefusedError("other decimals than this was written for")
    return here["USDT"]["index"], there["USDT"]["index"], there["USDT"]["decimals"]


def net():
    quote = get("getBridgeQuote", **ROUTE)
    return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])


def standing(number):
    data = get("checkOrder", id=number)
    return {"status": data["status"], "out": int(data["amountOut"] or 0)}


async def main():  # noqa: PLR0912 - a step a branch
    lock = (STATE / "steps.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    job = json.loads(FILE.read_text()) if FILE.exists() else {"step": "plan"}
    if job["step"] == "plan":
        try:
            here, there, decimals = await keep_trying(offer, refused=False)
            least = await keep_trying(net, days=0.01, refused=False)
        except (RefusedError, *TROUBLE) as problem:
            print("nothing was paid:", problem)
            return 2
        if least < 50 * 10**decimals:
            return 2
        nonce = next_nonce()
        tx = sign("ARB", "USDT", AMOUNT, nonce)
        body = order(tx, AMOUNT, "ARB", here, "BNB", there, CUSTOMER)
        job = {"step": "pay", "tx": tx, "nonce": nonce, "body": body, "least": least * 98 // 100}
        write(job)
    if job["step"] == "pay":
        if not broadcast(job["tx"], job["nonce"]):
            return 2
        job["step"] = "order"
        write(job)
    if job["step"] == "order":
        job["number"] = (await keep_trying(lambda: post("submitOrder", job["body"])))["id"]
        job["step"] = "follow"
        write(job)
    looks = 0
    while job["step"] == "follow":
        now = await keep_trying(lambda: standing(job["number"]))
        if now["status"] == "Succeeded" and now["out"] >= job["least"]:
            job["step"] = "done"
        elif now["status"] == "Refunded":
            job["step"] = "returned"
        elif now["status"] in ("Succeeded", "Dropped", "Failed") or looks > 300:
            job["step"] = "complain"
        else:
            looks += 1
            await asyncio.sleep(min(5 * looks, 300))
            continue
        write(job)
    if job["step"] == "complain":
        ticket = {"hash": job["tx"], "chain": "ARB"}
        await keep_trying(lambda: post("submitTicket", ticket, ME)["ticketId"])
        job["step"] = "complained"
        write(job)
    return 0 if job["step"] == "done" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
