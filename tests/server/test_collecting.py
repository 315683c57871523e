"""What a server keeps is not looked at again for garbage; what comes and goes is."""

import gc

import pytest

from mockserver.server.process import rarely_collected

MANY = 60_000


@pytest.fixture(autouse=True)
def usual_collector():
    """Leave the collector as it was."""
    gc.collect()
    yield
    gc.unfreeze()
    gc.collect()


class Node:
    """A value that can be in a circle."""

    def __init__(self) -> None:
        self.other = self


@pytest.mark.deep(quick=1)
def test_what_stays_is_put_out_of_sight():
    thresholds = gc.get_threshold()
    with rarely_collected():
        before = gc.get_freeze_count()
        kept = [[number] for number in range(MANY)]
        gc.collect(1)
        # The collector looks by itself every 10,000 objects: the last may be in sight still.
        assert gc.get_freeze_count() >= before + len(kept) - 10_000
        assert len(gc.get_objects(generation=2)) < MANY
    assert gc.get_threshold() == thresholds


@pytest.mark.deep(quick=1)
def test_little_stays_in_sight():
    with rarely_collected():
        before = gc.get_freeze_count()
        kept = [[number] for number in range(1_000)]
        gc.collect(1)
        assert gc.get_freeze_count() <= before
        assert len(gc.get_objects(generation=2)) >= len(kept)


@pytest.mark.deep(quick=1)
def test_circles_are_found_as_ever():
    with rarely_collected():
        kept = [[number] for number in range(MANY)]
        gc.collect(1)
        for _ in range(100):
            Node()
        assert gc.collect() >= 100
        assert len(kept) == MANY


@pytest.mark.deep(quick=1)
def test_nothing_goes_on_afterwards():
    with rarely_collected():
        pass
    before = gc.get_freeze_count()
    kept = [[number] for number in range(MANY)]
    gc.collect(1)
    assert gc.get_freeze_count() <= before
    assert len(kept) == MANY
