"""How many faults of the sixth service a run of conformance finds, and whom it blames.

``python -m tests.blind.service_six.counting`` tries each fault of ``faults.yaml``: reading, or with
submissions where the fault needs them. A fault is found if something is reported that is not
reported of the healthy service with the same variation around it.
"""

import argparse
import asyncio
import json
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web

from mockserver.conformance import Result, RunOptions, run
from mockserver.conformance.report.model import report_of
from tests.blind.counting import findings_of
from tests.blind.service_six import catalogue
from tests.blind.service_six.flaws import VARIATIONS, Flaw
from tests.blind.service_six.service import Service

INDEX: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "faults.yaml").read_text(encoding="utf-8")
)


@contextmanager
def service_six(flaw: Flaw) -> Iterator[str]:
    """Serve in a thread of its own; gives the base address."""
    loop = asyncio.new_event_loop()
    app = web.Application()
    Service(flaw).routes(app)
    runner = web.AppRunner(app, access_log=None)

    async def start() -> str:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def needs_submissions(name: str) -> bool:
    kind, _, place = name.partition("@")
    if place:
        return place.partition(".")[0] in INDEX["submissions_of_mechanical"]
    return any(entry["name"] == kind and entry["submissions"] for entry in INDEX["faults"])


@dataclass(slots=True)
class Count:
    """Runs of one seed, held against runs of the healthy service."""

    options: RunOptions
    _healthy: dict[tuple[str, bool], frozenset[str]] = field(default_factory=dict)

    def healthy(self, around: Flaw | None, armed: bool) -> frozenset[str]:
        key = (around.name if around else "", armed)
        if key not in self._healthy:
            # Twice, since some findings about submissions depend on the time.
            healthy = Flaw("", around=around)
            both = [set(findings_of(self.result(healthy, armed))) for _ in range(2)]
            self._healthy[key] = frozenset(both[0] | both[1])
        return self._healthy[key]

    def result(self, flaw: Flaw, armed: bool) -> Result:
        options: RunOptions = {"seed": 1, **self.options, "arm_writes": armed}
        with service_six(flaw) as url:
            return run(url, **options)

    def report(self, flaw: Flaw, armed: bool) -> dict[str, Any]:
        """What a run says of a flaw that it does not say of the healthy service."""
        result = self.result(flaw, armed)
        more = [
            text for text in findings_of(result) if text not in self.healthy(flaw.around, armed)
        ]
        causes = [
            [
                f"{cause.rule.name} {cause.rule.severity} {cause.verdict} "
                f"{cause.operations} {cause.located}"
                for cause in head.every
            ]
            for head in report_of(result).explained
        ]
        return {
            "armed": armed,
            "exit": result.exit_code(),
            "more": more,
            "causes": causes,
            "requests": result.requests,
            "ms": result.elapsed_ms,
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and print what was not found, or what was blamed."""
    parser = argparse.ArgumentParser(prog="python -m tests.blind.service_six.counting")
    parser.add_argument("--kind", choices=("faults", "mechanical", "variations"), default="faults")
    parser.add_argument("--group", action="append", help="only the faults of this group")
    parser.add_argument("--every", type=int, default=1, help="try each Nth alone")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--armed", action="store_true", help="with submissions, all of them")
    parser.add_argument("--examples", type=int)
    parser.add_argument("--sequences", type=int)
    parser.add_argument("--rule", action="append", help="only this rule, for quicker answers")
    parser.add_argument("--json", type=Path, help="a file for a line of JSON each")
    options = parser.parse_args(arguments)
    effort: RunOptions = {}
    if options.examples is not None:
        effort["examples"] = options.examples
    if options.sequences is not None:
        effort["sequences"] = options.sequences
    if options.rule:
        effort["only"] = options.rule
    # Some faults make the service itself fail, which is theirs to do.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    count = Count(effort)
    lines = options.json.open("w", encoding="utf-8") if options.json else None
    tried, quiet = [], []
    for name in _names(options):
        varies = options.kind == "variations"
        flaw = catalogue.flaw(None, name) if varies else catalogue.flaw(name)
        for armed in (False, True) if varies else (options.armed or needs_submissions(name),):
            report = count.report(flaw, armed)
            tried.append(name)
            if not report["more"]:
                quiet.append(name)
            elif varies:
                sys.stdout.write(f"{name}: {json.dumps(report['more'], indent=1)}\n")
            if lines:
                lines.write(json.dumps({"name": name, **report}) + "\n")
                lines.flush()
    sys.stdout.write(f"{len(tried) - len(quiet)} of {len(tried)} with a report of their own")
    sys.stdout.write("\n" if options.kind == "variations" else f"; quiet: {', '.join(quiet)}\n")


def _names(options: argparse.Namespace) -> list[str]:
    if options.only:
        return list(options.only)
    if options.kind == "variations":
        return list(VARIATIONS)[:: options.every]
    if options.kind == "mechanical":
        return [name for name in catalogue.names() if "@" in name][:: options.every]
    groups = {entry["name"]: entry["group"] for entry in INDEX["faults"]}
    return [name for name in groups if not options.group or groups[name] in options.group][
        :: options.every
    ]


if __name__ == "__main__":
    main()
