"""Sweep a third of the hot wallet's USDC; the amount is decided once."""

import sys
from decimal import Decimal

from careful import alone, bridge, patiently, settle, usable
from common import ME, RefusedError, get, load, save


def decide():
    token = usable("ARB", "USDC")
    query = {"chain": "ARB", "contractAddress": token["contractAddress"], "address": ME}
    seen = patiently(lambda: int(get("getBalance", **query)["balance"]))
    third = max(seen, 90 * 10 ** token["decimals"]) // 3
    return str(Decimal(third).scaleb(-token["decimals"]))


def main():
    amount = load("amount.json")
    if amount is None:
        amount = decide()
        save("amount.json", amount)
    return settle(
        "sweep.json", "sweep", lambda: bridge(Decimal(amount), "USDC", "ARB", "POLYGON", ME)
    )


if __name__ == "__main__":
    lock = alone()
    try:
        sys.exit(main())
    except RefusedError as refusal:
        sys.exit(f"not today: {refusal}")
