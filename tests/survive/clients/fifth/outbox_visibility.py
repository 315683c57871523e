"""A queue in SQLite with a visibility timeout: what is not done in 15 minutes is taken anew."""

import http.client
import json
import sqlite3
import sys
import time
import urllib.parse

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

VISIBLE_AFTER = 900
TROUBLE = (OSError, http.client.HTTPException, ValueError, RefusedError)


def ask(address, body=None):
    place = urllib.parse.urlsplit(address)
    line = http.client.HTTPConnection(place.netloc, timeout=20)
    try:
        payload = json.dumps(body) if body else None
        path = f"{place.path}?{place.query}"
        headers = {**SENDER, "Content-Type": "application/json"}
        line.request("POST" if body else "GET", path, payload, headers)
        return opened(json.load(line.getresponse()))
    finally:
        line.close()


def database():
    db = sqlite3.connect(STATE / "outbox.db", isolation_level=None)
    db.execute("CREATE TABLE IF NOT EXISTS outbox (name PRIMARY KEY, whole, taken, done, state)")
    db.execute("INSERT OR IGNORE INTO outbox VALUES ('rent', 61, 0, 0, NULL)")
    return db


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


def worked(db, name, whole, state):
    """Take a message one step on; return whether it is done."""
    if state is None:
        state = prepared(whole)
        db.execute("UPDATE outbox SET state = ? WHERE name = ?", (json.dumps(state), name))
    broadcast(state["tx"], state["nonce"])
    if "id" not in state:
        state["id"] = ask(url("submitOrder"), state["body"])["id"]
        db.execute("UPDATE outbox SET state = ? WHERE name = ?", (json.dumps(state), name))
    seen = ask(url("checkOrder", id=state["id"]))
    if seen["status"] not in FINAL:
        return False
    if seen["status"] != "Succeeded" or int(seen["amountOut"] or 0) < state["least"]:
        ask(url("submitTicket"), {"hash": state["tx"], "chain": "ARB"})
        raise SystemExit(2)
    return True


def main():
    db = database()
    for _ in range(1_500):
        name, whole, taken, done, state = db.execute("SELECT * FROM outbox").fetchone()
        if done:
            return 0
        now = time.time()
        if taken and now - taken > VISIBLE_AFTER:
            # The consumer is gone: the message is delivered anew, as it was put in.
            state, taken = None, 0
        if not taken:
            db.execute("UPDATE outbox SET taken = ? WHERE name = ?", (now, name))
        try:
            if worked(db, name, whole, json.loads(state) if state else None):
                db.execute("UPDATE outbox SET done = 1 WHERE name = ?", (name,))
        except TROUBLE as problem:
            print(problem, file=sys.stderr)
        time.sleep(45)
    return 1


if __name__ == "__main__":
    sys.exit(main())
