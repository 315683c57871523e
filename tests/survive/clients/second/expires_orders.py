"""A kiosk shows a customer how his transfer goes; what takes too long has expired."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, get, order, post, transfer


def states(number, every=5, longest=90):
    """Yield how an order stands, until it has an end."""
    ends = time.monotonic() + longest
    while time.monotonic() < ends:
        status = get("checkOrder", id=number)["status"]
        yield status
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return
        time.sleep(every)
    yield "Expired"


def kiosk(amount):
    quote = get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    print("you get", quote["outAmount"])
    tx = transfer("ARB", "USDT", amount)
    number = post("submitOrder", order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER))["id"]
    *_, last = states(number)
    match last:
        case "Succeeded":
            return "thank you"
        case "Expired":
            return "your transfer has expired, please pay again"
        case _:
            raise SystemExit(f"please see the clerk: {last}")


if __name__ == "__main__":
    print(kiosk(33_000_000))
