"""Pays three freelancers at once, each in a thread of a pool."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, get, order, post, sign

PAYOUTS = {"ana": 7_000_000, "ben": 8_000_000, "cleo": 9_000_000}


def pay(name):
    amount = PAYOUTS[name]
    get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    tx = sign("ARB", "USDT", amount, list(PAYOUTS).index(name))
    number = post("submitOrder", order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER))["id"]
    while True:
        status = get("checkOrder", id=number)["status"]
        if status == "Succeeded":
            return number
        if status in {"Failed", "Dropped", "Refunded"}:
            raise RuntimeError(f"{name}: {status}")
        time.sleep(5)


def main():
    with ThreadPoolExecutor(3) as pool:
        done, _ = wait([pool.submit(pay, name) for name in PAYOUTS])
    print(len(done), "freelancers paid")


if __name__ == "__main__":
    main()
