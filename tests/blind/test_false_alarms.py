"""Nothing that the description allows is a violation: the second service, healthy and varied."""

import pytest

from mockserver.conformance import RunOptions, Verdict, run
from tests.blind.serve import blind_service
from tests.blind.variations import VARIATIONS

SEEDS = 200
_WORLDS = ((), *((name,) for name in VARIATIONS))


def violations(variations, *, seed, armed, whole, quick=False):
    """Judge a service that keeps the description; return what it is accused of all the same."""
    how: RunOptions = {"seed": seed, "arm_writes": armed}
    if quick:
        how["patience"] = "0s"
    if not whole:
        how = {**how, "edges": False, "delivery": False, "examples": 0}
    with blind_service(variations=variations) as url:
        result = run(url, **how)
    return [
        (outcome.id, finding.message)
        for outcome in result.outcomes
        for finding in outcome.findings
        if outcome.verdict_of(finding) is Verdict.VIOLATION
    ]


@pytest.mark.parametrize("armed", [False, True], ids=["reading", "submitting"])
@pytest.mark.deep(quick=1)
def test_a_healthy_service_is_not_accused(armed):
    assert violations((), seed=1, armed=armed, whole=not armed) == []


@pytest.mark.parametrize("seed", [1, 3, 142])
@pytest.mark.deep(quick=1)
def test_a_bound_below_the_usual_amounts_shows_no_unit(seed):
    assert violations(("most-50-tokens",), seed=seed, armed=seed > 100, whole=False) == []


@pytest.mark.parametrize("seed", [90, 86, 88, 96, 98])
@pytest.mark.deep(quick=1)
def test_a_service_that_is_busy_at_times_has_lost_nothing(seed):
    assert violations(("busy-every-20th-time",), seed=seed, armed=True, whole=True) == []


@pytest.mark.parametrize(
    "variation",
    [
        "most-one-token-least-nine-usd",
        "prices-of-some-tokens",
        "notes-beside-contracts",
        "v1-order-null",
        # Bounds, times and lists of the same kinds.
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in (
                "least-500-usd",
                "v1-least-500-tokens",
                "most-999-tokens",
                "update-time-as-go-writes-it",
                "a-token-on-no-chain",
                "a-token-is-added",
            )
        ),
    ],
)
def test_what_another_service_was_accused_of_is_allowed(variation):
    assert violations((variation,), seed=1, armed=True, whole=False, quick=True) == []


@pytest.mark.deep
@pytest.mark.parametrize("armed", [False, True], ids=["reading", "submitting"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_seed_accuses_what_is_allowed(seed, armed):
    turn, place = divmod(seed, len(_WORLDS))
    # Each world comes with the requests at edges and without them, whatever the number of worlds.
    whole = (turn + place) % 2 == 0
    assert violations(_WORLDS[place], seed=seed, armed=armed, whole=whole) == []
