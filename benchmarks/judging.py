"""What judging a service costs: CPU of ours a request, and the seconds of a run.

Run: `python -m benchmarks.judging [--rounds N]`. Linux only.

The mock is judged on a core of its own. CPU is that of the judging process alone, divided by the
requests it sent; what imports take, and the first run, which compiles the schemas, stand apart.
*Planned* sends what is planned for any service; *usual* adds edges of inputs and generated
requests, as for a service on this machine. The last rows are the command `crosschain-mock conform`
from its start to its end.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

from benchmarks.processes import pinned, started

_HEAD = ("CPU s", "wall s", "requests", "CPU ms each")


class Spent(NamedTuple):
    """What a run took: CPU and wall time in seconds, and how many requests it sent."""

    cpu: float
    wall: float
    requests: int = 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    mock = started("mock", sys.executable, "-m", "mockserver", "serve", "--port", "0")
    url = f"http://127.0.0.1:{mock.port}"
    try:
        pinned(1)
        print(f"{rounds} rounds, medians{'':18}" + "".join(f"{title:>13}" for title in _HEAD))
        _within_a_process(url, rounds)
        for name, options in (("planned", _PLANNED), ("usual", ())):
            _row(f"conform, {name}", [_commanded(url, *options) for _ in range(rounds)])
    finally:
        mock.kill()


_PLANNED = ("--no-edges", "--no-delivery", "--examples", "0")


def _within_a_process(url: str, rounds: int) -> None:
    """Tell what imports, the first run and later runs of one process take."""
    began = _now()
    from mockserver.conformance.options import Options, with_generation  # noqa: PLC0415 - measured
    from mockserver.conformance.runs.runner import run  # noqa: PLC0415
    from mockserver.conformance.session.target import Target  # noqa: PLC0415

    _row("imports", [_since(began)])
    target = Target(url, url)
    kinds = {"planned": Options(), "usual": with_generation(Options(), target)}
    for name, options in kinds.items():

        def once(options: Options = options) -> Spent:
            began = _now()
            requests = run(target, options).requests
            return _since(began)._replace(requests=requests)

        _row(f"first run, {name}", [once()])
        _row(f"later runs, {name}", [once() for _ in range(rounds)])


def _commanded(url: str, *options: str) -> Spent:
    """Return what the command takes from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = (sys.executable, "-m", "mockserver", "conform", url, "--report", f"json={report}")
        began, before = time.perf_counter(), _children()
        subprocess.run((*command, *options), capture_output=True, check=True)
        spent = Spent(_children() - before, time.perf_counter() - began)
        return spent._replace(requests=json.loads(report.read_text())["requests"]["total"])


def _children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _now() -> Spent:
    return Spent(time.process_time(), time.perf_counter())


def _since(began: Spent) -> Spent:
    now = _now()
    return Spent(now.cpu - began.cpu, now.wall - began.wall)


def _row(name: str, runs: list[Spent]) -> None:
    cpu, wall, requests = (statistics.median(column) for column in zip(*runs, strict=True))
    each = f"{cpu / requests * 1000:13.2f}" if requests else ""
    print(f"{name:36}{cpu:13.2f}{wall:13.2f}{requests or '':>13}{each}", flush=True)


if __name__ == "__main__":
    main()
