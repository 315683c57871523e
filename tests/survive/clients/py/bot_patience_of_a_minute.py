"""A bot that looks twelve times for its order, and then trusts that it will arrive."""

import sys
import time

from common import CUSTOMER, RefusedError, get, order, post, transfer

AMOUNT = 33_000_000


def status_of(number):
    try:
        return get("checkOrder", id=number)["status"]
    except (OSError, ValueError, RefusedError):
        return "Pending"


def submit(body):
    for pause in (1, 3, 9, 27):
        try:
            return post("submitOrder", body)["id"]
        except (OSError, ValueError):
            time.sleep(pause)
    raise SystemExit("could not order; the deposit waits for a human")


def main():
    get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
    tx = transfer("ARB", "USDT", AMOUNT)
    number = submit(order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER))
    for _ in range(12):
        status = status_of(number)
        if status in {"Failed", "Dropped", "Refunded"}:
            return 1
        if status == "Succeeded":
            break
        time.sleep(5)
    print("payout done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
