"""Findings of one cause are told once, under an id that stays."""

from functools import partial

import pytest

from mockserver.conformance import run
from mockserver.conformance.report.model import report_of
from mockserver.conformance.verdict import Verdict
from tests.blind.edits import on_refusal
from tests.blind.rows import Row
from tests.blind.serve import blind_service
from tests.conformance.report.made import finding, outcome, result, rule
from tests.conformance.report.pack import observed

BOTH = ("v2.getBridgeQuote", "v2.getAggregateQuote")


def causes_of(outcomes):
    return report_of(result(outcomes)).causes


def ids(*outcomes):
    return [cause.id for cause in causes_of(outcomes)]


def test_operations_and_items_of_a_list_come_together():
    one_rule = rule(operations=BOTH)
    causes = causes_of(
        outcome(one_rule, [finding(f"got {n}", place=f"data.list[{n}].a") for n in (1, 2)], name)
        for name in BOTH
    )
    assert [(cause.count, cause.operations, cause.place) for cause in causes] == [
        (4, BOTH, "data.list[].a")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expected a text, got 5", "expected a text, got 17"),
        ("got 'a' instead", "got 'b c' instead"),
        ("to 0xAB12 paid 1.5", "to 0x99 paid -2e-7"),
        ('said "no"', 'said "never, \\"no\\""'),
        ("1000.00 USDT from CRO to BNB pays 1", "0.037 wBTC from KAS to ETH pays 10.5"),
        ("the digest deadbeefdeadbeef", "the digest 0123456789abcdef0"),
    ],
)
def test_an_id_does_not_depend_on_values(one, other):
    assert ids(outcome(rule(), [finding(one)])) == ids(outcome(rule(), [finding(other)]))


@pytest.mark.parametrize(
    "other",
    [
        outcome(rule("b-rule"), [finding("wrong")]),
        outcome(rule(), [finding("wrong", place="data.b")]),
        outcome(rule(), [finding("quite wrong")]),
        outcome(rule(), [finding("wrong", cause="another way")]),
        outcome(rule(), [finding("wrong", basis=observed("OAE"))]),
    ],
)
def test_another_rule_place_way_or_verdict_is_another_cause(other):
    assert ids(outcome(rule(), [finding("wrong")])) != ids(other)


def test_a_cause_of_its_own_makes_messages_not_count():
    told = [finding("one thing", cause="x"), finding("quite another", cause="x")]
    assert len(causes_of([outcome(rule(), told)])) == 1


def test_the_id_is_the_same_in_every_release():
    # Baselines that people keep hold these ids.
    assert ids(outcome(rule(), [finding("got 5", place="data.list[3].a")])) == ["5d8f2757ed"]


def test_the_worst_comes_first():
    milder = finding("x", verdict=Verdict.EXTRA)
    causes = causes_of(
        [outcome(rule(), [milder, finding("y", basis=observed("OAE")), finding("z")])]
    )
    assert [cause.verdict for cause in causes] == [
        Verdict.VIOLATION,
        Verdict.DIFFERS_OBSERVED,
        Verdict.EXTRA,
    ]


def test_the_place_is_told_once():
    [cause] = causes_of([outcome(rule(), [finding("data.a: missing", place="data.a")])])
    assert cause.located == "data.a: missing"
    [cause] = causes_of([outcome(rule(), [finding("missing", place="data.a")])])
    assert cause.located == "data.a: missing"


def with_data(value, answer):
    answer.body["data"] = value


@pytest.mark.parametrize(("before", "now", "alike"), [([], [1], True), ([], "x", False)])
def test_who_accepts_one_type_in_refusals_accepts_no_other(before, now, alike):
    accepted = []
    for value in (before, now):
        edit = on_refusal(partial(with_data, value))
        broken = Row("data", ("v2.getPrice",), "a fault of this test", "2.1", after=edit)
        with blind_service(rows=[broken]) as url:
            rules = ["envelope-members", "refuses-missing-input"]
            told = report_of(run(url, only=rules, edges=False, delivery=False, examples=0))
        accepted.append({cause.id for cause in told.causes if cause.rule.name == rules[0]})
    assert all(accepted)
    assert (accepted[0] == accepted[1]) is alike
