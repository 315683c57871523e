"""A wallet as a class with a write-ahead file: plan, deposit, order, end, ticket."""

import fcntl
import http.client
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, RefusedError, broadcast, get, next_nonce, order, post, sign

TROUBLE = (OSError, ValueError, KeyError, TypeError, http.client.HTTPException)
LONGEST = 20 * 3600


class Wallet:
    def __init__(self, folder):
        self.file = folder / "wallet.json"
        self.record = json.loads(self.file.read_text()) if self.file.exists() else {}

    def remember(self, **changes):
        self.record |= changes
        draft = self.file.with_suffix(".new")
        with draft.open("w") as out:
            json.dump(self.record, out)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(self.file)

    def insist(self, ask, *args, refusals=True):
        """Ask until there is an answer of the right form; refusals may pass as well."""
        pause, until = 2, time.monotonic() + LONGEST
        while True:
            try:
                return ask(*args)
            except RefusedError:
                if not refusals or time.monotonic() > until:
                    raise
            except TROUBLE:
                if time.monotonic() > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 600)

    def token(self, chain, symbol):
        def read():
            chains = {entry["nickName"]: entry for entry in get("getChain")["list"]}
            tokens = get("getAssetsByChain", chain=chain)["list"]
            return chains, {token["symbol"]: token for token in tokens}

        chains, tokens = self.insist(read)
        usable = chain in chains and symbol in tokens
        if not usable or any(chains[chain].get(flag) for flag in ("disabled", "delisted")):
            raise RefusedError(f"{symbol} on {chain} is not offered")
        return tokens[symbol]

    def deposit(self, amount, source, target, symbol):
        here, there = self.token(source, symbol), self.token(target, symbol)
        units = amount * 10 ** here["decimals"]

        def quoted():
            fields = {"amount": units, "symbol": symbol, "fromChain": source, "toChain": target}
            quote = get("getBridgeQuote", **fields)
            return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])

        net = self.insist(quoted, refusals=False)
        if net < amount * 10 ** there["decimals"] * 8 // 10:
            raise RefusedError("too dear")
        nonce = next_nonce()
        tx = sign(source, here["contractAddress"], units, nonce)
        body = order(tx, units, source, here["index"], target, there["index"], CUSTOMER)
        self.remember(tx=tx, nonce=nonce, body=body, chain=source, least=net * 98 // 100)
        if not broadcast(tx, nonce):
            raise RefusedError("somebody else has used the nonce")

    def settled(self):
        record = self.record
        if "order" not in record:
            self.remember(order=str(self.insist(lambda: post("submitOrder", record["body"])["id"])))
        until, pause = time.monotonic() + LONGEST, 3
        while True:

            def read():
                data = get("checkOrder", id=record["order"])
                return str(data["status"]), int(data["amountOut"] or 0)

            status, arrived = self.insist(read)
            if status == "Succeeded" and arrived >= record["least"]:
                return True
            if status == "Refunded":
                return False
            if status in {"Succeeded", "Failed", "Dropped"} or time.monotonic() > until:
                self.complain()
                return False
            time.sleep(pause)
            pause = min(2 * pause, 120)

    def complain(self):
        if "ticket" not in self.record:
            body = {"hash": self.record["tx"], "chain": self.record["chain"]}
            self.remember(ticket=self.insist(lambda: post("submitTicket", body, ME)["ticketId"]))


def main():
    lock = (STATE / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    wallet = Wallet(STATE)
    on_chain = STATE / "chain" / str(wallet.record.get("nonce"))
    if not on_chain.exists():
        try:
            wallet.deposit(40, "ARB", "BNB", "USDT")
        except RefusedError as refusal:
            print("nothing was paid:", refusal)
            return 3
    return 0 if wallet.settled() else 4


if __name__ == "__main__":
    sys.exit(main())
