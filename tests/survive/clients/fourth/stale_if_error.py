"""A session as libraries have it: retries with jitter, and the last good answer where all fail.

The last good answer is kept by path, so that the status of an order stands in for the next one's.
"""

import http.client
import json
import random
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, V2, order, transfer

BILLS = [27_000_000, 53_000_000]


class Session:
    """Sends each request up to four times over one connection, with decorrelated jitter."""

    def __init__(self):
        self.place = urlsplit(V2)
        self.connection = None
        self.kept = {}
        self.dice = random.Random(11)

    def request(self, method, path, body=None):
        pause, problem = 0.5, None
        for _ in range(4):
            try:
                return self.once(method, path, body)
            except (OSError, http.client.HTTPException, ValueError) as failure:
                problem = failure
                if self.connection:
                    self.connection.close()
                self.connection = None
                pause = min(60, self.dice.uniform(0.5, pause * 3))
                time.sleep(pause)
        stale = self.kept.get((method, path.partition("?")[0]))
        if stale is None:
            raise RuntimeError(f"{path}: {problem}")
        return stale

    def once(self, method, path, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(
                self.place.hostname, self.place.port, timeout=15
            )
        head = {"Content-Type": "application/json", "EvmAddress": ME, "Signature": "00"}
        payload = None if body is None else json.dumps(body)
        self.connection.request(method, f"{self.place.path}/v1/{path}", payload, head)
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise ValueError(f"HTTP {response.status}")
        answer = json.loads(text)
        if answer["code"] != 0:
            raise RuntimeError(answer.get("msg"))
        if method == "GET":
            self.kept[method, path.partition("?")[0]] = answer["data"]
        return answer["data"]


def main():
    session = Session()
    for amount in BILLS:
        route = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
        session.request("GET", f"getBridgeQuote?{urlencode(route)}")
        tx = transfer("ARB", "USDT", amount)
        body = order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER)
        number = session.request("POST", "submitOrder", body)["id"]
        status = ""
        while status != "Succeeded":
            time.sleep(4)
            status = session.request("GET", f"checkOrder?id={number}")["status"]
            if status in {"Failed", "Dropped", "Refunded"}:
                print(number, status)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
