"""What three ways of testing notice of the same breaks: ours, plain Schemathesis, a fixed list.

Run: `python -m benchmarks.conformance [--every N] [--examples N] [--without schemathesis] [BREAK]`.

Each break is a mode of the mock, in a world of its own. *Ours* is `crosschain-mock conform` with
submissions armed, and again reading only. *Schemathesis* is its command with our OpenAPI documents
as they are, default checks, all phases; what it says of the unbroken mock already is not counted.
*Fixed list* is the example of every operation with the answers held against the schemas. Requests
and accepted submissions are counted by the mock, seconds are wall time of one after the other.
Schemathesis takes some twenty seconds a break: `--every 8` takes every eighth break of a layer.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from mockserver import __version__, jsontext
from mockserver.conformance.options import Options
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.request_draft import draft_of
from mockserver.conformance.session.target import Target
from mockserver.contract import Operation, load, openapi
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.selftest import ARMED
from mockserver.testing import MockServer, MockWorld, running

Told = frozenset[tuple[str, str]]
Way = Callable[[MockWorld], Told]


@dataclass
class Tally:
    """What one way of testing came to."""

    found: dict[str, int] = field(default_factory=dict)
    alarms: int = 0
    requests: int = 0
    accepted: int = 0
    seconds: float = 0.0
    runs: int = 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="BREAK")
    parser.add_argument("--every", type=int, default=1, help="take every Nth break of a layer")
    parser.add_argument("--examples", type=int, default=5, help="Schemathesis' -n")
    parser.add_argument("--without", choices=["schemathesis"], help="leave the slow one out")
    options = parser.parse_args()
    chosen = [CATALOGUE[name] for name in options.names] or _sample(options.every)
    breaks = [item for item in chosen if not item.control]
    controls = [item for item in chosen if item.control]
    with tempfile.TemporaryDirectory() as folder, running(clock="auto", refusals="allow") as mock:
        ways: dict[str, Way] = {
            "ours": _ours(armed=True),
            "ours, reading": _ours(armed=False),
            "fixed list": _fixed_list,
        }
        if options.without != "schemathesis":
            ways["Schemathesis"] = _schemathesis(Path(folder), options.examples)
        tallies = {name: _tally(mock, way, breaks, controls) for name, way in ways.items()}
    _print(breaks, controls, tallies)


def _sample(every: int) -> list[Break]:
    """Return every Nth break of each layer, and every Nth control."""
    groups: dict[tuple[str, bool], list[Break]] = {}
    for item in CATALOGUE.values():
        groups.setdefault((item.layer.value, item.control), []).append(item)
    return [item for group in groups.values() for item in group[::every]]


def _tally(mock: MockServer, way: Way, breaks: Sequence[Break], controls: Sequence[Break]) -> Tally:
    usual = Tally()
    # Twice: what comes and goes on the unbroken mock is no finding about a break.
    known = _told(mock, way, (), usual) | _told(mock, way, (), usual)
    tally = Tally()
    for item in breaks:
        if _told(mock, way, (item.name,), tally) - known:
            layer = item.layer.value
            tally.found[layer] = tally.found.get(layer, 0) + 1
    for item in controls:
        said = _told(mock, way, (item.name,), tally) - known
        tally.alarms += any(verdict != item.verdict for _, verdict in said)
    return tally


def _told(mock: MockServer, way: Way, names: tuple[str, ...], tally: Tally) -> Told:
    with mock.world("benchmark", breaks=names) as world:
        began = time.perf_counter()
        told = way(world)
        tally.seconds += time.perf_counter() - began
        writes = {operation.id for operation in load() if operation.writes}
        with world.hosted() as hosted:
            tally.requests += len(hosted.journal)
        tally.accepted += sum(
            len(world.requests(operation, refused=False)) for operation in sorted(writes)
        )
        tally.runs += 1
    return told


def _ours(*, armed: bool) -> Way:
    options = Options(arming=ARMED) if armed else Options()

    def way(world: MockWorld) -> Told:
        result = run(Target(world.base_url, world.base_url), options)
        return frozenset(
            (outcome.id, outcome.verdict_of(finding).value)
            for outcome in result.outcomes
            for finding in outcome.findings
        )

    return way


def _fixed_list(world: MockWorld) -> Told:
    return frozenset(
        (operation.id, what)
        for operation in load()
        for what in _held_against_the_schema(world, operation)
    )


def _held_against_the_schema(world: MockWorld, operation: Operation) -> Iterator[str]:
    status, body = _sent(world, operation)
    try:
        value = json.loads(body)
    except ValueError:
        yield "violation"
        return
    exact = jsontext.decode(json.dumps(value).encode()) if _plain(value) else value
    if status != 200 or operation.response_violations(exact):
        yield "violation"


def _plain(value: object) -> bool:
    """Whether JSON has a form for it; the standard reader lets NaN through."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _sent(world: MockWorld, operation: Operation) -> tuple[int, bytes]:
    request = draft_of(operation.row["example"], operation).request(operation)
    query = f"?{request.query}" if request.query else ""
    http = HttpRequest(
        f"{world.base_url}{request.path}{query}",
        data=request.body or None,
        headers=dict(request.headers.items_sent),
        method=request.method,
    )
    try:
        with urlopen(http, timeout=10) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, b""
    except (OSError, HTTPException):
        return 0, b""


def _schemathesis(folder: Path, examples: int) -> Way:
    for generation in ("v1", "v2"):
        document = openapi.document(load(), generation, version=__version__, server="")
        (folder / f"{generation}.json").write_bytes(jsontext.encode(document))

    def way(world: MockWorld) -> Told:
        told: set[tuple[str, str]] = set()
        for generation in ("v1", "v2"):
            told |= _schemathesis_run(folder, generation, world.base_url, examples)
        return frozenset(told)

    return way


def _schemathesis_run(
    folder: Path, generation: str, url: str, examples: int
) -> set[tuple[str, str]]:
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{generation}.json"]
    command += ["--url", url, "-n", str(examples), "--seed", "1", "--continue-on-failure"]
    command += ["--generation-database", "none", "--report-json-path", str(report)]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if not report.exists():
        return set()
    failures = json.loads(report.read_text("utf-8"))["failures"]
    return {
        (f"{failure['code']} {operation}", "violation")
        for failure in failures
        for operation in map(str, failure["operations"])
    }


def _print(breaks: Sequence[Break], controls: Sequence[Break], tallies: dict[str, Tally]) -> None:
    layers = dict.fromkeys(item.layer.value for item in breaks)
    totals = {layer: sum(item.layer.value == layer for item in breaks) for layer in layers}
    names = list(tallies)
    print(f"{len(breaks)} breaks, {len(controls)} controls, one run each\n")
    print(f"{'breaks found':24}{'of':>6}" + "".join(f"{name:>16}" for name in names))
    for layer, total in totals.items():
        cells = "".join(f"{tallies[name].found.get(layer, 0):>16}" for name in names)
        print(f"{layer:24}{total:>6}{cells}")
    _row("all", len(breaks), [str(sum(tallies[name].found.values())) for name in names])
    _row("false alarms", len(controls), [str(tallies[name].alarms) for name in names])
    runs = [max(tallies[name].runs, 1) for name in names]
    _row(
        "requests a run",
        "",
        [_each(tallies[n].requests, r) for n, r in zip(names, runs, strict=True)],
    )
    _row(
        "submissions accepted",
        "",
        [_each(tallies[n].accepted, r) for n, r in zip(names, runs, strict=True)],
    )
    seconds = [tallies[name].seconds / r for name, r in zip(names, runs, strict=True)]
    _row("seconds a run", "", [f"{value:.2f}" for value in seconds])
    _row("seconds, ratio to ours", "", [f"{value / seconds[0]:.2f}" for value in seconds])


def _each(total: int, runs: int) -> str:
    return f"{total / runs:.1f}"


def _row(name: str, of: object, cells: Sequence[str]) -> None:
    print(f"{name:24}{of!s:>6}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
