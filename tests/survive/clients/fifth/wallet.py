"""What the fifth set shares beyond HTTP, which each client of it does in its own way."""

import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import (
    CUSTOMER,
    ME,
    STATE,
    V2,
    RefusedError,
    broadcast,
    load,
    next_nonce,
    order,
    save,
    sign,
)

FINAL = {"Succeeded", "Failed", "Dropped", "Refunded"}
SENDER = {"EvmAddress": ME, "Signature": "00"}
__all__ = ["CUSTOMER", "ME", "STATE", "V2", "RefusedError", "broadcast", "load", "save"]


def url(operation, **query):
    """Return the address of an operation of 2.0."""
    return f"{V2}/v1/{operation}?{urllib.parse.urlencode(query)}"


def opened(answer):
    """Return `data` of an envelope."""
    if not isinstance(answer, dict) or "code" not in answer:
        raise ValueError("no envelope")
    if answer["code"] != 0:
        raise RefusedError(answer.get("msg"))
    return answer["data"]


def chain_of(answer, name):
    """Return a chain that can be used now."""
    for entry in answer["list"]:
        if entry["nickName"] == name:
            if any(entry.get(word) for word in ("disabled", "delisted", "noSwap")):
                raise RefusedError(f"{name} is closed")
            return entry
    raise RefusedError(f"{name} is not listed")


def usdt_of(answer):
    """Return the token that can be bridged now."""
    for entry in answer["list"]:
        if entry["symbol"] == "USDT" and not (entry.get("delisted") or entry.get("disableBridge")):
            return entry
    raise RefusedError("USDT is not listed")


def net_of(quote):
    """Return what arrives, in smallest units."""
    return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])


def deposit(amount, here, there, receiver, source="ARB", target="BNB"):
    """Return a signed transfer with the body of its order; nothing is sent yet."""
    nonce = next_nonce()
    tx = sign(source, here["contractAddress"], amount, nonce)
    body = order(tx, amount, source, here["index"], target, there["index"], receiver)
    return {"tx": tx, "nonce": nonce, "body": body}
