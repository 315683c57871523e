"""A bank's settlement job: a session like that of `requests`, with retries built in."""

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, V2, order, transfer


class Session:
    """Sends requests, and sends them again where the other end had a problem."""

    def __init__(self, base, retries=3, backoff=2.0):
        self.base, self.retries, self.backoff = base, retries, backoff
        self.headers = {"Content-Type": "application/json", "EvmAddress": ME, "Signature": "00"}

    def get(self, path):
        return self._send(path, lambda: None)

    def post(self, path, build):
        return self._send(path, build)

    def _send(self, path, build):
        for attempt in range(self.retries + 1):
            body = build()
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(f"{self.base}{path}", data, self.headers)
            try:
                with urllib.request.urlopen(request, timeout=15) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == self.retries:
                    raise
            except OSError:
                if attempt == self.retries:
                    raise
            time.sleep(self.backoff * (attempt + 1))
        raise AssertionError("unreachable")


class Settlement:
    def __init__(self, session):
        self.session = session

    def run(self, amount):
        quote = self.session.get(
            f"/v1/getBridgeQuote?amount={amount}&symbol=USDT&fromChain=ARB&toChain=BNB"
        )
        if quote["code"]:
            raise SystemExit(f"no quote: {quote['msg']}")

        def paid():
            tx = transfer("ARB", "USDT", amount)
            return order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER)

        made = self.session.post("/v1/submitOrder", paid)
        if made["code"]:
            raise SystemExit(f"refused: {made['msg']}")
        number = made["data"]["id"]
        for _ in range(500):
            status = self.session.get(f"/v1/checkOrder?id={number}")["data"]["status"]
            if status == "Succeeded":
                return
            if status in ("Failed", "Dropped", "Refunded"):
                raise SystemExit(f"order {number}: {status}")
            time.sleep(6)
        raise SystemExit("no end")


if __name__ == "__main__":
    Settlement(Session(V2)).run(18_000_000)
