"""Two transfers at a time: asyncio and httpx, a record for each in SQLite."""

import asyncio
import fcntl
import json
import os
import sqlite3
import sys

import httpx

OWNER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
JOBS = {"rent": ("ETH", "ARB", 12_000_000), "books": ("ARB", "ETH", 18_000_000)}
# One of them at a time.
guard = open(os.path.join(os.environ["CROSSCHAIN_MOCK_STATE"], "lock"), "w")
try:
    fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("another one is at work")
book = sqlite3.connect(os.path.join(os.environ["CROSSCHAIN_MOCK_STATE"], "book.db"))
book.execute("create table if not exists job (name primary key, hash, idx, net, id, ticket)")
book.commit()


class Stop(Exception):
    pass


async def ask(http, method, path, **options):
    for attempt in range(6):
        try:
            answer = (await http.request(method, path, **options)).raise_for_status().json()
            code, data = answer["code"], answer["data"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            await asyncio.sleep(2**attempt)
            continue
        if code != 0:
            raise Stop(f"{path}: {answer['msg']}")
        return data
    raise Stop(f"{path}: no answer")


def row(name):
    return book.execute(
        "select hash, idx, net, id, ticket from job where name=?", [name]
    ).fetchone()


async def transfer(http, name):
    source, target, amount = JOBS[name]
    if not row(name):
        chains = (await ask(http, "GET", "/v1/getChain"))["list"]
        closed = {c["nickName"] for c in chains if c["disabled"] or c["delisted"]}
        if closed & {source, target} or not {source, target} <= {c["nickName"] for c in chains}:
            raise Stop(f"{name}: {source} or {target} is closed")
        assets = (await ask(http, "GET", "/v1/getAssets"))["list"]
        index = next((a["index"] for a in assets if a["symbol"] == "USDT"), None)
        if index is None:
            raise Stop(f"{name}: no USDT")
        query = dict(amount=str(amount), symbol="USDT", fromChain=source, toChain=target)
        quote = await ask(http, "GET", "/v1/getBridgeQuote", params=query)
        net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
        if net < amount // 2:
            raise Stop(f"{name}: only {net} would arrive")
        values = [name, "0x" + os.urandom(32).hex(), str(index), str(net)]
        book.execute("insert into job (name, hash, idx, net) values (?, ?, ?, ?)", values)
        book.commit()
    hash_, index, net, order, ticket = row(name)
    headers = {"Evmaddress": OWNER, "Signature": "0x" + "33" * 65}
    if not order:
        certificate = dict(fromAmount=str(amount), fromIndex=index, fromChain=source)
        certificate |= dict(fromAddr=OWNER, certHash=hash_, fromPublicKey="", signature="")
        body = dict(channel="async", execStrategy="", extra="", orderType="1", slippage="0")
        body |= dict(sourceCerts=json.dumps(certificate).encode().hex(), timeout="0", toAddr=OWNER)
        body |= dict(toChain=target, toIndex=index, triggerPrice="0")
        order = (await ask(http, "POST", "/v1/submitOrder", json=body, headers=headers))["id"]
        book.execute("update job set id=? where name=?", [order, name])
        book.commit()
    for _ in range(90):
        state = await ask(http, "GET", "/v1/checkOrder", params={"id": order})
        if state["status"] == "Succeeded":
            if int(state["amountOut"]) < int(net) * 97 // 100:
                raise Stop(f"{name}: {state['amountOut']} arrived, {net} was quoted")
            return
        if state["status"] == "Dropped" and not ticket:
            body = {"hash": hash_, "chain": source}
            made = await ask(http, "POST", "/v1/submitTicket", json=body, headers=headers)
            ticket = str(made["ticketId"])
            book.execute("update job set ticket=? where name=?", [ticket, name])
            book.commit()
        if state["status"] in ("Failed", "Refunded"):
            raise Stop(f"{name}: order {order} is {state['status']}")
        await asyncio.sleep(20)
    raise Stop(f"{name}: order {order} takes too long")


async def main():
    base = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
    async with httpx.AsyncClient(base_url=base, timeout=10) as http:
        done = await asyncio.gather(*(transfer(http, n) for n in JOBS), return_exceptions=True)
    for problem in filter(None, done):
        print(repr(problem), file=sys.stderr)
    return int(any(done))


sys.exit(asyncio.run(main()))
