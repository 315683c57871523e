"""Real runs of the small pack, each made once."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from mockserver.conformance.report.coverage import coverage_of
from mockserver.conformance.report.model import Report, report_of
from mockserver.testing import MockServer, running
from tests.conformance.report.pack import judged

BREAKS = (
    "byte-order-mark",
    "bridge-price-as-number",
    "price-off-by-a-million",
    "allowed-extra-field",
    "v1-get-cross-chain-quote-without-signature",
    "get-bridge-quote-without-amount",
)


@dataclass(frozen=True)
class Judged:
    """A server with a broken and a healthy world, and what was found in the broken one."""

    report: Report
    broken: str
    healthy: str


@pytest.fixture(scope="package")
def server() -> Iterator[MockServer]:
    """A server for everybody here."""
    with running(clock="auto", refusals="allow") as mock:
        yield mock


@pytest.fixture(scope="package")
def found(server: MockServer) -> Judged:
    """A broken service, judged."""
    broken = server.world("broken", breaks=BREAKS).base_url
    healthy = server.world("healthy").base_url
    result = judged(broken)
    return Judged(report_of(result, coverage=coverage_of(result)), broken, healthy)


@pytest.fixture(scope="package")
def good(server: MockServer) -> Report:
    """A healthy service, judged."""
    result = judged(server.world("good").base_url)
    return report_of(result, coverage=coverage_of(result))
