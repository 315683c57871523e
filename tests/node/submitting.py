"""Orders of deposits that a node has seen, submitted, and what the audit says of them."""

import json
import urllib.request

from tests.conftest import PATIENCE_S, certificate, order
from tests.node.rpc import call, fetch


def submit(control, chain, sender, tx_hash, *, units, index="5", kind="1", target="BNB"):
    """Submit an order of a deposit, to USDT on BNB; return its id."""
    certs = certificate(
        fromAmount=str(units),
        fromIndex=index,
        fromChain=chain,
        fromAddr=sender,
        certHash=tx_hash,
    )
    body = order(
        sourceCerts=certs, orderType=kind, toChain=target, slippage="100" if kind == "2" else "0"
    )
    headers = {
        "Address": sender,
        "PublicKey": "02" + "ab" * 32,
        "Chain": chain,
        "Signature": "ab" * 64,
        "Content-Type": "application/json",
    }
    url = control.removesuffix("/__mock") + "/v1/submitOrder"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        told = json.loads(answer.read())
    assert told["code"] == 0, told
    return told["data"]["id"]


def paid_otherwise(control, says):
    """Whether the audit names payments with these words, and no other."""
    call(f"{control}/clock", {"advance": "1h"})
    findings = fetch(f"{control}/audit")["findings"]
    told = [each["told"] for each in findings if each["kind"] == "paid-otherwise"]
    assert len(told) == len(says), told
    return all(words in text for words, text in zip(says, told, strict=True))
