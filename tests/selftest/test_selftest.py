"""The self-test tells a pack of rules that notices from one that does not."""

from dataclasses import replace
from multiprocessing import active_children

import pytest

from mockserver import jsontext
from mockserver.conformance.checks.all_rules import RULES
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.selftest import (
    Job,
    LostTrial,
    Trial,
    TrialFinding,
    as_json,
    jobs_of,
    percent,
    selftest,
    summary_of,
)

BROKEN = "bridge-whole-tokens"
JOBS = (Job(BROKEN, False), Job(None, True, 7))


@pytest.fixture(scope="module")
def trials():
    return tuple(made for _, made in selftest(JOBS))


def trial(name="a", *, told=(), **changes):
    made = Trial(name, "schema", "violation", False, False, True, 1, tuple(told), 150, 0, 900)
    return replace(made, **changes)


def said(rule="data-form", verdict="violation"):
    return TrialFinding(rule, "v2.getPrice", verdict, "told")


def test_a_break_is_found_and_the_mock_as_it_is_gets_no_word(trials):
    broken, healthy = trials
    assert (broken.name, broken.detected, broken.verdict) == (BROKEN, True, "violation")
    assert broken.submissions == 0
    assert (healthy.findings, healthy.false_alarm) == ((), False)
    assert healthy.submissions > 0


def test_the_rules_of_what_is_broken_come_first_and_the_others_where_these_miss_it(trials):
    # That two chains have each other's networks shows only beside the lists of v1, and an order's
    # number is asked about at another operation.
    jobs = [
        Job(BROKEN, False, near=True),
        Job("networks-of-two-chains-swapped", False, near=True),
        Job("order-id-uncheckable", True, near=True),
    ]
    near, beside, submitted = (made for _, made in selftest(jobs))
    assert near.requests < trials[0].requests
    assert (near.detected, near.verdict) == (True, trials[0].verdict)
    assert {told.rule for told in beside.findings} == {"v1-chains-have-the-networks-of-2.0"}
    assert beside.right
    assert {told.operation for told in submitted.findings} == {"v2.checkOrder"}
    assert submitted.right


@pytest.mark.deep
def test_several_processes_make_the_same_trials(trials):
    beside = dict(selftest(JOBS, processes=2))
    assert [(made.name, made.findings) for made in trials] == [
        (beside[job].name, beside[job].findings) for job in JOBS
    ]


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.deep)])
def test_a_trial_is_there_as_soon_as_it_is_made(processes):
    made = selftest((JOBS[0], *(Job(None, True, seed) for seed in range(100))), processes=processes)
    job, _ = next(made)
    assert job in (JOBS[0], Job(None, True, 0))
    made.close()


@pytest.mark.deep
def test_a_process_that_is_lost_is_told_and_nothing_hangs():
    made = selftest([Job(None, True, seed) for seed in range(100)], processes=2)
    next(made)
    for process in active_children():
        process.kill()
    with pytest.raises(LostTrial, match="has ended"):
        list(made)


@pytest.mark.deep
def test_a_trial_that_fails_is_told_as_it_is():
    with pytest.raises(KeyError, match="no-such"):
        list(selftest([Job("no-such", False)] * 2, processes=2))


def test_each_break_is_tried_in_both_modes_or_in_the_cheapest_one():
    writing = next(name for name, item in CATALOGUE.items() if item.needs_writes)
    control = next(name for name, item in CATALOGUE.items() if item.control)
    assert jobs_of([BROKEN], [3]) == [
        Job(BROKEN, True),
        Job(BROKEN, False),
        Job(None, True, 3),
        Job(None, False, 3),
    ]
    cheapest = jobs_of([BROKEN, writing, control], [], None)
    assert cheapest == [
        Job(BROKEN, False, near=True),
        Job(writing, True, near=True),
        Job(control, True),
    ]


def test_what_passes_is_all_found_all_right_and_nothing_else():
    rules = tuple(rule for rule in RULES if rule.name == "data-form")
    assert summary_of([trial(told=[said()])], rules).passed


@pytest.mark.parametrize(
    ("trials", "what"),
    [
        ([trial(told=[said()]), trial("missed")], "missed"),
        ([trial(told=[said()]), trial("c", control=True, expected="none", told=[said()])], "alarm"),
        ([trial(told=[said()]), trial(told=[said(verdict="undocumented-extra")])], "verdict"),
        ([trial(told=[said()], armed=False, submissions=1)], "submissions"),
        ([trial(told=[said()], defects=("a rule failed",))], "defect"),
        ([trial(told=[said("another")])], "idle"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_flaw_fails_it(trials, what):
    rules = tuple(rule for rule in RULES if rule.name == "data-form")
    assert not summary_of(trials, rules).passed


def test_a_control_may_be_told_of_as_what_it_is():
    extra = trial(
        control=True, expected="undocumented-extra", told=[said(verdict="undocumented-extra")]
    )
    silent = trial(control=True, expected="undocumented-extra")
    assert not extra.false_alarm
    assert not silent.false_alarm
    assert replace(extra, findings=(said(),)).false_alarm


def test_a_break_that_only_a_submission_shows_is_not_missed_by_reading():
    writing = trial(needs_writes=True, armed=False)
    assert summary_of([writing], ()).missed == ()
    assert summary_of([replace(writing, armed=True)], ()).missed != ()


def test_shares_are_rounded_down():
    assert [str(percent(*pair)) for pair in ((2, 3), (0, 7), (7, 7), (0, 0))] == [
        "66.6",
        "0.0",
        "100.0",
        "100",
    ]


def test_the_summary_is_plain_data():
    summary = summary_of([trial(told=[said()]), trial("b")], RULES)
    told = jsontext.decode(jsontext.encode(as_json(summary)))
    assert told["format"] == "crosschain-mock/selftest@1"
    assert [item["name"] for item in told["missed"]] == ["b"]
    assert told["layers"][0]["breaks"] == 2
