"""How long `crosschain-mock conform` takes against a mock in another process.

Run: `python -m benchmarks.conform_time [--runs N] [--tree FOLDER]...`. Wall time is from the
command's start to its end; CPU time is told of both processes. With `--tree`, which may be given
twice, the command of another checkout takes turns with that of the first, on the same mock. The
requests are those that the mock has counted, so that a run does what it does for its users; a run
that keeps a journal, whose secrets have to be found first, is a row of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.request import urlopen

_HERE = Path(__file__).parents[1]
_JOURNAL = "run.jsonl"
_MODES = {
    "reading": (),
    "journal": ("--journal", _JOURNAL),
    "armed": ("--arm-writes",),
}
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tree", type=Path, action="append", help="a checkout; by default this")
    options = parser.parse_args()
    trees = options.tree or [_HERE]
    print(f"{'run':10}{'tree':34}{'wall s':>9}{'CPU s':>9}{'of mock':>9}{'requests':>10}")
    with _served(trees[0]) as (url, mock):
        for mode, arguments in _MODES.items():
            rows: dict[Path, list[tuple[float, float, float]]] = {tree: [] for tree in trees}
            requests = 0
            for number in range(options.runs):
                for place, tree in enumerate(trees):
                    world = f"{url}/w/{mode}-{number}-{place}"
                    row = _timed(tree, mock, ("conform", world, *arguments))
                    requests = _requests_of(world)
                    rows[tree].append(row)
            for tree, taken in rows.items():
                wall, own, of_mock = (median(column) for column in zip(*taken, strict=True))
                name = str(tree)[-32:]
                print(f"{mode:10}{name:34}{wall:9.2f}{own:9.2f}{of_mock:9.2f}{requests:10}")


def _timed(tree: Path, mock: int, arguments: tuple[str, ...]) -> tuple[float, float, float]:
    """Return wall time, CPU time and that of the mock, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        at = {_JOURNAL: str(Path(folder) / _JOURNAL)}
        command = [*_command(), *(at.get(argument, argument) for argument in arguments), "--quiet"]
        mock_before, before = _cpu_of(mock), _of_children()
        began = time.perf_counter()
        subprocess.run(
            command, cwd=tree, env=_environment(tree), stdout=subprocess.DEVNULL, check=True
        )
        wall = time.perf_counter() - began
        return wall, _of_children() - before, _cpu_of(mock) - mock_before


def _requests_of(world: str) -> int:
    with urlopen(f"{world}/__mock/journal?limit=1", timeout=60) as answer:
        return int(json.load(answer)["last"])


@contextmanager
def _served(tree: Path) -> Iterator[tuple[str, int]]:
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.json"
        command = [*_command(), "serve", "--port", "0", "--ready-file", str(ready)]
        with subprocess.Popen(
            command,
            cwd=tree,
            env=_environment(tree),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                while not (ready.exists() and ready.read_text("utf-8")):
                    if server.poll() is not None:
                        raise SystemExit("the mock has ended before it was ready")
                    time.sleep(0.05)
                yield json.loads(ready.read_text("utf-8"))["url"], server.pid
            finally:
                server.terminate()


def _command() -> list[str]:
    return [sys.executable, "-m", "mockserver"]


def _environment(tree: Path) -> dict[str, str]:
    # Written bytecode belongs to a start as its users see it.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(tree)}


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_of(pid: int) -> float:
    """Return the CPU time of a running process, as Linux tells it."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


if __name__ == "__main__":
    main()
