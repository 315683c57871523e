"""Payouts by threads, with SQLite for what is known. Odd but right.

A row is there before the deposit, with hash and body; only one process works at a time, by an
exclusive lock that goes with it; each thread has a connection of its own to the database; an
order is asked for with the same body until it is there; who is not settled is in the exit status.
"""

import fcntl
import json
import random
import sqlite3
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, RefusedError, broadcast, get, next_nonce, order, post, sign

PAYOUTS = {"anna": (33, CUSTOMER), "bert": (21, ME)}
FINAL = {"Succeeded", "Failed", "Dropped", "Refunded"}
WORDS = ("tx", "nonce", "body", "least", "number", "end", "ticket")
signing = threading.Lock()


class Ledger:
    """A row a payout; a column a step."""

    def __init__(self):
        self.db = sqlite3.connect(STATE / "ledger.db", timeout=60)
        self.db.execute("PRAGMA synchronous = FULL")
        columns = ", ".join(WORDS)
        with self.db:
            self.db.execute(f"CREATE TABLE IF NOT EXISTS payout (name PRIMARY KEY, {columns})")

    def read(self, name):
        columns = ", ".join(WORDS)
        row = self.db.execute(f"SELECT {columns} FROM payout WHERE name = ?", (name,)).fetchone()
        return dict(zip(WORDS, row, strict=True)) if row else dict.fromkeys(WORDS)

    def write(self, name, **step):
        with self.db:
            self.db.execute("INSERT OR IGNORE INTO payout (name) VALUES (?)", (name,))
            for word, value in step.items():
                self.db.execute(f"UPDATE payout SET {word} = ? WHERE name = ?", (value, name))


def patient(work, limit, *, refused=True):
    """Try until it works, with growing pauses, `limit` seconds at most."""
    dice, pause, waited = random.Random(3), 2.0, 0.0
    while True:
        try:
            return work()
        except Exception as problem:
            if waited > limit or (isinstance(problem, RefusedError) and not refused):
                raise
            print(problem, file=sys.stderr)
        wait = pause * dice.uniform(1, 1.2)
        time.sleep(wait)
        waited, pause = waited + wait, min(pause * 2, 1_800)


def token(chain):
    known = [entry for entry in get("getChain")["list"] if entry["nickName"] == chain]
    if not known or any(known[0].get(word) for word in ("disabled", "delisted", "noSwap")):
        raise RefusedError(f"{chain} is not there")
    for entry in get("getAssetsByChain", chain=chain)["list"]:
        if entry["symbol"] == "USDT" and not (entry.get("delisted") or entry.get("disableBridge")):
            return entry
    raise RefusedError(f"{chain} has no USDT")


def prepared(ledger, name, whole, receiver):
    here, there = token("ARB"), token("BNB")
    amount = whole * 10 ** here["decimals"]
    asked = time.monotonic()
    quote = get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
    if time.monotonic() - asked > 20:
        raise OSError("an old quote")
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    if net < whole * 9 * 10 ** (there["decimals"] - 1):
        raise RefusedError("too dear")
    with signing:
        nonce = next_nonce()
        tx = sign("ARB", here["contractAddress"], amount, nonce)
        body = order(tx, amount, "ARB", here["index"], "BNB", there["index"], receiver)
        step = {"tx": tx, "nonce": nonce, "body": json.dumps(body), "least": str(net * 98 // 100)}
        ledger.write(name, **step)
        if not broadcast(tx, nonce):
            raise SystemExit("the nonce was taken")


def ticket(ledger, name, payout):
    if not payout["ticket"]:
        body = {"hash": payout["tx"], "chain": "ARB"}
        number = patient(lambda: post("submitTicket", body), 80_000)["ticketId"]
        ledger.write(name, ticket=str(number))


def pay(name, whole, receiver, codes):
    codes[name] = 9
    ledger = Ledger()
    payout = ledger.read(name)
    if payout["tx"] and not (STATE / "chain" / str(payout["nonce"])).exists():
        # It was signed and never sent, and its quote may be old: another is made.
        payout["tx"] = None
    if not payout["tx"]:
        try:
            patient(lambda: prepared(ledger, name, whole, receiver), 600, refused=False)
        except Exception as problem:
            print(name, "is not paid:", problem, file=sys.stderr)
            codes[name] = 4
            return
        payout = ledger.read(name)
    elif not broadcast(payout["tx"], payout["nonce"]):
        return
    if not payout["number"]:
        try:
            number = patient(lambda: post("submitOrder", json.loads(payout["body"])), 40_000)["id"]
        except Exception as problem:
            print(name, "has no order:", problem, file=sys.stderr)
            ticket(ledger, name, payout)
            codes[name] = 3
            return
        ledger.write(name, number=number)
        payout["number"] = number
    end, began = payout["end"], time.monotonic()
    while not end and time.monotonic() - began < 100_000:
        time.sleep(5 + (time.monotonic() - began) / 20)
        try:
            data = get("checkOrder", id=payout["number"])
            status, out = data["status"], int(data["amountOut"] or 0)
        except Exception as problem:
            print(name, problem, file=sys.stderr)
            continue
        if status in FINAL:
            end = "Short" if status == "Succeeded" and out < int(payout["least"]) else status
            ledger.write(name, end=end)
    if end == "Succeeded":
        codes[name] = 0
        return
    if end != "Refunded":
        ticket(ledger, name, payout)
    codes[name] = 2


def main():
    guard = (STATE / "one-at-a-time").open("w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    Ledger()
    codes = {}
    threads = [
        threading.Thread(target=pay, args=(name, *payout, codes))
        for name, payout in PAYOUTS.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(codes.values())


if __name__ == "__main__":
    sys.exit(main())
