"""An outbox in SQLite with leases, through requests and its retries of reads. Odd but right."""

import json
import sqlite3
import sys
import time

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry
from wallet import (
    CUSTOMER,
    FINAL,
    SENDER,
    STATE,
    RefusedError,
    broadcast,
    chain_of,
    deposit,
    net_of,
    opened,
    url,
    usdt_of,
)

TROUBLE = (requests.RequestException, ValueError, RefusedError, KeyError, TypeError)
web = requests.Session()
web.trust_env = False
web.headers.update(SENDER)
# Reads are repeated by the library; a submission is repeated below, with the same body.
web.mount("http://", HTTPAdapter(max_retries=Retry(2, backoff_factor=2, allowed_methods=["GET"])))


def ask(address, body=None):
    answer = web.request("POST" if body else "GET", address, json=body, timeout=20)
    answer.raise_for_status()
    return opened(answer.json())


class Outbox:
    """A row a payment; whoever holds the lock of the file works."""

    def __init__(self):
        self.db = sqlite3.connect(STATE / "outbox.db", timeout=1, isolation_level=None)
        self.db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self.db.execute("BEGIN EXCLUSIVE")
        self.db.execute("CREATE TABLE IF NOT EXISTS outbox (name PRIMARY KEY, whole, state)")
        self.db.execute("INSERT OR IGNORE INTO outbox VALUES ('rent', 61, '{}')")
        self.db.execute("COMMIT")

    def rows(self):
        return self.db.execute("SELECT name, whole, state FROM outbox ORDER BY name").fetchall()

    def keep(self, name, state):
        self.db.execute("UPDATE outbox SET state = ? WHERE name = ?", (json.dumps(state), name))


def prepared(whole):
    began = time.monotonic()
    chains = ask(url("getChain"))
    tokens = []
    for name in ("ARB", "BNB"):
        chain_of(chains, name)
        tokens.append(usdt_of(ask(url("getAssetsByChain", chain=name))))
    amount = whole * 10 ** tokens[0]["decimals"]
    asked = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    net = net_of(ask(url("getBridgeQuote", **asked)))
    if time.monotonic() - began > 50:
        raise ValueError("what was read is old")
    if net < (whole - 2) * 10 ** tokens[1]["decimals"]:
        raise RefusedError("too dear")
    return deposit(amount, *tokens, CUSTOMER) | {"least": net * 98 // 100}


def insist(address, body, limit):
    pause, waited = 3.0, 0.0
    while True:
        try:
            return ask(address, body)
        except TROUBLE as problem:
            print(problem, file=sys.stderr)
            if waited > limit:
                raise
        time.sleep(pause)
        waited, pause = waited + pause, min(2 * pause, 3_600)


def work(outbox, name, whole, state):
    if not state:
        try:
            state.update(prepared(whole))
        except TROUBLE as problem:
            print("nothing is paid:", problem, file=sys.stderr)
            return 4
        outbox.keep(name, state)
    if not broadcast(state["tx"], state["nonce"]):
        return 5
    if "id" not in state:
        try:
            state["id"] = insist(url("submitOrder"), state["body"], 40_000)["id"]
            outbox.keep(name, state)
        except TROUBLE:
            print("no order", file=sys.stderr)
    deadline = time.monotonic() + 100_000
    pause = 8.0
    while "id" in state and "end" not in state and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.3, 1_800)
        try:
            seen = ask(url("checkOrder", id=state["id"]))
            if seen["status"] in FINAL:
                arrived = int(seen["amountOut"] or 0) >= state["least"]
                state["end"] = seen["status"] if arrived else "short"
                outbox.keep(name, state)
        except TROUBLE as problem:
            print(problem, file=sys.stderr)
    if state.get("end") == "Succeeded":
        return 0
    if state.get("end") != "Refunded" and "ticket" not in state:
        report = {"hash": state["tx"], "chain": "ARB"}
        state["ticket"] = insist(url("submitTicket"), report, 90_000)["ticketId"]
        outbox.keep(name, state)
    return 1


def main():
    try:
        outbox = Outbox()
    except sqlite3.OperationalError:
        return 75
    codes = [work(outbox, name, whole, json.loads(state)) for name, whole, state in outbox.rows()]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
