"""Keep orders in a table whose key is an integer of 32 bits."""

import sqlite3
import sys
import time

from common import CUSTOMER, STATE, get, order, post, transfer

AMOUNT = 17_000_000


def table():
    database = sqlite3.connect(STATE / "orders.sqlite")
    database.execute("create table if not exists orders (id integer primary key, state text)")
    return database


def place(database):
    tx = transfer("ARB", "USDT", AMOUNT)
    answer = post("submitOrder", order(tx, AMOUNT, "ARB", 5, "BNB", 5, CUSTOMER))
    number = int(answer["id"])
    database.execute("insert into orders values (?, 'open')", (number,))
    database.commit()


def follow(database):
    for (number,) in database.execute("select id from orders where state = 'open'").fetchall():
        while True:
            status = get("checkOrder", id=number)["status"]
            if status in {"Succeeded", "Failed", "Dropped", "Refunded"}:
                break
            time.sleep(5)
        database.execute("update orders set state = ? where id = ?", (status, number))
        database.commit()
    return database.execute("select count(*) from orders where state != 'Succeeded'").fetchone()[0]


def main():
    database = table()
    if not database.execute("select 1 from orders").fetchone():
        get("getBridgeQuote", amount=AMOUNT, symbol="USDT", fromChain="ARB", toChain="BNB")
        place(database)
    bad = follow(database)
    database.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
