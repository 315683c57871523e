"""A wallet sends 10 USDT from Arbitrum to the user's account on BNB Chain."""

import sys
from decimal import Decimal

from careful import alone, bridge, settle
from common import ME, RefusedError

if __name__ == "__main__":
    lock = alone()
    try:
        sys.exit(
            settle("wallet.json", "send", lambda: bridge(Decimal("10"), "USDT", "ARB", "BNB", ME))
        )
    except RefusedError as refusal:
        sys.exit(f"not sent: {refusal}")
