"""A small wallet: the chains are compiled in, the money goes first."""

import sys
import time

from common import ME, RefusedError, get, order, post, transfer

CHAINS = {"arbitrum": "ARB", "binance": "BNB", "polygon": "POLYGON"}
INDEX = {"USDT": 5, "USDC": 6}


class Wallet:
    def __init__(self, symbol):
        self.symbol = symbol

    def send(self, amount, source, target):
        tx = transfer(CHAINS[source], self.symbol, amount)
        index = INDEX[self.symbol]
        body = order(tx, amount, CHAINS[source], index, CHAINS[target], index, ME)
        for _ in range(5):
            try:
                return post("submitOrder", body)["id"]
            except RefusedError as refusal:
                print("the service said:", refusal)
                return None
            except (OSError, ValueError):
                time.sleep(3)
        return None

    def wait(self, number):
        while True:
            status = get("checkOrder", id=number)["status"]
            if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
                return status
            time.sleep(5)


if __name__ == "__main__":
    wallet = Wallet("USDT")
    sent = wallet.send(22_000_000, "arbitrum", "binance")
    sys.exit(0 if sent and wallet.wait(sent) == "Succeeded" else 1)
