"""A healthy service, and time that passes as a test says: verdicts of runs follow from it."""

from collections.abc import Iterator
from functools import partial

import pytest

from mockserver.conformance.runs import runner
from mockserver.conformance.session.transport import Transport
from mockserver.testing import MockServer, running


class Ticks:
    """A clock that goes on by a millisecond with each look, and by what a service waits."""

    def __init__(self) -> None:
        self._ms = 0

    def __call__(self) -> int:
        self._ms += 1
        return self._ms

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._ms += round(seconds * 1000)


@pytest.fixture(scope="package", autouse=True)
def ticks() -> Iterator[Ticks]:
    """The clock by which runs measure answers: a machine that is busy does not show in it.

    What comes late is asked for again, and is unclear where it comes in time then; neither is the
    business of a test of other rules. A test that needs the true time asks for `wall_time`.
    """
    ticks = Ticks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "Transport", partial(Transport, ticks=ticks))
        yield ticks


@pytest.fixture
def wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure answers by the true time."""
    monkeypatch.setattr(runner, "Transport", Transport)


@pytest.fixture(scope="module")
def server() -> Iterator[MockServer]:
    """A server whose clock runs on by itself when orders are looked at."""
    with running(clock="auto") as started:
        yield started
