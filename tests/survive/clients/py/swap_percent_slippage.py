"""Swap USDT into BNB with a tolerance of 1 % that the user chose in the settings."""

import argparse
import sys
import time

from common import CUSTOMER, NATIVE, get, order, post, transfer

parser = argparse.ArgumentParser()
parser.add_argument("--amount", type=int, default=80_000_000)
parser.add_argument("--slippage", type=int, default=1, help="percent")


def final(number):
    while True:
        data = get("checkOrder", id=number)
        if data["status"] in {"Succeeded", "Failed", "Dropped", "Refunded"}:
            return data
        time.sleep(5)


def main(arguments):
    source = {"fromAmount": arguments.amount, "fromChain": "ARB", "fromDecimal": 6}
    source["fromTokenAddress"] = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"
    target = {"toTokenAddress": NATIVE, "toDecimal": 18, "toChain": "BNB"}
    quote = get("getAggregateQuote", **source, **target)
    least = int(quote["outAmount"]) * (100 - arguments.slippage) // 100
    tx = transfer("ARB", "USDT", arguments.amount)
    tolerance = str(arguments.slippage)
    body = order(tx, arguments.amount, "ARB", 5, "BNB", 8, CUSTOMER, "2", tolerance)
    data = final(post("submitOrder", body)["id"])
    print("got", data["amountOut"], "hoped for at least", least)
    return 0 if data["status"] == "Succeeded" else 1


if __name__ == "__main__":
    sys.exit(main(parser.parse_args()))
