"""A hedged payment: where the first attempt is slow, a second thread makes the same payment.

The first of the two that is through wins, as for reads. Odd: no loop polls; a timer re-arms itself.
"""

import queue
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, get, order, post, transfer

AMOUNT = 64_000_000


def attempt(answers):
    """Pay and order, and tell the number."""
    tx = transfer("ARB", "USDT", AMOUNT)
    try:
        number = post("submitOrder", order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER))["id"]
    except Exception as problem:
        answers.put(problem)
    else:
        answers.put(number)


def hedged():
    answers = queue.Queue()
    threading.Thread(target=attempt, args=(answers,), daemon=True).start()
    try:
        first = answers.get(timeout=12)
    except queue.Empty:
        first = None
    if not isinstance(first, str):
        threading.Thread(target=attempt, args=(answers,), daemon=True).start()
        first = answers.get(timeout=60)
    if not isinstance(first, str):
        sys.exit(f"not paid: {first}")
    return first


class Watch:
    """Looks every five seconds, by a timer that arms itself again."""

    def __init__(self, number):
        self.number = number
        self.ended = threading.Event()
        self.status = ""

    def look(self):
        try:
            self.status = get("checkOrder", id=self.number)["status"]
        except Exception as problem:
            print("look:", problem, file=sys.stderr)
        if self.status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            self.ended.set()
            return
        timer = threading.Timer(5, self.look)
        timer.daemon = True
        timer.start()


def main():
    get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
    watch = Watch(hedged())
    watch.look()
    watch.ended.wait(86_400)
    return 0 if watch.status == "Succeeded" else 1


if __name__ == "__main__":
    sys.exit(main())
