"""What is said of answers that take long."""

import pytest

from mockserver.conformance.checks.timing import PATIENCE_MS
from mockserver.conformance.options import Options
from mockserver.conformance.requests.protocol import SHORT_MS
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.draft import draft_of
from mockserver.conformance.session.exchange import Answer, Exchange, Trouble
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.conformance.exchanges import CONTRACT, answer, exchange, judged

QUOTE = "v1.getCrossChainQuote"


def asked(came, expire):
    operation = CONTRACT.operation(QUOTE)
    draft = draft_of(operation.row["example"], operation).having("headers", "expireTime", expire)
    return Exchange(1, f"{QUOTE}/usual", operation, draft.request(operation), came)


@pytest.mark.parametrize(
    ("expire", "elapsed", "trouble", "verdict"),
    [
        ("1500", 900, None, Verdict.HOLDS),
        ("1500", 1_600, None, Verdict.HOLDS),
        ("1500", 1_700, None, Verdict.VIOLATION),
        ("1500", 10_000, Trouble.TIMED_OUT, Verdict.VIOLATION),
        ("15000", 10_000, Trouble.TIMED_OUT, Verdict.INCONCLUSIVE),
        ("1500", 10_000, Trouble.UNREACHABLE, Verdict.INCONCLUSIVE),
        ("soon", 10_000, None, Verdict.INCONCLUSIVE),
    ],
)
def test_a_v1_answer_keeps_the_time_out_of_its_request(expire, elapsed, trouble, verdict):
    one = asked(answer({"code": 0}, elapsed_ms=elapsed, trouble=trouble), expire)
    outcome = judged("keeps-expire-time", QUOTE, one)
    assert outcome.verdict is verdict
    if outcome.findings:
        assert outcome.basis_of(outcome.findings[0]).reference == "8"


@pytest.mark.parametrize(
    ("elapsed", "trouble", "verdict"),
    [
        (50, None, Verdict.HOLDS),
        (PATIENCE_MS + 1, None, Verdict.DIFFERS_ASSUMPTION),
        (10_000, Trouble.TIMED_OUT, Verdict.DIFFERS_ASSUMPTION),
        (10_000, Trouble.UNREACHABLE, Verdict.INCONCLUSIVE),
    ],
)
def test_an_answer_comes_soon(elapsed, trouble, verdict):
    came = Answer(200, elapsed_ms=elapsed, trouble=trouble)
    outcome = judged("answers-in-time", "v2.getPrice", exchange("v2.getPrice", came))
    assert outcome.verdict is verdict


def test_a_service_that_takes_longer_than_it_was_given_is_found_out():
    with running(clock="auto", breaks=("slower-than-expire-time",)) as mock:
        result = run(Target(mock.url, mock.url), Options(only=("keeps-expire-time",)))
    (outcome,) = [one for one in result.outcomes if one.verdict.is_finding]
    assert outcome.operation.id == QUOTE
    assert outcome.findings[0].exchanges[0].answer.elapsed_ms > SHORT_MS
