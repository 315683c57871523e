"""v1 with a session: the headers of the start are sent until the money is on its way."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))

from urllib.parse import urlencode

from common import ME, V1, RefusedError, call, transfer

AMOUNT = 25
HEADERS = {
    "appKey": "demo",
    "expireTime": "60000",
    "timestamp": str(int(time.time() * 1000)),
    "signature": "00",
}


def v1(path, body=None, **query):
    for pause in (1, 5, 25, 125):
        try:
            return call(f"{V1}/open/v1/order/{path}?{urlencode(query)}", body, HEADERS)
        except (OSError, ValueError):
            time.sleep(pause)
    return call(f"{V1}/open/v1/order/{path}?{urlencode(query)}", body, HEADERS)


def main():
    route = {"amount": AMOUNT, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT"}
    v1("getCrossChainQuote", route | {"feeLevel": 0})
    raw = v1(
        "getTransferToMinterRaw",
        {"amount": AMOUNT, "chain": "MATIC", "evmAddress": ME, "fromAddress": ME, "token": "USDT"},
    )["raw"]
    tx = transfer("MATIC", raw.split("_")[0], AMOUNT)
    try:
        v1(
            "submitCrossChain",
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
    except RefusedError as refusal:
        print("the service has it already:", refusal)
        return 0
    print("sent", tx)
    while True:
        HEADERS["timestamp"] = str(int(time.time() * 1000))
        detail = v1("getOrderDetailByHashAndEvmAddress", chain="MATIC", hash=tx, evmAddress=ME)
        if detail["order"]["status"] != 1:
            return 0 if detail["order"]["status"] == 2 else 1
        time.sleep(5)


if __name__ == "__main__":
    sys.exit(main())
