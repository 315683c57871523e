"""A settlement on asyncio with streams and keep-alive of its own. Odd but right.

Each payment is a task that owns a file of steps; failures are gathered, and every one of them is
in the exit status. A connection is thrown away at the first doubt.
"""

import asyncio
import fcntl
import json
import sys
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, V2, broadcast, load, next_nonce, order, save, sign

PAYMENTS = {"north": (19, CUSTOMER), "south": (41, ME), "west": (8, CUSTOMER)}


class Refused(Exception):
    """The service said no."""


class Line:
    """One connection, used by one task at a time."""

    def __init__(self):
        self.place = urlsplit(V2)
        self.pair = None
        self.turn = asyncio.Lock()

    async def ask(self, path, body=None):
        async with self.turn:
            try:
                async with asyncio.timeout(25):
                    status, text = await self.exchange(path, body)
            except BaseException:
                self.drop()
                raise
        answer = json.loads(text)
        if status != 200 or not isinstance(answer, dict):
            raise OSError(f"HTTP {status}")
        if answer["code"] != 0:
            raise Refused(answer.get("msg"))
        return answer["data"]

    def drop(self):
        if self.pair:
            self.pair[1].close()
        self.pair = None

    async def exchange(self, path, body):
        if self.pair is None:
            self.pair = await asyncio.open_connection(self.place.hostname, self.place.port)
        reader, writer = self.pair
        payload = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{'GET' if body is None else 'POST'} {self.place.path}/v1/{path} HTTP/1.1\r\n"
            f"Host: {self.place.netloc}\r\nEvmAddress: {ME}\r\nSignature: 00\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
        )
        writer.write(head.encode() + payload)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        if "content-length" in fields:
            text = await reader.readexactly(int(fields["content-length"]))
        else:
            text = await reader.read(-1)
            self.drop()
        if fields.get("connection") == "close":
            self.drop()
        return int(lines[0].split()[1]), text


async def until(work, seconds):
    """Repeat what may be repeated, with pauses that double."""
    pause, waited = 3, 0
    while True:
        try:
            return await work()
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            TimeoutError,
            EOFError,
            Refused,
        ) as problem:
            print(repr(problem), file=sys.stderr)
            if waited > seconds:
                raise
        await asyncio.sleep(pause)
        waited += pause
        pause = min(pause * 2, 3_600)


async def usdt(line, chain):
    chains = [c for c in (await line.ask("getChain"))["list"] if c["nickName"] == chain]
    if not chains or any(chains[0].get(word) for word in ("disabled", "delisted", "noSwap")):
        raise Refused(f"no {chain} today")
    tokens = (await line.ask(f"getAssetsByChain?chain={chain}"))["list"]
    for token in tokens:
        if token["symbol"] == "USDT" and not (token.get("delisted") or token.get("disableBridge")):
            return token
    raise Refused(f"no USDT on {chain} today")


async def plan(line, name, whole, receiver):
    """Return what is to be sent, written down before any of it is."""
    loop = asyncio.get_running_loop()
    here, there = await usdt(line, "ARB"), await usdt(line, "BNB")
    amount = whole * 10 ** here["decimals"]
    route = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    asked = loop.time()
    quote = await line.ask(f"getBridgeQuote?{urlencode(route)}")
    if loop.time() - asked > 20:
        raise TimeoutError("the quote is old")
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    if net * 100 < whole * 80 * 10 ** there["decimals"]:
        raise Refused("too dear")
    nonce = next_nonce()
    tx = sign("ARB", here["contractAddress"], amount, nonce)
    body = order(tx, amount, "ARB", here["index"], "BNB", there["index"], receiver)
    steps = {"tx": tx, "nonce": nonce, "body": body, "least": net * 98 // 100}
    save(f"{name}.json", steps)
    if not broadcast(tx, nonce):
        raise SystemExit("somebody else uses the account")
    return steps


async def settle(name, whole, receiver):
    line = Line()
    file = f"{name}.json"
    steps = load(file) or await plan(line, name, whole, receiver)
    if not broadcast(steps["tx"], steps["nonce"]):
        return 9
    if "number" not in steps:
        try:
            answer = await until(lambda: line.ask("submitOrder", steps["body"]), 30_000)
            steps["number"] = answer["id"]
            save(file, steps)
        except Exception as problem:
            print(name, "has no order", problem, file=sys.stderr)
    waited = 0
    while "number" in steps and "end" not in steps and waited < 90_000:
        await asyncio.sleep(6 + waited // 15)
        waited += 6 + waited // 15
        try:
            data = await line.ask(f"checkOrder?id={steps['number']}")
            status, out = data["status"], int(data["amountOut"] or 0)
        except Exception as problem:
            print(name, repr(problem), file=sys.stderr)
            continue
        if status in ("Succeeded", "Failed", "Dropped", "Refunded"):
            short = status == "Succeeded" and out < steps["least"]
            steps["end"] = "short" if short else status
            save(file, steps)
    if steps.get("end") == "Succeeded":
        return 0
    if steps.get("end") != "Refunded" and "ticket" not in steps:
        body = {"hash": steps["tx"], "chain": "ARB"}
        answer = await until(lambda: line.ask("submitTicket", body), 50_000)
        steps["ticket"] = answer["ticketId"]
        save(file, steps)
    return 3


async def main():
    jobs = [settle(name, *payment) for name, payment in PAYMENTS.items()]
    ends = await asyncio.gather(*jobs, return_exceptions=True)
    for name, end in zip(PAYMENTS, ends, strict=True):
        print(name, repr(end), file=sys.stderr)
    return max(end if isinstance(end, int) else 4 for end in ends)


if __name__ == "__main__":
    guard = (STATE / "guard").open("w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(75)
    sys.exit(asyncio.run(main()))
