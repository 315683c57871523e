"""What worlds cost: memory of an idle one, time of a fork, a snapshot and a revert.

Run: `python -m benchmarks.worlds [--worlds N]`. Figures are printed beside those of a world with
a hundred orders.
"""

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable

from mockserver.clock import ClockMode
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.submission import OrderRequest
from mockserver.http_messages import Request
from mockserver.scenarios import load_calendar
from mockserver.server.assembly import Settings, build
from mockserver.times_and_durations import parse_instant
from mockserver.worlds.hosted import HostedWorld

_WALLET = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    count = parser.parse_args().worlds
    start = parse_instant("2026-01-01T00:00:00Z")
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=start))
    idle = service.worlds.get("idle")
    print(f"{count} worlds in one process")
    print(f"  memory of an idle world    {_memory(service.worlds.get, count):10.0f} bytes")
    busy = service.worlds.get("busy")
    _submit(busy, 100)
    for name, hosted in (("idle", idle), ("with 100 orders", busy)):
        print(f"a world {name}")
        print(f"  fork                       {_median_us(lambda: hosted.fork('fork')):10.1f} us")  # noqa: B023
        print(f"  snapshot                   {_median_us(lambda: hosted.snapshot('s')):10.1f} us")  # noqa: B023
        print(f"  revert                     {_median_us(lambda: hosted.revert('s')):10.1f} us")  # noqa: B023
        print(f"  dump                       {_median_us(hosted.dump):10.1f} us")
    for calendar in ("random", "rolling-upgrade", "weekend-halt"):
        print(f"three days of {calendar:16} {_three_days_ms(calendar):10.0f} ms")


def _three_days_ms(calendar: str) -> float:
    """Return what it takes to walk three days hour by hour, with a list and a quote each."""
    start = parse_instant("2026-01-01T00:00:00Z")
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=start))
    world = service.worlds.get("default").world
    quote = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
    began = time.perf_counter()
    for window in load_calendar(calendar, start_ms=start + 3_600_000):
        world.outages.suspend(window)
    for _ in range(72):
        service.answer(Request("GET", "/v1/getChain"))
        service.answer(Request("GET", "/v1/getBridgeQuote", quote))
        world.time.advance(3_600_000)
    return (time.perf_counter() - began) * 1000


def _memory(get: Callable[[str], HostedWorld], count: int) -> float:
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(count):
        get(f"world-{number}")
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / count


def _submit(hosted: HostedWorld, count: int) -> None:
    source, target = hosted.world.scenario.catalog.ends("USDT", "ARB", "BNB")
    for number in range(count):
        request = OrderRequest(
            generation=OrderGeneration.V2,
            kind=OrderKind.BRIDGE,
            source=source,
            target=target,
            amount=10_000_000,
            sender=_WALLET,
            recipient=_WALLET,
            cert_hash=f"0x{number + 1:064x}",
        )
        hosted.world.orders.submit(request)


def _median_us(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(500):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e6


if __name__ == "__main__":
    main()
