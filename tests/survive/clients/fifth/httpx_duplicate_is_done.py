"""Donations through httpx: a submission that is refused the second time must be there already."""

import sys
import time

import httpx
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


def ask(client, address, body=None):
    answer = client.request("POST" if body else "GET", address, json=body, headers=SENDER)
    answer.raise_for_status()
    return opened(answer.json())


def submitted(client, body):
    for attempt in range(6):
        try:
            return ask(client, url("submitOrder"), body)["id"]
        except RefusedError:
            if attempt == 0:
                raise
            # The first attempt went through after all, so this one is a duplicate.
            return None
        except (httpx.HTTPError, ValueError):
            time.sleep(5 * 2**attempt)
    raise SystemExit("the service is away")


def main():
    donation = load("donation.json")
    with httpx.Client(timeout=20, trust_env=False) as client:
        if donation is None:
            chains = ask(client, url("getChain"))
            for name in ("ARB", "BNB"):
                chain_of(chains, name)
            here, there = (
                usdt_of(ask(client, url("getAssetsByChain", chain=name))) for name in ("ARB", "BNB")
            )
            amount = 25 * 10 ** here["decimals"]
            asked = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
            net = net_of(ask(client, url("getBridgeQuote", **asked)))
            if net < 24 * 10 ** there["decimals"]:
                return 3
            donation = deposit(amount, here, there, CUSTOMER) | {"least": net * 98 // 100}
            save("donation.json", donation)
        broadcast(donation["tx"], donation["nonce"])
        if "id" not in donation:
            donation["id"] = submitted(client, donation["body"])
            save("donation.json", donation)
        if donation["id"] is None:
            print("thank you, it is on its way")
            return 0
        for _ in range(2_000):
            time.sleep(20)
            try:
                state = ask(client, url("checkOrder", id=donation["id"]))
            except (httpx.HTTPError, ValueError, RefusedError):
                continue
            if state["status"] in FINAL:
                short = int(state["amountOut"] or 0) < donation["least"]
                if state["status"] == "Succeeded" and not short:
                    return 0
                break
        for _ in range(20):
            try:
                ask(client, url("submitTicket"), {"hash": donation["tx"], "chain": "ARB"})
                break
            except (httpx.HTTPError, ValueError, RefusedError):
                time.sleep(600)
    return 1


if __name__ == "__main__":
    sys.exit(main())
