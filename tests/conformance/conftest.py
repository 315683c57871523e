"""Time that passes as a test says, for runs whose verdicts follow from it."""

from functools import partial

import pytest

from mockserver.conformance.runs import runner
from mockserver.conformance.session.transport import Transport


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


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    """The clock by which runs measure answers: a machine that is busy does not show in it."""
    ticks = Ticks()
    monkeypatch.setattr(runner, "Transport", partial(Transport, ticks=ticks))
    return ticks
