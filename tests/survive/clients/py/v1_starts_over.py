"""The four steps of v1; a step that fails starts the whole flow again."""

import sys
import time

from common import ME, RefusedError, transfer, v1

AMOUNT = 10


def steps():
    v1(
        "order/getCrossChainQuote",
        {"amount": AMOUNT, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 0},
    )
    raw = v1(
        "order/getTransferToMinterRaw",
        {"amount": AMOUNT, "chain": "MATIC", "evmAddress": ME, "fromAddress": ME, "token": "USDT"},
    )["raw"]
    tx = transfer("MATIC", raw.split("_")[0], AMOUNT)
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
    return tx


def main():
    for _ in range(4):
        try:
            tx = steps()
            break
        except (OSError, ValueError, RefusedError) as problem:
            print("from the start:", problem)
            time.sleep(5)
    else:
        return 1
    while True:
        try:
            detail = v1(
                "order/getOrderDetailByHashAndEvmAddress", chain="MATIC", hash=tx, evmAddress=ME
            )
        except (OSError, ValueError):
            detail = {"order": {"status": 1}}
        if detail["order"]["status"] != 1:
            return 0 if detail["order"]["status"] == 2 else 1
        time.sleep(5)


if __name__ == "__main__":
    sys.exit(main())
