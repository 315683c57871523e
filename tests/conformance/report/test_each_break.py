"""Findings of each break, as a test: it fails on the break and passes on the healthy mock."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from mockserver.conformance.options import Options
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.model import Report, report_of
from mockserver.conformance.report.report_files import Destination, write
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target
from mockserver.contract import Layer
from mockserver.responders.breaks.catalogue import BREAKS, CATALOGUE
from mockserver.selftest import ARMED
from mockserver.testing import MockServer

REAL = [broken.name for broken in BREAKS if not broken.control]
# One of each layer, with a rule that shows it.
SAMPLE = {
    "bridge-price-as-number": "data-form",
    "byte-order-mark": "body-is-strict-json",
    "get-bridge-quote-without-amount": "refuses-missing-input",
    "chains-listed-twice": "each-item-is-listed-once",
    "ticket-hash-in-lower-case": "tickets-echo-what-was-reported",
    "v1-token-decimals-differ": "v1-tokens-are-as-in-2.0",
    "price-of-1970": "update-time-is-a-time",
    # Once it is mended there is no success whose form could be judged.
    "refusal-as-empty-success": "data-form",
}
# Their first findings are about operations beside the one that is broken: of two answers that
# contradict each other, nothing says which one is wrong.
UNDECIDABLE = {
    "asset-symbols-in-lower-case",
    "chain-names-in-lower-case",
    "networks-of-two-chains-swapped",
    "order-id-uncheckable",
    "price-cached-by-chain",
    "ticket-id-uncheckable",
}


def judged(server: MockServer, name: str, only: tuple[str, ...] = ()) -> tuple[Report, str]:
    """Return the report of a world with a break, and its address."""
    broken = CATALOGUE[name]
    url = server.world(f"of-{name}", breaks=(name,)).base_url
    arming = ARMED if broken.needs_writes else Arming()
    rate = Decimal(100_000)
    options = Options(rate=rate, edges=broken.needs_edges, only=only, arming=arming)
    return report_of(run(Target(url, url), options)), url


def failing(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the tests of a module that fail, each with what it says; a skipped one says nothing."""
    names: dict[str, Any] = {"__file__": str(file), "__name__": file.stem}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)  # noqa: S102 (our own text)
    for finding in names["FINDINGS"]:
        try:
            with suppress(pytest.skip.Exception):
                names["test_finding"](finding)
        except AssertionError as error:
            yield finding, str(error)


def ids_of(causes: Iterable[Cause]) -> set[str]:
    return {f"{cause.rule.name}[{name}]" for cause in causes for name in cause.operations}


def shows(server: MockServer, broken: str, report: Report, url: str, file: Path) -> None:
    """Hold that the test of a report fails as long as the break is there, and no longer.

    Some breaks count what came, and are another fault once they have: so the test asks a service
    that was started again.
    """
    write(Destination("pytest", file), report)
    started_again = server.world(f"again-{broken}", breaks=(broken,)).base_url
    file.write_text(file.read_text("utf-8").replace(url, started_again), "utf-8")
    first = ids_of(explanation.cause for explanation in report.explained)
    assert first
    # What follows from a cause may not come again with each run.
    assert first <= dict(failing(file)).keys() <= ids_of(report.causes)
    healthy = server.world(f"healthy-{broken}").base_url
    file.write_text(file.read_text("utf-8").replace(started_again, healthy), "utf-8")
    assert dict(failing(file)) == {}


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.deep(quick=4)
def test_its_findings_are_a_test(server, name, tmp_path):
    report, url = judged(server, name, only=(SAMPLE[name],))
    shows(server, name, report, url, tmp_path / "test_findings.py")


def test_the_sample_has_each_layer():
    assert {CATALOGUE[name].layer for name in SAMPLE} == set(Layer)


@pytest.mark.deep
@pytest.mark.parametrize("name", REAL)
def test_all_its_findings_are_a_test(server, name, tmp_path, request):
    if CATALOGUE[name].layer is Layer.TIMING:
        request.getfixturevalue("wall_time")
    report, url = judged(server, name)
    # A fault has a cause or two, and the first one is where it is.
    assert len(report.explained) <= 4
    blamed = set(report.explained[0].cause.operations)
    assert name in UNDECIDABLE or blamed & set(CATALOGUE[name].operations)
    shows(server, name, report, url, tmp_path / "test_findings.py")


@pytest.mark.deep
def test_one_cause_is_one_finding(server):
    """Of each eighth break, which is enough for the mean of all."""
    counts = [len(judged(server, name)[0].explained) for name in REAL[::8]]
    assert sum(counts) <= 1.4 * len(counts)


def test_the_first_finding_is_the_cause_for_at_least_97_of_100():
    assert len(UNDECIDABLE) <= len(REAL) * 3 / 100
    assert set(REAL) >= UNDECIDABLE
