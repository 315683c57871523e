"""A swap that must come through today: each failure doubles the slippage."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))

from common import CUSTOMER, NATIVE, RefusedError, get, load, order, post, save, transfer

AMOUNT = 250_000_000
USDT = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"


def firmly(work):
    for pause in (1, 5, 25, 125):
        try:
            return work()
        except (OSError, ValueError):
            time.sleep(pause)
    return work()


def swap(slippage, job):
    firmly(
        lambda: get(
            "getAggregateQuote",
            fromAmount=AMOUNT,
            fromTokenAddress=USDT,
            fromDecimal=6,
            fromChain="ARB",
            toTokenAddress=NATIVE,
            toDecimal=18,
            toChain="BNB",
        )
    )
    tx = job.get("tx") or transfer("ARB", "USDT", AMOUNT)
    job["tx"] = tx
    save("swap.json", job)
    body = order(tx, AMOUNT, "ARB", 5, "BNB", 8, CUSTOMER, "2", str(slippage))
    number = firmly(lambda: post("submitOrder", body))["id"]
    while True:
        status = firmly(lambda: get("checkOrder", id=number))["status"]
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return status
        time.sleep(6)


def main():
    job = load("swap.json", {"slippage": 100})
    while job["slippage"] <= 10_000:
        status = swap(job["slippage"], job)
        if status == "Succeeded":
            return 0
        if status != "Refunded":
            return 1
        del job["tx"]
        job["slippage"] *= 4
        save("swap.json", job)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefusedError as refusal:
        sys.exit(f"refused: {refusal}")
