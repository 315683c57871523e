"""One test for each rule and operation; all of them judge the answers of a single run."""

from pathlib import Path

import pytest

from mockserver.conformance.report.failure_text import findings_of
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.conformance.suite.cases import RuleCase, all_cases, is_generated
from mockserver.conformance.suite.options import requested_run
from mockserver.conformance.suite.results import Judged, differences, judge
from mockserver.conformance.verdict import UNREACHED, Verdict, fails

_SUMMARY_SHOWN = pytest.StashKey[bool]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every case; their ids depend on the rules alone."""
    if not metafunc.config.option.collectonly:
        _check(metafunc.config)
    cases = all_cases()
    metafunc.parametrize("case", cases, ids=[case.id for case in cases])


@pytest.fixture(scope="session")
def conformance_run(request: pytest.FixtureRequest) -> Judged:
    """The run that the selected tests need, made when the first of them begins."""
    try:
        return judge(requested_run(request.config), _selected(request.session), _folder(request))
    except UnsafeOrWrong as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def test_conforms(case: RuleCase, conformance_run: Judged, request: pytest.FixtureRequest) -> None:
    _give_summary_once(request, conformance_run)
    outcome = conformance_run.outcome(case)
    if outcome is None and is_generated(case):
        pytest.skip(
            "not-run: nothing of it was generated (--crosschain-mock-examples, -sequences, -probes)"
        )
    generation = case.operation_id.partition(".")[0]
    if outcome is None:
        pytest.skip(f"not-run: no base address is given for {generation}")
    wrong = conformance_run.wrong_service.get(generation)
    if wrong and outcome.verdict in UNREACHED:
        pytest.fail(wrong, pytrace=False)
    if outcome.is_defect:
        pytest.fail(outcome.reason, pytrace=False)
    failing = conformance_run.requested.failing
    costly = fails(outcome.verdict, outcome.rule.severity, conformance_run.requested.fail_on)
    if outcome.verdict.is_finding and costly:
        pytest.fail(findings_of(outcome), pytrace=False)
    if outcome.verdict in failing:
        pytest.fail(f"{outcome.verdict}: {outcome.reason}", pytrace=False)
    if outcome.verdict.is_finding:
        for difference in differences(outcome):
            request.node.user_properties.append(("crosschain_mock_difference", difference))
        request.node.add_report_section("call", "conformance", findings_of(outcome))
    elif outcome.verdict is not Verdict.HOLDS:
        pytest.skip(f"{outcome.verdict}: {outcome.reason}")


def _check(config: pytest.Config) -> None:
    """End with one sentence, and not with one a test, where nothing could be sent."""
    try:
        requested_run(config)
    except UnsafeOrWrong as error:
        raise pytest.Collector.CollectError(str(error)) from None


def _give_summary_once(request: pytest.FixtureRequest, run: Judged) -> None:
    if not request.session.stash.get(_SUMMARY_SHOWN, False):
        request.session.stash[_SUMMARY_SHOWN] = True
        request.node.user_properties.append(("crosschain_mock_run", run.summary))


def _selected(session: pytest.Session) -> list[RuleCase]:
    """Return the cases that will be judged: what `-k` and node ids have left."""
    chosen = (
        item.callspec.params.get("case") for item in session.items if hasattr(item, "callspec")
    )
    return [case for case in chosen if isinstance(case, RuleCase)]


def _folder(request: pytest.FixtureRequest) -> Path | None:
    """Return a folder that all workers of pytest-xdist see; None in a single process."""
    if not hasattr(request.config, "workerinput"):
        return None
    temporary: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    return temporary.getbasetemp().parent
