"""An exchange credits a customer's account when the deposit has arrived."""

import sys
import time

from common import CUSTOMER, NATIVE, RefusedError, get, load, order, post, save, transfer

AMOUNT = 120_000_000
USDT = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"


def again(work):
    for pause in (1, 2, 4, 8, 16, 32):
        try:
            return work()
        except (OSError, ValueError):
            time.sleep(pause)
    return work()


def quote():
    data = get(
        "getAggregateQuote",
        fromAmount=AMOUNT,
        fromTokenAddress=USDT,
        fromDecimal=6,
        fromChain="ARB",
        toTokenAddress=NATIVE,
        toDecimal=18,
        toChain="BNB",
    )
    return int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])


def main():
    expected = again(quote)
    tx = transfer("ARB", "USDT", AMOUNT)
    body = order(tx, AMOUNT, "ARB", 5, "BNB", 8, CUSTOMER, "2", "100")
    number = again(lambda: post("submitOrder", body))["id"]
    while True:
        status = again(lambda: get("checkOrder", id=number))["status"]
        if status == "Succeeded":
            balances = load("balances.json", {})
            balances[CUSTOMER] = balances.get(CUSTOMER, 0) + expected
            save("balances.json", balances)
            return 0
        if status in {"Failed", "Dropped", "Refunded"}:
            return 1
        time.sleep(5)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefusedError as refusal:
        sys.exit(str(refusal))
