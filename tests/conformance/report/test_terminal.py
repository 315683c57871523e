"""The report on a terminal and in a pipe."""

import re

import pytest

from mockserver.conformance.report.model import report_of
from mockserver.conformance.result import INTERRUPTED
from mockserver.conformance.verdict import Verdict
from tests.conformance.report.made import (
    CONTRACT,
    exchange,
    finding,
    outcome,
    printed,
    report,
    result,
    rule,
)


def test_the_head_names_target_seed_and_submissions(good):
    first, second, *_ = printed(good).splitlines()
    assert first.startswith("conformance of http://127.0.0.1:")
    assert second.startswith("seed 1 · dialect documented · 12 requests in ")
    assert second.endswith("submissions sent: 0")


def test_the_last_line_is_the_conclusion(good, found):
    assert printed(good).splitlines()[-1] == "conforms: 33 checks judged, 1 not applicable"
    last = printed(found.report).splitlines()[-1]
    assert last == ("does not conform: 3 causes in 4 operations, and 1 finding that may follow")


def test_a_finding_has_rule_operations_message_place_section_and_command(found):
    text = printed(found.report)
    block = text[text.index("data-keeps-its-form") :]
    lines = block.splitlines()
    assert lines[0] == "data-keeps-its-form  schema · major"
    assert lines[1].strip().startswith("contradicts section 2.3 (2.0 resources): the results of")
    assert lines[2].split() == [found.report.causes[1].id, "v2.getBridgeQuote"]
    assert lines[3].strip().startswith("data.price: expected a string, got ")
    assert lines[4].strip().startswith("curl -sS -i")


def test_many_operations_are_one_block():
    everywhere = tuple(operation.id for operation in CONTRACT)
    one_rule = rule(operations=everywhere)
    told = report_of(result([outcome(one_rule, [finding("bad")], name) for name in everywhere]))
    text = printed(told)
    assert text.count("a-rule") == 1
    assert "and 13 more" in text
    assert len(text.splitlines()) < 15


def test_many_places_of_a_rule_are_one_block():
    places = [finding("accepted without it", place=f"query.p{n}") for n in range(58)]
    text = printed(report(*places))
    assert len(text.splitlines()) < 22
    assert "and 57 more causes: query.p1, query.p2" in text
    assert len(printed(report(*places), verbose=True).splitlines()) > 100


def test_what_was_not_judged_is_counted_and_grouped_by_reason():
    outcomes = [
        outcome(rule(f"r{n}"), [], name, verdict=Verdict.NOT_RUN, reason=f"{name} is not armed")
        for n in range(5)
        for name in ("v2.submitOrder", "v2.submitTicket")
    ]
    lines = printed(report_of(result(outcomes))).splitlines()
    at = lines.index("not run: 10")
    assert lines[at + 1] == (
        "  10 x a submission is not armed: r0[v2.submitOrder], r0[v2.submitTicket] and 8 more"
    )


def test_narrow_terminals_get_lines_that_fit_but_for_commands(found):
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(found.report, width=46, terminal=True))
    long = [line for line in text.splitlines() if len(line) > 46]
    assert long
    assert all(line.strip().startswith("curl ") for line in long)


def test_a_pipe_gets_whole_lines_and_no_colour(found):
    text = printed(found.report)
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert "they are refused with the nearest known name" not in text
    assert "\x1b[" in printed(found.report, terminal=True)


def test_quiet_leaves_findings_and_conclusion(found):
    text = printed(found.report, quiet=True)
    assert "NOT JUDGED" not in text
    assert "seed 1" not in text
    assert text.splitlines()[-1].startswith("does not conform")


def test_a_hostile_answer_cannot_steer_the_terminal():
    told = report(finding("got '\x1b[2J\x1b]0;owned\x07 [red]\u202eevil[/red]'", exchange()))
    text = printed(told)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[2J" in text
    assert "[red]" in text


def test_an_undocumented_extra_contradicts_nothing(found):
    text = printed(found.report)
    assert "the description does not mention it" in text


def test_verbose_shows_every_exchange_of_a_finding():
    told = report(finding("differs", exchange(), exchange(number=2), exchange(number=3)))
    assert printed(told).count("curl ") == 1
    assert "one of 3 exchanges" in printed(told)
    assert printed(told, verbose=True).count("curl ") == 3


@pytest.mark.parametrize("operation", ["v2.submitOrder", "v2.submitTicket"])
def test_a_command_that_submits_says_so(operation):
    text = printed(report(finding("bad", exchange(operation))))
    assert "# this is a submission" in text


def test_a_finding_without_exchange_can_be_asked_again_all_the_same(found):
    text = printed(found.report)
    assert "/v1/getBridgeQuote" in text[text.index("no-member-is-unknown") :]


@pytest.mark.parametrize(
    ("notes", "code", "said"), [((), 0, "conforms: "), ((INTERRUPTED,), 3, "")]
)
def test_an_interrupted_run_does_not_say_that_a_service_conforms(notes, code, said):
    good = outcome(rule(), [], verdict=Verdict.HOLDS)
    told = report_of(result([good], notes=notes))
    assert told.exit_code == code
    assert told.conclusion.startswith(said or "inconclusive: ")
