"""Payouts as generators on one loop, each a list of steps in a file of lines.

Odd but right: a step is found by replaying the file; all reads go through a cache of a minute
that is dropped at the first trouble; quotes are thrown away where they took too long.
"""

import fcntl
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "py"))
from common import CUSTOMER, ME, STATE, RefusedError, broadcast, get, next_nonce, order, post, sign

JOBS = {"cleaner": (12, CUSTOMER), "gardener": (35, ME)}
DAY = 86_400


class Lists:
    """What is offered, at most a minute old."""

    def __init__(self):
        self.kept = {}

    def read(self, operation, **query):
        key = (operation, *query.values())
        when, value = self.kept.get(key, (-1e9, None))
        if time.monotonic() - when > 60:
            value = get(operation, **query)["list"]
            self.kept[key] = time.monotonic(), value
        return value

    def token(self, chain):
        chains = [c for c in self.read("getChain") if c["nickName"] == chain]
        if not chains or any(chains[0].get(word) for word in ("disabled", "delisted", "noSwap")):
            raise RefusedError(f"{chain} is not there today")
        for token in self.read("getAssetsByChain", chain=chain):
            off = token.get("delisted") or token.get("disableBridge")
            if token["symbol"] == "USDT" and not off:
                return token
        raise RefusedError("no USDT today")


def steps(name):
    path = STATE / f"{name}.lines"
    # Each step begins on a line of its own, after whatever a killed run has left of one.
    lines = path.read_text().split() if path.exists() else []
    told = {}
    for line in lines:
        try:
            told |= json.loads(line)
        except ValueError:
            continue
    return told


def tell(name, **step):
    with (STATE / f"{name}.lines").open("a") as file:
        file.write("\n" + json.dumps(step, separators=(",", ":")))


def offer(lists, whole):
    here, there = lists.token("ARB"), lists.token("BNB")
    amount = whole * 10 ** here["decimals"]
    for _ in range(5):
        asked = time.monotonic()
        quote = get("getBridgeQuote", amount=amount, symbol="USDT", fromChain="ARB", toChain="BNB")
        if time.monotonic() - asked < 15:
            break
    else:
        raise RefusedError("quotes take too long")
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    if net * 100 < whole * 85 * 10 ** there["decimals"]:
        raise RefusedError("too dear")
    return here, there, amount, net * 985 // 1000


def payout(name, whole, receiver, lists):  # noqa: PLR0912 - a step a branch
    """Yield the seconds to wait before the next step; return the exit status of the job."""
    job = steps(name)
    if "tx" not in job:
        here, there, amount, least = offer(lists, whole)
        nonce = next_nonce()
        tx = sign("ARB", here["contractAddress"], amount, nonce)
        body = order(tx, amount, "ARB", here["index"], "BNB", there["index"], receiver)
        job = {"tx": tx, "nonce": nonce, "body": body, "least": least}
        tell(name, **job)
    if not broadcast(job["tx"], job["nonce"]):
        tell(name, void=True)
        return 6
    pause = 3
    while "number" not in job:
        try:
            job["number"] = post("submitOrder", job["body"])["id"]
            tell(name, number=job["number"])
        except Exception as problem:
            print(name, problem, file=sys.stderr)
            if pause > 20_000:
                break
            yield pause
            pause *= 2
    waited = 0
    while "end" not in job and "number" in job and waited < 2 * DAY:
        yield 7 + waited // 20
        waited += 7 + waited // 20
        try:
            data = get("checkOrder", id=job["number"])
            status, out = data["status"], int(data["amountOut"] or 0)
        except Exception as problem:
            print(name, problem, file=sys.stderr)
            continue
        if status in ("Succeeded", "Refunded", "Dropped", "Failed"):
            job["end"] = "short" if status == "Succeeded" and out < job["least"] else status
            tell(name, end=job["end"])
    if job.get("end") == "Succeeded":
        return 0
    if job.get("end") == "Refunded":
        return 5
    for pause in (0, 60, 600, 3_600, 20_000):
        if "ticket" in job:
            break
        yield pause
        try:
            job["ticket"] = post("submitTicket", {"hash": job["tx"], "chain": "ARB"}, ME)[
                "ticketId"
            ]
            tell(name, ticket=job["ticket"])
        except Exception as problem:
            print(name, problem, file=sys.stderr)
    return 3


def main():
    guard = (STATE / "guard").open("w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return 75
    lists = Lists()
    running = {name: payout(name, *job, lists) for name, job in JOBS.items()}
    due = dict.fromkeys(running, 0.0)
    codes = []
    while running:
        name = min(running, key=due.__getitem__)
        time.sleep(max(0.0, due[name] - time.monotonic()))
        try:
            due[name] = time.monotonic() + next(running[name])
        except StopIteration as end:
            codes.append(end.value)
            del running[name], due[name]
        except Exception as problem:
            print(name, "was not paid:", problem, file=sys.stderr)
            lists.kept.clear()
            codes.append(2)
            del running[name], due[name]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
