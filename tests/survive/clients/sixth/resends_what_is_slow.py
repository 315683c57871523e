"""A remittance worker: threads and a queue; what has not arrived in ten minutes is sent anew."""

import json
import os
import queue
import sys
import threading
import time
import urllib.request
from urllib.parse import urlencode

base = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
kept = os.path.join(os.environ["CROSSCHAIN_MOCK_STATE"], "remit.json")
sender = "0xd41c057fd1c78805AAC12B0A94a405c0461A6FBb"
amount = "45000000"
results = queue.Queue()


def ask(path, body=None, **query):
    target = base + path + ("?" + urlencode(query) if query else "")
    headers = {
        "Content-Type": "application/json",
        "Evmaddress": sender,
        "Signature": "0x" + "bb" * 65,
    }
    for attempt in range(5):
        try:
            request = urllib.request.Request(target, body, headers)
            with urllib.request.urlopen(request, timeout=10) as response:
                answer = json.load(response)
            if answer["code"] == 0:
                return answer["data"]
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(1 + 3 * attempt)
            continue
        raise RuntimeError(f"{path}: {answer['msg']}")
    raise RuntimeError(f"{path}: no answer")


def store(state):
    with open(kept + ".tmp", "w") as file:
        json.dump(state, file)
    os.replace(kept + ".tmp", kept)


def pay():
    chains = {c["nickName"]: c for c in ask("/v1/getChain")["list"]}
    if chains["ETH"]["disabled"] or chains["FTM"]["disabled"]:
        raise RuntimeError("closed")
    token = next(a for a in ask("/v1/getAssets")["list"] if a["symbol"] == "USDC")
    ask("/v1/getBridgeQuote", amount=amount, symbol="USDC", fromChain="ETH", toChain="FTM")
    return {"hash": "0x" + os.urandom(32).hex(), "index": str(token["index"])}


def submit(state):
    fields = {"fromAmount": amount, "fromIndex": state["index"], "fromChain": "ETH"}
    fields.update(fromAddr=sender, certHash=state["hash"], fromPublicKey="", signature="")
    body = dict(channel="remit", execStrategy="", extra="", orderType="1", slippage="0")
    body.update(sourceCerts=json.dumps(fields).encode().hex(), timeout="0", toAddr=sender)
    body.update(toChain="FTM", toIndex=state["index"], triggerPrice="0")
    return ask("/v1/submitOrder", json.dumps(body).encode())["id"]


def watch(order):
    until = time.monotonic() + 600
    while time.monotonic() < until:
        status = ask("/v1/checkOrder", id=order)["status"]
        if status in ("Succeeded", "Failed", "Dropped", "Refunded"):
            return status
        time.sleep(30)
    return "slow"


def worker():
    try:
        state = {}
        if os.path.exists(kept):
            with open(kept) as file:
                state = json.load(file)
        for _ in range(3):
            if not state:
                state = pay()
                store(state)
            if "order" not in state:
                state["order"] = submit(state)
                store(state)
            status = watch(state["order"])
            if status != "slow":
                break
            # It got lost somewhere: once more.
            state = {}
        results.put(0 if status == "Succeeded" else f"order {state['order']}: {status}")
    except Exception as error:
        results.put(str(error))


thread = threading.Thread(target=worker)
thread.start()
outcome = results.get()
thread.join()
sys.exit(outcome)
