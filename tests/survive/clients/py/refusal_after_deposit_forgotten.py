"""A kiosk: deposits first, then orders; what is refused is shown on the screen."""

import sys
import time

from common import CUSTOMER, RefusedError, get, order, post, transfer

AMOUNT = 8_000_000


class Kiosk:
    def __init__(self):
        self.screen = []

    def submit(self, body):
        for pause in (1, 2, 4, 8, 16, 32, 64):
            try:
                return post("submitOrder", body)["id"]
            except RefusedError as refusal:
                self.screen.append(str(refusal))
                return None
            except (OSError, ValueError):
                time.sleep(pause)
        return None

    def run(self):
        quote = get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
        if int(quote["outAmount"]) <= int(quote["serviceFee"]) + int(quote["gasFee"]):
            return 2
        time.sleep(2)  # the customer presses the button
        tx = transfer("ARB", "USDT", AMOUNT)
        number = self.submit(order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER))
        if number is None:
            self.screen.append("please try again later")
            return 0
        while True:
            status = get("checkOrder", id=number)["status"]
            if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
                return 0 if status == "Succeeded" else 1
            time.sleep(5)


if __name__ == "__main__":
    sys.exit(Kiosk().run())
