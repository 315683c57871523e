"""Runs the search over the corpus of clients, and says for each what it has report.

    python -m tests.survive.corpus [--budget N] [--seconds S] [--jobs N] [--json FILE] [FILES]

A row a client: whether it is reported, whether what was reported is the defect that its author
describes, how many failures were tried until the first harm, the smallest failure, time and CPU.
"""

import argparse
import atexit
import fnmatch
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mockserver.errors import CrosschainMockError
from mockserver.survive.api import searched
from mockserver.survive.flows import command_flow
from mockserver.survive.outcomes import RunResult
from mockserver.survive.possible_failures import kinds_named
from mockserver.survive.runs import RunLimits
from mockserver.survive.search import SearchPlan
from mockserver.testing import MockSettings

FOLDER = Path(__file__).parent / "clients"

# The kinds of failures that are the circumstance which an author of a client describes.
CIRCUMSTANCES = {
    "lost answer": ("lost", "gateway", "late", "unreadable", "unsent", "down"),
    "slow answer": ("late", "lost", "gateway", "unsent"),
    "kill": ("killed",),
    "restart": ("killed",),
    "start from the top": ("killed", "refused", "unsent"),
    "refusal": ("refused", "suspended"),
    "refusal of the order's status": ("refused", "down", "unreadable", "late"),
    "outage": ("suspended", "down", "refused", "late", "unreadable"),
    "slow order": ("course", "suspended"),
    "dropped": ("course",),
    "refund": ("course", "suspended"),
    "failed order": ("course", "suspended"),
    "partial": ("course", "price"),
    "price moves": ("price", "clock"),
    "list order": ("list-changed",),
    "ids of another form": ("ids",),
    "two runs at once": ("twice",),
    "answer without a member": ("incomplete", "unreadable"),
    "status of another name": ("status-new",),
    "a clock that moves": ("clock", "late"),
}


@dataclass
class Row:
    """What became of a client."""

    file: str
    careful: bool
    red: bool = False
    unsure: str = ""
    fits: bool = False
    until_first: int | None = None
    tried: int = 0
    fitting: str = ""
    smallest: list[str] = field(default_factory=list)
    costs: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0
    stopped: str = ""

    @property
    def is_right(self) -> bool:
        return not self.red if self.careful else self.red and self.fits

    def __str__(self) -> str:
        verdict = "red" if self.red else "green"
        mark = "ok   " if self.is_right else "WRONG"
        first = "-" if self.until_first is None else self.until_first
        found = "; ".join(
            f"{name}: {cost}" for name, cost in zip(self.smallest, self.costs, strict=True)
        )
        return (
            f"{mark} {verdict:5} {self.file:40} first {first:>3} of {self.tried:>3}, "
            f"{self.seconds:5.1f} s, {self.cpu:5.1f} s CPU  {found or self.unsure}"
        )


def clients(patterns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for index in sorted(FOLDER.glob("*.yaml")):
        for client in yaml.safe_load(index.read_text(encoding="utf-8"))["clients"]:
            if not patterns or any(fnmatch.fnmatch(client["file"], f"*{p}*") for p in patterns):
                yield client


def kinds_of(circumstance: str) -> set[str]:
    """Return the kinds of failures that an author's words describe."""
    named = [kinds for words, kinds in CIRCUMSTANCES.items() if words in circumstance]
    return {name for kinds in named for name in kinds}


def command_of(path: Path) -> list[str]:
    """Return the command that starts a client; one in Java is compiled when it is first asked."""
    if path.suffix == ".java":
        subprocess.run(["javac", "-d", _classes(), path], check=True)
        return ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", _classes(), path.stem]
    return [sys.executable if path.suffix == ".py" else "node", str(path)]


@cache
def _classes() -> str:
    folder = tempfile.TemporaryDirectory(prefix="crosschain-mock-classes-")
    atexit.register(folder.cleanup)
    return folder.name


def measured(client: dict[str, Any], plan: SearchPlan, *, enough: bool) -> Row:
    """Search one client; with `enough` until the defect that its author describes is there."""
    row = Row(client["file"], client["kind"] == "careful")
    began, used = time.monotonic(), _cpu()

    def fits(result: Any) -> bool:
        return bool(result.bad and not row.careful and _fits(client, result))

    def note(search: Any, result: Any) -> None:
        if result is not None and result.bad and row.until_first is None:
            row.until_first = len(search.results)

    try:
        flow = command_flow(command_of(FOLDER / row.file))
        wanted = replace(plan, enough=fits) if enough and not row.careful else plan
        search = searched(flow, wanted, MockSettings(clock="client"), RunLimits(), note)
    except CrosschainMockError as error:
        row.unsure = str(error).splitlines()[0]
        row.red = not row.careful and "fails when nothing goes wrong" in row.unsure
        row.fits = row.red and client["circumstance"].startswith("none")
    else:
        row.red = any(result.bad for result in search.results.values())
        row.unsure, row.stopped = search.unsure, search.stopped
        shown = [defect.result for defect in search.defects if defect.result.bad]
        row.smallest = [result.name for result in shown]
        row.costs = ["; ".join(result.costs) or result.why[:80] for result in shown]
        row.tried = len(search.results)
        row.fits = any(map(fits, search.results.values()))
        row.fitting = next((result.name for result in shown if fits(result)), "")
    row.seconds, row.cpu = time.monotonic() - began, _cpu() - used
    return row


def _fits(client: dict[str, Any], result: RunResult) -> bool:
    """Tell whether a result shows what an author describes, by circumstance or by finding."""
    if client["circumstance"].startswith("none"):
        return not result.run.failures
    if "stale quote" in client["circumstance"] and "other-quote/old" in result.kinds:
        return True
    names = {failure.kind.name for failure in result.run.failures}
    return bool(names) and names <= kinds_of(client["circumstance"])


def _cpu() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def summary(rows: Sequence[Row]) -> Iterator[str]:
    defective = [row for row in rows if not row.careful]
    careful = [row for row in rows if row.careful]
    firsts = [row.until_first for row in defective if row.until_first is not None]
    yield (
        f"{sum(row.red for row in defective)} of {len(defective)} defective ones reported, "
        f"{sum(row.is_right for row in defective)} by the defect described; "
        f"{sum(row.red for row in careful)} of {len(careful)} careful ones accused, "
        f"{sum(bool(row.unsure) for row in careful)} unsure"
    )
    if firsts:
        yield f"failures until the first harm: median {statistics.median(firsts):g}"
    yield f"{sum(row.seconds for row in rows):.0f} s, {sum(row.cpu for row in rows):.0f} s of CPU"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="FILES")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--enough", action="store_true", help="until the defect described")
    parser.add_argument("--json", type=Path)
    words = parser.parse_args()
    plan = SearchPlan(kinds_named((), ()), words.budget, seconds=words.seconds, jobs=words.jobs)
    rows = []
    for client in clients(words.patterns):
        rows.append(measured(client, plan, enough=words.enough))
        print(rows[-1], flush=True)  # noqa: T201
        if words.json:
            words.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(*summary(rows), sep="\n")  # noqa: T201
    return 0 if all(row.is_right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
