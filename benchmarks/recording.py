"""What the recorder adds: the time of an answer through it, beside that of the service alone.

Run: `python -m benchmarks.recording [--rounds N] [--requests N]`. Both ways take turns in one run.
"""

import argparse
import http.client
import statistics
import sys
import tempfile
import time

from benchmarks.processes import started

_WAYS = ("alone", "recorded")
_ANSWERS = {
    "price": "/v1/getPrice?symbol=USDT&chain=ARB&contractAddress="
    "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9",
    "chains": "/v1/getChain",
    "assets": "/v1/getAssets",
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--requests", type=int, default=20)
    options = parser.parse_args()
    command = (sys.executable, "-m", "mockserver")
    with tempfile.TemporaryDirectory() as folder:
        service = started("alone", *command, "serve", "--port", "0")
        base = f"http://127.0.0.1:{service.port}"
        recorder = started(
            "recorded", *command, "record", "--port", "0", "--upstream-v2", base, "--out", folder
        )
        ports = {"alone": service.port, "recorded": recorder.port}
        try:
            print(
                f"{'answer':10}{'bytes':>9}{'alone ms':>10}{'recorded ms':>13}{'added':>8}{'x':>7}"
            )
            for name, target in _ANSWERS.items():
                _print(name, target, ports, options)
        finally:
            recorder.stop()
            service.stop()


def _print(name: str, target: str, ports: dict[str, int], options: argparse.Namespace) -> None:
    spent: dict[str, list[float]] = {way: [] for way in _WAYS}
    size = 0
    for number in range(options.rounds + 1):
        for way in _WAYS if number % 2 else reversed(_WAYS):
            found, size = _times(ports[way], target, options.requests)
            # The first round warms up.
            spent[way] += found if number else []
    alone, recorded = (statistics.median(spent[way]) * 1000 for way in _WAYS)
    added, times = recorded - alone, recorded / alone
    print(f"{name:10}{size:9}{alone:10.2f}{recorded:13.2f}{added:8.2f}{times:7.1f}")


def _times(port: int, target: str, count: int) -> tuple[list[float], int]:
    """Return how long answers took, in seconds, one after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    found, size = [], 0
    for _ in range(count):
        began = time.perf_counter()
        connection.request("GET", target)
        size = len(connection.getresponse().read())
        found.append(time.perf_counter() - began)
    connection.close()
    return found, size


if __name__ == "__main__":
    main()
