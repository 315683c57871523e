"""Swap 60 USDT on Arbitrum into BNB for a customer."""

import sys
import time

from common import CUSTOMER, NATIVE, get, order, post, transfer

AMOUNT = 60_000_000


def token(chain, symbol):
    return next(
        item for item in get("getAssetsByChain", chain=chain)["list"] if item["symbol"] == symbol
    )


def build(tx, usdt, bnb, customer):
    target = {"address": usdt["contractAddress"], "index": bnb["index"]}
    return order(
        tx, AMOUNT, "ARB", usdt["index"], "BNB", target["index"], target["address"], "2", "100"
    )


def main():
    usdt, bnb = token("ARB", "USDT"), token("BNB", "BNB")
    quote = get(
        "getAggregateQuote",
        fromAmount=AMOUNT,
        fromTokenAddress=usdt["contractAddress"],
        fromDecimal=usdt["decimals"],
        fromChain="ARB",
        toTokenAddress=NATIVE,
        toDecimal=bnb["decimals"],
        toChain="BNB",
    )
    print("about", quote["outAmountUsd"], "USD through", quote["aggregator"])
    tx = transfer("ARB", "USDT", AMOUNT)
    number = post("submitOrder", build(tx, usdt, bnb, CUSTOMER))["id"]
    for _ in range(5000):
        status = get("checkOrder", id=number)["status"]
        if status == "Succeeded":
            return 0
        if status in {"Failed", "Dropped", "Refunded"}:
            break
        time.sleep(5)
    return 1


if __name__ == "__main__":
    sys.exit(main())
