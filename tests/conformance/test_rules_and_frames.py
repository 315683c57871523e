"""A rule is a function with its data beside it, in a frame that says what it judges."""

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from mockserver.conformance import checks
from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.check_decorators import answers_to, counting, each
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.checks.judged_exchanges import answers, is_named
from mockserver.conformance.checks.rule import JUDGED, Finding, Rule, RulePack
from mockserver.conformance.checks.shared_probes import PRICES, V2_QUOTES, probes
from mockserver.conformance.discovery import service_clock
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis
from mockserver.contract.facts import UnknownFact
from tests.conformance.exchanges import CONTRACT, answer, context_of, exchange, success

PRICE = "v2.getPrice"
PACK = RulePack(Layer.EXCHANGE, (PRICE,), PRICES)
MODULES = [
    import_module(f"{checks.__name__}.{each.name}")
    for each in pkgutil.iter_modules(checks.__path__)
]


def judged(rule, *exchanges):
    return outcome_of(rule, context_of(exchanges), CONTRACT.operation(PRICE))


def source_is_named(_, price):
    """The price names
    its provider.

    Always.
    """
    return is_named(price, "source")


def price_of(data, words="usual"):
    return exchange(PRICE, answer(success(PRICE, data)), words)


def test_a_rule_has_its_sentence_its_name_and_its_data():
    balance = probes("v2.getBalance", "usual")
    decorator = PACK.minor(
        "http.integers", *V2_QUOTES, layer=Layer.CROSS, needs=balance, each=("again",)
    )
    rule = decorator(each(answers)(source_is_named))
    assert (rule.name, rule.summary) == ("source-is-named", "The price names its provider.")
    assert (rule.more, rule.severity, rule.layer) == ("Always.", Severity.MINOR, Layer.CROSS)
    assert rule.basis == fact_basis("http.integers")
    assert rule.operations == V2_QUOTES
    assert rule.probes == (
        "v2.getBalance/usual",
        "v2.getBridgeQuote/again",
        "v2.getAggregateQuote/again",
    )


def test_what_a_rule_does_not_say_is_that_of_its_pack():
    rule = PACK.critical("envelope", name="any")(source_is_named)
    assert (rule.name, rule.operations, rule.probes) == ("any", (PRICE,), PRICES)
    words = PACK.major("envelope", each=("again",))(source_is_named)
    assert words.probes == (f"{PRICE}/again",)


def test_a_fact_that_nobody_knows_is_refused():
    with pytest.raises(UnknownFact, match=r"no\.fact"):
        PACK.minor("no.fact")(source_is_named)


def test_every_rule_is_in_the_catalogue_and_has_a_sentence():
    defined = [
        value for module in MODULES for value in vars(module).values() if isinstance(value, Rule)
    ]
    assert {rule.name for rule in RULES} == {rule.name for rule in defined}
    assert len({rule.name for rule in RULES}) == len(RULES) == len(defined)
    assert [rule.name for rule in RULES if not (rule.says and rule.operations)] == []


def test_subjects_that_cannot_be_judged_have_their_reason():
    frame = each(answers, "data.source", not_shown="nobody tells")
    rule = PACK.minor("envelope")(frame(source_is_named))
    nothing = judged(rule, price_of({}))
    assert (nothing.verdict, nothing.reason) == (Verdict.NOT_APPLICABLE, "nobody tells")
    assert judged(rule, price_of({"source": "a provider"})).verdict is Verdict.HOLDS
    (finding,) = judged(rule, price_of({"source": " "})).findings
    assert (finding.message, finding.place) == ("source is an empty text", "data.source")
    assert [shown.probe for shown in finding.exchanges] == [f"{PRICE}/usual"]


@pytest.mark.parametrize(("once", "times"), [(False, 2), (True, 1)])
def test_a_cause_is_reported_once_where_the_frame_says_so(once, times):
    frame = each(answers, "data.source", once=once, vacuous="nobody tells")
    prices = [price_of({"source": ""}, words) for words in ("usual", "again")]
    outcome = judged(PACK.minor("envelope")(frame(source_is_named)), *prices)
    shown = [finding.exchanges[0].probe for finding in outcome.findings]
    assert shown == [price.probe for price in prices][:times]


def goes_on(_, pair):
    """Time goes on."""
    first, last = (
        required_members.value(service_clock.seconds_of(text(price.data.get("updateTime"))))
        for price in pair
    )
    if last < first:
        yield Finding("it goes back")


@pytest.mark.parametrize(
    ("why", "verdict", "reason"),
    [
        ({"vacuous": "no time"}, Verdict.VACUOUS, "no time"),
        ({"not_shown": "no time"}, Verdict.NOT_APPLICABLE, "no time"),
        # A rule that has no word for it must not pass for want of something to judge.
        ({}, Verdict.NOT_RUN, "a defect of this rule: Missing"),
    ],
)
def test_a_pair_that_does_not_show_what_is_compared_is_not_judged(why, verdict, reason):
    frame = each(answers_to("usual", "again"), "data.updateTime", **why)
    rule = PACK.minor("envelope", each=("usual", "again"))(frame(goes_on))
    outcome = judged(rule, *(price_of({}, words) for words in ("usual", "again")))
    assert outcome.verdict is verdict
    assert outcome.reason.startswith(reason)
    later, earlier = {"updateTime": "1767225600"}, {"updateTime": "1767225500"}
    times = [price_of(later, "usual"), price_of(earlier, "again")]
    (finding,) = judged(rule, *times).findings
    assert (finding.exchanges, finding.place) == (tuple(times), "data.updateTime")


def test_that_something_was_not_sent_is_the_better_reason():
    frame = each(RunContext.successes, vacuous="nobody tells", requires=probes(PRICE, "usual"))
    outcome = judged(PACK.minor("envelope")(frame(source_is_named)))
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_RUN, f"{PRICE}/usual was not sent")


@pytest.mark.parametrize(("counted", "verdict"), [(True, Verdict.HOLDS), (False, Verdict.VACUOUS)])
def test_a_check_with_a_loop_of_its_own_says_what_it_judged(counted, verdict):
    def looked(*_):
        """It looks."""
        yield from [JUDGED] * counted

    rule = PACK.minor("envelope")(counting(vacuous="nothing there")(looked))
    assert judged(rule).verdict is verdict


def test_every_check_is_of_a_rule():
    """No function that yields findings is left without a caller."""
    trees = [ast.parse(Path(str(module.__file__)).read_text("utf-8")) for module in MODULES]
    used = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    idle = [
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.returns is not None
        if ast.unparse(node.returns) in ("Findings", "Judgements")
        if not node.decorator_list and node.name not in used
    ]
    assert idle == []
