"""A worker with a state file that it writes as it goes along."""

import json
import sys
import time

from common import CUSTOMER, STATE, RefusedError, get, order, post, transfer

AMOUNT = 31_000_000
FILE = STATE / "worker.json"


def read():
    try:
        return json.loads(FILE.read_text())
    except (FileNotFoundError, ValueError):
        return {}  # the first start


def write(state):
    with FILE.open("w") as file:
        for key, value in state.items():
            json.dump({key: value}, file)


def retry(work):
    for pause in (1, 2, 4, 8, 16):
        try:
            return work()
        except (OSError, ValueError):
            time.sleep(pause)
    return work()


def main():
    state = read()
    if "tx" not in state:
        retry(
            lambda: get(
                "getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB"
            )
        )
        state["tx"] = transfer("ARB", "USDT", AMOUNT)
        write(state)
    if "id" not in state:
        body = order(state["tx"], AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER)
        state["id"] = retry(lambda: post("submitOrder", body))["id"]
        write(state)
    while True:
        status = retry(lambda: get("checkOrder", id=state["id"]))["status"]
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return 0 if status == "Succeeded" else 1
        time.sleep(5)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefusedError as refusal:
        sys.exit(str(refusal))
