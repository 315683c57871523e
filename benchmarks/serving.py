"""What serving costs: CPU a request, requests a second, start-up, memory, beside plain aiohttp.

Run: `python -m benchmarks.serving [--rounds N] [--requests N]`. Linux only (reads /proc).
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import loadgen

_TICKS = os.sysconf("SC_CLK_TCK")
_USDT_ORDER = {
    "channel": "bench",
    "execStrategy": "",
    "extra": "",
    "orderType": "1",
    "slippage": "0",
    "sourceCerts": "7b7d",
    "timeout": "0",
    "toAddr": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "toChain": "BNB",
    "toIndex": "5",
    "triggerPrice": "0",
}
_WALLET = {
    "Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "Signature": "ab" * 65,
}


@dataclass(frozen=True, slots=True)
class Running:
    """A server process that answers on a port; `start_ms` is from its start to the first answer."""

    name: str
    pid: int
    port: int
    start_ms: float

    def cpu_us(self) -> float:
        """Return the CPU time used so far, in microseconds."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS * 1e6

    def resident_mib(self) -> float:
        """Return the resident memory, in MiB."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]


@contextlib.contextmanager
def started(name: str, *command: str) -> Iterator[Running]:
    """Start a server that prints its address, and stop it at the end."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        port = int(re.search(r":(\d+)", line)[1])  # type: ignore[index]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/getChain", timeout=10) as answer:
            answer.read()
        yield Running(name, process.pid, port, (time.perf_counter() - began) * 1000)
    finally:
        process.terminate()
        process.wait(10)


def workloads() -> dict[str, Iterator[bytes]]:
    """Return the endless requests of each workload by its name."""
    order = loadgen.post("/v1/submitOrder", json.dumps(_USDT_ORDER).encode(), _WALLET)
    check = loadgen.get("/v1/checkOrder?id=30000000001")
    quote = "/v1/getBridgeQuote?amount={}&symbol=USDT&fromChain=ARB&toChain=BNB"
    return {
        "getChain": loadgen.repeated(lambda _: loadgen.get("/v1/getChain")),
        "getBridgeQuote": loadgen.repeated(
            lambda number: loadgen.get(quote.format(10_000_000 + number % 997))
        ),
        "submitOrder + checkOrder": loadgen.repeated(lambda number: check if number % 2 else order),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=2000, help="requests a round")
    options = parser.parse_args()
    command = shutil.which("crosschain-mock") or str(
        Path(sys.executable).with_name("crosschain-mock")
    )
    with (
        started("mock", command, "serve", "--port", "0") as ours,
        started(
            "plain aiohttp", sys.executable, str(Path(__file__).with_name("plain.py"))
        ) as plain,
    ):
        print(f"{options.rounds} rounds of {options.requests} requests, 8 connections, medians;")
        print("ratios are taken inside a round: mock / plain aiohttp with constant bytes\n")
        print(
            f"{'workload':26}{'mock us':>9}{'plain us':>10}{'ratio':>7}"
            f"{'mock req/s':>12}{'plain req/s':>13}{'ratio':>7}"
        )
        for name, requests in workloads().items():
            _compare(name, requests, (ours, plain), options.rounds, options.requests)
        _facts("resident memory, MiB", ours.resident_mib(), plain.resident_mib())
    starts = [_start_times(command) for _ in range(options.rounds)]
    _facts("start to first answer, ms", *map(statistics.median, zip(*starts, strict=True)))


def _compare(
    name: str,
    requests: Iterator[bytes],
    servers: tuple[Running, Running],
    rounds: int,
    count: int,
) -> None:
    rows = []
    for _ in range(rounds):
        row = []
        for server in servers:
            before = server.cpu_us()
            load = asyncio.run(loadgen.run(server.port, requests, count))
            row += [(server.cpu_us() - before) / count, load.per_second]
        rows.append(row)
    ours, rate, plain, plain_rate = (
        statistics.median(column) for column in zip(*rows, strict=True)
    )
    cpu = statistics.median(row[0] / row[2] for row in rows)
    speed = statistics.median(row[1] / row[3] for row in rows)
    print(f"{name:26}{ours:9.0f}{plain:10.0f}{cpu:7.2f}{rate:12.0f}{plain_rate:13.0f}{speed:7.2f}")


def _start_times(command: str) -> tuple[float, float]:
    with started("mock", command, "serve", "--port", "0") as ours:
        mock = ours.start_ms
    script = str(Path(__file__).with_name("plain.py"))
    with started("plain", sys.executable, script) as plain:
        return mock, plain.start_ms


def _facts(name: str, ours: float, plain: float) -> None:
    print(f"{name:26}{ours:9.0f}{plain:10.0f}{ours / plain:7.2f}")


if __name__ == "__main__":
    main()
