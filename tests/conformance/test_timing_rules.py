"""What is said of answers that take long."""

import pytest

from mockserver.conformance.options import Options
from mockserver.conformance.requests.unusual_http import SHORT_MS
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import SLOW_MS
from mockserver.conformance.session.exchange import Answer, Exchange, NoAnswer
from mockserver.conformance.session.request_draft import draft_of
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.blind.edits import http, when
from tests.blind.rows import fault
from tests.blind.serve import blind_service
from tests.conformance.exchanges import CONTRACT, answer, exchange, judged

QUOTE = "v1.getCrossChainQuote"


def asked(came, expire, number):
    operation = CONTRACT.operation(QUOTE)
    draft = draft_of(operation.row["example"], operation).having("headers", "expireTime", expire)
    return Exchange(number, f"{QUOTE}/look {number}", operation, draft.request(operation), came)


@pytest.mark.parametrize(
    ("expire", "elapsed", "trouble", "verdict"),
    [
        ("1500", [900], None, Verdict.HOLDS),
        ("1500", [1_600], None, Verdict.HOLDS),
        ("1500", [1_700, 1_700], None, Verdict.VIOLATION),
        ("1500", [1_700], None, Verdict.INCONCLUSIVE),
        ("1500", [1_700, 900], None, Verdict.INCONCLUSIVE),
        ("1500", [10_000, 10_000], NoAnswer.TIMED_OUT, Verdict.VIOLATION),
        ("15000", [10_000, 10_000], NoAnswer.TIMED_OUT, Verdict.INCONCLUSIVE),
        ("1500", [10_000, 10_000], NoAnswer.UNREACHABLE, Verdict.INCONCLUSIVE),
        ("soon", [10_000, 10_000], None, Verdict.INCONCLUSIVE),
    ],
)
def test_a_v1_answer_keeps_the_time_out_of_its_request(expire, elapsed, trouble, verdict):
    looks = [
        asked(answer({"code": 0}, elapsed_ms=ms, trouble=trouble), expire, number)
        for number, ms in enumerate(elapsed, 1)
    ]
    outcome = judged("keeps-expire-time", QUOTE, *looks)
    assert outcome.verdict is verdict
    if outcome.findings:
        assert outcome.basis_of(outcome.findings[0]).reference == "8"


PRICE = "v2.getPrice"


def timed(*answers):
    """Judge answers to one and the same request: the time of each, or its trouble."""
    return judged(
        "answers-in-time",
        PRICE,
        *(
            exchange(PRICE, Answer(200, elapsed_ms=ms, trouble=trouble), f"look {number}", number)
            for number, (ms, trouble) in enumerate(answers, 1)
        ),
    ).verdict


SOON, LATE = (50, None), (SLOW_MS + 1, None)
NEVER, AWAY = (10_000, NoAnswer.TIMED_OUT), (10_000, NoAnswer.UNREACHABLE)


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ([SOON], Verdict.HOLDS),
        ([(SLOW_MS, None)], Verdict.HOLDS),
        ([LATE], Verdict.INCONCLUSIVE),
        ([LATE, SOON, SOON], Verdict.INCONCLUSIVE),
        ([LATE, LATE, SOON], Verdict.INCONCLUSIVE),
        ([LATE, LATE, LATE], Verdict.DIFFERS_ASSUMPTION),
        ([NEVER, LATE, NEVER, SOON], Verdict.DIFFERS_ASSUMPTION),
        ([LATE, LATE, LATE, *[SOON] * 4], Verdict.INCONCLUSIVE),
        ([NEVER], Verdict.INCONCLUSIVE),
        ([SOON, NEVER, NEVER], Verdict.DIFFERS_ASSUMPTION),
        ([NEVER, SOON, NEVER, SOON, SOON], Verdict.INCONCLUSIVE),
        ([AWAY], Verdict.INCONCLUSIVE),
    ],
)
def test_an_answer_comes_soon_unless_few_are_late(answers, verdict):
    assert timed(*answers) is verdict


@pytest.mark.parametrize(
    ("slow_ms", "verdict"),
    [(20, Verdict.DIFFERS_ASSUMPTION), (60_000, Verdict.HOLDS)],
)
@pytest.mark.usefixtures("wall_time")
def test_the_bound_is_an_option_and_what_is_late_is_asked_again(slow_ms, verdict):
    with running(clock="auto", breaks=("allowed-latency",)) as mock:
        target = Target(mock.url, mock.url)
        result = run(target, Options(only=("answers-in-time",), slow_ms=slow_ms))
    [told] = [one for one in result.outcomes if one.operation.id == PRICE]
    again = [one for one in result.exchanges if one.probe.startswith(f"{PRICE}/slow")]
    assert told.verdict is verdict
    assert len(again) == (2 if verdict.is_finding else 0)


@pytest.mark.usefixtures("wall_time")
def test_a_service_that_takes_longer_than_it_was_given_is_found_out():
    with running(clock="auto", breaks=("slower-than-expire-time",)) as mock:
        result = run(Target(mock.url, mock.url), Options(only=("keeps-expire-time",)))
    (outcome,) = [one for one in result.outcomes if one.verdict.is_finding]
    assert outcome.operation.id == QUOTE
    assert outcome.findings[0].exchanges[0].answer.elapsed_ms > SHORT_MS


@pytest.mark.parametrize(
    ("times", "asked_for", "verdict"),
    [(0, 1, Verdict.HOLDS), (1, 2, Verdict.INCONCLUSIVE), (2, 2, Verdict.VIOLATION)],
)
def test_what_came_late_is_asked_for_again_before_anybody_is_accused(
    times, asked_for, verdict, ticks
):
    """Whatever has stopped for a moment: the service, the machine, or the one that asks."""
    short = []

    def late(call):
        if call.headers.get("expiretime") == str(SHORT_MS):
            short.append(call)
            return len(short) <= times
        return False

    busy = fault("busy", QUOTE, "common sense", "late", after=when(late, http(delay=1.9)))
    with blind_service(rows=[busy], wait=ticks.wait) as url:
        result = run(Target(url, url), Options(only=("keeps-expire-time",)))
    verdicts = {one.operation.id: one.verdict for one in result.outcomes}
    assert (len(short), verdicts[QUOTE]) == (asked_for, verdict)


STEADY = "answers-take-as-long-throughout-a-run"
KINDS = ("v2.getChain", "v2.getPrice", "v2.getBalance", "v2.getBridgeQuote", "v2.getAssets")


def in_turn(*times):
    """Judge answers to five operations in turn, of which each took so long."""
    exchanges = [
        exchange(KINDS[number % 5], answer({"code": 0}, elapsed_ms=ms), f"look {number}", number)
        for number, ms in enumerate(times, 1)
    ]
    return [finding.cause for finding in judged(STEADY, "v2.getChain", *exchanges).findings]


@pytest.mark.parametrize(
    ("times", "causes"),
    [
        ([5 + number % 3 for number in range(400)], []),
        ([405 if number % 11 == 0 else 5 for number in range(400)], ["late again and again"]),
        # A machine that was busy for a while, and one that is busy now and then for whatever long.
        ([405 if 100 < number < 130 else 5 for number in range(400)], []),
        ([5 + (number**3 % 900 if number % 11 == 0 else 0) for number in range(400)], []),
        ([5 + number * 2 // 5 for number in range(400)], ["ever later"]),
        ([5 if number < 200 else 165 for number in range(400)], []),
        ([5 + number // 100 for number in range(400)], []),
        # One operation that is slow each time is the matter of another rule.
        ([405 if number % 5 == 0 else 5 for number in range(400)], []),
        ([405 if number % 11 == 0 else 5 for number in range(100)], []),
        # Each seventh answer of one operation, and what a busy machine does to it and to others.
        ([405 if number % 35 == 0 else 5 for number in range(400)], ["late again and again"]),
        ([405 if number % 35 in {0, 18} else 5 for number in range(400)], []),
        ([405 if number % 35 == 0 and number < 200 else 5 for number in range(400)], []),
        ([105 + number if number % 35 == 0 else 5 for number in range(400)], []),
        ([405 if number % 35 == 0 else 5 for number in range(190)], []),
        # A busy machine hides neither what rises, nor does it make anything rise.
        ([5 + number * 2 // 5 + number % 3 * 90 for number in range(400)], ["ever later"]),
        ([5 + number % 4 * number * 2 // 5 for number in range(400)], []),
    ],
)
def test_a_pattern_in_the_times_of_all_answers(times, causes):
    assert in_turn(*times) == causes
