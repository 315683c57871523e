"""Two payouts in two threads, each with a file of its own; a failure of either is told."""

import fcntl
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
sys.path.insert(0, str(Path(__file__).parent))
from careful_class import LONGEST, Wallet
from common import STATE, RefusedError

PAYOUTS = {"dora": 12, "emil": 13}
CHAIN = threading.Lock()


class Payout(Wallet):
    """A wallet that shares the chain's nonces with others."""

    def __init__(self, name):
        super().__init__(STATE)
        self.file = STATE / f"{name}.json"
        self.record = json.loads(self.file.read_text()) if self.file.exists() else {}

    def pay(self, amount):
        with CHAIN:
            if not (STATE / "chain" / str(self.record.get("nonce"))).exists():
                self.deposit(amount, "ARB", "BNB", "USDT")
        return self.settled()


def main():
    lock = (STATE / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    with ThreadPoolExecutor(len(PAYOUTS)) as pool:
        work = [pool.submit(Payout(name).pay, amount) for name, amount in PAYOUTS.items()]
    problems = 0
    for future in work:
        try:
            problems += not future.result(timeout=LONGEST)
        except RefusedError as refusal:
            print("nothing was paid:", refusal)
            problems += 1
    return min(problems, 1)


if __name__ == "__main__":
    sys.exit(main())
