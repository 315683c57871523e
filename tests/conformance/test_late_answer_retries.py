"""Answers that come far later than others of their kind, and each time that they are asked for."""

import pytest

from mockserver.conformance import Verdict, run
from mockserver.conformance.requests.late_answer_retries import KINDS, ROUNDS, suspects
from mockserver.conformance.session.context import SLOW_MS
from tests.blind.edits import http
from tests.blind.rows import fault
from tests.blind.serve import blind_service
from tests.conformance.exchanges import CONTRACT, answer, context_of, exchange, judged, success

RULE = "answers-as-soon-as-its-kind"
PRICE, BALANCE = "v2.getPrice", "v2.getBalance"
SOON = [(PRICE, 4), (PRICE, 6), (PRICE, 5), (BALANCE, 7)]


def seen(*times):
    """Return successes with the time that each took."""
    return [
        exchange(name, answer(success(name, {}), elapsed_ms=ms), f"look {number}", number)
        for number, (name, ms) in enumerate(times, 1)
    ]


def looked_into(*times):
    context = context_of(seen(*times))
    return [(one.late.operation.id, one.typical.operation.id) for one in suspects(context)]


@pytest.mark.parametrize(
    ("late", "found"),
    [
        (900, [(BALANCE, PRICE)]),
        (405, []),
        (SLOW_MS + 1, []),
    ],
    ids=["late", "not late enough", "above the bound"],
)
def test_what_is_looked_into(late, found):
    assert looked_into(*SOON, (BALANCE, late)) == found


def test_few_answers_show_no_usual_time():
    assert looked_into(*SOON[:3], (BALANCE, 900)) == []


def test_a_service_that_is_far_away_is_slow_in_all():
    assert looked_into(*((name, ms + 300) for name, ms in SOON), (BALANCE, 1_900)) == []


def test_a_refusal_shows_no_time():
    refused = exchange(BALANCE, answer({"code": 3}, elapsed_ms=900), "look 9", 9)
    assert [*suspects(context_of([*seen(*SOON), refused]))] == []


def again(late, beside):
    """Return the looks in turn, with the times of each."""
    about = f"{BALANCE} 1"
    names = [(BALANCE, "slower than its kind, asked again", late)]
    names.append((PRICE, "beside what is slower", beside))
    return [
        exchange(name, answer(success(name, {}), elapsed_ms=ms), f"{words}: {about}, {turn}", turn)
        for name, words, times in names
        for turn, ms in enumerate(times, 1)
    ]


@pytest.mark.parametrize(
    ("late", "beside", "verdict"),
    [
        ([600, 610, 620, 605], [5, 5, 6, 5], Verdict.DIFFERS_ASSUMPTION),
        ([600, 610, 620, 605], [5, 900, 6, 5], Verdict.DIFFERS_ASSUMPTION),
        ([600, 610, 5, 605], [5, 5, 6, 5], Verdict.HOLDS),
        ([600, 610, 620, 605], [300, 500, 400, 90], Verdict.HOLDS),
        ([600, 610], [5, 6], Verdict.DIFFERS_ASSUMPTION),
        ([600], [5], Verdict.HOLDS),
        ([600, 610, 620], [5, 5], Verdict.HOLDS),
    ],
    ids=[
        "each time",
        "one of the others late too",
        "once soon",
        "a busy machine",
        "twice",
        "one look",
        "cut",
    ],
)
def test_it_is_told_only_where_it_is_late_each_time(late, beside, verdict):
    usual = exchange(BALANCE, answer(success(BALANCE, {}), elapsed_ms=600), "usual", 9)
    told = judged(RULE, BALANCE, usual, *again(late, beside))
    assert told.verdict is verdict


def test_no_kind_has_what_changes_something_or_is_signed_for_a_moment():
    for name in (name for kind in KINDS for name in kind):
        operation = CONTRACT.operation(name)
        assert not operation.writes
        assert operation.auth not in ("developer-key", "wallet-signature")


@pytest.mark.parametrize(("delay", "told"), [(0.45, ["v2.getAssets"]), (0.0, [])])
def test_a_list_that_is_far_later_than_the_others(delay, told, ticks):
    slow = fault("slow", "v2.getAssets", "common sense", "late", after=http(delay=delay))
    with blind_service(rows=[slow], wait=ticks.wait) as url:
        result = run(url, only=(RULE,), edges=False, delivery=False, examples=0)
    found = [one.operation.id for one in result.outcomes if one.verdict.is_finding]
    assert found == told
    if told:
        in_turn = [one for one in result.exchanges if f": {told[0]} 1, " in one.probe]
        assert len(in_turn) == 2 * ROUNDS
