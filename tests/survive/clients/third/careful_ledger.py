"""A treasury on SQLite: it orders by re-submitting, and pays again only what has come back.

Odd but right: the same deposit is submitted at each start, whatever is known of it; two quotes
are asked and the worse of them counts; what was refunded is sent once more, from a new deposit.
"""

import contextlib
import fcntl
import random
import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
import json

from common import CUSTOMER, ME, STATE, RefusedError, broadcast, get, next_nonce, order, post, sign

ROWS = """create table if not exists payments (nonce integer primary key, tx text, body text,
least text, number text, status text, ticket text)"""
FINAL = {"Succeeded", "Failed", "Dropped", "Refunded"}
LUCK = random.Random(7)
DAY = 86_400


def persist(work, limit=DAY):
    """Repeat until it works, whatever goes wrong, with waits of random length that grow."""
    began, pause = time.monotonic(), 2.0
    while True:
        try:
            return work()
        except Exception as problem:
            if time.monotonic() - began > limit:
                raise
            print("later again:", repr(problem), file=sys.stderr)
        time.sleep(pause * LUCK.uniform(0.8, 1.2))
        pause = min(pause * 1.9, 900)


def listed(chain):
    for item in get("getChain")["list"]:
        if item["nickName"] == chain:
            closed = any(item.get(flag) for flag in ("disabled", "delisted", "noSwap"))
            break
    else:
        closed = True
    if closed:
        raise RefusedError(f"{chain} is closed")
    for token in get("getAssetsByChain", chain=chain)["list"]:
        closed = token.get("delisted") or token.get("disableBridge")
        if token["symbol"] == "USDT" and not closed:
            return token
    raise RefusedError("no USDT")


def arriving(amount):
    query = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    quotes = [get("getBridgeQuote", **query) for _ in range(2)]
    return min(int(q["outAmount"]) - int(q["serviceFee"]) - int(q["gasFee"]) for q in quotes)


def plan(db):
    """Write a payment down before it is made."""
    here, there = listed("ARB"), listed("BNB")
    amount = 64 * 10 ** here["decimals"]
    least = arriving(amount)
    if least < 60 * 10 ** there["decimals"]:
        raise RefusedError("the fees are too high today")
    nonce = next_nonce()
    tx = sign("ARB", here["contractAddress"], amount, nonce)
    body = order(tx, amount, "ARB", here["index"], "BNB", there["index"], CUSTOMER)
    db.execute(
        "insert or replace into payments values (?, ?, ?, ?, null, 'planned', null)",
        (nonce, tx, json.dumps(body), str(least * 98 // 100)),
    )
    db.commit()


def look(number):
    data = get("checkOrder", id=number)
    return str(data["status"]), int(data["amountOut"] or 0)


def follow(db, row):
    """Take a payment to its end; return its status."""
    nonce, tx, body, least, _, _, ticket = row
    if not broadcast(tx, nonce):
        db.execute("delete from payments where nonce = ?", (nonce,))
        db.commit()
        return "void"
    number = persist(lambda: str(post("submitOrder", json.loads(body))["id"]))
    db.execute("update payments set number = ?, status = 'ordered' where tx = ?", (number, tx))
    db.commit()
    status, out, pause, began = "", 0, 5.0, time.monotonic()
    while status not in FINAL and time.monotonic() - began < 2 * DAY:
        time.sleep(pause)
        status, out = persist(lambda: look(number))
        pause = min(pause * 1.5, 600)
    if status == "Succeeded" and out < int(least):
        status = "short"
    if status not in ("Succeeded", "Refunded") and not ticket:
        complaint = {"hash": tx, "chain": "ARB"}
        ticket = str(persist(lambda: post("submitTicket", complaint, ME)["ticketId"]))
    db.execute("update payments set status = ?, ticket = ? where tx = ?", (status, ticket, tx))
    db.commit()
    return status


def main():
    lock = (STATE / "ledger.lock").open("w")
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.write("held")
    if not lock.tell():
        return 75
    db = sqlite3.connect(STATE / "ledger.db")
    db.execute(ROWS)
    for attempt in range(2):
        rows = db.execute("select * from payments order by nonce").fetchall()
        if len(rows) <= attempt:
            try:
                persist(lambda: plan(db), limit=600)
            except Exception as problem:
                print("nothing was paid:", problem, file=sys.stderr)
                return 2
            rows = db.execute("select * from payments order by nonce").fetchall()
        status = rows[attempt][5]
        if status in ("planned", "ordered"):
            status = follow(db, rows[attempt])
        if status == "Succeeded":
            return 0
        if status != "Refunded":
            return 3
    return 4


if __name__ == "__main__":
    sys.exit(main())
