"""A rule reads what it asked for, and nothing else: one declaration is its plan and its access."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from mockserver import conformance
from mockserver.conformance import run
from mockserver.conformance.checks import submission_timelines
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.checks.rule import Finding, Rule
from mockserver.conformance.discovery.inventory import inventory_of
from mockserver.conformance.requests.all_probes import index_of
from mockserver.conformance.requests.probe_labels import for_each_status
from mockserver.conformance.session.list_probes import FIRST_LIST_PROBES
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis, load
from mockserver.testing import running
from tests.conformance.exchanges import CONTRACT, answer, context_of, exchange, success

PRICE = "v2.getPrice"
PRICE_OPERATION = CONTRACT.operation(PRICE)


def price_of_the_source(context, operation):
    """Judges a price."""
    look = context.get(f"{PRICE}/swap source")
    yield Finding("read" if look else "not sent")


def every_balance(context, operation):
    """Judges balances."""
    yield Finding(f"{len(context.of('v2.getBalance'))} balances")


def asking(check, *probes):
    """Return a rule that asks for some probes."""
    basis = fact_basis("v2.get-price")
    return Rule("any", check, Layer.EXCHANGE, Severity.MINOR, basis, (PRICE,), probes)


@pytest.fixture
def context():
    came = answer(success(PRICE, {}))
    balance = answer(success("v2.getBalance", {}))
    return context_of(
        [exchange(PRICE, came, words="swap source"), exchange("v2.getBalance", balance, number=2)]
    )


def test_a_rule_reads_the_probe_that_it_asks_for(context):
    outcome = outcome_of(
        asking(price_of_the_source, f"{PRICE}/swap source"), context, PRICE_OPERATION
    )
    assert [one.message for one in outcome.findings] == ["read"]


@pytest.mark.parametrize("sent", [True, False])
def test_a_probe_that_was_not_asked_for_cannot_be_read_whether_it_was_sent_or_not(context, sent):
    seen = context if sent else context_of([])
    outcome = outcome_of(asking(price_of_the_source, f"{PRICE}/usual"), seen, PRICE_OPERATION)
    assert outcome.verdict is Verdict.NOT_RUN
    assert outcome.is_defect
    assert "v2.getPrice/swap source is read, but not declared" in outcome.reason


def test_a_rule_reads_what_its_probes_build_on(context):
    [found] = [
        one
        for one in index_of(CONTRACT).by_name.values()
        if one.name == "v2.getAggregateQuote/usual"
    ]
    assert f"{PRICE}/swap source" in found.after
    outcome = outcome_of(asking(price_of_the_source, found.name), context, PRICE_OPERATION)
    assert [one.message for one in outcome.findings] == ["read"]


def test_another_operation_can_be_read_only_where_the_rule_says_so(context):
    asks = asking(every_balance, f"{PRICE}/usual")
    assert outcome_of(asks, context, PRICE_OPERATION).is_defect
    said = outcome_of(replace(asks, reads=("v2.getBalance",)), context, PRICE_OPERATION)
    assert [one.message for one in said.findings] == ["1 balances"]


def test_of_an_operation_that_is_only_asked_for_nothing_else_can_be_read(context):
    other = answer(success("v2.getBalance", {}))
    context.add(exchange("v2.getBalance", other, number=3, words="other token"))
    asks = asking(every_balance, "v2.getBalance/other token")
    said = outcome_of(asks, context, PRICE_OPERATION)
    assert [one.message for one in said.findings] == ["1 balances"]


def test_every_probe_that_a_rule_names_exists_in_a_dialect():
    known = {name for one in ("documented", "observed") for name in index_of(load(one)).by_name}
    lost = {
        (one.name, need)
        for one in RULES
        for need in one.probes
        if isinstance(need, str) and need not in known
    }
    assert lost == set()


def test_every_group_that_a_rule_needs_has_members():
    index = index_of(CONTRACT)
    empty = {
        (one.name, need)
        for one in RULES
        for need in one.probes
        if not isinstance(need, str) and not index.names((need,))
    }
    assert empty == set()


def test_what_the_service_offers_is_read_of_lists_that_every_rule_may_look_at():
    assert set(FIRST_LIST_PROBES) <= set(index_of(CONTRACT).by_name)
    checks = asking(lambda context, operation: iter(inventory_of(context).chains))
    assert not outcome_of(checks, context_of([]), PRICE_OPERATION).reason


def test_no_rule_of_the_pack_reads_what_it_did_not_ask_for():
    with running(clock="auto", refusals="allow") as mock:
        result = run(
            mock.url, arm_writes=True, rate="10000", edges=False, delivery=False, examples=0
        )
    defects = [one.reason for one in result.outcomes if one.is_defect]
    assert defects == []
    again = context_of(result.exchanges)
    told = [
        outcome_of(one, again, CONTRACT.operation(name)) for one in RULES for name in one.operations
    ]
    assert [one.reason for one in told if one.is_defect] == []


CHECKS = sorted(Path(submission_timelines.__file__).parent.glob("*.py"))
CONFORMANCE = sorted(Path(conformance.__file__).parent.rglob("*.py"))
WORDS = {
    ProbeName(name).words
    for dialect in ("documented", "observed")
    for name in index_of(load(dialect)).by_name
}
TEXT_METHODS = ("startswith", "endswith", "partition", "rpartition", "split", "replace")


def parsed(file):
    return ast.walk(ast.parse(file.read_text("utf-8")))


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: file.stem)
def test_every_probe_that_a_check_names_exists(file):
    """What a check reads and did not ask for is a defect; a name that is misspelt is one, too."""
    calls = [
        node
        for node in parsed(file)
        if isinstance(node, ast.Call)
        if getattr(node.func, "id", "") in ("probe", "probes", "answers_to")
    ]
    words = [
        word
        for call in calls
        for argument in call.args
        if isinstance(argument, ast.Constant)
        for word in for_each_status([str(argument.value)])
    ]
    assert set(words) <= WORDS


@pytest.mark.parametrize("file", CONFORMANCE, ids=lambda file: f"{file.parent.stem}-{file.stem}")
def test_no_module_takes_the_name_of_a_probe_apart(file):
    """What others go by is a field of the name."""
    taken = [
        node.lineno
        for node in parsed(file)
        if isinstance(node, ast.Attribute) and node.attr in TEXT_METHODS
        if "probe" in {getattr(node.value, "attr", ""), getattr(node.value, "id", "")}
    ]
    inside = [
        node.lineno
        for node in parsed(file)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In)
        if isinstance(node.left, ast.Constant)
        if getattr(node.comparators[0], "attr", "") == "probe"
    ]
    assert (taken, inside) == ([], [])
