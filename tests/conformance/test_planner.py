"""The plan: answers are shared, what a probe builds on comes first, and a budget is kept."""

import pytest

from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.runs.planner import plan
from mockserver.conformance.session.permit import Arming, Permit
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.target import UnsafeOrWrong, target_of
from mockserver.conformance.verdict import Severity
from mockserver.contract import Layer, fact_basis, load

CONTRACT = load()
LOCAL = target_of("http://127.0.0.1:1")


def probe(name, stage=Stage.READS, after=()):
    return Probe(f"v2.{name}", lambda context: Draft(), stage, tuple(f"v2.{one}" for one in after))


def rule(name, *probes, severity=Severity.MAJOR, operation="v2.getPrice"):
    def check(context, operation):
        """Hold always."""
        yield from ()

    names = tuple(f"v2.{one}" for one in probes)
    return Rule(name, check, Layer.CROSS, severity, fact_basis("envelope"), (operation,), names)


LISTS = probe("getChain/usual", Stage.LISTS)
LAST = probe("getChain/again", Stage.LAST_LOOK)
ONE = probe("getPrice/one")
TWO = probe("getPrice/two", after=("getPrice/one",))
LATE = probe("checkOrder/late", Stage.WRITES)
SUBMIT = probe("submitOrder/usual", Stage.WRITES)
AFTER = probe("checkOrder/after", Stage.WRITES, after=("submitOrder/usual",))
PROBES = (LAST, LATE, TWO, ONE, LISTS, AFTER, SUBMIT)


def planned(rules, budget, **options):
    chosen = Options(**options)
    permit = Permit(CONTRACT, LOCAL, arming=chosen.arming)
    return plan(permit, rules, PROBES, chosen, budget)


def names(rules, budget=100, **options):
    made = planned(rules, budget, **options)
    return [one.name.removeprefix("v2.") for one in made.probes]


def test_probes_go_by_stage_and_the_lists_are_always_there():
    rules = [rule("late", "checkOrder/late"), rule("two", "getPrice/two")]
    assert names(rules) == [
        "getChain/usual",
        "getPrice/one",
        "getPrice/two",
        "checkOrder/late",
        "getChain/again",
    ]


def test_what_a_probe_builds_on_is_sent_before_it_whatever_the_order_of_declaration():
    sent = names([rule("two", "getPrice/two")])
    assert sent.index("getPrice/one") < sent.index("getPrice/two")


def test_two_rules_share_an_answer():
    rules = [rule("a", "getPrice/one"), rule("b", "getPrice/one")]
    assert names(rules).count("getPrice/one") == 1


def test_the_rule_that_is_worth_more_gets_the_last_request():
    minor = rule("minor", "getPrice/one", severity=Severity.MINOR)
    critical = rule("critical", "checkOrder/late", severity=Severity.CRITICAL)
    made = planned([minor, critical], 3)
    assert [one.name for one in made.probes] == [
        "v2.getChain/usual",
        "v2.checkOrder/late",
        "v2.getChain/again",
    ]
    assert "budget of 3 requests" in made.left_out["v2.getPrice/one"]


def test_nothing_is_sent_whose_ground_is_not():
    made = planned([rule("two", "getPrice/two")], 3)
    assert [one.name for one in made.probes][1:2] == ["v2.getPrice/one"]
    assert list(made.left_out) == ["v2.getPrice/two"]


@pytest.mark.parametrize("budget", range(8))
def test_a_budget_is_never_exceeded(budget):
    rules = [rule("late", "checkOrder/late"), rule("two", "getPrice/two")]
    made = planned(rules, budget)
    assert len(made.probes) <= budget


def test_rules_are_chosen_by_name_layer_and_operation():
    rules = [rule("a-one", "getPrice/one"), rule("b", "checkOrder/late", operation="v2.checkOrder")]
    assert "checkOrder/late" not in names(rules, only=("a-*",))
    assert "getPrice/one" not in names(rules, skip=("v2.getPrice",))
    assert names(rules, skip=("cross",)) == []
    assert len(planned(rules, 9, only=("cross",)).rules) == 2


def test_a_name_that_chooses_nothing_is_told():
    with pytest.raises(UnsafeOrWrong, match="did you mean"):
        names([rule("a", "getPrice/one")], only=("v2.getPrise",))


def test_a_submission_and_what_builds_on_it_is_planned_only_where_writes_are_armed():
    rules = [rule("order", "checkOrder/after")]
    assert names(rules) == ["getChain/usual", "getChain/again"]
    made = planned(rules, 100)
    assert "needs --arm-writes" in made.left_out["v2.checkOrder/after"]
    armed = names(rules, arming=Arming(writes=True))
    assert armed == ["getChain/usual", "submitOrder/usual", "checkOrder/after", "getChain/again"]
