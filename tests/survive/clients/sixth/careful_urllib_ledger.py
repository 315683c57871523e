"""A shop that pays a supplier: urllib, a ledger of lines, written before each step."""

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

BASE = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
LEDGER = Path(os.environ["CROSSCHAIN_MOCK_STATE"]) / "ledger.jsonl"
ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
AMOUNT = 25_000_000


class Refused(Exception):
    pass


def call(path, body=None, **query):
    url = BASE + path + ("?" + urllib.parse.urlencode(query) if query else "")
    headers = {"Evmaddress": ME, "Signature": "0x" + "11" * 65, "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers if body else {})
    for pause in (1, 3, 9, 27, None):
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                answer = json.loads(response.read())
                code, data = answer["code"], answer["data"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            if pause is None:
                raise SystemExit(f"no answer from {path}: {error}") from error
            time.sleep(pause)
            continue
        if code != 0:
            raise Refused(answer["msg"])
        return data


def note(**line):
    with LEDGER.open("a") as file:
        file.write(json.dumps(line) + "\n")
        file.flush()
        os.fsync(file.fileno())


def recall():
    known = {}
    if LEDGER.exists():
        for line in LEDGER.read_text().splitlines():
            known.update(json.loads(line))
    return known


def pay():
    chains = {c["nickName"]: c for c in call("/v1/getChain")["list"]}
    for name in ("ETH", "ARB"):
        if name not in chains or chains[name]["disabled"] or chains[name]["delisted"]:
            raise SystemExit(f"{name} is closed, nothing was paid")
    token = next(t for t in call("/v1/getAssets")["list"] if t["symbol"] == "USDT")
    if not {"ETH", "ARB"} <= set(token["contracts"]):
        raise SystemExit("USDT is not on both chains")
    quote = call(
        "/v1/getBridgeQuote", amount=str(AMOUNT), symbol="USDT", fromChain="ETH", toChain="ARB"
    )
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    if net < AMOUNT * 90 // 100:
        raise SystemExit(f"too dear: {net} of {AMOUNT} would arrive")
    certificate = {
        "fromAmount": str(AMOUNT),
        "fromIndex": str(token["index"]),
        "fromChain": "ETH",
        "fromAddr": ME,
        "certHash": "0x" + hashlib.sha256(b"invoice 7731").hexdigest(),
        "fromPublicKey": "",
        "signature": "",
    }
    note(certificate=certificate, index=str(token["index"]), least=net)


def main():
    try:
        if "certificate" not in recall():
            pay()
        known = recall()
        if "order" not in known:
            body = dict.fromkeys(("execStrategy", "extra"), "")
            body |= dict(channel="shop", orderType="1", slippage="0", timeout="0", triggerPrice="0")
            body |= dict(toAddr=ME, toChain="ARB", toIndex=known["index"])
            body["sourceCerts"] = json.dumps(known["certificate"]).encode().hex()
            note(order=call("/v1/submitOrder", json.dumps(body).encode())["id"])
            known = recall()
        for _ in range(120):
            order = call("/v1/checkOrder", id=known["order"])
            if order["status"] == "Succeeded":
                if int(order["amountOut"]) < known["least"] * 99 // 100:
                    print("less than quoted arrived:", order["amountOut"], file=sys.stderr)
                    return 2
                return 0
            if order["status"] in ("Failed", "Dropped", "Refunding", "Refunded"):
                print("order", known["order"], order["status"], order["reason"], file=sys.stderr)
                if order["status"] == "Dropped" and "ticket" not in known:
                    ticket = {"hash": known["certificate"]["certHash"], "chain": "ETH"}
                    note(ticket=call("/v1/submitTicket", json.dumps(ticket).encode())["ticketId"])
                return 3
            time.sleep(30)
    except Refused as refused:
        print("refused:", refused, file=sys.stderr)
        return 4
    print("still under way after an hour", file=sys.stderr)
    return 5


sys.exit(main())
