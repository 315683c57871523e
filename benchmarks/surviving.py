"""What a search for failures costs: of 50 requests, of six kinds, and of a client that sleeps.

Run: `python -m benchmarks.surviving [--runs N] [--rounds N] [--jobs N] [--python FILE]`.

The client pays eight bills and polls each; it is careful, so that the search goes on to its end.
CPU counts all processes of a command, and is the figure to trust on a busy machine. What is
compiled is kept, as an installation keeps it.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Eight bills at six requests each, behind the two lists.
_CLIENT = """
import hashlib, json, os, sys, time, urllib.parse, urllib.request
from pathlib import Path

BASE, STATE = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"], Path(os.environ["CROSSCHAIN_MOCK_STATE"])
ME = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
HEADERS = {"Content-Type": "application/json", "EvmAddress": ME, "Signature": "00"}

def ask(path, body=None, **query):
    url = f"{BASE}/v1/{path}?{urllib.parse.urlencode(query)}"
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url, data, HEADERS), timeout=20) as answer:
        got = json.load(answer)
    if got["code"] != 0:
        raise ValueError(got["msg"])
    return got["data"]

def insist(path, body=None, **query):
    for attempt in range(12):
        try:
            return ask(path, body, **query)
        except (OSError, ValueError, KeyError, TypeError):
            time.sleep(min(3_600, 5 * 2**attempt))
    sys.exit(3)

def index(chain):
    tokens = insist("getAssetsByChain", chain=chain)["list"]
    return next(token for token in tokens if token["symbol"] == "USDT")

here, there = index("ARB"), index("BNB")
code = 0
for number in range(8):
    file = STATE / f"{number}.json"
    amount = (10 + number) * 10 ** here["decimals"]
    time.sleep(PAUSE)
    if not file.exists():
        pair = {"symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
        quote = insist("getBridgeQuote", amount=amount, **pair)
        least = int(quote["outAmount"]) * 94 // 100
        tx = "0x" + hashlib.sha256(f"{amount}".encode()).hexdigest()
        certificate = {"fromAmount": str(amount), "fromIndex": str(here["index"]),
            "fromChain": "ARB", "fromAddr": ME, "certHash": tx, "fromPublicKey": "",
            "signature": "1"}
        body = {"channel": "demo", "execStrategy": "", "extra": "", "orderType": "1",
            "slippage": "0", "sourceCerts": json.dumps(certificate).encode().hex(),
            "timeout": "0", "toAddr": ME, "toChain": "BNB", "toIndex": str(there["index"]),
            "triggerPrice": "0"}
        file.write_text(json.dumps({"tx": tx, "body": body, "least": least}))
    bill = json.loads(file.read_text())
    order = insist("submitOrder", bill["body"])["id"]
    status = ""
    for look in range(200):
        time.sleep(4)
        try:
            seen = ask("checkOrder", id=order)
            status, out = seen["status"], int(seen["amountOut"] or 0)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if status in ("Succeeded", "Failed", "Dropped", "Refunded"):
            break
    if status != "Succeeded" or out < bill["least"]:
        insist("submitTicket", {"hash": bill["tx"], "chain": "ARB"})
        code = 1
sys.exit(code)
"""


def main() -> None:
    """Print a line for each way to search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, pause in (("client.py", 0), ("sleeper.py", 2_700)):
            text = _CLIENT.replace("PAUSE", str(pause))
            (folder / file).write_text(text)
        mock = (options.python, "-m", "mockserver", "survive", "--jobs", str(options.jobs))
        many = ("--budget", str(options.runs))
        ways = {
            f"{options.runs} runs": (*mock, *many, "--", options.python, "client.py"),
            f"{options.runs} runs, asleep": (*mock, *many, "--", options.python, "sleeper.py"),
            "--quick": (*mock, "--quick", "--", options.python, "client.py"),
        }
        # What has to be compiled is compiled before anything is measured.
        _spent((*mock, "--budget", "1", "--", options.python, "client.py"), folder)
        print(f"{options.rounds} rounds, medians{'':10}{'wall s':>8}{'CPU s':>8}   report")
        for way, command in ways.items():
            rows = [_spent(command, folder) for _ in range(options.rounds)]
            wall = statistics.median(row[0] for row in rows)
            cpu = statistics.median(row[1] for row in rows)
            # Each as it is known: a busy machine takes minutes for all.
            print(f"{way:28}{wall:8.2f}{cpu:8.2f}   {rows[-1][2]}", flush=True)


def _spent(command: tuple[str, ...], folder: Path) -> tuple[float, float, str]:
    """Return wall and CPU seconds of a command with all that it starts, and what it has tried."""
    variables = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    began, used = time.perf_counter(), _cpu()
    ended = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    taken = time.perf_counter() - began, _cpu() - used
    lines = [line for line in ended.stdout.splitlines() if re.match(r"\d+ ", line)]
    return *taken, lines[0] if lines else ended.stdout[-300:] + ended.stderr[-300:]


def _cpu() -> float:
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


if __name__ == "__main__":
    main()
