"""A wallet that waits until its order is over."""

import sys
import time

from common import ME, RefusedError, get, order, post, transfer

AMOUNT = 12_340_000
OVER = ("Succeeded", "Refunded", "Dropped", "Failed")


def patiently(work):
    for pause in (1, 2, 4, 8, 16, 32, 64):
        try:
            return work()
        except (OSError, ValueError, RefusedError) as problem:
            print("waiting:", problem)
            time.sleep(pause)
    return work()


def bridge():
    patiently(
        lambda: get("getBridgeQuote", amount=AMOUNT, symbol="USDC", fromChain="ARB", toChain="ETH")
    )
    tx = transfer("ARB", "USDC", AMOUNT)
    body = order(tx, AMOUNT, "ARB", 6, "ETH", 6, ME)
    return patiently(lambda: post("submitOrder", body))["id"]


def main():
    number = bridge()
    while patiently(lambda: get("checkOrder", id=number))["status"] not in OVER:
        time.sleep(5)
    print("your USDC have arrived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
