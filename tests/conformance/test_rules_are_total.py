"""Whatever a service answers, rules say something of it, and fail at nothing."""

from collections.abc import Mapping

import hypothesis.strategies as st
import pytest
from hypothesis import given

from mockserver import jsontext
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.contract import Layer
from tests.conformance.exchanges import healthy_exchanges
from tests.conformance.pack import data_of, rejudged
from tests.conftest import costly

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**120, max_value=10**400),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        ["", "0", "-1", "1e400", "9" * 600, "0x", "0xg", "\x00", "½", "-0.0", "1.5", "Succeeded"]
    ),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["list", "version", "nickName", "symbol", "contracts", "chains", "x", ""]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
PROBES = st.deferred(lambda: st.sampled_from([one.probe for one in healthy_exchanges()]))


def _check(answers):
    for outcome in rejudged(answers).values():
        assert "defect" not in outcome.reason, (outcome.id, outcome.reason)


@costly(quick=4, deep=10)
@given(st.dictionaries(PROBES, ANYTHING, min_size=1, max_size=12))
def test_any_data_is_judged(answers):
    _check(answers)


@costly(quick=4, deep=10)
@given(st.data())
def test_data_with_one_odd_member_is_judged(data):
    answers = {}
    for probe in data.draw(st.lists(PROBES, min_size=1, max_size=8, unique=True)):
        answers[probe] = _changed(data, data_of(probe))
    _check(answers)


@pytest.mark.parametrize("kind", ["array", "object"])
def test_a_submission_of_another_type_that_is_taken_is_judged(kind):
    accepted = data_of("v1.submitCrossChain/usual")
    _check({f"v1.submitCrossChain/certHash as {kind}": accepted})


def _changed(data, value):
    """Put something odd at a drawn place."""
    if isinstance(value, dict) and value:
        name = data.draw(st.sampled_from(sorted(value)))
        return {**value, name: _changed(data, value[name])}
    if isinstance(value, list) and value:
        at = data.draw(st.integers(0, len(value) - 1))
        return [*value[:at], _changed(data, value[at]), *value[at + 1 :]]
    return data.draw(ANYTHING)


@pytest.mark.parametrize(
    "odd",
    [
        "9" * 5_000,
        "0x" + "f" * 5_000,
        "-" + "9" * 200,
        "1e999999999",
        "٣",
        "²",
        "\ud800",
        "\x1b[2J",
    ],
)
@pytest.mark.deep(quick=3)
def test_the_same_odd_text_everywhere_is_judged(odd):
    answers = {}
    for exchange in healthy_exchanges():
        data = exchange.data
        if data and not {"list", "chains", "tokens"} & set(data):
            answers[exchange.probe] = _everywhere(data, odd)
    assert answers
    _check(answers)


def _everywhere(value, odd):
    """Put a text in place of each text."""
    if isinstance(value, Mapping):
        return {name: _everywhere(one, odd) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_everywhere(one, odd) for one in value]
    return odd if isinstance(value, str) else value


@costly(quick=4, deep=10)
@given(st.sampled_from(list(NoAnswer)), st.sets(PROBES))
def test_troubles_are_no_findings_of_content(trouble, probes):
    answers = {probe: Answer(0, trouble=trouble, reason="nothing came") for probe in probes}
    told = [one.rule for one in rejudged(answers).values() if one.verdict.is_finding]
    assert [rule.name for rule in told if rule.layer is not Layer.PROTOCOL] == []


def test_a_service_that_refuses_everything_is_told_of_in_an_orderly_way():
    refusal = Answer(400, body=jsontext.encode({"code": 9, "msg": "no"}))
    outcomes = rejudged({one.probe: refusal for one in healthy_exchanges()})
    assert len(outcomes) == sum(len(rule.operations) for rule in RULES)
    assert not [one.id for one in outcomes.values() if "defect" in one.reason]
