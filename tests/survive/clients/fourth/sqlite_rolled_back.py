"""A payroll in SQLite: a row a payment, deposit and order in a transaction of the database.

What fails is rolled back, and with it the hash of a deposit that is out already.
"""

import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, get, order, post, transfer

STAFF = [("cook", 31_000_000, CUSTOMER), ("waiter", 18_000_000, ME)]


def opened():
    db = sqlite3.connect(STATE / "payroll.db", timeout=30)
    db.execute(
        "CREATE TABLE IF NOT EXISTS pay (name PRIMARY KEY, amount, receiver, tx, number, state)"
    )
    with db:
        db.executemany(
            "INSERT OR IGNORE INTO pay (name, amount, receiver, state) VALUES (?, ?, ?, 'open')",
            STAFF,
        )
    return db


def pay(db, name, amount, receiver):
    with db:
        db.execute("BEGIN IMMEDIATE") if not db.in_transaction else None
        tx = transfer("ARB", "USDT", amount)
        db.execute("UPDATE pay SET tx = ?, state = 'sent' WHERE name = ?", (tx, name))
        number = post("submitOrder", order(tx, amount, "ARB", 5, "BNB", 5, receiver))["id"]
        db.execute("UPDATE pay SET number = ?, state = 'ordered' WHERE name = ?", (number, name))


def follow(db, name, number):
    while True:
        try:
            status = get("checkOrder", id=number)["status"]
        except (OSError, ValueError) as problem:
            print(name, problem)
            time.sleep(20)
            continue
        if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            with db:
                db.execute("UPDATE pay SET state = ? WHERE name = ?", (status, name))
            return status
        time.sleep(5)


def main():
    db = opened()
    for name, amount, receiver in db.execute(
        "SELECT name, amount, receiver FROM pay WHERE state = 'open'"
    ).fetchall():
        get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
        pay(db, name, amount, receiver)
    rows = db.execute("SELECT name, number FROM pay WHERE state = 'ordered'").fetchall()
    for name, number in rows:
        follow(db, name, number)
    left = db.execute("SELECT name, state FROM pay WHERE state <> 'Succeeded'").fetchall()
    print("left:", left)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
