"""Works through a list of invoices, and writes the ledger when all are through."""

import json
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, get, order, post, transfer

LEDGER = Path(os.environ["CROSSCHAIN_MOCK_STATE"]) / "ledger.json"


@dataclass
class Ledger:
    settled: list[str] = field(default_factory=list)

    @classmethod
    def read(cls):
        return cls(json.loads(LEDGER.read_text())) if LEDGER.exists() else cls()

    def write(self):
        LEDGER.write_text(json.dumps(self.settled))


def settle(invoice, amount):
    get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    tx = transfer("ARB", "USDT", amount)
    body = order(tx, amount, "ARB", 5, "BNB", 5, CUSTOMER)
    for pause in (1, 2, 4, 8):
        try:
            number = post("submitOrder", body)["id"]
            break
        except (OSError, ValueError):
            time.sleep(pause)
    else:
        raise SystemExit(f"{invoice}: cannot be submitted")
    while (status := get("checkOrder", id=number)["status"]) != "Succeeded":
        if status in {"Failed", "Dropped", "Refunded"}:
            raise SystemExit(f"{invoice}: {status}")
        time.sleep(10)


def main():
    ledger = Ledger.read()
    for invoice, amount in (("A-1", 4_000_000), ("A-2", 6_500_000)):
        if invoice not in ledger.settled:
            settle(invoice, amount)
            ledger.settled.append(invoice)
    ledger.write()


if __name__ == "__main__":
    main()
