"""Accepted findings: who, why, and until when."""

import re
from datetime import date

import pytest

from mockserver.conformance.report.baseline import apply, baseline_text, day_of, read_baseline
from mockserver.conformance.report.report_files import FORMATS
from mockserver.errors import InvalidFile
from tests.conformance.report.made import exchange, finding, printed, report
from tests.conformance.report.pack import PACK

TODAY = date(2026, 11, 21)
WORD = "    reason: known\n    owner: team-bridge\n    expires: 2026-11-21\n"


@pytest.fixture
def baseline(tmp_path):
    """Read a baseline of some rows."""

    def make(*rows):
        file = tmp_path / "accepted.yaml"
        text = "".join(f"  - {row}\n{WORD}" for row in rows)
        file.write_text(f"format: crosschain-mock/baseline@1\naccepted:\n{text}")
        return read_baseline(file)

    return make


def by_rule(report):
    return [cause.rule.name for cause in report.causes]


def test_an_accepted_cause_does_not_fail(found, baseline):
    told = apply(
        baseline(*(f"cause: {c.id}" for c in found.report.causes)), found.report, PACK, TODAY
    )
    assert told.causes == ()
    assert (found.report.exit_code, told.exit_code) == (1, 0)
    assert len(told.accepted) == 5
    text = printed(told)
    assert "accepted: 5 causes, until 2026-11-21; --verbose lists them" in text
    assert "by team-bridge" not in text
    assert text.splitlines()[-1] == told.conclusion
    whole = printed(told, verbose=True)
    assert "accepted until 2026-11-21 by team-bridge: data-keeps-its-form" in whole
    assert "5 accepted" in told.conclusion


def test_the_rest_still_fails(found, baseline):
    told = apply(baseline("rule: body-is-strict-json"), found.report, PACK, TODAY)
    assert told.exit_code == 1
    assert "body-is-strict-json" not in by_rule(told)
    assert 'message="accepted' not in FORMATS["github"](told)
    assert "accepted until 2026-11-21 by team-bridge" in FORMATS["junit"](told)
    assert '"suppressions"' in FORMATS["sarif"](told)


def test_on_the_day_after_it_fails_again_and_the_owner_is_named(found, baseline):
    rows = [f"cause: {cause.id}" for cause in found.report.causes]
    told = apply(baseline(*rows), found.report, PACK, date(2026, 11, 22))
    assert [one.findings for one in told.causes] == [one.findings for one in found.report.causes]
    assert told.exit_code == 1
    assert "was accepted until 2026-11-21 by team-bridge: known" in printed(told)
    assert "was accepted until 2026-11-21 by team-bridge" in FORMATS["html"](told)


def test_one_operation_of_a_cause_can_be_accepted_alone(found, baseline):
    row = "rule: body-is-strict-json\n    operation: v2.getChain"
    told = apply(baseline(row), found.report, PACK, TODAY)
    left = next(cause for cause in told.causes if cause.rule.name == "body-is-strict-json")
    assert left.operations == ("v1.getSupportChains",)
    assert [one.operations for one in told.accepted] == [("v2.getChain",)]
    assert told.exit_code == 1


def test_a_place_narrows_an_entry(found, baseline):
    row = "rule: required-input-is-required\n    place: query.amount"
    told = apply(baseline(row), found.report, PACK, TODAY)
    places = [c.place for c in told.causes if c.rule.name == "required-input-is-required"]
    assert places == ["headers.signature"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("rule: body-is-strickt-json", "no rule; did you mean 'body-is-strict-json'"),
        ("rule: body-is-strict-json\n    operation: v2.getChian", "did you mean 'v2.getChain'"),
        ("rule: order-is-taken", None),
        ("rule: body-is-strict-json\n    operation: v2.getAssets", "the entry can go"),
        ("cause: 0123456789", "no finding has the cause '0123456789'"),
    ],
)
def test_entries_that_nothing_needs_are_told_with_their_line(found, baseline, row, said):
    told = apply(baseline(row), found.report, PACK, TODAY)
    new = [note for note in told.notes if note not in found.report.notes]
    if said is None:
        # Its rule was not judged in this run, so nobody knows.
        assert new == []
        return
    assert len(new) == 1
    assert said in new[0]
    assert "accepted.yaml:3: " in new[0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("cause: xyz", "ten hex digits"),
        ("place: data", "a cause or a rule"),
        ("cause: 0123456789\n    until: x", "unknown name"),
    ],
)
def test_a_bad_entry_is_named_with_its_line(baseline, row, said):
    with pytest.raises(InvalidFile, match=said) as caught:
        baseline(row)
    assert "accepted.yaml:" in str(caught.value)


def test_a_day_that_is_none_is_named(baseline, tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(
        "format: crosschain-mock/baseline@1\naccepted:\n"
        "  - {cause: 0123456789, reason: r, owner: o, expires: 2026-02-30}\n"
    )
    with pytest.raises(InvalidFile, match="'2026-02-30' is no day"):
        read_baseline(file)
    assert day_of("2026-02-28") == date(2026, 2, 28)
    assert day_of("20260228") is None


def test_a_written_baseline_accepts_what_was_found(found, tmp_path):
    text = baseline_text(found.report, owner='ops: "night"', expires=TODAY, reason="to do")
    file = tmp_path / "b.yaml"
    file.write_text(text)
    told = apply(read_baseline(file), found.report, PACK, TODAY)
    assert told.causes == ()
    assert {one.acceptance.owner for one in told.accepted} == {'ops: "night"'}
    # Written once more, the words that were given stay.
    again = baseline_text(told, owner="another", expires=date(2030, 1, 1), reason="x")
    file.write_text(again)
    assert {entry.acceptance.owner for entry in read_baseline(file).entries} == {'ops: "night"'}


def test_nothing_found_makes_an_empty_baseline(good, tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(baseline_text(good, owner="o", expires=TODAY, reason="r"))
    assert read_baseline(file).entries == ()


@pytest.mark.parametrize("name", ["x" * 200_000, "\ud800", "\x1b[2J", "\x9b", "\ufffe", "a\n: b"])
def test_whatever_a_member_is_called_a_written_baseline_is_read_back(name, tmp_path):
    told = report(finding("is no number", exchange(), place=f"data.{name}"))
    file = tmp_path / "accepted.yaml"
    text = baseline_text(told, owner="o", expires=date(2030, 1, 1), reason="r")
    file.write_text(text, "utf-8")
    left = apply(read_baseline(file), told, PACK, TODAY)
    assert left.causes == ()


@pytest.mark.parametrize("format_", FORMATS)
def test_a_name_of_any_length_is_told_in_a_few_thousand_characters(format_):
    told = report(finding("is no number", exchange(), place=f"data.{'x' * 200_000}"))
    assert len(FORMATS[format_](told)) < 100_000


@pytest.mark.parametrize("form", [r"\d+", r"\d+e\d+"], ids=["digits alone", "as a number"])
def test_an_id_that_yaml_takes_for_a_number_is_read_back(form, tmp_path):
    made = (report(finding("wrong", exchange(), place=f"data.m{n}")) for n in range(50_000))
    told = next(one for one in made if re.fullmatch(form, one.causes[0].id))
    file = tmp_path / "accepted.yaml"
    file.write_text(baseline_text(told, owner="o", expires=TODAY, reason="r"))
    assert read_baseline(file).entries[0].cause == told.causes[0].id
    assert apply(read_baseline(file), told, PACK, TODAY).causes == ()
