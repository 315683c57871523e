"""The healthy mock keeps every rule that is asked about it, however much is asked."""

import pytest

from mockserver.conformance import run
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running

NOTHING_TO_JUDGE = {
    # What cannot be paid is refunded.
    "failed-orders-pay-nothing",
    "failed-v1-orders-pay-nothing",
    # No order and no account is named.
    "named-orders-are-told-apart",
    "listed-tickets-are-on-known-chains",
    # The account is that of the example, which everybody may use.
    "refuses-false-signatures",
    # Nothing is requested again, and few quotes are not enough.
    "equal-quotes-cost-the-same",
    "aggregator-is-that-of-its-own-quote",
}
NOT_SHOWN = {
    # The description shows no rate of the fee.
    "documented": {"service-fee-is-its-rate"},
    # In the field getSupportTokens has no required input.
    "observed": {"refuses-missing-input"},
}
"""Rules by the dialect that does not show what they are about."""


@pytest.mark.parametrize(
    ("seed", "dialect"), [(1, "documented"), (2, "documented"), (3, "documented"), (4, "observed")]
)
@pytest.mark.deep(quick=1)
def test_the_healthy_mock_keeps_every_rule(seed, dialect):
    with running(clock="auto", seed=seed, dialect=dialect) as mock:
        result = run(
            mock.url,
            seed=seed,
            dialect=dialect,
            arm_writes=True,
            edges=False,
            delivery=False,
            examples=0,
        )
    # Where an option would have it judged, the reason names that.
    unclear = {one for one in result.outcomes if one.verdict is not Verdict.HOLDS}
    unasked = {one for one in unclear if "(--" in one.reason}
    assert {one.rule.name for one in unclear - unasked} == NOTHING_TO_JUDGE | NOT_SHOWN[dialect]
    assert {one.verdict for one in unclear} == {Verdict.NOT_APPLICABLE}
    assert len(unasked) == 50


MUCH = {"examples": 25, "sequences": 12}
EFFORTS = ({"sequences": 12}, {"examples": 25}, MUCH)


def judged_with(effort, seed, armed):
    # A clock that jumps costs most requests: stamps run out between two of them.
    with running(clock="auto") as mock:
        result = run(mock.url, seed=seed, arm_writes=armed, **effort)
    assert not any(one.verdict.is_finding for one in result.outcomes)
    return {one.id for one in result.outcomes if one.verdict is Verdict.HOLDS}


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("seed", [2, 4, 5])
@pytest.mark.deep(quick=2)
def test_more_effort_reaches_no_fewer_checks(seed, armed, effort):
    more = judged_with(effort, seed, armed)
    assert judged_with({}, seed, armed) <= more
    assert effort is MUCH or more <= judged_with(MUCH, seed, armed)
