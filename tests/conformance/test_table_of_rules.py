"""The table of rules: a row is a rule, and a word that nobody knows is told of with its line."""

import re

import pytest

from mockserver import resources
from mockserver.conformance.checks.catalog import RULES, read
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis
from mockserver.errors import InvalidFile
from tests.conformance.exchanges import CONTRACT, answer, context_of, exchange, success

TABLE = (resources.schemas() / "rules.yaml").read_text("utf-8")
ROW = "      price-source-is-named: {"


def with_row(folder, row):
    """Return a copy of the table with one more row among those of reads."""
    file = folder / "rules.yaml"
    file.write_text(TABLE.replace(ROW, f"      {row}\n{ROW}"), "utf-8")
    return file


def test_a_new_row_is_a_new_rule(tmp_path):
    row = (
        "source-is-told: {severity: minor, fact: http.integers, layer: cross,"
        " judges: [quotes], asks: [prices, {v2.getBalance: [usual]}], each: [again],"
        " check: judge.named, of: answers, given: {member: source}, place: data.source,"
        " says: The provider is told, more: Always.}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    assert (rule.summary, rule.more) == ("The provider is told.", "Always.")
    assert (rule.layer, rule.severity) == (Layer.CROSS, Severity.MINOR)
    assert rule.basis == fact_basis("http.integers")
    assert rule.operations == ("v2.getBridgeQuote", "v2.getAggregateQuote")
    assert rule.probes == (
        *(f"v2.getPrice/{words}" for words in ("usual", "swap source", "swap target", "sampled")),
        "v2.getBalance/usual",
        "v2.getBridgeQuote/again",
        "v2.getAggregateQuote/again",
    )


NAMED = "source-is-told: {severity: minor, says: x, check: judge.named, of: answers"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("none: {severity: minor, fact: envelope, says: x}", "reads.py has no function 'none'"),
        ("quotes: {severity: minor, fact: envelope, says: x}", "reads.py has no function 'quotes'"),
        (f"{NAMED}, fact: no.fact, judges: [every]}}", "no fact 'no.fact'"),
        (
            f"{NAMED}, fact: envelope, judges: [every], asks: [some]}}",
            "no probes are called 'some'",
        ),
        (f"{NAMED}, fact: envelope, judges: []}}", "it judges no operation"),
        (
            f"{NAMED}, fact: envelope, judges: [every], given: {{person: source}}}}",
            "'judge.named' takes no person",
        ),
        ("price-is: {severity: grave, fact: envelope, says: x}", "severity"),
        ("price-is: {severity: minor, fact: envelope, sais: x}", "sais"),
    ],
)
def test_a_row_that_is_wrong_is_told_of_with_its_line(tmp_path, row, told):
    file = with_row(tmp_path, row)
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if row in text)
    with pytest.raises(InvalidFile) as caught:
        tuple(read(file))
    assert told in str(caught.value)
    assert f"{file}:{line}" in str(caught.value)


def test_a_file_of_rules_is_one_of_checks(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(TABLE.replace("\n  reads:\n", "\n  readings:\n"), "utf-8")
    with pytest.raises(InvalidFile, match=r"readings\.py has no function"):
        tuple(read(file))


def test_a_thing_that_cannot_be_judged_has_its_reason(tmp_path):
    """In the frame a check that judged nothing says why, and one that found something does not."""
    row = (
        "source-is-told: {severity: minor, fact: envelope, check: judge.named, of: answers,"
        " given: {member: source}, place: data.source, not-shown: nobody tells, says: x}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    operation = CONTRACT.operation("v2.getPrice")

    def told(data):
        one = exchange("v2.getPrice", answer(success("v2.getPrice", data)))
        return outcome_of(rule, context_of([one]), operation)

    assert (told({}).verdict, told({}).reason) == (Verdict.NOT_APPLICABLE, "nobody tells")
    assert told({"source": "a provider"}).verdict is Verdict.HOLDS
    (finding,) = told({"source": " "}).findings
    assert (finding.message, finding.place) == ("source is an empty text", "data.source")
    assert [one.probe for one in finding.exchanges] == ["v2.getPrice/usual"]


@pytest.mark.parametrize(("once", "told"), [("", 2), (" once: true,", 1)])
def test_a_cause_is_told_once_where_a_row_says_so(tmp_path, once, told):
    row = (
        "source-is-told: {severity: minor, fact: envelope, check: judge.named, of: answers,"
        f" given: {{member: source}}, place: data.source,{once} vacuous: nobody tells, says: x}}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    unnamed = answer(success("v2.getPrice", {"source": ""}))
    looks = [exchange("v2.getPrice", unnamed, words) for words in ("usual", "again")]
    outcome = outcome_of(rule, context_of(looks), CONTRACT.operation("v2.getPrice"))
    assert [one.exchanges[0].probe for one in outcome.findings] == [
        "v2.getPrice/usual",
        "v2.getPrice/again",
    ][:told]


@pytest.mark.parametrize(
    ("why", "verdict", "reason"),
    [
        ("vacuous: no time", Verdict.VACUOUS, "no time"),
        ("not-shown: no time", Verdict.NOT_APPLICABLE, "no time"),
        # A rule that has no word for it must not pass for want of something to judge.
        ("layer: cross", Verdict.NOT_RUN, "a defect of this rule: Missing"),
    ],
)
def test_what_a_pair_does_not_tell_is_not_judged(tmp_path, why, verdict, reason):
    row = (
        "source-is-told: {severity: minor, fact: envelope, check: update-time-never-goes-back,"
        f" each: [again], pair: [usual, again], place: data.updateTime, {why}, says: x}}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    silent = answer(success("v2.getPrice", {}))
    looks = [exchange("v2.getPrice", silent, words) for words in ("usual", "again")]
    outcome = outcome_of(rule, context_of(looks), CONTRACT.operation("v2.getPrice"))
    assert outcome.verdict is verdict
    assert outcome.reason.startswith(reason)


def test_a_better_reason_is_that_something_was_not_sent(tmp_path):
    row = (
        "source-is-told: {severity: minor, fact: envelope, check: judge.named, of: succeeded,"
        " given: {member: source}, place: data.source, vacuous: nobody tells,"
        " requires: [v2.getPrice/usual], asks: [prices], says: x}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    outcome = outcome_of(rule, context_of([]), CONTRACT.operation("v2.getPrice"))
    assert (outcome.verdict, outcome.reason) == (Verdict.NOT_RUN, "v2.getPrice/usual was not sent")


def test_every_check_is_of_a_rule():
    named = set(re.findall(r"(?:check|of): ([a-z-]+\.)?([a-z0-9-]+)", TABLE))
    words = {name for _, name in named} | {rule.name for rule in RULES}
    folder = resources.schemas().parent / "mockserver" / "conformance" / "checks"
    idle = [
        f"{file.name}: {name}"
        for file in folder.glob("*.py")
        for name in re.findall(
            r"^def ([a-z]\w*)\([^()]*\) -> (?:Findings|Judgements):", file.read_text(), re.MULTILINE
        )
        if name.replace("_", "-") not in words and not _is_called(name, folder)
    ]
    assert idle == []


def _is_called(name, folder):
    texts = "".join(file.read_text() for file in folder.glob("*.py"))
    return len(re.findall(rf"\b{name}\b", texts)) > 1
