"""What several processes and a state folder cost: CPU of a request, rate, and a restart.

Run: `python -m benchmarks.scaling [--rounds N] [--seconds S] [--workers 1,2,4] [--only PART]
[--one-core]`. Linux only.

The servers are up at once and take turns in short slices; ratios are taken inside a round, then
their median. Two load generators send to each, processes of their own, each connection to a world
of its own. CPU is that of all processes of a server. The machine may have no more cores than
servers and generators together, so the rate is given twice: as it was, and with the generators
counted out (`alone`): what the processes would answer with a core for each, by their CPU seconds.
Two servers that stand apart, with a generator each, show what the machine itself takes for two
processes at once: a virtual core is dearer while its neighbour works. With `--one-core` all
servers share a core and the generators have the others, so that no server has such a neighbour:
its CPU of a request is what the processes themselves cost.
Connections are spread evenly over the processes; how evenly worlds are is told apart.

`restart` makes a folder of many worlds with the store's own code and starts a server with it.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from benchmarks import loadgen
from benchmarks.loadgen import Flow, Load
from benchmarks.processes import SERVER_CORE, Running, started
from benchmarks.serving import checked, data_of, quote, submission
from mockserver.clock import ClockMode
from mockserver.server.assembly import Settings, build
from mockserver.worlds.process_of_world import home_of

GENERATORS = 2
_CONNECTIONS = 32
_WORLDS = 32
_BATCH = 500
"""Worlds that the generator of a folder holds in memory at once."""
_EVEN = 4
"""For so many processes, or half of them, worlds and connections are spread evenly."""
_COUNT = iter(range(random.Random().randrange(1 << 40), 1 << 60))  # noqa: S311 - only new numbers


class Slice(NamedTuple):
    """What one server did in one turn: requests a second, as it was and with a core for each."""

    per_second: float
    alone: float
    cpu_us: float


def _names() -> list[bytes]:
    """Return names of worlds, the nth of which belongs to the nth process of four, and so on."""
    names: list[bytes] = []
    for number in count():
        if home_of(f"w{number}", _EVEN) == len(names) % _EVEN:
            names.append(b"w%d" % number)
        if len(names) == _WORLDS:
            return names
    raise AssertionError("there are always more numbers")


_NAMES = _names()
Make = Callable[[int, int], bytes]
"""Returns the request of a number to a world of a number."""


def _in_world(raw: bytes, world: int) -> bytes:
    """Return a request with the path of a world; that of a negative number is the default one."""
    if world < 0:
        return raw
    method, _, rest = raw.partition(b" ")
    return b"%b /w/%b%b" % (method, _NAMES[world], rest)


def _lists(_: int, world: int) -> bytes:
    return _in_world(loadgen.get("/v1/getChain"), world)


def _quotes(number: int, world: int) -> bytes:
    return _in_world(quote(number), world)


def _orders(number: int, world: int) -> bytes:
    return _in_world(submission(number), world)


LOADS: dict[str, Make] = {"lists": _lists, "quotes": _quotes, "orders": _orders}


async def _sent(
    port: int, make: Make, generator: int, seconds: float, first: int, *, ways: str
) -> tuple[int, int, float]:
    """Send from one generator; return how many were answered, how many failed, and the seconds."""
    per = _CONNECTIONS // GENERATORS
    numbers = iter(range(first + generator, 1 << 62, GENERATORS))
    drawn = random.Random(first + generator)  # noqa: S311

    def flow(place: int) -> Flow:
        own = -1 if ways == "default" else generator * per + place

        def requests() -> Iterator[bytes]:
            for number in numbers:
                yield make(number, drawn.randrange(_WORLDS) if ways == "moving" else own)

        follow = (
            partial(_looked_up, own) if make is _orders and ways in ("kept", "default") else None
        )
        return Flow(requests(), follow, close=ways == "new")

    loads: list[Load] = await asyncio.gather(
        *(loadgen.run(port, flow(place), seconds, 1) for place in range(per))
    )
    return sum(x.requests for x in loads), sum(x.failed for x in loads), loads[0].seconds


def _looked_up(world: int, answer: bytes) -> bytes | None:
    asked = checked(answer)
    return None if asked is None else _in_world(asked, world)


def _generator(
    port: int, load: str, generator: int, seconds: float, first: int, ways: str
) -> tuple[int, int, float]:
    return asyncio.run(_sent(port, LOADS[load], generator, seconds, first, ways=ways))


class Server:
    """The processes of a server under measurement; of several servers where they stand apart."""

    def __init__(self, name: str, running: Running, *apart: Running, workers: int = 1) -> None:
        self.name, self.running, self.workers = name, running, workers
        self._all = (running, *apart)

    def cpu_s(self) -> dict[int, float]:
        """Return the CPU seconds of each of its processes."""
        pids = [running.process.pid for running in self._all]
        for pid in tuple(pids):
            pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return {pid: _cpu_s(pid) for pid in pids}

    def slice(
        self, pool: "multiprocessing.pool.Pool", load: str, ways: str, seconds: float
    ) -> Slice:
        """Send a load from all generators, and return what that came to."""
        before, first = self.cpu_s(), next(_COUNT) * 1_000_000
        ports = [running.port for running in self._all]
        jobs = [
            (ports[number % len(ports)], load, number, seconds, first, ways)
            for number in range(GENERATORS)
        ]
        answers = pool.starmap(_generator, jobs)
        used = sum(self.cpu_s().values()) - sum(before.values())
        total, failed = sum(answer[0] for answer in answers), sum(answer[1] for answer in answers)
        if failed:
            raise SystemExit(f"{self.name}: {failed} of {total} answers of {load} were refusals")
        seconds = max(answer[2] for answer in answers)
        return Slice(total / seconds, self.workers * total / used, used / total * 1e6)


def _cpu_s(pid: int) -> float:
    # The clock that clock_getcpuclockid(3) names, which Python has no function for.
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def _start(
    running: ExitStack, name: str, *options: str, workers: int = 1, core: int | None = None
) -> Server:
    more = ("--workers", str(workers)) if workers > 1 else ()
    return Server(name, _started(running, name, *more, *options, core=core), workers=workers)


def _start_apart(running: ExitStack, count: int, core: int | None) -> Server:
    """Start servers that know nothing of each other: what the machine takes for so many at once."""
    name = f"{count} apart"
    servers = (_started(running, name, core=core) for _ in range(count))
    return Server(name, *servers, workers=count)


def _started(running: ExitStack, name: str, *options: str, core: int | None = None) -> Running:
    command = (sys.executable, "-m", "mockserver", "serve", "--port", "0", *options)
    server = started(name, *command, core=core)
    running.callback(server.kill)
    running.callback(server.process.terminate)
    return server


def _turns(
    servers: list[Server], load: str, ways: str, options: argparse.Namespace
) -> dict[str, list[Slice]]:
    """Let the servers take turns; the first round only warms up."""
    slices: dict[str, list[Slice]] = {server.name: [] for server in servers}
    spare = os.sched_getaffinity(0) - ({SERVER_CORE} if options.one_core else set())
    start = partial(os.sched_setaffinity, 0, spare)
    with multiprocessing.get_context("spawn").Pool(GENERATORS, start) as pool:
        for number in range(options.rounds + 1):
            for server in random.sample(servers, len(servers)):
                turn = server.slice(pool, load, ways, options.seconds)
                slices[server.name] += [turn] if number else []
    return slices


def _told(what: str, slices: dict[str, list[Slice]], base: str) -> None:
    for name, turns in slices.items():
        pairs = list(zip(turns, slices[base], strict=True))
        middle = [statistics.median(turn[place] for turn in turns) for place in range(3)]
        ratios = [
            statistics.median(turn[place] / based[place] for turn, based in pairs)
            for place in range(3)
        ]
        print(
            f"{what:18}{name:14}{middle[0]:9.0f}{ratios[0]:8.2f}{middle[1]:11.0f}{ratios[1]:8.2f}"
            f"{middle[2]:9.1f}{ratios[2]:8.3f}",
            flush=True,
        )


def _workers(options: argparse.Namespace) -> None:
    core = SERVER_CORE if options.one_core else None
    with ExitStack() as running:
        servers = [
            _start(running, f"{workers} workers", workers=workers, core=core)
            for workers in map(int, options.workers.split(","))
        ]
        servers.append(_start_apart(running, GENERATORS, core))
        for load in options.loads.split(","):
            for ways in options.ways.split(","):
                slices = _turns(servers, load, ways, options)
                _told(f"{load}, {ways}", slices, servers[0].name)


def _state(options: argparse.Namespace) -> None:
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory(dir=options.folder))
        servers = [
            _start(running, "memory"),
            *(
                _start(
                    running, f"state {sync}", "--state", f"{folder}/{sync}", "--state-sync", sync
                )
                for sync in ("full", "normal")
            ),
        ]
        data = Path(folder) / "data.json"
        data.write_text(json.dumps(data_of(servers[0].running)))
        peer = (sys.executable, "-m", "benchmarks.peers.plain", str(data))
        plain = started("plain", *peer, core=None)
        running.callback(plain.kill)
        servers.append(Server("plain aiohttp", plain))
        for load in options.loads.split(","):
            slices = _turns(servers, load, "default", options)
            _told(f"{load}, x memory", slices, "memory")
            _told(f"{load}, x plain", slices, "plain aiohttp")


def _spread() -> None:
    """Tell how evenly names of worlds are spread."""
    for workers in (2, 3, 4, 8):
        spread = [0] * workers
        for number in range(10_000):
            spread[home_of(f"world-{number}", workers)] += 1
        even = 10_000 / workers
        worst = max(abs(worlds - even) / even for worlds in spread)
        print(f"10,000 worlds over {workers} workers: {worst:.1%} from even at worst")


def fill(folder: Path, worlds: int, orders: int) -> None:
    """Fill a folder with worlds that have so many orders together."""
    from benchmarks.worlds import _submit  # noqa: PLC0415 - the same orders

    each = orders // worlds
    for first in range(0, worlds, _BATCH):
        settings = Settings(clock=ClockMode.FROZEN, state=folder, state_sync="off")
        service = build(settings)
        for number in range(first, min(first + _BATCH, worlds)):
            hosted = service.worlds.get(f"world-{number}")
            _submit(hosted, each)
            assert hosted.record is not None
            hosted.record.collect()
        service.close()
        print(f"{first + _BATCH} worlds are written", file=sys.stderr)


def _restart(options: argparse.Namespace) -> None:
    with ExitStack() as running:
        folder = options.state
        if folder is None:
            folder = Path(running.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        if not (folder / "worlds.sqlite").exists():
            fill(folder, options.worlds, options.orders)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        for _ in range(options.rounds):
            began = time.perf_counter()
            server = _start(running, "restart", "--clock", "frozen", "--state", str(folder))
            ready = time.perf_counter() - began
            used = sum(server.cpu_s().values())
            began = time.perf_counter()
            first = json.loads(server.running.get("/w/world-7/__mock/orders?limit=1"))
            world = time.perf_counter() - began
            print(
                f"{options.worlds} worlds, {options.orders} orders, {size:.0f} MB: first answer "
                f"after {ready:.2f} s ({used:.2f} s of CPU), "
                f"{server.running.resident_mib():.0f} MiB; "
                f"a world of {first['total']} orders read in {world * 1000:.0f} ms",
                flush=True,
            )
            server.running.stop()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--loads", default="lists,quotes,orders")
    parser.add_argument(
        "--ways",
        default="kept,moving,new",
        help="connections that keep their world, change it each time, or are new each time",
    )
    parser.add_argument("--one-core", action="store_true", help="all servers share a core")
    parser.add_argument("--only", choices=["workers", "state", "restart", "spread"])
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--folder", help="where state folders are made")
    parser.add_argument("--state", type=Path, help="of restart: a folder that is kept")
    options = parser.parse_args()
    if options.only in (None, "spread"):
        _spread()
    if options.only in (None, "workers", "state"):
        print(
            f"{'load':32}{'req/s':>9}{'x':>8}{'alone':>11}{'x':>8}{'CPU us':>9}{'x':>8}"
            f"   ({os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f})"
        )
    if options.only in (None, "workers"):
        _workers(options)
    if options.only in (None, "state"):
        _state(options)
    if options.only in (None, "restart"):
        _restart(options)


if __name__ == "__main__":
    main()
