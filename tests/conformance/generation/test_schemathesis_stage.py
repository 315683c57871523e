import pytest

from mockserver.conformance.generation.schemathesis_stage import deep
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.conformance.generation.conftest import ARMED, LISTS, options, session_with

SOME = ("v1.getCrossChainQuote", "v2.getBridgeQuote", "v2.submitTicket")
pytestmark = pytest.mark.usefixtures("tables")


def test_a_healthy_service_gives_no_finding(opened, is_deep):
    one = opened(deep=100 if is_deep else 2)
    found = deep(one.session, one.options, () if is_deep else SOME)
    assert {each.operation.id for each in found} >= {"v1.getCrossChainQuote", "v2.getBridgeQuote"}
    assert {each.verdict for each in found} == {Verdict.HOLDS}


def test_a_broken_answer_is_found_on_our_own_grounds():
    with (
        running(clock="auto", refusals="allow", breaks=("bridge-amounts-as-numbers",)) as mock,
        session_with(mock.url, options(deep=3), after=()) as one,
    ):
        found = deep(one.session, one.options, SOME)
    named = {each.id: each for each in found if each.verdict.is_finding}
    outcome = named["schemathesis-response_schema_conformance[v2.getBridgeQuote]"]
    assert outcome.verdict is Verdict.VIOLATION
    assert "data.outAmount" in {each.place for each in outcome.findings}


def test_what_the_plan_has_shown_is_not_told_again(opened):
    one = opened("bridge-amounts-as-numbers", deep=3)
    found = deep(one.session, one.options, SOME)
    assert not [each for each in found if each.verdict.is_finding]


def test_only_the_operations_and_nothing_else_is_asked(counting, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with session_with(counting.url, options(deep=2), after=()) as one:
        deep(one.session, one.options, SOME)
        assert counting.arrived == one.transport.sent
        known = {
            (each.method, each.path) for each in one.session.context.contract if not each.writes
        }
    assert set(counting.arrived) <= known
    assert not any("submit" in path for _, path in counting.arrived)
    assert list(tmp_path.iterdir()) == []


def test_armed_submissions_respect_the_cap(counting):
    arming = Arming(writes=True, most=3)
    with session_with(counting.url, options(deep=1, arming=arming), after=()) as one:
        deep(one.session, one.options, SOME)
        assert counting.arrived == one.transport.sent
    assert sum(n for (_, path), n in counting.arrived.items() if "submit" in path) == 3


@pytest.mark.deep(quick=1)
def test_equal_seeds_send_equal_requests(opened, is_deep):
    sent = []
    for _ in range(2):
        one = opened(after=LISTS, deep=2 if is_deep else 1, seed=9, arming=ARMED)
        deep(one.session, one.options, SOME)
        sent.append(
            [
                (each.probe, each.request.query, each.request.body, each.request.headers.items_sent)
                for each in one.session.context.exchanges
            ]
        )
    assert sent[0] == sent[1]


def test_the_budget_ends_it_without_a_finding(counting):
    some = options(deep=5, budget=15, arming=ARMED)
    with session_with(counting.url, some, after=()) as one:
        found = deep(one.session, one.options, SOME)
        assert one.transport.count == 15
    assert not [each for each in found if each.verdict.is_finding]
