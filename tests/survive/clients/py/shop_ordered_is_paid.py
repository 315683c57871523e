"""A check-out that ships as soon as the order has a number."""

import sys
import time

from common import CUSTOMER, RefusedError, get, load, order, post, save, transfer

CART = {"number": "A-1001", "total": 64_500_000}


def pay(cart):
    paid = load("paid.json", {})
    entry = paid.setdefault(cart["number"], {})
    if "tx" not in entry:
        get("getBridgeQuote", amount=cart["total"], symbol="USDT", fromChain="ARB", toChain="BNB")
        entry["tx"] = transfer("ARB", "USDT", cart["total"])
        save("paid.json", paid)
    body = order(entry["tx"], cart["total"], "ARB", 5, "BNB", 5, CUSTOMER)
    for pause in (1, 2, 4, 8, 16, 32):
        try:
            entry["id"] = post("submitOrder", body)["id"]
            save("paid.json", paid)
            return entry["id"]
        except (OSError, ValueError, RefusedError) as problem:
            print("not yet:", problem)
            time.sleep(pause)
    return None


if __name__ == "__main__":
    number = pay(CART)
    print("shipping" if number else "not paid", CART["number"])
    sys.exit(0 if number else 1)
