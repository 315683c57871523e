"""A v1 client that waits while the status is 1, which means: ongoing."""

import sys
import time

from common import ME, RefusedError, transfer, v1

PAYMENT = {"fromChain": "MATIC", "toChain": "BSC", "feeLevel": 0}


def patient(path, body=None, **query):
    for pause in (1, 2, 4, 8, 16, 32, 64):
        try:
            return v1(path, body, **query)
        except (OSError, ValueError, RefusedError) as problem:
            print(path, problem)
            time.sleep(pause)
    return v1(path, body, **query)


def main():
    amount = 12.5
    patient("order/getCrossChainQuote", PAYMENT | {"amount": amount, "token": "USDC"})
    account = {"evmAddress": ME, "fromAddress": ME}
    raw = patient(
        "order/getTransferToMinterRaw",
        account | {"amount": amount, "chain": "MATIC", "token": "USDC"},
    )["raw"]
    tx = transfer("MATIC", raw.split("_")[0], amount)
    submission = {"fromAmount": amount, "fromToken": "USDC", "certHash": tx}
    account = {"evmAddres": ME, "fromAddress": int(ME, 16)}
    patient("order/submitCrossChain", PAYMENT | submission | account)
    query = {"chain": "MATIC", "hash": tx, "evmAddress": ME}
    while patient("order/getOrderDetailByHashAndEvmAddress", **query)["order"]["status"] == 1:
        time.sleep(5)
    print("crossed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
