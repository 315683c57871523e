"""A payment bot pays out a winner and books the result in a ledger."""

import sys
import time

from common import CUSTOMER, RefusedError, get, load, order, post, save, transfer

PRIZE = 40_000_000


def book(state, **more):
    ledger = load("ledger.json", [])
    ledger.append({"winner": CUSTOMER, "amount": PRIZE, "state": state, **more})
    save("ledger.json", ledger)


def pay_out():
    tx = transfer("ARB", "USDT", PRIZE)
    try:
        answer = post("submitOrder", order(tx, PRIZE, "ARB", 5, "BNB", 5, CUSTOMER))
    except (RefusedError, OSError, ValueError) as problem:
        # nothing was ordered, so the winner is told to claim again tomorrow
        book("unpaid", why=str(problem))
        return None
    book("ordered", id=answer["id"])
    return answer["id"]


def main():
    get("getBridgeQuote", amount=PRIZE, symbol="USDT", fromChain="ARB", toChain="BNB")
    number = pay_out()
    while number is not None:
        status = get("checkOrder", id=number)["status"]
        if status == "Succeeded":
            book("paid", id=number)
            break
        if status in {"Failed", "Dropped", "Refunded"}:
            book(status, id=number)
            return 1
        time.sleep(5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
