"""What starting, idling and stopping cost, beside a bare aiohttp application.

Run: `python -m benchmarks.starting [--rounds N] [--python FILE] [--loop asyncio]`. Linux only.

`--python` names the interpreter of another environment: that of `pip install .` has its files
compiled, which a checkout has not. Both servers of a round run one after the other; CPU is the
figure to trust on a busy machine. A server is stopped by SIGTERM while it owes an answer: one that
a fault delays by a minute, one to a client that does not read.
"""

import argparse
import json
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.processes import Running, started

_SETTLED_S = 1.5
_REQUEST = b"GET /v1/getChain HTTP/1.1\r\nHost: localhost\r\n\r\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--loop", default="auto")
    options = parser.parse_args()
    plain = (options.python, str(Path(__file__).parent / "plain.py"))
    mock = (options.python, "-m", "mockserver", "serve", "--port", "0", "--loop", options.loop)
    rows = []
    with tempfile.TemporaryDirectory() as elsewhere:
        # Started where no checkout lies, so that it takes what is installed.
        for _ in range(options.rounds):
            base, ours = _started(*plain, cwd=elsewhere), _started(*mock, cwd=elsewhere)
            rows.append([base, ours])
        print(f"{options.rounds} rounds, medians{'':14}{'ours':>9}{'bare':>9}{'ratio':>8}")
        for number, name in enumerate(("start, wall ms", "start, CPU ms", "idle MiB", "stop, ms")):
            pairs = [(ours[number], base[number]) for base, ours in rows]
            told = [statistics.median(pair[place] for pair in pairs) for place in (0, 1)]
            ratio = statistics.median(one / other for one, other in pairs)
            print(f"{name:32}{told[0]:9.1f}{told[1]:9.1f}{ratio:8.2f}")
        for name, owe in (("delayed answer", _delayed), ("client that does not read", _unread)):
            taken = [_stopped(mock, owe, elsewhere) for _ in range(options.rounds)]
            print(f"stop, {name:26}{statistics.median(taken):9.1f} ms")


def _started(*command: str, cwd: str) -> tuple[float, float, float, float]:
    server = started("it", *command, cwd=cwd)
    cpu = server.cpu_us() / 1000
    # Behind its first answer a server may still be fetching what later ones need.
    time.sleep(_SETTLED_S)
    return server.start_ms, cpu, server.resident_mib(), server.stop()


def _stopped(command: tuple[str, ...], owe: Callable[[Running], socket.socket], cwd: str) -> float:
    server = started("ours", *command, cwd=cwd)
    with owe(server):
        time.sleep(0.1)
        return server.stop()


def _delayed(server: Running) -> socket.socket:
    fault = json.dumps({"kind": "latency", "operation": "getChain", "delay": "60s"}).encode()
    url = f"http://127.0.0.1:{server.port}/__mock/faults"
    urllib.request.urlopen(url, fault, timeout=10).close()
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(_REQUEST)
    return client


def _unread(server: Running) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", server.port))
    client.setblocking(False)
    try:
        while True:
            client.send(_REQUEST * 100)
    except BlockingIOError:
        return client


if __name__ == "__main__":
    main()
