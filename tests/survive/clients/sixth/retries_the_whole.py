"""A tip jar: requests and a decorator that tries the whole transfer again."""

import functools
import json
import os
import sys
import time

import requests

STATE = os.path.join(os.environ["CROSSCHAIN_MOCK_STATE"], "tip.json")
BASE = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
ME = "0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF"
AMOUNT = 16_000_000


def persistent(function):
    @functools.wraps(function)
    def wrapper(*args):
        for attempt in range(4):
            try:
                return function(*args)
            except (requests.RequestException, ValueError):
                time.sleep(2**attempt)
        raise SystemExit("the service cannot be reached")

    return wrapper


def data(response):
    response.raise_for_status()
    answer = response.json()
    if answer["code"] != 0:
        raise SystemExit(f"refused: {answer['msg']}")
    return answer["data"]


def get(path, **query):
    return data(requests.get(BASE + path, params=query, timeout=10))


def broadcast():
    """Pay on the chain. There is no way back from here."""
    return "0x" + os.urandom(32).hex()


def certificate(hash_, index):
    fields = {"fromAmount": str(AMOUNT), "fromIndex": index, "fromChain": "ETH", "fromAddr": ME}
    fields |= {"certHash": hash_, "fromPublicKey": "", "signature": ""}
    return json.dumps(fields).encode().hex()


@persistent
def tip():
    open_now = {c["nickName"] for c in get("/v1/getChain")["list"] if not c["disabled"]}
    if not {"ETH", "OP"} <= open_now:
        raise SystemExit("closed")
    index = next(str(t["index"]) for t in get("/v1/getAssets")["list"] if t["symbol"] == "USDT")
    get("/v1/getBridgeQuote", amount=str(AMOUNT), symbol="USDT", fromChain="ETH", toChain="OP")
    body = {"channel": "tips", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0"}
    body |= {"sourceCerts": certificate(broadcast(), index), "timeout": "0", "toAddr": ME}
    body |= {"toChain": "OP", "toIndex": index, "triggerPrice": "0"}
    headers = {"Evmaddress": ME, "Signature": "0x" + "77" * 65}
    url = BASE + "/v1/submitOrder"
    return data(requests.post(url, json=body, headers=headers, timeout=10))["id"]


@persistent
def status(order):
    return get("/v1/checkOrder", id=order)["status"]


def main():
    if os.path.exists(STATE):
        with open(STATE) as file:
            order = json.load(file)
    else:
        order = tip()
        with open(STATE, "w") as file:
            json.dump(order, file)
    for _ in range(100):
        now = status(order)
        if now == "Succeeded":
            return 0
        if now in ("Failed", "Dropped", "Refunded"):
            print(order, now, file=sys.stderr)
            return 1
        time.sleep(20)
    return 1


sys.exit(main())
