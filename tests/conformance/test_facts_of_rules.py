"""What rules stand on: facts of the register, and nothing stronger."""

import pytest

from mockserver.conformance.checks.catalog import RULES, rules_by_fact
from mockserver.conformance.report.explain import explained
from mockserver.conformance.requests.catalog import probes_of
from mockserver.contract import BasisKind, UnknownFact, documented, load, shipped_facts

CONTRACT = load()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_documented_rule_stands_on_a_fact(rule):
    basis = rule.basis
    if basis.kind is BasisKind.DOCUMENTED:
        assert basis == shipped_facts().fact(basis.fact).basis
    else:
        assert basis.fact == ""


def test_a_rule_on_no_fact_cannot_be_made():
    with pytest.raises(UnknownFact, match="versions-never-fall"):
        documented("lists.versions-never-fall")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_nothing_is_quoted_of_the_description(rule):
    (standing,) = [
        text
        for heading, text in explained(rule, RULES, probes_of(CONTRACT), CONTRACT)
        if heading == "based on"
    ]
    assert "which says" not in standing
    assert '"' not in standing


def test_every_fact_is_carried_by_something():
    """Keywords, rules, what the mock does, or the reason why nothing can."""
    rules = rules_by_fact()
    idle = [
        fact.id
        for fact in shipped_facts()
        if not (fact.schema or fact.behaviour or fact.nothing or rules.get(fact.id))
    ]
    assert idle == []


@pytest.mark.parametrize(
    "name",
    [
        "version-follows-the-list",
        "success-has-no-reason",
        "failure-has-a-reason",
        "minimum-is-not-above-output",
        "check-agrees-with-the-list",
        "raw-depends-on-the-amount",
        "each-item-is-listed-once",
        "each-ticket-is-listed-once",
        "one-token-has-one-form",
        "forgets-refusals",
        "media-type-is-json",
        "no-unasked-compression",
        "unknown-path-is-no-success",
        "wrong-method-is-no-success",
    ],
)
def test_what_the_description_does_not_say_is_no_violation(name):
    (rule,) = [one for one in RULES if one.name == name]
    assert rule.basis.kind is not BasisKind.DOCUMENTED
