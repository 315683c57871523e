"""What serving costs, beside plain aiohttp doing the same work: requests a second, CPU, latency.

Run: `python -m benchmarks.serving [--rounds N] [--seconds S] [--only LOAD] [--npm FOLDER]`.
Linux only.

All servers are up at once, each on the same one core, the client on another. They take turns in
short slices, and stand still while it is another's turn (a just-in-time compiler too); ratios are
taken inside a round, then their median. Where other programs use the machine, `CPU us` (of the
server, for a request) is the figure to trust. `--npm FOLDER` names a
folder where `npm install express@4 ajv@8 @stoplight/prism-cli@5 wiremock@3` was run, and adds those
that it finds: Express, Prism, and WireMock (it takes Java) with a journal and without. Prism
answers constant examples, WireMock keeps no orders. pytest-httpserver comes along where it is
installed (`pip install pytest-httpserver`). `--server NAME=COMMAND` adds any server that prints its
address, such as that of an earlier checkout, before and after a change: `--server "before=env -C
FOLDER python -m mockserver serve --port 0 --loop uvloop"`. One that does not start, or owes an
answer for 20 seconds, is told and left out. `--write` puts a table and a chart with the date and
the versions into a folder. The first round of each load only warms up, `--warm` seconds for each
server, as just-in-time compilers want. One load takes servers x (warm + rounds x seconds): all six
with eight servers and five rounds some ten minutes.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks import loadgen
from benchmarks.chart import chart, table
from benchmarks.loadgen import Flow
from benchmarks.orders import WALLET, order_body
from benchmarks.peers import wiremock
from benchmarks.processes import NotServing, Running, free_port, pinned, started, started_at
from mockserver import __version__, jsontext
from mockserver.contract import load, openapi

_RUN = random.Random().randrange(1 << 60)  # noqa: S311 - only makes requests new
_TAIL = "abcd"
"""The end of addresses and hashes, which is no reserved one (docs/reference/reserved.md)."""


def units(number: int) -> int:
    """Return an amount that no other number has; with its six decimals it is no reserved one."""
    return 10_000_001 + 10 * number


def quote(number: int) -> bytes:
    """Return a request for a quote that was never asked for before."""
    return loadgen.get(
        f"/v1/getBridgeQuote?amount={units(number)}&symbol=USDT&fromChain=ARB&toChain=BNB"
    )


def submission(number: int) -> bytes:
    """Return a submission that no other repeats."""
    sender, cert_hash = f"0x{_RUN + number:036x}{_TAIL}", f"0x{(_RUN << 64) + number:060x}{_TAIL}"
    body = order_body(units(number), sender, cert_hash)
    return loadgen.post("/v1/submitOrder", body, _signed(number))


def _signed(number: int) -> dict[str, str]:
    """Return the headers of a submission, which a wallet signs anew each time."""
    return {"Evmaddress": WALLET, "Signature": f"{_RUN + number:0130x}"}


def checked(answer: bytes) -> bytes | None:
    """Return the question how the order stands that an answer tells of; None after that."""
    place = answer.find(b'"id"')
    if place < 0:
        return None
    order_id = answer[place + 4 :].split(b'"', 2)[1].decode()
    return loadgen.get(f"/v1/checkOrder?id={order_id}")


def refused(number: int) -> bytes:
    """Return a submission that lacks a field and has another of the wrong form."""
    _, _, body = submission(number).partition(b"\r\n\r\n")
    told = json.loads(body)
    del told["toChain"]
    told["slippage"] = "much"
    return loadgen.post("/v1/submitOrder", json.dumps(told).encode(), _signed(number))


def mixed(number: int) -> bytes:
    """Return what a client does between orders: a list, some quotes."""
    return loadgen.get("/v1/getChain") if number % 5 == 0 else quote(number)


def flows() -> dict[str, Callable[[], Flow]]:
    """Return the loads by name; each call begins one that repeats no request."""
    return {
        "lists": lambda: Flow(loadgen.repeated(lambda _: loadgen.get("/v1/getChain"))),
        "quotes": lambda: Flow(_new(quote)),
        "orders": lambda: Flow(_new(submission), checked),
        "mixed": lambda: Flow(_new(lambda n: submission(n) if n % 10 == 9 else mixed(n)), checked),
        "refusals": lambda: Flow(_new(refused), refused=True),
        "connections": lambda: Flow(_new(quote), close=True),
    }


_COUNT = iter(range(1 << 60))


def _new(make: Callable[[int], bytes]) -> Iterator[bytes]:
    return (make(number) for number in _COUNT)


Row = tuple[float, float, float, float, float, float]
_HEAD = ("req/s", "x plain", "CPU us", "x plain", "p50 ms", "p99 ms")
_OURS = ("ours, speed", "ours, base")
_WITH_JOURNAL = ("WireMock", "pytest-httpserver")
_ROOT = Path(__file__).parents[1]


class Slice(NamedTuple):
    """What one server did in one turn; CPU is its own, for a request."""

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float


Slices = dict[str, list[Slice]]
"""The turns of each server, one a round."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--warm", type=float, default=10)
    parser.add_argument("--only", action="append")
    parser.add_argument("--server", action="append", default=[], help="NAME=COMMAND")
    parser.add_argument("--npm", type=Path, help="where Express and ajv are installed")
    parser.add_argument("--write", type=Path, help="where to put a table and a chart")
    options = parser.parse_args()
    pinned(1)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        servers = _servers(Path(folder), options, running)
        loads = {
            name: _measured(servers, make, options)
            for name, make in flows().items()
            if not options.only or name in options.only
        }
        rows = {name: _rows(slices) for name, slices in loads.items()}
        print(f"{'':32}" + "".join(f"{title:>10}" for title in _HEAD))
        for name, found in rows.items():
            for server, row in found.items():
                print(f"{name:12}{server:20}" + "".join(f"{value:10.2f}" for value in row))
        added = [server.partition("=")[0] for server in options.server]
        facts = [line for name, slices in loads.items() for line in _compared(name, slices, added)]
        facts += [_facts(server) for server in servers]
        print("\n".join(facts))
        if options.write is not None:
            _write(options.write, rows, facts, _versions(options.npm))


def _facts(server: Running) -> str:
    """Stop a server and return what it took: to start, in memory after the loads, to stop."""
    server.resume()
    memory = server.resident_mib()
    try:
        ended = f"stopped within {server.stop():.0f} ms"
    except NotServing:
        # It was killed; what all were measured for is told.
        ended = "had to be killed"
    return (
        f"{server.name}: first answer after {server.start_ms:.0f} ms, {memory:.1f} MiB after the "
        f"loads, {ended}"
    )


def _compared(load: str, slices: Slices, added: Sequence[str] = ()) -> Iterator[str]:
    """Tell how this mock stands to plain aiohttp, to the fastest peer that keeps a journal, and to
    the servers that were `added`.
    """
    keeping = [name for name in _WITH_JOURNAL if name in slices]
    best = max(keeping, key=lambda name: _median(slices[name], 0), default=None)
    for ours in _OURS:
        if ours not in slices:
            continue
        # Beside plain aiohttp the table has both ratios.
        told = []
        if best is not None:
            told.append(f"{_ratio(slices, ours, best)} {best}, the fastest that keeps a journal")
        told += [f"{_ratio(slices, ours, name)} {name}" for name in added if name in slices]
        tail = statistics.median(
            one.p99_ms / base.p99_ms
            for one, base in zip(slices[ours], slices["plain"], strict=True)
        )
        told.append(f"p99 {tail:.2f} times plain aiohttp's")
        yield f"{load}: {ours}: {'; '.join(told)}"


def _ratio(slices: Slices, ours: str, other: str) -> str:
    pairs = list(zip(slices[ours], slices[other], strict=True))
    speed = statistics.median(one.per_second / two.per_second for one, two in pairs)
    cpu = statistics.median(two.cpu_us / one.cpu_us for one, two in pairs)
    return f"{speed:.2f} times the requests ({cpu:.2f} for the same CPU) of"


def _versions(npm: Path | None) -> str:
    """Return the versions of everything that is measured."""
    names = ("aiohttp", "jsonschema", "jsonschema-rs", "uvloop", "pytest-httpserver")
    found = [f"crosschain-mock {__version__}", f"Python {platform.python_version()}"]
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    for name in ("express", "ajv", "@stoplight/prism-cli", "wiremock") if npm is not None else ():
        package = Path(str(npm), "node_modules", name, "package.json")
        if package.exists():
            found.append(f"{name} {json.loads(package.read_text())['version']}")
    for command in (("node", "--version"), ("java", "--version")) if npm is not None else ():
        with suppress(FileNotFoundError):
            told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            found.append(f"{command[0]} {told.splitlines()[0].removeprefix('v')}" if told else "")
    return ", ".join(filter(None, found))


def _write(
    folder: Path, rows: Mapping[str, Mapping[str, Row]], facts: list[str], versions: str
) -> None:
    told = [
        "# Speed, measured\n",
        "<!-- Made by `python -m benchmarks.serving --write docs/explanation`. -->\n",
        (
            f"{datetime.now(UTC):%Y-%m-%d}, {versions}; {os.cpu_count()} cores, one for the "
            "server; medians of interleaved slices. "
            f"Load average of the machine meanwhile: {os.getloadavg()[0]:.1f}; figures of a busy "
            "machine tell less.\n"
        ),
        "![CPU for a request](speed-figures.svg)\n",
        table(rows),
        "\n".join(f"- {fact}" for fact in facts) + "\n",
    ]
    (folder / "speed-figures.md").write_text("\n".join(told))
    (folder / "speed-figures.svg").write_text(chart(rows))


Start = Callable[[], Running]


def _servers(folder: Path, options: argparse.Namespace, running: ExitStack) -> list[Running]:
    """Start all servers there are; `running` ends them, whatever happens."""
    mock = (sys.executable, "-m", "mockserver", "serve", "--port", "0")
    data = folder / "data.json"
    found: list[Running] = []

    def run(server: Running) -> Running:
        running.callback(server.kill)
        found.append(server)
        return server

    if find_spec("uvloop") is not None:
        run(started("ours, speed", *mock, "--loop", "uvloop"))
    ours = run(started("ours, base", *mock, "--loop", "asyncio"))
    data.write_text(json.dumps(data_of(ours)))
    run(_of_python("plain", "plain", data))
    starts: list[Start] = []
    if find_spec("pytest_httpserver") is not None:
        starts.append(lambda: _of_python("pytest-httpserver", "httpserver", data))
    if options.npm is not None:
        starts += _of_npm(options.npm.resolve() / "node_modules", folder, data)
    for item in options.server:
        name, _, command = item.partition("=")
        starts.append(partial(started, name, "sh", "-c", f"exec {command}"))
    for start in starts:
        try:
            run(start())
        except NotServing as error:
            print(f"left out: {error}")
    return found


def _of_python(name: str, module: str, data: Path) -> Running:
    command = (sys.executable, "-m", f"benchmarks.peers.{module}", str(data))
    return started(name, *command, cwd=str(_ROOT))


def _of_npm(modules: Path, folder: Path, data: Path) -> Iterator[Start]:
    """Yield the starts of those that are installed of Express with ajv, Prism and WireMock."""
    if (modules / "express").exists():
        script = str(Path(__file__).parent / "peers" / "express.js")
        yield partial(started, "Express", "env", f"NODE_PATH={modules}", "node", script, str(data))
    if (modules / "@stoplight" / "prism-cli").exists():
        document = str(folder / "openapi-v2.json")
        contract = load()
        text = jsontext.pretty(openapi.document(contract, "v2", version="benchmark"))
        Path(document).write_text(text, "utf-8")
        yield partial(
            _on_a_port,
            "Prism",
            (str(modules / ".bin" / "prism"), "mock", "-v", "silent", document),
            "-p",
        )
    for jar in sorted((modules / "wiremock" / "build").glob("*.jar")):
        wiremock.write(folder / "wiremock", json.loads(data.read_text()))
        # The client of this benchmark reads no chunks.
        root = ("java", "-jar", str(jar), "--root-dir", str(folder / "wiremock"))
        command = (*root, "--use-chunked-encoding", "never")
        for name, journal in (
            ("WireMock", ("--max-request-journal-entries", "1000")),
            ("WireMock, no journal", ("--no-request-journal",)),
        ):
            yield partial(_on_a_port, name, (*command, *journal), "--port")


def _on_a_port(name: str, command: tuple[str, ...], option: str) -> Running:
    """Start a server that is told its port by an option."""
    port = free_port()
    return started_at(name, port, *command, option, str(port))


def data_of(ours: Running) -> dict[str, object]:
    """Return what peers answer with, as this mock has it."""
    submission = load().operation("v2.submitOrder").request_schema["properties"]["body"]
    return {
        "chains": json.loads(ours.get("/v1/getChain"))["data"],
        "assets": json.loads(ours.get("/v1/getAssets"))["data"],
        "price": "1",
        "submission": submission,
    }


def _measured(
    servers: list[Running], make: Callable[[], Flow], options: argparse.Namespace
) -> Slices:
    """Let the servers take turns; the first round only warms up.

    A peer that fails is left out of this load. Raises `NotServing` where it is no peer.
    """
    slices: Slices = {server.name: [] for server in servers}
    for server in servers:
        server.pause()
    for number in range(options.rounds + 1):
        for server in random.sample(servers, len(servers)):
            if server.name not in slices:
                continue
            try:
                found = _slice(server, make(), options.seconds if number else options.warm)
            except NotServing as error:
                if server.name in (*_OURS, "plain"):
                    raise
                print(f"left out: {error}")
                del slices[server.name]
            else:
                slices[server.name] += [found] if number else []
    return slices


def _slice(server: Running, flow: Flow, seconds: float) -> Slice:
    """Send a server requests for some seconds, and pause it then. Raises `NotServing`."""
    server.resume()
    before = server.cpu_us()
    try:
        load = asyncio.run(loadgen.run(server.port, flow, seconds))
    except (loadgen.Stuck, OSError) as error:
        raise NotServing(f"{server.name}: {error}") from None
    finally:
        server.pause()
    if load.failed:
        raise NotServing(
            f"{server.name}: {load.failed} of {load.requests} answers are not what was asked for: "
            f"{load.example!r}"
        )
    cpu = (server.cpu_us() - before) / max(1, load.requests)
    return Slice(load.per_second, cpu, load.percentile(0.5), load.percentile(0.99))


def _rows(slices: Slices) -> dict[str, Row]:
    """Return the medians of each server."""
    found = {}
    for name, turns in slices.items():
        pairs = list(zip(turns, slices["plain"], strict=True))
        found[name] = (
            _median(turns, 0),
            statistics.median(one.per_second / base.per_second for one, base in pairs),
            _median(turns, 1),
            statistics.median(base.cpu_us / one.cpu_us for one, base in pairs),
            _median(turns, 2),
            _median(turns, 3),
        )
    return found


def _median(turns: list[Slice], place: int) -> float:
    return statistics.median(turn[place] for turn in turns)


if __name__ == "__main__":
    main()
