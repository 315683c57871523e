"""The four steps of v1 with a state file: the same hash is submitted until it is taken."""

import sys
import time

from careful import DAY, alone, on_chain, patiently
from common import ME, RefusedError, broadcast, load, next_nonce, save, sign, v1

ROUTE = {"fromChain": "MATIC", "toChain": "BSC", "feeLevel": 0}
AMOUNT = 10


def pay():
    chains = patiently(lambda: v1("base/getSupportChains")["chains"])
    if not {"MATIC", "BSC"} <= {chain["name"] for chain in chains if chain["isActive"]}:
        raise RefusedError("a chain is not offered now")
    quote = patiently(
        lambda: v1("order/getCrossChainQuote", ROUTE | {"amount": AMOUNT, "token": "USDT"})
    )["crossChain"]
    if quote["amountOut"] < AMOUNT * 0.9:
        raise RefusedError("the fees take more than a tenth")
    account = {"evmAddress": ME, "fromAddress": ME}
    wanted = account | {"amount": AMOUNT, "chain": "MATIC", "token": "USDT"}
    raw = patiently(lambda: v1("order/getTransferToMinterRaw", wanted))["raw"]
    nonce = next_nonce()
    tx = sign("MATIC", raw.split("_")[0], AMOUNT, nonce)
    payment = {"tx": tx, "nonce": nonce, "least": quote["amountOut"] * 0.99}
    save("v1.json", payment)
    if not broadcast(tx, nonce):
        raise RefusedError("the nonce is taken")
    return payment


def main():
    payment = load("v1.json", {})
    if not payment or not on_chain(payment):
        payment = pay()
    tx = payment["tx"]
    if "sn" not in payment:
        body = {"fromAmount": AMOUNT, "fromToken": "USDT", "certHash": tx}
        body |= ROUTE | {"evmAddres": ME, "fromAddress": int(ME, 16)}
        payment["sn"] = patiently(
            lambda: v1("order/submitCrossChain", body)["sn"], also=(RefusedError,)
        )
        save("v1.json", payment)
    query = {"chain": "MATIC", "hash": tx, "evmAddress": ME}
    waited, pause = 0, 4
    while waited < DAY:
        detail = patiently(
            lambda: v1("order/getOrderDetailByHashAndEvmAddress", **query)["order"],
            also=(RefusedError,),
        )
        if detail["status"] == 2:
            return 0 if float(detail["toAmount"]) >= payment["least"] else 3
        if detail["status"] == 3:
            return 3
        time.sleep(pause)
        waited, pause = waited + pause, min(pause * 2, 60)
    return 3


if __name__ == "__main__":
    lock = alone()
    try:
        sys.exit(main())
    except RefusedError as refusal:
        sys.exit(f"not moved: {refusal}")
