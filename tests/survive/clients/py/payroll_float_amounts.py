"""Pay salaries given in a spreadsheet, in whole USDT, from Arbitrum to BNB Chain."""

import sys
import time

from common import CUSTOMER, ME, get, order, post, transfer

SALARIES = [(CUSTOMER, 1037.29), (ME, 8.29), (CUSTOMER, 16.4)]


def usdt_decimals(chain):
    for token in get("getAssetsByChain", chain=chain)["list"]:
        if token["symbol"] == "USDT":
            return token["decimals"], token["index"]
    raise LookupError("no USDT on " + chain)


def pay(receiver, salary, decimals, index):
    amount = int(salary * 10**decimals)
    get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    tx = transfer("ARB", "USDT", amount)
    return post("submitOrder", order(tx, amount, "ARB", index, "BNB", index, receiver))["id"]


def finished(number):
    status = get("checkOrder", id=number)["status"]
    if status in {"Failed", "Dropped", "Refunded"}:
        raise RuntimeError(f"{number} ended as {status}")
    return status == "Succeeded"


def main():
    decimals, index = usdt_decimals("ARB")
    waiting = [pay(receiver, salary, decimals, index) for receiver, salary in SALARIES]
    while waiting:
        waiting = [number for number in waiting if not finished(number)]
        time.sleep(4)
    print("paid", sum(salary for _, salary in SALARIES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
