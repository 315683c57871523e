"""A batch on asyncio with streams of its own: one failed payment voids the batch.

`gather` raises the first failure, and the rest is cancelled where it stands; the batch is written
off as not paid, and the next run begins it again.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, V2, load, order, save, transfer

BATCH = {"alice": 15_000_000, "bob": 22_000_000}


async def ask(path, body=None):
    place = urlsplit(V2)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    payload = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{'GET' if body is None else 'POST'} {place.path}/v1/{path} HTTP/1.1\r\n"
        f"Host: {place.netloc}\r\nConnection: close\r\nEvmAddress: {ME}\r\nSignature: 00\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    writer.write(head.encode() + payload)
    await writer.drain()
    try:
        answer = await asyncio.wait_for(reader.read(-1), 30)
    finally:
        writer.close()
    data = json.loads(answer.partition(b"\r\n\r\n")[2])
    if data["code"] != 0:
        raise RuntimeError(data.get("msg"))
    return data["data"]


async def payment(name, amount):
    route = {"symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    await ask(f"getBridgeQuote?{urlencode({'amount': amount, **route})}")
    tx = transfer("ARB", "USDT", amount)
    number = (await ask("submitOrder", order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER)))["id"]
    while True:
        status = (await ask(f"checkOrder?id={number}"))["status"]
        if status == "Succeeded":
            return number
        if status in {"Failed", "Dropped", "Refunded"}:
            raise RuntimeError(f"{name}: {status}")
        await asyncio.sleep(6)


async def main():
    if load("batch.json") == "paid":
        return 0
    try:
        await asyncio.gather(*(payment(*entry) for entry in BATCH.items()))
    except Exception as problem:
        print("batch void, to be paid tomorrow:", problem)
        save("batch.json", "void")
        return 1
    save("batch.json", "paid")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
