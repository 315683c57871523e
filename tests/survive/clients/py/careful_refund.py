"""A shop refunds 12 USD in ETH; the quote has to confirm the price."""

import sys
from decimal import Decimal

from careful import alone, bridge, patiently, settle, usable
from common import CUSTOMER, RefusedError, get

USD = Decimal("12")


def plan():
    ether = usable("ARB", "ETH")
    query = {"chain": "ARB", "contractAddress": ether["contractAddress"], "symbol": "ETH"}
    price = patiently(lambda: Decimal(get("getPrice", **query)["price"]))
    if not price > 0:
        raise RefusedError("no price")
    amount = (USD / price).quantize(Decimal(1).scaleb(-ether["decimals"]))
    units = int(amount.scaleb(ether["decimals"]))
    query = {"amount": units, "symbol": "ETH", "fromChain": "ARB", "toChain": "BNB"}
    worth = patiently(lambda: Decimal(get("getBridgeQuote", **query)["outAmountUsd"]))
    if abs(worth - USD) > USD / 50:
        raise RefusedError(f"price and quote disagree: {worth} USD")
    return bridge(amount, "ETH", "ARB", "BNB", CUSTOMER)


if __name__ == "__main__":
    lock = alone()
    try:
        sys.exit(settle("refund.json", "refund", plan))
    except RefusedError as refusal:
        sys.exit(f"not refunded: {refusal}")
