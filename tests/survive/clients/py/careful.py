"""What the careful Python clients share: one payment, taken to its end whatever happens."""

import fcntl
import http.client
import sys
import time

from common import (
    ME,
    STATE,
    RefusedError,
    broadcast,
    get,
    load,
    next_nonce,
    order,
    post,
    save,
    sign,
)

TRANSPORT = (OSError, ValueError, http.client.HTTPException, KeyError, TypeError)
ENDS = {"Succeeded", "Failed", "Dropped", "Refunded"}
FILTERS = ("Unknown", "Pending", "Succeeded")
DAY = 86_400


def patiently(work, limit=DAY, also=()):
    """Repeat what may be repeated for `limit` seconds; refusals only where `also` says so."""
    pause, waited = 1, 0
    while True:
        try:
            return work()
        except (*TRANSPORT, *also) as problem:
            if waited >= limit:
                raise
            print("trying again:", problem, file=sys.stderr)
        time.sleep(pause)
        waited, pause = waited + pause, min(pause * 2, 300)


def alone():
    """Hold the folder's lock until this process ends; leave where another run has it."""
    lock = (STATE / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(75)
    return lock


def usable(chain, symbol):
    """Return the token of a chain, if both can be used now."""
    for item in patiently(lambda: get("getChain")["list"]):
        if item["nickName"] == chain and not any(
            item.get(flag) for flag in ("disabled", "delisted", "noSwap")
        ):
            break
    else:
        raise RefusedError(f"{chain} is not offered now")
    for token in patiently(lambda: get("getAssetsByChain", chain=chain)["list"]):
        if token["symbol"] == symbol and not (token.get("delisted") or token.get("disableBridge")):
            return token
    raise RefusedError(f"{symbol} is not offered on {chain} now")


def on_chain(payment):
    path = STATE / "chain" / str(payment["nonce"])
    return path.exists() and path.read_text() == payment["tx"]


def net(quote):
    return int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])


def settle(file, name, plan):
    """Pay what `plan()` says, once, and follow it; 0 if enough arrived, else more than 0.

    `plan()` returns chain, token, amount, least (what has to arrive) and body(tx). It is asked
    right before the money moves, and again if the money did not move after all.
    """
    payments = load(file, {})
    payment = payments.get(name, {})
    if not payment or not on_chain(payment):
        chain, token, amount, least, body = plan()
        nonce = next_nonce()
        tx = sign(chain, token, amount, nonce)
        payment = {"chain": chain, "tx": tx, "nonce": nonce, "least": least, "body": body(tx)}
        payments[name] = payment
        save(file, payments)
        if not broadcast(tx, nonce):
            return 4
    try:
        follow(payment, lambda: save(file, payments))
    except RefusedError as refusal:
        print("refused:", refusal, file=sys.stderr)
        payment["status"] = "Refused"
    data = payment.get("end", {})
    if data.get("status") == "Succeeded" and int(data["amountOut"]) >= payment["least"]:
        return 0
    if data.get("status") == "Refunded":
        return 5
    report(payment, lambda: save(file, payments))
    return 3


def follow(payment, keep):
    """Order what was paid for, and wait for the end of the order."""
    if "id" not in payment:
        payment["id"] = patiently(
            lambda: str(post("submitOrder", payment["body"])["id"]), also=(RefusedError,)
        )
        keep()
    waited, pause = 0, 4
    while payment.get("end", {}).get("status") not in ENDS and waited < DAY:
        payment["end"] = patiently(
            lambda: ended(get("checkOrder", id=payment["id"])), also=(RefusedError,)
        )
        if payment["end"]["status"] not in ENDS:
            time.sleep(pause)
            waited, pause = waited + pause, min(pause * 2, 60)
    keep()


def ended(data):
    """Return how an order stands, or raise where the answer does not say it."""
    return {"status": str(data["status"]), "amountOut": str(int(data["amountOut"] or 0))}


def tickets(word):
    return patiently(lambda: get("getAllTicketByAddress", address=ME, filter=word)["list"])


def report(payment, keep):
    """Open a ticket for a transaction, unless there is one."""
    if "ticket" in payment:
        return
    for ticket in [entry for word in FILTERS for entry in tickets(word)]:
        if ticket["hash"] == payment["tx"]:
            payment["ticket"] = ticket["ticketId"]
            keep()
            return
    complaint = {"hash": payment["tx"], "chain": payment["chain"]}
    payment["ticket"] = patiently(
        lambda: post("submitTicket", complaint)["ticketId"], also=(RefusedError,)
    )
    keep()


def bridge(amount, symbol, source, target, receiver):
    """Return the plan of a bridge payment, for `settle`; raise if it is not worth it."""
    here, there = usable(source, symbol), usable(target, symbol)
    units = amount.scaleb(here["decimals"])
    if units != units.to_integral_value():
        raise ValueError("finer than the token")
    query = {"amount": int(units), "symbol": symbol, "fromChain": source, "toChain": target}
    arriving = patiently(lambda: net(get("getBridgeQuote", **query)))
    if arriving < int(amount.scaleb(there["decimals"])) * 90 // 100:
        raise RefusedError("the fees take more than a tenth")

    def body(tx):
        return order(tx, int(units), source, here["index"], target, there["index"], receiver)

    return source, here["contractAddress"], int(units), arriving * 99 // 100, body
