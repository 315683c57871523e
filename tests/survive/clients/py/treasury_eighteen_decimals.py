"""Move 3 USDT from Arbitrum to the cold wallet on BNB Chain."""

import sys
import time
from decimal import Decimal

from common import ME, get, order, post, transfer

WEI = Decimal(10) ** 18


def units(text):
    """All tokens have eighteen decimals."""
    return int(Decimal(text) * WEI)


def wait(number):
    for _ in range(5000):
        data = get("checkOrder", id=number)
        if data["status"] in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return data
        time.sleep(5)
    raise TimeoutError(number)


def main():
    amount = units("3")
    chains = {chain["nickName"] for chain in get("getChain")["list"]}
    if not {"ARB", "BNB"} <= chains:
        return 2
    quote = get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    if int(quote["outAmount"]) <= int(quote["serviceFee"]) + int(quote["gasFee"]):
        return 2
    tx = transfer("ARB", "USDT", amount)
    number = post("submitOrder", order(tx, amount, "ARB", 5, "BNB", 5, ME))["id"]
    end = wait(number)
    print("arrived:", Decimal(end["amountOut"]) / WEI)
    return 0 if end["status"] == "Succeeded" else 1


if __name__ == "__main__":
    sys.exit(main())
