"""Rules that ask for all probes and for some, and a run of them as a process of its own."""

import signal
import sys
from dataclasses import replace
from pathlib import Path

from mockserver import contract
from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.probe import Group, Stage
from mockserver.conformance.result import Result
from mockserver.conformance.runs.run_journal import Journal, header_of
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Severity
from mockserver.contract import Layer, fact_basis

CONTRACT = contract.load()


def _told(context, operation):
    """Tells every answer."""
    for exchange in context.of(operation):
        if not exchange.succeeded:
            yield Finding(f"{exchange.probe}: {exchange.answer.status} {exchange.body}")


EVERYTHING = Rule(
    name="everything",
    check=_told,
    layer=Layer.SCHEMA,
    severity=Severity.MAJOR,
    basis=fact_basis("interface.envelopes"),
    operations=tuple(operation.id for operation in CONTRACT),
    probes=tuple(probe.name for probe in probes_of(CONTRACT)),
)
READING = replace(
    EVERYTHING,
    name="reading",
    probes=tuple(
        probe.name for probe in probes_of(CONTRACT) if probe.stage in (Stage.LISTS, Stage.READS)
    ),
)
ORDERS = replace(
    EVERYTHING,
    name="orders",
    probes=(Group("orders", lambda probe: probe.operation_id == "v2.submitOrder"),),
)


def options(*, armed: bool = False, seed: int = 1) -> Options:
    """Return options that leave room for every probe."""
    return Options(seed=seed, budget=1000, arming=Arming(writes=armed, most=1000))


def judge(
    url: str, keeper: Journal | None = None, *, rule: Rule = EVERYTHING, armed: bool = False
) -> Result:
    """Ask for what a rule asks for."""
    return run(Target(url, url), options(armed=armed), rules=(rule,), keeper=keeper)


def begun(url: str, path: Path, *, armed: bool = False) -> Journal:
    """Return a new journal of such a run."""
    return Journal.new(path, header_of(Target(url, url), options(armed=armed)))


def resumed(url: str, path: Path, *, armed: bool = False) -> Journal:
    """Return the journal of such a run, to go on with."""
    return Journal.resumed(path, header_of(Target(url, url), options(armed=armed)))


def told(result: Result) -> list[object]:
    """Return what a result says, without numbers that are of one run only."""
    return [
        (outcome.id, outcome.verdict, outcome.reason, [one.message for one in outcome.findings])
        for outcome in result.outcomes
    ]


if __name__ == "__main__":
    # A shell that runs tests in the background has interrupts ignored, and so would this process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    submits = sys.argv[3] == ORDERS.name
    with begun(sys.argv[1], Path(sys.argv[2]), armed=submits) as kept:
        ended = judge(sys.argv[1], kept, rule=ORDERS if submits else READING, armed=submits)
    sys.exit(130 if ended.notes else 0)
