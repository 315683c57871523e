"""Pay an invoice of exactly 50 USDT on BNB Chain, from USDT on Arbitrum."""

import sys
import time
from decimal import Decimal

from common import CUSTOMER, get, order, post, transfer

INVOICE = Decimal("50")


def token(chain):
    return next(t for t in get("getAssetsByChain", chain=chain)["list"] if t["symbol"] == "USDT")


def main():
    source, target = token("ARB"), token("BNB")
    amount = int(INVOICE.scaleb(source["decimals"]))
    quote = get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    arriving = Decimal(quote["outAmount"]).scaleb(-target["decimals"])
    if arriving < INVOICE:
        print("not enough:", arriving)
        return 2
    tx = transfer("ARB", "USDT", amount)
    body = order(tx, amount, "ARB", source["index"], "BNB", target["index"], CUSTOMER)
    number = post("submitOrder", body)["id"]
    while True:
        status = get("checkOrder", id=number)["status"]
        if status == "Succeeded":
            print("invoice settled with", arriving)
            return 0
        if status in {"Failed", "Dropped", "Refunded"}:
            return 1
        time.sleep(5)


if __name__ == "__main__":
    sys.exit(main())
