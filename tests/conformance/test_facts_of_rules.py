"""What rules stand on: facts of the register, and nothing stronger."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import mockserver
from mockserver import resources
from mockserver.conformance import run
from mockserver.conformance.checks.all_rules import RULES, rules_by_fact
from mockserver.conformance.report.rule_explanation import explained
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.contract import BasisKind, UnknownFact, fact_basis, load, shipped_facts
from tests.blind.edits import drop, put
from tests.blind.rows import Row
from tests.blind.serve import blind_service

CONTRACT = load()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_stands_on_a_fact_of_the_register(rule):
    assert rule.basis == shipped_facts().fact(rule.basis.fact).basis


def test_a_rule_on_no_fact_cannot_be_made():
    with pytest.raises(UnknownFact, match="versions-never-fall"):
        fact_basis("lists.versions-never-fall")


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


def test_what_is_observed_or_assumed_is_named_somewhere():
    """By a rule, a break, a kind of request, a failure of sequences, or a finding of a check."""
    tables = ("breaks", "stages", "requests")
    files = [resources.schemas() / f"{name}.yaml" for name in tables]
    files += Path(mockserver.__file__).parent.rglob("*.py")
    text = "\n".join(file.read_text("utf-8") for file in files)
    named = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)+").findall(text)
    assert {fact.id for fact in shipped_facts().evidence} - set(named) == set()


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


QUOTES = ("v2.getBridgeQuote", "v2.getAggregateQuote")
WRONG = {
    "no number of units": put("data.outAmount", "1.5"),
    "negative": put("data.outAmount", "-7"),
    "another value": put("data.outAmountUsd", "99999999"),
    "always the same": put("data.outAmount", "1000000"),
    "no output": drop("data.outAmount"),
    "another type": put("data.serviceFee", 5),
    "an empty list": put("data.list", []),
    "items without decimals": drop("data.list.*.decimals"),
}


def are_about(basis, operations):
    """Tell whether a basis is, as far as it names operations, about one of these."""
    fact = shipped_facts().fact(basis.fact) if basis.fact else None
    if fact is None:
        return True
    rows = [operation for operation in CONTRACT if operation.section == fact.section]
    named = {row.id for row in rows if " row " in fact.section} | {
        carrier.operation for carrier in fact.schema if carrier.side == "answer"
    }
    return not named or any(fnmatch(each, one) for each in operations for one in named)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("operation", [*QUOTES, "v2.getAssets", "v2.getAssetsByChain"])
@pytest.mark.deep(quick=3)
def test_the_basis_that_is_quoted_belongs_to_the_operation_that_is_blamed(operation, wrong):
    row = Row("odd", (operation,), "a fault of this test", "2.3", after=WRONG[wrong])
    with blind_service(rows=[row]) as url:
        outcomes = run(url, examples=0, edges=False, delivery=False).outcomes
    strange = [
        (outcome.id, basis.fact, finding.message)
        for outcome in outcomes
        for finding in outcome.findings
        if not are_about(
            basis := outcome.basis_of(finding),
            {outcome.operation.id, *(exchange.operation.id for exchange in finding.exchanges)},
        )
    ]
    assert not strange
