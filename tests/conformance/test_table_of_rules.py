"""The table of rules: a row is a rule, and a word that nobody knows is told of with its line."""

import pytest

from mockserver import resources
from mockserver.conformance.checks.catalog import read
from mockserver.conformance.verdict import Severity
from mockserver.contract import Layer, assumed
from mockserver.errors import InvalidFile

TABLE = (resources.schemas() / "rules.yaml").read_text("utf-8")
ROW = "      price-source-is-named: {"


def with_row(folder, row):
    """Return a copy of the table with one more row among those of reads."""
    file = folder / "rules.yaml"
    file.write_text(TABLE.replace(ROW, f"      {row}\n{ROW}"), "utf-8")
    return file


def test_a_new_row_is_a_new_rule(tmp_path):
    row = (
        "source-is-told: {severity: minor, fact: {A-215: it is told}, layer: cross,"
        " judges: [quotes], asks: [prices, {v2.getBalance: [usual]}], each: [again],"
        " check: price-source-is-named, says: The provider is told, more: Always.}"
    )
    (rule,) = (one for one in read(with_row(tmp_path, row)) if one.name == "source-is-told")
    assert (rule.summary, rule.more) == ("The provider is told.", "Always.")
    assert (rule.layer, rule.severity) == (Layer.CROSS, Severity.MINOR)
    assert rule.basis == assumed("A-215", "it is told")
    assert rule.operations == ("v2.getBridgeQuote", "v2.getAggregateQuote")
    assert rule.probes == (
        *(f"v2.getPrice/{words}" for words in ("usual", "swap source", "swap target", "sampled")),
        "v2.getBalance/usual",
        "v2.getBridgeQuote/again",
        "v2.getAggregateQuote/again",
    )


NAMED = "source-is-told: {severity: minor, says: x, check: price-source-is-named"


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
