"""What a run finds of the second service's faults: some of each class, and all in a deep run."""

import pytest

from tests.blind.counting import Count
from tests.blind.faults import FAULTS
from tests.blind.regions import REGIONS

SOME = (
    "by-chain-empty-for-one",
    "aggregate-takes-any-source",
    "swap-data-always-the-same",
)
"""A few that reading shows and a run has once passed over; a deep run tries all faults."""
SHARES = [("reading", 0.95), ("naming", 0.95), ("submitting", 0.85)]
"""The shares of faults and regions that a deep run has to find at least."""


@pytest.fixture(scope="module")
def count():
    return Count()


@pytest.mark.parametrize("name", SOME)
@pytest.mark.deep(quick=1)
def test_a_fault_is_found(name, count):
    assert count.found(FAULTS[name])


@pytest.mark.deep
@pytest.mark.parametrize(("shows", "share"), SHARES)
def test_most_of_everything_is_found(shows, share, count):
    rows = [row for row in (*FAULTS.values(), *REGIONS.values()) if row.shows == shows]
    missed = [row.name for row in rows if not count.found(row)]
    assert len(missed) <= len(rows) * (1 - share), missed
