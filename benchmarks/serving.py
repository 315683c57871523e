"""What serving costs, beside plain aiohttp doing the same work: requests a second, CPU, latency.

Run: `python -m benchmarks.serving [--rounds N] [--seconds S] [--only LOAD] [--write FOLDER]`.
Linux only.

All servers are up at once, each on the same one core, the client on another. They take turns in
short slices; ratios are taken inside a round, then their median. Where other programs use the
machine, `CPU us` (of the server, for a request) is the figure to trust. `--npm FOLDER` names a
folder where `npm install express@4 ajv@8 @stoplight/prism-cli@5 wiremock@3` was run, and adds those
that it finds: Express, Prism, and WireMock (it takes Java) with a journal and without. Prism
answers constant examples, WireMock keeps no orders. `--server NAME=COMMAND` adds any server that
prints its address. `--write` puts a table and a chart with the date and the versions into a folder.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from benchmarks import loadgen
from benchmarks.chart import chart, table
from benchmarks.loadgen import Flow
from benchmarks.orders import WALLET, order_body
from benchmarks.peers import wiremock
from benchmarks.processes import Running, free_port, pinned, started, started_at
from mockserver.contract import load

_RUN = random.Random().randrange(1 << 60)  # noqa: S311 - only makes requests new


def quote(number: int) -> bytes:
    """Return a request for a quote that was never asked for before."""
    amount = 10_000_000 + number
    return loadgen.get(f"/v1/getBridgeQuote?amount={amount}&symbol=USDT&fromChain=ARB&toChain=BNB")


def submission(number: int) -> bytes:
    """Return a submission that no other repeats."""
    sender, cert_hash = f"0x{_RUN + number:040x}", f"0x{(_RUN << 64) + number:064x}"
    body = order_body(10_000_000 + number, sender, cert_hash)
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
        "refusals": lambda: Flow(_new(refused)),
        "connections": lambda: Flow(_new(quote), close=True),
    }


_COUNT = iter(range(1 << 60))


def _new(make: Callable[[int], bytes]) -> Iterator[bytes]:
    return (make(number) for number in _COUNT)


Row = tuple[float, float, float, float, float, float]
_HEAD = ("req/s", "x plain", "CPU us", "x plain", "p50 ms", "p99 ms")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--only", action="append")
    parser.add_argument("--server", action="append", default=[], help="NAME=COMMAND")
    parser.add_argument("--npm", type=Path, help="where Express and ajv are installed")
    parser.add_argument("--write", type=Path, help="where to put a table and a chart")
    options = parser.parse_args()
    pinned(1)
    with tempfile.TemporaryDirectory() as folder:
        servers = _servers(Path(folder), options)
        rows = {}
        for name, make in flows().items():
            if options.only and name not in options.only:
                continue
            rows[name] = _measured(servers, make, options)
        print(f"{'':26}" + "".join(f"{title:>10}" for title in _HEAD))
        for name, found in rows.items():
            for server in servers:
                cells = "".join(f"{value:10.2f}" for value in found[server.name])
                print(f"{name:12}{server.name:14}{cells}")
        facts = [_facts(server) for server in servers]
        print("\n".join(facts))
        if options.write is not None:
            _write(options.write, rows, facts)


def _facts(server: Running) -> str:
    """Stop a server and return what it took: to start, in memory after the loads, to stop."""
    memory = server.resident_mib()
    return (
        f"{server.name}: first answer after {server.start_ms:.0f} ms, {memory:.1f} MiB after the "
        f"loads, stopped within {server.stop():.0f} ms"
    )


def _write(folder: Path, rows: Mapping[str, Mapping[str, Row]], facts: list[str]) -> None:
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("aiohttp", "jsonschema", "jsonschema-rs")
    )
    where = f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {versions}"
    told = [
        "# Speed, measured\n",
        "<!-- Made by `python -m benchmarks.serving --write docs/explanation`. -->\n",
        (
            f"{where}; {os.cpu_count()} cores, one for the server; medians of interleaved slices. "
            f"Load average of the machine meanwhile: {os.getloadavg()[0]:.1f}; figures of a busy "
            "machine tell less.\n"
        ),
        "![CPU for a request](speed-figures.svg)\n",
        table(rows),
        "\n".join(f"- {fact}" for fact in facts) + "\n",
    ]
    (folder / "speed-figures.md").write_text("\n".join(told))
    (folder / "speed-figures.svg").write_text(chart(rows))


def _servers(folder: Path, options: argparse.Namespace) -> list[Running]:
    mock = (sys.executable, "-m", "mockserver", "serve", "--port", "0")
    ours = started("ours, base", *mock, "--loop", "asyncio")
    data = folder / "data.json"
    data.write_text(json.dumps(_data(ours)))
    script = str(Path(__file__).parent / "peers" / "plain.py")
    found = [ours, started("plain", sys.executable, script, str(data))]
    if find_spec("uvloop") is not None:
        found.insert(0, started("ours, speed", *mock, "--loop", "uvloop"))
    if options.npm is not None:
        found += _of_npm(options.npm.resolve() / "node_modules", folder, data)
    for item in options.server:
        name, _, command = item.partition("=")
        found.append(started(name, "sh", "-c", f"exec {command}"))
    return found


def _of_npm(modules: Path, folder: Path, data: Path) -> Iterator[Running]:
    """Start those that are installed of Express with ajv, Prism, and WireMock in both ways."""
    if (modules / "express").exists():
        script = str(Path(__file__).parent / "peers" / "express.js")
        yield started("express", "env", f"NODE_PATH={modules}", "node", script, str(data))
    if (modules / "@stoplight" / "prism-cli").exists():
        document = Path(__file__).parents[1] / "docs" / "reference" / "openapi-v2.json"
        port = free_port()
        command = (str(modules / ".bin" / "prism"), "mock", "-v", "silent", "-p", str(port))
        yield started_at("prism", port, *command, str(document))
    for jar in sorted((modules / "wiremock" / "build").glob("*.jar")):
        wiremock.write(folder / "wiremock", json.loads(data.read_text()))
        root = ("java", "-jar", str(jar), "--root-dir", str(folder / "wiremock"))
        # The client of this benchmark reads no chunks.
        whole = ("--use-chunked-encoding", "never")
        for name, journal in (
            ("wiremock", ("--max-request-journal-entries", "1000")),
            ("its journal off", ("--no-request-journal",)),
        ):
            port = free_port()
            yield started_at(name, port, *root, *whole, "--port", str(port), *journal)


def _data(ours: Running) -> dict[str, object]:
    submission = load().operation("v2.submitOrder").request_schema["properties"]["body"]
    return {
        "chains": json.loads(ours.get("/v1/getChain"))["data"],
        "assets": json.loads(ours.get("/v1/getAssets"))["data"],
        "price": "1",
        "submission": submission,
    }


def _measured(
    servers: list[Running], make: Callable[[], Flow], options: argparse.Namespace
) -> dict[str, Row]:
    slices: dict[str, list[tuple[float, float, float, float]]] = {
        server.name: [] for server in servers
    }
    for number in range(options.rounds + 1):
        for server in random.sample(servers, len(servers)):
            before = server.cpu_us()
            load = asyncio.run(loadgen.run(server.port, make(), options.seconds))
            assert not load.failed, (server.name, load.failed)
            cpu = (server.cpu_us() - before) / max(1, load.requests)
            if number:
                slices[server.name].append(
                    (load.per_second, cpu, load.percentile(0.5), load.percentile(0.99))
                )
    plain = slices["plain"]
    found = {}
    for name, rows in slices.items():
        pairs = list(zip(rows, plain, strict=True))
        found[name] = (
            statistics.median(row[0] for row in rows),
            statistics.median(row[0] / base[0] for row, base in pairs),
            statistics.median(row[1] for row in rows),
            statistics.median(base[1] / row[1] for row, base in pairs),
            statistics.median(row[2] for row in rows),
            statistics.median(row[3] for row in rows),
        )
    return found


if __name__ == "__main__":
    main()
