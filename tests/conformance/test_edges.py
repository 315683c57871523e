"""Requests at the edges of inputs: silent on healthy services, and told where a region is wrong."""

import pytest

from mockserver.conformance import run
from mockserver.conformance.requests.targets import is_odd_target, is_target
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.blind.regions import REGIONS
from tests.blind.serve import blind_service

SOME = (
    "swap-fails-above-slippage-2000",
    "swap-aggregator-and-route",
    "bridge-float-from-24-digits",
    "balance-of-other-than-evm",
    "tokens-of-trx-lack-index",
    "v1-raw-upper-case-address",
)
"""A few regions of each kind; all of them are tried in a deep run."""
READING = tuple(name for name, row in REGIONS.items() if row.shows == "reading")
MOST_MISSED = len(READING) // 10


def told(url, **options):
    """Return what a run without random requests finds: the rule, its operation, and the cause."""
    result = run(url, **{"examples": 0, "edges": True, **options})
    return result, {
        (outcome.id, finding.place, finding.cause)
        for outcome in result.outcomes
        for finding in outcome.findings
    }


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_the_healthy_mock_keeps_its_rules_at_every_edge(dialect):
    with running(clock="frozen", refusals="allow", dialect=dialect) as mock:
        result, _ = told(mock.url, dialect=dialect)
    assert [outcome for outcome in result.outcomes if outcome.verdict.is_finding] == []
    asked = [one for one in result.exchanges if is_target(one.probe)]
    assert len(asked) > 300
    assert result.submissions == 0
    assert any(is_odd_target(one.probe) and one.refused for one in asked)


def test_edges_are_asked_by_itself_here_and_within_the_budget():
    with running(clock="frozen", refusals="allow") as mock:
        assert run(mock.url, examples=0, budget=160).requests <= 160
        assert not [one for one in run(mock.url, edges=False).exchanges if is_target(one.probe)]


@pytest.fixture(scope="module")
def healthy():
    with blind_service() as url:
        result, found = told(url)
    assert not [one for one in result.outcomes if one.verdict is Verdict.VIOLATION]
    return found


@pytest.mark.parametrize("name", SOME)
def test_a_region_that_is_wrong_is_found(name, healthy):
    with blind_service(faults=[name]) as url:
        _, found = told(url)
    assert found - healthy


def test_nine_of_ten_regions_are_found(healthy, is_deep):
    if not is_deep:
        pytest.skip("all regions are tried in a deep run")
    missed = []
    for name in READING:
        with blind_service(faults=[name]) as url:
            _, found = told(url)
        if not found - healthy:
            missed.append(name)
    assert len(missed) <= MOST_MISSED, missed
