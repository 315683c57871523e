"""Which facts of the contract a run could prove, and which it did."""

import pytest

from mockserver import conformance
from mockserver.conformance.checks.schema import AppliedSchema, UndeclaredMember, fits, walk
from mockserver.conformance.report.coverage import coverage_of, exercised, facts_of
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.target import Target
from mockserver.contract import load
from mockserver.testing import running
from mockserver.validation import SchemaCheck
from tests.conformance.exchanges import (
    CONTRACT,
    UNJUDGED,
    answer,
    exchange,
    healthy_exchanges,
    success,
)

FACTS = facts_of(CONTRACT)
PRICE = "v2.getPrice"
GOOD = answer(success(PRICE, {"price": "1", "updateTime": "1", "source": "x"}))


def proven_by(*exchanges):
    return exercised(FACTS, exchanges).proven


def test_every_fact_has_an_id_of_its_own_and_grounds():
    assert len({fact.id for fact in FACTS}) == len(FACTS)
    assert {fact.operation for fact in FACTS} == {operation.id for operation in CONTRACT}
    assert all(fact.basis.reference and fact.basis.says for fact in FACTS)
    assert facts_of(load()) == FACTS


def test_facts_of_one_place_are_told_apart():
    mine = {fact.id: fact for fact in FACTS if fact.place == "data.outAmount"}
    bridge = {name: fact for name, fact in mine.items() if "getBridgeQuote" in name}
    grounds = {fact.keyword: str(fact.basis) for fact in bridge.values()}
    assert grounds == {
        "required": "documented in section 2.3",
        "type": "documented in section 2.3",
        "pattern": "observed in DEMO",
    }


def test_a_success_proves_what_it_has_something_to_say_about():
    proven = proven_by(exchange(PRICE, GOOD))
    assert f"{PRICE}/answer/data.price/type" in proven
    assert f"{PRICE}/answer/data.source/required" in proven
    assert f"{PRICE}/request/query.symbol/type" in proven
    assert not any(name.startswith("v2.getBalance") for name in proven)


def test_a_refusal_proves_the_one_fact_that_was_broken():
    one = exchange(PRICE, answer({"code": 3, "msg": "no"}))
    lacking = type(one)(
        1,
        one.probe,
        one.operation,
        type(one.request)("GET", "/v1/getPrice", "chain=A&symbol=B"),
        one.answer,
    )
    proven = proven_by(lacking)
    assert f"{PRICE}/request/query.contractAddress/required" in proven
    assert f"{PRICE}/request/query.symbol/type" not in proven
    assert f"{PRICE}/answer/code/type" in proven
    assert f"{PRICE}/answer/data.price/type" not in proven


def test_without_an_answer_nothing_is_proven_but_all_was_within_reach():
    coverage = exercised(FACTS, [exchange(PRICE, Answer(0, trouble=NoAnswer.CUT))])
    share = coverage.operations[PRICE]
    assert share.proven == 0
    assert share.index > 50
    assert share.score == 0
    assert coverage.overall.total == len(FACTS)
    assert set(coverage.unproven) == set(FACTS)


def test_an_empty_list_proves_nothing_about_its_items():
    one = exchange("v2.getChain", answer(success("v2.getChain", {"version": 1, "list": []})))
    proven = proven_by(one)
    assert "v2.getChain/answer/data.list/type" in proven
    assert not any("data.list[]" in name for name in proven)


def test_a_whole_run_proves_most_of_the_contract():
    with running(clock="auto") as mock:
        only_read = run(Target(mock.url, mock.url), rules=UNJUDGED)
    reading = exercised(FACTS, only_read.exchanges).overall
    whole = exercised(FACTS, healthy_exchanges()).overall
    assert whole.score > 90
    assert whole.score <= whole.index <= 100
    assert reading.score < whole.score


@pytest.mark.parametrize("condition", [{"required": ["a"]}, {"properties": {"a": {"const": 0}}}])
@pytest.mark.parametrize("value", [{"a": 0}, {"a": False}, {"a": 1}, {}, [], None, {"a": "0"}])
def test_a_condition_is_read_as_json_schema_reads_it(condition, value):
    assert fits(condition, value) is SchemaCheck(condition).accepts(value)


def test_the_walk_finds_what_nobody_speaks_about():
    schema = {
        "properties": {"known": {}, "open": {"description": "anything"}},
        "allOf": [
            {"properties": {"more": {"items": {"properties": {"x": {}}}}}},
            {
                "properties": {
                    "map": {"additionalProperties": {"properties": {"y": {"type": "string"}}}}
                }
            },
        ],
        "if": {"required": ["known"]},
        "then": {"properties": {"then": {}}},
    }
    value = {
        "known": 1,
        "then": 1,
        "open": {"any": 1},
        "more": [{"x": 1}, {"z": 1}],
        "map": {"k": {"y": "", "w": 1}},
        "extra": 1,
    }
    parts = list(walk(schema, value))
    assert {".".join(one.place) for one in parts if isinstance(one, UndeclaredMember)} == {
        "more.[].z",
        "map.*.w",
        "extra",
    }
    places = {".".join(one.place) for one in parts if isinstance(one, AppliedSchema)}
    assert {"", "then", "more.[].x", "map.*.y"} <= places


def uses_of(*exchanges):
    return exercised(FACTS, exchanges).keywords


def test_a_keyword_is_used_right_or_wrong_or_never():
    uses = uses_of(exchange(PRICE, GOOD))
    assert f"{PRICE}/answer/data.price/type" in uses.right
    assert f"{PRICE}/request/query.symbol/required" in uses.right
    assert not uses.wrong
    bad = exchange(PRICE, answer(success(PRICE, {"price": 1, "updateTime": "1"})))
    uses = uses_of(bad)
    assert {f"{PRICE}/answer/data.price/type", f"{PRICE}/answer/data.source/required"} <= uses.wrong
    assert f"{PRICE}/answer/data.updateTime/type" in uses.right
    assert f"{PRICE}/answer/data.source/type" in uses.never
    uses = uses_of(bad, exchange(PRICE, GOOD))
    assert len(uses.right & uses.wrong) >= 2


def test_a_refused_request_has_used_what_it_breaks_and_what_it_keeps():
    sent = exchange(PRICE, answer({"code": 3, "msg": "no"}))
    lacking = type(sent)(
        1,
        sent.probe,
        sent.operation,
        type(sent.request)("GET", "/v1/getPrice", "chain=A&symbol=B"),
        sent.answer,
    )
    uses = uses_of(lacking)
    assert uses.wrong == {f"{PRICE}/request/query.contractAddress/required"}
    assert f"{PRICE}/request/query.symbol/type" in uses.right


def test_each_member_of_an_enum_counts_by_itself():
    check = "v2.checkOrder"
    place = f"{check}/answer/data.status/enum"
    data = {"timestamp": 1_700_000_000, "execHash": "", "reason": "", "amountOut": "0"}
    uses = uses_of(exchange(check, answer(success(check, {**data, "status": "Pending"}))))
    assert {place, f"{place}=Pending"} <= uses.right
    assert f"{place}=Succeeded" in uses.never
    uses = uses_of(exchange(check, answer(success(check, {**data, "status": "Fine"}))))
    assert place in uses.wrong
    assert f"{place}=Pending" in uses.never


def test_each_keyword_that_was_never_used_has_its_reason():
    sent = exchange(PRICE, GOOD)
    uses = uses_of(sent)
    reasons = {name: why for why, names in uses.reasons.items() for name in names}
    assert set(reasons) == set(uses.never)
    assert reasons["v2.checkOrder/answer/data.status/enum=Failed"].startswith("the service decides")
    assert reasons["v2.getBalance/request/query.chain/type"] == "no request had it"


def test_what_no_request_can_break_is_none_that_a_run_has_left():
    uses = uses_of(exchange(PRICE, GOOD))
    assert f"{PRICE}/request/query.symbol/required" in uses.unbroken
    assert "v1.getCrossChainQuote/request/headers.expireTime/type" in uses.unbroken
    assert "v1.getCrossChainQuote/request/body/type" in uses.unbroken
    # All that a query carries are texts, and each request has a query.
    assert not {f"{PRICE}/request/query.symbol/type", f"{PRICE}/request/query/required"} & {
        *uses.unbroken
    }
    assert not any("/answer/" in name for name in uses.unbroken)
    sent = exchange(PRICE, answer({"code": 3, "msg": "no"}))
    asked = type(sent.request)("GET", "/v1/getPrice", "chain=A&contractAddress=0x1")
    lacking = type(sent)(1, sent.probe, sent.operation, asked, sent.answer)
    after = uses_of(lacking)
    assert f"{PRICE}/request/query.symbol/required" not in after.unbroken
    assert (after.broken, after.could_be_broken) == (1, uses.could_be_broken)


def test_without_an_answer_only_the_request_has_used_anything():
    uses = uses_of(exchange(PRICE, Answer(0, trouble=NoAnswer.CUT)))
    assert uses.right
    assert all("/request/" in name for name in uses.right)
    assert uses.total == uses.exercised + len(uses.never)


def test_a_run_that_submits_exercises_95_of_100_keywords_of_our_own_mock():
    with running(clock="auto", refusals="allow") as mock:
        result = conformance.run(mock.url, arm_writes=True, edges=False, delivery=False, examples=0)
    uses = coverage_of(result).keywords
    assert uses.score >= 95
    assert len(uses.right & uses.wrong) >= 100
    assert not uses.beyond
    assert uses.reachable == uses.total


def test_a_reading_run_exercises_95_of_100_keywords_that_reading_reaches():
    with running(clock="auto", refusals="allow") as mock:
        result = conformance.run(mock.url, edges=False, delivery=False, examples=0)
    uses = coverage_of(result).keywords
    assert uses.reach_score >= 95
    assert uses.score < 95
    assert "v2.checkOrder/answer/data.status/enum=Pending" in uses.beyond
    # What reading could show, and this mock does not, counts as never exercised.
    assert "v2.getChain/answer/data.list[].noSwap/type" in uses.never
    assert not any("noSwap" in name or "getChain" in name for name in uses.beyond)


def test_an_order_that_the_user_names_is_within_reach():
    with running(clock="auto", scenario="published-examples", refusals="allow") as mock:
        result = conformance.run(
            mock.url,
            orders=["30000002832"],
            edges=False,
            delivery=False,
            examples=0,
        )
    uses = coverage_of(result).keywords
    assert "v2.checkOrder/answer/data.status/enum" in uses.right
    assert "v2.checkOrder/answer/data.status/enum" not in uses.beyond
