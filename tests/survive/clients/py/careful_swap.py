"""Swap 60 USDT on Arbitrum into BNB, with a minimum of 1 % below the quote of the moment."""

import sys

from careful import alone, net, patiently, settle, usable
from common import CUSTOMER, RefusedError, get, order

SLIPPAGE = 100  # hundredths of a percent


def plan():
    usdt, bnb = usable("ARB", "USDT"), usable("BNB", "BNB")
    amount = 60 * 10 ** usdt["decimals"]
    query = {
        "fromAmount": amount,
        "fromTokenAddress": usdt["contractAddress"],
        "fromDecimal": usdt["decimals"],
        "fromChain": "ARB",
        "toTokenAddress": bnb["contractAddress"],
        "toDecimal": bnb["decimals"],
        "toChain": "BNB",
    }
    expected = patiently(lambda: net(get("getAggregateQuote", **query)))
    if expected <= 0:
        raise RefusedError("the fees take everything")
    least = expected * (10_000 - SLIPPAGE) // 10_000

    def body(tx):
        there = (bnb["index"], CUSTOMER, "2", str(SLIPPAGE))
        text = order(tx, amount, "ARB", usdt["index"], "BNB", *there)
        return text | {"extra": f"1_{expected};3_2;4_{least};5_BNB"}

    return "ARB", usdt["contractAddress"], amount, least, body


if __name__ == "__main__":
    lock = alone()
    try:
        sys.exit(settle("swap.json", "swap", plan))
    except RefusedError as refusal:
        sys.exit(f"not swapped: {refusal}")
