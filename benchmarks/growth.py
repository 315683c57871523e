"""How long requests take as a world fills, and as a server fills with worlds.

Run: `python -m benchmarks.growth [--orders N] [--worlds N] [--write FOLDER]`. The service is asked
without a socket; columns are medians of CPU time in microseconds at so many orders (or worlds), the
last one is the growth from the first to the last. All orders are paid by one address, which is the
hardest case for balances. Answers that are long in the making stand apart: they are sent as they
are made, and what counts is how long others wait for the next piece. `--orders 1000000` is all that
a world takes; it needs 2 GiB and two minutes for every million submissions on a quiet core. Linux
only.
"""

import argparse
import gc
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from benchmarks.orders import WALLET, order_body
from mockserver import __version__
from mockserver.clock import ClockMode
from mockserver.http_messages import Headers, Request, Response
from mockserver.server.assembly import Settings, build
from mockserver.server.process import rarely_collected
from mockserver.server.service import Service
from mockserver.times_and_durations import parse_instant

_SIGNED = Headers([("Evmaddress", WALLET), ("Signature", "ab" * 65)])
_USDT = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"
_NUMBERS = count(1)


_MORE = 1_000
"""How many orders and worlds are left free for what is measured."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=100_000)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--write", type=Path, help="where to put the tables and the versions")
    options = parser.parse_args()
    with rarely_collected(), _watched() as pauses:
        told = [*_orders(options.orders), "", *_worlds(options.worlds)]
    told.append(
        _said(
            f"{'looks of the garbage collector':40}{len(pauses):10}, {sum(pauses) * 1000:.0f} ms "
            f"in all, {max(pauses, default=0) * 1000:.1f} ms at worst"
        )
    )
    if options.write is not None:
        (options.write / "growth-figures.md").write_text(_page(told))


@contextmanager
def _watched() -> Iterator[list[float]]:
    """Yield the CPU seconds of each look of the collector, as they come."""
    pauses: list[float] = []
    began = 0.0

    def looked(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.process_time()
        else:
            pauses.append(time.process_time() - began)

    gc.callbacks.append(looked)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(looked)


def _page(told: list[str]) -> str:
    where = f"{datetime.now(UTC):%Y-%m-%d}, crosschain-mock {__version__}"
    lines = [
        "# Growth, measured\n",
        "<!-- Made by `benchmarks.growth --orders 1000000 --write docs/explanation`. -->\n",
        f"{where}, Python {platform.python_version()}; medians of CPU time in microseconds.\n",
        "```text",
        *told,
        "```",
    ]
    return "\n".join(lines) + "\n"


def _orders(most: int) -> Iterator[str]:
    service, most = _service(), most - _MORE
    sizes = [size for size in (1, 1_000, 100_000) if size < most] + [most]
    columns: list[dict[str, float]] = []
    before = _resident()
    for size in sizes:
        while _held(service) < size:
            _send(service, _submission())
        if size == most:
            yield _said(f"{'memory of a kept order':40}{(_resident() - before) / size:10.0f} bytes")
        columns.append({name: _median(service, make) for name, make in _requests().items()})
    yield from _table("orders in a world", sizes, columns)
    searches = (("orders", ""), ("orders", "find=zz"), ("orders", _PENDING))
    for path, query in (("dump", ""), *searches, ("audit", ""), ("lint", "")):
        yield _in_pieces(service, path, query)


def _worlds(most: int) -> Iterator[str]:
    service = _service()
    sizes = [size for size in (1, 100) if size < most] + [most - 100]
    columns = []
    for size in sizes:
        for number in range(len(service.worlds), size):
            _send(service, Request("GET", f"/w/w{number}/v1/getPrice", _PRICE))
        columns.append({name: _median(service, make, 20) for name, make in _served().items()})
    yield from _table("worlds of a server", sizes, columns)
    yield _in_pieces(service, "worlds", "")


def _in_pieces(service: Service, path: str, query: str) -> str:
    """Tell what a long answer takes, and how long others wait for its pieces, CPU time."""
    began = time.process_time()
    delivery = service.answer(Request("GET", f"/__mock/{path}", query))
    waits, size = [time.process_time() - began], len(delivery.response.body)
    for piece in delivery.parts or ():
        size += len(piece.body if isinstance(piece, Response) else piece)
        waits.append(time.process_time() - began - sum(waits))
    name = f"GET {path}?{query}" if query else f"GET {path}"
    return _said(
        f"{name:40}{sum(waits) * 1000:10.0f} ms, {size / 1e6:.1f} MB; others wait "
        f"{max(waits) * 1000:.1f} ms at most"
    )


_UNRESERVED = "ffffffff"
"""The end of hashes that ask for nothing."""
_VERIFIED = {"operation": "v2.checkOrder", "atLeast": 1}
_PRICE = f"chain=ARB&contractAddress={_USDT}&symbol=USDT"
_PENDING = "status=Pending&newest=true&limit=20"
_QUOTE = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
_BALANCE = f"chain=ARB&contractAddress={_USDT}&address={WALLET}"


def _served() -> dict[str, Callable[[], Request]]:
    """Return the requests that every world may be sent."""
    return {
        "getChain": lambda: Request("GET", "/v1/getChain"),
        "getBridgeQuote": lambda: Request("GET", "/v1/getBridgeQuote", _QUOTE),
        "getBalance": lambda: Request("GET", "/v1/getBalance", _BALANCE),
        "submitOrder": _submission,
        "new world": lambda: _control("POST", "/worlds", {"key": f"new-{next(_NUMBERS)}"}),
    }


def _requests() -> dict[str, Callable[[], Request]]:
    """Return what is measured as a world fills, by name."""
    page = "limit=20&newest=true"
    return {
        "submitOrder": _submission,
        "checkOrder": lambda: Request("GET", "/v1/checkOrder", "id=30000000001"),
        "getBalance": lambda: Request("GET", "/v1/getBalance", _BALANCE),
        "getBridgeQuote": lambda: Request("GET", "/v1/getBridgeQuote", _QUOTE),
        "submitTicket": _ticket,
        "checkTicket": lambda: Request("GET", "/v1/checkTicket", "ticketId=1"),
        "getAllTicketByAddress": lambda: Request(
            "GET", "/v1/getAllTicketByAddress", f"address={WALLET}&filter=Unknown"
        ),
        "GET journal?limit=100": lambda: Request("GET", "/__mock/journal", "limit=100"),
        "GET orders, first page": lambda: Request("GET", "/__mock/orders", "limit=20"),
        "GET orders, newest page": lambda: Request("GET", "/__mock/orders", page),
        "GET ground": lambda: Request("GET", "/__mock/ground"),
        "GET orders/ID": lambda: Request("GET", "/__mock/orders/30000000001"),
        "POST verify": lambda: _control("POST", "/verify", _VERIFIED),
        "GET check": lambda: Request("GET", "/__mock/check"),
        "POST snapshots": lambda: _control("POST", "/snapshots", {"name": "again"}),
        "POST revert": lambda: _control("POST", "/revert", {"name": "again"}),
        "GET orders, newest, after it": lambda: Request("GET", "/__mock/orders", page),
        "POST fork": lambda: _control("POST", "/fork", {"to": "fork"}),
    }


def _submission() -> Request:
    body = order_body(10_000_000, WALLET, f"0x{next(_NUMBERS):056x}{_UNRESERVED}")
    return Request("POST", "/v1/submitOrder", "", _SIGNED, body)


def _ticket() -> Request:
    body = json.dumps({"hash": f"0x{1:056x}{_UNRESERVED}", "chain": "ARB"}).encode()
    return Request("POST", "/v1/submitTicket", "", _SIGNED, body)


def _control(method: str, path: str, body: object) -> Request:
    return Request(method, f"/__mock{path}", "", Headers(), json.dumps(body).encode())


def _service() -> Service:
    start = parse_instant("2026-01-01T00:00:00Z")
    return build(Settings(clock=ClockMode.FROZEN, start_ms=start))


def _held(service: Service) -> int:
    return service.worlds.get("default").world.orders.count()


def _send(service: Service, request: Request) -> None:
    response = service.answer(request).response
    ours = request.path.startswith("/__mock")
    assert response.status == 200, response
    assert ours or b'"code":0' in response.body, response


def _took(service: Service, request: Request) -> float:
    began = time.process_time()
    _send(service, request)
    return (time.process_time() - began) * 1e6


def _median(service: Service, make: Callable[[], Request], times: int = 51) -> float:
    return statistics.median(_times(service, make, times))


def _times(service: Service, make: Callable[[], Request], times: int) -> Iterator[float]:
    for _ in range(times):
        yield _took(service, make())
        # A fork counts as much as its world against what a server keeps.
        service.worlds.drop("fork")


def _table(title: str, sizes: list[int], columns: list[dict[str, float]]) -> Iterator[str]:
    yield _said(f"{title:32}" + "".join(f"{size:>12}" for size in sizes) + f"{'growth':>9}")
    for name, first in columns[0].items():
        cells = "".join(f"{column[name]:12.0f}" for column in columns)
        yield _said(f"{name:32}{cells}{columns[-1][name] / first:9.2f}")


def _said(line: str) -> str:
    """Print a line at once, as the next one may take minutes."""
    print(line, flush=True)
    return line


def _resident() -> int:
    """Return how many bytes of memory the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


if __name__ == "__main__":
    main()
