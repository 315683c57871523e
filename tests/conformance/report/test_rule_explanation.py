"""What is told of a rule, for every rule there is."""

import pytest

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.report.rule_explanation import (
    explained,
    ground_of,
    rule_named,
    section,
)
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.contract import Basis, BasisKind, Verdict, fact_basis
from tests.conformance.report.made import CONTRACT, rule
from tests.conformance.report.pack import JSON, PACK, PROBES, UNKNOWN, assumed, observed


def told(one, rules=PACK, probes=PROBES):
    return dict(explained(one, rules, probes, CONTRACT))


def test_a_rule_is_told_in_full():
    said = told(JSON)
    assert (
        said[""] == "body-is-strict-json: The body of every answer is JSON in the strict reading."
    )
    assert said["details"] == "A client in another language may refuse what Python takes."
    assert said["why"] == "if it does not hold, a client breaks or shows something wrong"
    assert said["based on"].startswith("section 2.1 (response envelope) of the interface")
    assert said["based on"].endswith(fact_basis("envelope").says)
    assert '"' not in said["based on"]
    assert said["requests"].startswith("none of its own")
    assert said["example of a finding"].startswith("violation: body-is-strict-json [v2.getChain]")


def test_an_assumption_is_told_with_its_reason_and_alternatives():
    said = told(UNKNOWN)["based on"]
    assert said.startswith(
        "assumption A-001 (unknown names of parameters and body fields): the request"
    )
    assert "as plausible: ignore them" in said


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UnsafeOrWrong, match="did you mean 'body-is-strict-json'"):
        rule_named("body-is-strict-jsn", PACK)


@pytest.mark.parametrize("one", RULES, ids=lambda one: one.name)
def test_every_rule_can_be_explained(one):
    said = told(one, RULES, probes_of(CONTRACT))
    assert said[""] == f"{one.name}: {one.says}."
    assert one.says
    assert said["based on"]


def test_every_section_that_a_rule_names_is_one():
    for one in RULES:
        if one.basis.kind == "documented":
            assert section(one.basis.reference) != one.basis.reference, one.name


@pytest.mark.parametrize(
    ("basis", "said"),
    [
        (
            Basis(BasisKind.DOCUMENTED, "4.2 row 7", "", "x"),
            "contradicts section 4.2 row 7 (endpoints of 2.0): x",
        ),
        (Basis(BasisKind.DOCUMENTED, "99"), "contradicts section 99"),
        (observed("OAE"), "differs from what OAE shows"),
        (assumed("A-999"), "differs from assumption A-999"),
    ],
)
def test_grounds_in_words(basis, said):
    assert ground_of(Verdict.VIOLATION, basis, CONTRACT) == said


def test_a_row_belongs_to_its_section():
    assert section("4.2 row 7") == "4.2 row 7 (endpoints of 2.0)"
    assert section("2.3.1") == "2.3.1 (2.0 resources)"
    assert section("") == ""


def test_a_rule_with_requests_names_them():
    many = rule(probes=tuple(f"v2.getChain/{n}" for n in range(20)))
    assert "20, shared with other rules" in told(many)["requests"]
    assert "and 8 more" in told(many)["requests"]
