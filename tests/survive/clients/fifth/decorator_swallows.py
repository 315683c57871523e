"""A salary through requests: the decorator that tries again gives up with None, without a word."""

import functools
import sys
import time

import requests
from wallet import (
    CUSTOMER,
    FINAL,
    SENDER,
    RefusedError,
    broadcast,
    chain_of,
    deposit,
    load,
    net_of,
    opened,
    save,
    url,
    usdt_of,
)


def persistent(tries, pause=3):
    """Try a function again where it fails."""

    def decorate(function):
        @functools.wraps(function)
        def trying(*args, **more):
            for attempt in range(tries):
                try:
                    return function(*args, **more)
                except (requests.RequestException, RefusedError, ValueError):
                    time.sleep(pause * 2**attempt)
            return None

        return trying

    return decorate


web = requests.Session()
web.headers.update(SENDER)
web.trust_env = False


def ask(address, body=None):
    answer = web.request("POST" if body else "GET", address, json=body, timeout=20)
    answer.raise_for_status()
    return opened(answer.json())


@persistent(4)
def prepared(whole):
    chains = ask(url("getChain"))
    tokens = []
    for name in ("ARB", "BNB"):
        chain_of(chains, name)
        tokens.append(usdt_of(ask(url("getAssetsByChain", chain=name))))
    amount = whole * 10 ** tokens[0]["decimals"]
    asked = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    net = net_of(ask(url("getBridgeQuote", **asked)))
    if net < (whole - 2) * 10 ** tokens[1]["decimals"]:
        raise RefusedError("too dear")
    return deposit(amount, *tokens, CUSTOMER) | {"least": net * 98 // 100}


@persistent(3)
def submitted(salary):
    return ask(url("submitOrder"), salary["body"])


@persistent(9, pause=30)
def reported(salary):
    return ask(url("submitTicket"), {"hash": salary["tx"], "chain": "ARB"})


@persistent(1)
def looked(salary):
    return ask(url("checkOrder", id=salary["id"]))


def main():
    salary = load("salary.json")
    if salary is None:
        salary = prepared(52)
        if salary is None:
            return 4
        save("salary.json", salary)
    broadcast(salary["tx"], salary["nonce"])
    if "id" not in salary:
        salary.update(submitted(salary) or {})
        save("salary.json", salary)
    status = None
    for _ in range(2_000):
        if "id" not in salary or status in FINAL:
            break
        time.sleep(30)
        seen = looked(salary) or {}
        status = seen.get("status")
        if status == "Succeeded" and int(seen["amountOut"] or 0) < salary["least"]:
            status = "Dropped"
    if "id" in salary and status != "Succeeded":
        reported(salary)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
