import pytest

from mockserver import conformance
from mockserver import contract as contracts
from mockserver.conformance import generation
from mockserver.conformance.generation import check_installed
from mockserver.conformance.generation.constraints import constraints_of
from mockserver.conformance.generation.explore import explore
from mockserver.conformance.generation.sequence_stage import sequences
from mockserver.conformance.generation.stages import (
    GENERATED,
    accepted_though_broken,
    is_to_be_refused,
    server_error,
    stage_rules,
)
from mockserver.conformance.options import Options
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.conformance.generation.conftest import ARMED, LISTS, options, session_with
from tests.conformance.other_service import other_service

STAGES = {rule.name for rule in stage_rules(contracts.load())}
QUOTE = ("v2.getBridgeQuote",)
BRIDGE = "generated-requests[v2.getBridgeQuote]"


def outcomes(opened):
    return {one.id: one for one in explore(opened.session, opened.options)}


def test_a_healthy_service_gives_no_finding(opened, is_deep):
    found = outcomes(opened(examples=200 if is_deep else 4, arming=ARMED))
    assert len(found) == 19
    assert {one.verdict for one in found.values()} == {Verdict.HOLDS}


def test_another_service_that_keeps_the_description_breaks_nothing(is_deep):
    some = options(examples=8 if is_deep else 3, sequences=3 if is_deep else 2, arming=ARMED)
    with other_service() as url, session_with(url, some) as one:
        found = (*sequences(one.session, one.options), *explore(one.session, one.options))
    assert not [each.id for each in found if each.verdict is Verdict.VIOLATION]


def test_without_leave_nothing_is_submitted(opened, is_deep):
    one = opened(after=LISTS, examples=4 if is_deep else 1)
    found = outcomes(one)
    assert len(found) == 16
    assert not any(exchange.operation.writes for exchange in one.session.context.exchanges)


def test_an_input_that_is_not_required_is_found_with_the_smallest_request(opened):
    one = opened("get-bridge-quote-without-amount", after=LISTS, examples=25, only=QUOTE)
    outcome = outcomes(one)[BRIDGE]
    assert outcome.verdict is Verdict.VIOLATION
    [finding] = [each for each in outcome.findings if each.place == "query.amount"]
    assert "amount" in finding.message
    assert outcome.basis_of(finding).reference == "4.2 row 4"
    first, again = finding.exchanges
    assert "amount=" not in first.request.query
    assert first.request == again.request or first.request.query == again.request.query


@pytest.mark.deep(quick=1)
def test_equal_seeds_ask_equal_requests(opened, is_deep):
    sent = []
    for _ in range(2):
        one = opened(after=LISTS, examples=8 if is_deep else 3, seed=7)
        outcomes(one)
        sent.append(
            [
                (each.probe, each.request.query, each.request.body, each.request.headers.items_sent)
                for each in one.session.context.exchanges
            ]
        )
    assert sent[0] == sent[1]


def test_other_seeds_ask_other_requests(opened):
    sent = []
    for seed in (1, 2):
        one = opened(after=LISTS, examples=8, seed=seed, only=("v2.getAggregateQuote",))
        outcomes(one)
        sent.append({each.request.query for each in one.session.context.of("v2.getAggregateQuote")})
    assert sent[0] != sent[1]


def test_the_budget_ends_it_without_a_finding(counting):
    with session_with(counting.url, options(examples=10, budget=40), after=()) as one:
        found = outcomes(one)
        assert one.transport.count == 40
    # Its undocumented member is all there is to tell; shrinking that takes nothing from others.
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS, Verdict.EXTRA}
    short = [one for one in found.values() if "other operations have theirs" in one.reason]
    assert len(short) > len(found) // 2


def test_operations_that_the_budget_does_not_come_to_are_not_judged(counting):
    with session_with(counting.url, options(examples=10, budget=5), after=()) as one:
        found = outcomes(one)
        assert one.transport.count == 5
    stopped = [each.reason for each in found.values() if each.verdict is Verdict.NOT_RUN]
    assert len(stopped) == len(found) - 5
    assert all("the budget of 5 requests is used up" in reason for reason in stopped)


def test_what_does_not_show_twice_is_inconclusive(opened, monkeypatch):
    one = opened(after=LISTS, examples=6, only=("v2.getPrice",))
    session = one.session
    failed: list[str] = []
    ask = session.ask

    def once_only(probe, draft):
        exchange = ask(probe, draft)
        if exchange.operation.id == "v2.getPrice" and not failed:
            failed.append(probe)
            answer = type(exchange.answer)(500, body=b"{}")
            exchange.answer = answer
        return exchange

    monkeypatch.setattr(session, "ask", once_only)
    outcome = outcomes(one)["generated-requests[v2.getPrice]"]
    assert failed
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "not so when requested again" in outcome.reason


def test_every_request_passes_the_transport(counting, is_deep):
    some = options(examples=4 if is_deep else 2, arming=ARMED)
    with session_with(counting.url, some, after=()) as one:
        outcomes(one)
        assert counting.arrived == one.transport.sent
        assert counting.arrived.total() > 19


def test_unarmed_no_submission_leaves(counting, is_deep):
    some = options(examples=4 if is_deep else 2)
    with session_with(counting.url, some, after=()) as one:
        outcomes(one)
    assert not any("submit" in path for _, path in counting.arrived)


def test_the_rule_judges_what_was_left_behind(opened):
    one = opened("get-bridge-quote-without-amount", after=LISTS, examples=25, only=QUOTE)
    operation = one.session.context.contract.operation("v2.getBridgeQuote")
    assert list(GENERATED(one.session.context, operation)) == []
    outcomes(one)
    assert list(GENERATED(one.session.context, operation))


def test_single_exchanges_are_judged_both_ways(opened):
    one = opened(after=LISTS, examples=1)
    [exchange, *_] = one.session.context.of("v2.getChain")
    assert list(server_error(exchange)) == []
    assert list(accepted_though_broken(exchange)) == []


def test_a_missing_library_is_told_with_its_extra(monkeypatch):
    monkeypatch.setattr(generation, "find_spec", lambda name: None)
    with pytest.raises(UnsafeOrWrong, match="schemathesis") as caught:
        check_installed(Options(deep=1))
    assert "crosschain-mock[conformance]" in str(caught.value)
    assert caught.value.exit_code == 2
    check_installed(Options(examples=1, sequences=1))


def generated(url, **names):
    result = conformance.run(url, examples=1, sequences=1, delivery=False, **names)
    return {one.id for one in result.outcomes if one.rule.name in STAGES}


def test_names_choose_among_what_is_generated():
    with running(clock="auto", refusals="allow") as mock:
        assert generated(mock.url, only=("v2.getPrice",)) == {"generated-requests[v2.getPrice]"}
        reads = generated(mock.url, only=("sequence-of-*",))
        left = generated(mock.url, skip=("sequence-of-reads", "v2.*"))
    assert {one.partition("[")[0] for one in reads} == {"sequence-of-reads"}
    assert {one.partition(".")[0] for one in left} == {"generated-requests[v1"}


def test_a_misspelt_stage_is_refused():
    with pytest.raises(UnsafeOrWrong, match="did you mean 'generated-requests'"):
        conformance.run("http://127.0.0.1:9", only=("generated-request",), examples=1)


def test_an_amount_beyond_the_bound_of_our_mock_may_be_quoted_and_none_below_zero():
    contract = contracts.load()
    operation = contract.operation("v1.getCrossChainQuote")
    [amount] = [field for field in operation.fields if field.name == "amount"]
    bounds = {
        constraint.keyword: is_to_be_refused(contract, constraint.basis)
        for constraint in constraints_of(operation, amount)
    }
    assert bounds == {"type": True, "exclusiveMinimum": True, "maximum": False}
