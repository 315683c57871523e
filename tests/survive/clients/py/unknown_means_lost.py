"""An order that the service does not know any more is placed anew."""

import sys
import time

from common import CUSTOMER, RefusedError, get, order, post, transfer

AMOUNT = 19_000_000


def place():
    tx = transfer("ARB", "USDT", AMOUNT)
    body = order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER)
    for pause in (1, 2, 4, 8, 16):
        try:
            return post("submitOrder", body)["id"]
        except (OSError, ValueError):
            time.sleep(pause)
    raise SystemExit("no order")


def main():
    get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
    number, placed = place(), 1
    while True:
        try:
            status = get("checkOrder", id=number)["status"]
        except RefusedError:
            if placed == 3:
                return 1
            number, placed = place(), placed + 1
            continue
        except (OSError, ValueError):
            status = "Pending"
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return 0 if status == "Succeeded" else 1
        time.sleep(5)


if __name__ == "__main__":
    sys.exit(main())
