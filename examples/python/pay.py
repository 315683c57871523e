"""Pays 10 USDT once, and goes on where it was when it is started again.

It keeps the deposit in CROSSCHAIN_MOCK_STATE before anything is submitted; `--naive` forgets it.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from wallet import Deposit, NaiveWallet, Node, ServiceLost, ServiceRefused, Wallet

ENDS = ("Succeeded", "Failed", "Refunded", "Dropped")
LOOKS = 240


class RememberingWallet(Wallet):
    """Pays a deposit once for all attempts, also those of a later start."""

    def __init__(self, base_url: str, node: Node, kept: Path) -> None:
        """Keep the deposit in a file."""
        super().__init__(base_url, node)
        self._kept = kept

    def send(self, amount: int, symbol: str, source: str, target: str) -> str:
        """Send smallest units, with the deposit of an earlier attempt if there is one."""
        if self._kept.exists():
            deposit = Deposit(**json.loads(self._kept.read_text()))
        else:
            deposit = self._node.pay(source, self._usable(symbol, source, target), amount)
            self._kept.write_text(json.dumps(vars(deposit)))
        for attempt in range(5):
            try:
                return self._submit(deposit, target)
            except ServiceLost:
                time.sleep(2**attempt)
        raise ServiceLost(f"no answer to the deposit {deposit.hash}")


def watch(wallet: Wallet, order: str) -> str:
    """Return how an order ends, or how it stands after an hour."""
    status = "Unknown"
    for _ in range(LOOKS):
        try:
            status = wallet.status(order)
        except (ServiceLost, KeyError):
            status = "Unknown"
        if status in ENDS:
            break
        time.sleep(15)
    return status


def main() -> int:
    """Pay, watch, and say by the exit code whether the money arrived."""
    address, node = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"], Node()
    # Without a folder of the search, each start pays anew, as a first one does.
    folder = os.environ.get("CROSSCHAIN_MOCK_STATE") or tempfile.mkdtemp()
    kept = Path(folder, "deposit.json")
    naive = "--naive" in sys.argv
    wallet = NaiveWallet(address, node) if naive else RememberingWallet(address, node, kept)
    try:
        order = wallet.send(10_000_000, "USDT", source="ARB", target="BNB")
    except (ServiceLost, ServiceRefused, KeyError, TypeError, StopIteration) as error:
        sys.stderr.write(f"not sent: {error}\n")
        return 1
    status = watch(wallet, order)
    sys.stdout.write(f"order {order}: {status}\n")
    return 0 if status == "Succeeded" else 1


if __name__ == "__main__":
    sys.exit(main())
