"""Failures that no request met: they fail a test, and an option keeps them silent."""

import pytest

pytest_plugins = ["pytester"]

SET = {
    "fault": 'crosschain_mock.fail("submitOrder", "http-status", status=503)',
    "outage": 'crosschain_mock.suspend("BNB", starting="2026-06-01T00:00:00Z")',
    "trigger": 'crosschain_mock.at("submitOrder", 1, "after").suspend("BNB")',
    "mutation": 'crosschain_mock.fail("submitOrder", "mutation")',
    "next-order": 'crosschain_mock.orders.next("dropped")',
}


@pytest.mark.parametrize("failure", SET.values(), ids=SET)
def test_a_failure_that_no_request_met_fails_the_test(project, failure):
    result = project(f"""
def test_undisturbed(crosschain_mock):
    {failure}
    get(crosschain_mock, "/v1/getChain")

@pytest.mark.crosschain_mock(unused="allow")
def test_silent(crosschain_mock):
    {failure}
    get(crosschain_mock, "/v1/getChain")
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*so it disturbed nothing; take it away, or say unused='allow'*"])


def test_failures_that_requests_met_fail_nothing(project):
    project("""
def test_disturbed(crosschain_mock):
    crosschain_mock.suspend("BNB", mode="delisted")
    crosschain_mock.fail("getChain", "latency", delay="1s")
    crosschain_mock.at("getChain").price("ETH", percent=-40)
    crosschain_mock.at("getChain", 2, "before").advance("1h")
    get(crosschain_mock, "/v1/getChain")
    get(crosschain_mock, "/v1/getChain")
    assert crosschain_mock.clock.ms >= 3_600_000

def test_taken_away(crosschain_mock):
    crosschain_mock.fail("getChain", "latency", delay="1s")
    crosschain_mock.heal()
""").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "failure",
    ['crosschain_mock.price("ETH", percent=-40)', 'crosschain_mock.suspend("BNB")'],
)
def test_what_was_changed_after_the_last_request_fails_the_test(project, failure):
    result = project(f"""
def test_too_late(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")
    {failure}

def test_in_time(crosschain_mock):
    {failure}
    get(crosschain_mock, "/v1/getChain")
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*met no request: none came *"])
