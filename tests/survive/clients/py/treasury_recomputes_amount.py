"""Sweep 40 % of the hot wallet; started again, it goes on with the same deposit."""

import sys
import time

from common import ME, RefusedError, get, load, order, post, save, transfer

USDT = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"


def balance():
    seen = int(get("getBalance", chain="ARB", contractAddress=USDT, address=ME)["balance"])
    moved = sum(load("moved.json", []))
    return max(seen, 500_000_000) - moved


def submit(body):
    for pause in (1, 3):
        try:
            return post("submitOrder", body)["id"]
        except (OSError, ValueError):
            time.sleep(pause)
    return post("submitOrder", body)["id"]


def sweep():
    state = load("sweep.json", {})
    amount = balance() * 40 // 100
    if "tx" not in state:
        get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
        state["tx"] = transfer("ARB", "USDT", amount)
        save("moved.json", [amount])
        save("sweep.json", state)
    if "id" not in state:
        state["id"] = submit(order(state["tx"], amount, "ARB", 5, "BNB", 5, ME))
        save("sweep.json", state)
    while True:
        status = get("checkOrder", id=state["id"])["status"]
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return status
        time.sleep(5)


if __name__ == "__main__":
    for _ in range(6):
        try:
            sys.exit(0 if sweep() == "Succeeded" else 1)
        except (OSError, ValueError, RefusedError) as problem:
            print("starting over:", problem)
            time.sleep(10)
    sys.exit(1)
