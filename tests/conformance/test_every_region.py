"""What is wrong for one chain, one token, one size or one kind of hash alone."""

import pytest

from mockserver.conformance import Verdict, run
from tests.blind.service_six import catalogue
from tests.blind.service_six.counting import service_six


def deep(*values):
    """Return a case for long runs: a quicker one goes the same way."""
    return pytest.param(*values, marks=pytest.mark.deep)


READING = [
    ("each-call-carries-its-request", "sender-paid-on-cro"),
    deep("each-call-carries-its-request", "call-data-amount-wraps"),
    deep("each-call-carries-its-request", "slippage-above-ten-percent-ignored"),
    ("equal-quotes-cost-the-same", "fee-grows-with-each-quote"),
    ("each-listed-chain-is-served", "optimism-not-reachable"),
    deep("each-listed-chain-is-served", "tokens-of-classic-refused"),
    deep("each-listed-chain-is-served", "v1-tokens-of-fantom-refused"),
    deep("raw-moves-the-amount", "v1-raw-on-avalanche-of-another-token"),
    deep("raw-moves-the-amount", "v1-raw-of-ether-without-value"),
    deep("usd-value-fits-output", "cents-worth-nothing"),
    deep("fees-are-smallest-units", "gas-to-tron-in-eighteen"),
    deep("refuses-wrong-form", "fraction-cut-off"),
    deep("refusal-is-told", "refusals-with-traceback"),
    deep("each-call-carries-its-request", "call-data-of-previous-amount"),
    ("aggregator-is-that-of-its-own-quote", "aggregator-of-the-previous"),
]
SUBMITTING = [
    ("success-pays-what-was-quoted", "order-amount-gross"),
    ("each-chain-takes-reports", "solana-hashes-refused"),
    ("each-chain-takes-reports", "kaspa-hashes-refused"),
    ("success-has-a-hash", "execution-hash-of-all"),
    ("amounts-are-reckoned-exactly", "order-amount-through-float"),
    ("each-listed-chain-is-served", "indices-above-fifty-refused"),
    ("accepted-orders-are-known", "orders-of-tron-unknown"),
]
# This service takes any slippage of a transfer, against the description.
_BLAMED = {"refuses-wrong-form"}
RULES = tuple({getattr(case, "values", case)[0] for case in (*READING, *SUBMITTING)} - _BLAMED)


def findings(fault="", only=RULES, **options):
    with service_six(catalogue.flaw(fault)) as url:
        result = run(url, only=only, edges=True, examples=0, delivery=False, **options)
    return result, {outcome.rule.name for outcome in result.outcomes if outcome.findings}


@pytest.mark.parametrize(("rule", "fault"), READING)
@pytest.mark.deep(quick=2)
def test_reading_shows_it(rule, fault):
    assert findings(fault, rule)[1] == {rule}


@pytest.mark.parametrize(("rule", "fault"), SUBMITTING)
@pytest.mark.deep(quick=1)
def test_submitting_shows_it(rule, fault):
    # Orders at edges are submitted for a rule about all of them.
    rules = (rule, "each-listed-chain-is-served")
    assert rule in findings(fault, rules, arm_writes=True)[1]


def test_nothing_is_said_of_the_service_without_faults():
    result, told = findings(arm_writes=True)
    assert told == set()
    held = {one.rule.name for one in result.outcomes if one.verdict is Verdict.HOLDS}
    assert held == set(RULES)
