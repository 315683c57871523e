"""What the Python clients share: HTTP, the wallet's node, and a folder for state."""

import hashlib
import json
import os
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

V1 = os.environ["CROSSCHAIN_MOCK_BASE_URL"]
V2 = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
STATE = Path(os.environ.get("CROSSCHAIN_MOCK_STATE") or tempfile.mkdtemp())
ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
CUSTOMER = "0x42a6685ef29886Cbcb595Aa903f00dea0d1787d8"
NATIVE = "0x" + "ee" * 20


class RefusedError(Exception):
    """The service answered, and said no."""


def call(url, body=None, headers=None):
    """Return `data` of an answer; raise RefusedError, OSError or ValueError."""
    payload = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **(headers or {})}
    with urllib.request.urlopen(urllib.request.Request(url, payload, sent), timeout=20) as got:
        answer = json.load(got)
    if not isinstance(answer, dict) or "code" not in answer:
        raise ValueError("no envelope")
    if answer["code"] != 0:
        raise RefusedError(answer.get("msg"))
    return answer["data"]


def get(path, **query):
    """Read from 2.0."""
    return call(f"{V2}/v1/{path}?{urllib.parse.urlencode(query)}")


def post(path, body, sender=ME):
    """Submit to 2.0."""
    return call(f"{V2}/v1/{path}", body, {"EvmAddress": sender, "Signature": "00"})


def v1(path, body=None, **query):
    """Ask v1, with its four headers."""
    now = str(int(time.time() * 1000))
    auth = {"appKey": "demo", "expireTime": "15000", "timestamp": now, "signature": "00"}
    url = f"{V1}/open/v1/{path}?{urllib.parse.urlencode(query)}"
    return call(url, body, auth)


# The wallet's node: the chain remembers a transaction whatever becomes of the client.


def next_nonce():
    """Return the nonce of the account's next transaction."""
    (STATE / "chain").mkdir(exist_ok=True)
    return len(list((STATE / "chain").iterdir()))


def sign(chain, token, amount, nonce):
    """Return the hash that this transfer has, without sending it."""
    return "0x" + hashlib.sha256(f"{chain} {token} {amount} {nonce}".encode()).hexdigest()


def broadcast(tx, nonce):
    """Send a signed transfer; sending the same one again changes nothing."""
    try:
        with (STATE / "chain" / str(nonce)).open("x") as file:
            file.write(tx)
    except FileExistsError:
        return (STATE / "chain" / str(nonce)).read_text() == tx
    return True


def transfer(chain, token, amount):
    """Move tokens to the service's vault, in smallest units, and return the hash."""
    while True:
        nonce = next_nonce()
        tx = sign(chain, token, amount, nonce)
        if broadcast(tx, nonce):
            return tx


def order(tx, amount, source, index, target, to_index, receiver, kind="1", slippage="0"):
    """Return the body of submitOrder."""
    certificate = {
        "fromAmount": str(amount),
        "fromIndex": str(index),
        "fromChain": source,
        "fromAddr": ME,
        "certHash": tx,
        "fromPublicKey": "",
        "signature": "123456",
    }
    return {
        "channel": "demo",
        "execStrategy": "",
        "extra": "",
        "orderType": kind,
        "slippage": slippage,
        "sourceCerts": json.dumps(certificate).encode().hex(),
        "timeout": "0",
        "toAddr": receiver,
        "toChain": target,
        "toIndex": str(to_index),
        "triggerPrice": "0",
    }


def load(name, default=None):
    """Read a JSON file of the state folder."""
    path = STATE / name
    return json.loads(path.read_text()) if path.exists() else default


def save(name, value):
    """Write a JSON file of the state folder, all of it or nothing."""
    draft = STATE / f"{name}.{os.getpid()}"
    draft.write_text(json.dumps(value))
    draft.replace(STATE / name)
