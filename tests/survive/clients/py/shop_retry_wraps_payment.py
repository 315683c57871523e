"""A shop pays a supplier 25 USDT on BNB Chain; whatever goes wrong is tried again."""

import sys
import time

from common import CUSTOMER, RefusedError, get, order, post, transfer

AMOUNT = 25_000_000


def attempt(work, times=4):
    for number in range(times):
        try:
            return work()
        except (OSError, ValueError) as problem:
            if number == times - 1:
                raise
            print("trying again after", problem)
            time.sleep(2)


def pay_supplier():
    tx = transfer("ARB", "USDT", AMOUNT)
    body = order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER)
    return post("submitOrder", body)["id"]


def main():
    quote = attempt(
        lambda: get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
    )
    print("supplier gets about", quote["outAmountUsd"])
    number = attempt(pay_supplier)
    for _ in range(2000):
        status = attempt(lambda: get("checkOrder", id=number))["status"]
        if status == "Succeeded":
            return 0
        if status in {"Failed", "Dropped", "Refunded"}:
            return 1
        time.sleep(5)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RefusedError, OSError, ValueError) as problem:
        sys.exit(f"gave up: {problem}")
