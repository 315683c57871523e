"""A vending machine: http.client; the deposit is written down when the order is known."""

import hashlib
import http.client
import json
import os
import pathlib
import sys
import time
import urllib.parse

place = urllib.parse.urlsplit(os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"])
folder = pathlib.Path(os.environ["CROSSCHAIN_MOCK_STATE"])
machine = "0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69"
units = 22_000_000


class Node:
    """The wallet's node: it counts what it has signed, in a file of its own."""

    def pay(self):
        nonce = folder / "nonce"
        number = int(nonce.read_text()) if nonce.exists() else 0
        nonce.write_text(str(number + 1))
        return "0x" + hashlib.sha256(f"{machine}{number}".encode()).hexdigest()


def exchange(method, target, body=None):
    headers = {"Evmaddress": machine, "Signature": "0x" + "88" * 65}
    if body:
        headers["Content-Type"] = "application/json"
    for attempt in range(5):
        connection = http.client.HTTPConnection(place.netloc, timeout=10)
        try:
            connection.request(method, place.path + target, body, headers)
            answer = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(2 + attempt * 4)
            continue
        finally:
            connection.close()
        if answer.get("code") == 0:
            return answer["data"]
        if "msg" in answer:
            sys.exit(f"{target}: {answer['msg']}")
    sys.exit(f"{target}: nobody answers")


def order():
    file = folder / "sale.json"
    if file.exists():
        return json.loads(file.read_text())["order"]
    for chain in exchange("GET", "/v1/getChain")["list"]:
        if chain["nickName"] in ("ARB", "BNB") and (chain["disabled"] or chain["delisted"]):
            sys.exit(f"{chain['nickName']} is closed")
    tokens = exchange("GET", "/v1/getAssetsByChain?chain=ARB")["list"]
    index = str(next(token for token in tokens if token["symbol"] == "USDT")["index"])
    query = dict(amount=units, symbol="USDT", fromChain="ARB", toChain="BNB")
    exchange("GET", "/v1/getBridgeQuote?" + urllib.parse.urlencode(query))
    deposit = Node().pay()
    fields = dict(fromAmount=str(units), fromIndex=index, fromChain="ARB", fromAddr=machine)
    fields.update(certHash=deposit, fromPublicKey="", signature="")
    body = dict(channel="vend", execStrategy="", extra="", orderType="1", slippage="0")
    body.update(sourceCerts=json.dumps(fields).encode().hex(), timeout="0", toAddr=machine)
    body.update(toChain="BNB", toIndex=index, triggerPrice="0")
    number = exchange("POST", "/v1/submitOrder", json.dumps(body))["id"]
    file.write_text(json.dumps({"order": number, "deposit": deposit}))
    return number


number = order()
for _ in range(150):
    state = exchange("GET", "/v1/checkOrder?id=" + number)["status"]
    if state == "Succeeded":
        sys.exit(0)
    if state in ("Failed", "Dropped", "Refunding", "Refunded"):
        sys.exit(f"order {number}: {state}")
    time.sleep(15)
sys.exit("too long")
