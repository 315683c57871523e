"""Move 2 USDT by the first generation, with the amounts that the chain uses."""

import sys
import time

from common import ME, transfer, v1

DECIMALS = 6
AMOUNT = 2 * 10**DECIMALS


def main():
    chains = [chain["name"] for chain in v1("base/getSupportChains")["chains"] if chain["isActive"]]
    if "MATIC" not in chains or "BSC" not in chains:
        return 2
    v1(
        "order/getCrossChainQuote",
        {"amount": AMOUNT, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0},
    )
    v1(
        "order/getTransferToMinterRaw",
        {"amount": AMOUNT, "chain": "MATIC", "evmAddress": ME, "fromAddress": ME, "token": "USDT"},
    )
    tx = transfer("MATIC", "USDT", AMOUNT)
    v1(
        "order/submitCrossChain",
        {
            "fromAmount": AMOUNT,
            "fromChain": "MATIC",
            "evmAddres": ME,
            "fromToken": "USDT",
            "fromAddress": int(ME, 16),
            "certHash": tx,
            "toChain": "BSC",
            "feeLevel": 0,
        },
    )
    while True:
        detail = v1(
            "order/getOrderDetailByHashAndEvmAddress", chain="MATIC", hash=tx, evmAddress=ME
        )
        if detail["order"]["status"] != 1:
            return 0 if detail["order"]["status"] == 2 else 1
        time.sleep(5)


if __name__ == "__main__":
    sys.exit(main())
