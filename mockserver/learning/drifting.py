"""Drift for tests, in one call."""

from collections.abc import Sequence
from pathlib import Path

from mockserver.contract import load
from mockserver.learning.drift import Change, drift
from mockserver.recordings import gather


def drift_of(
    old: str | Path | Sequence[str | Path],
    new: str | Path | Sequence[str | Path],
    dialect: str = "observed",
) -> tuple[Change, ...]:
    """Return what changed between recordings, each a shipped name, a file or a folder.

    Raises `InvalidFile`.
    """
    sides = [[one] if isinstance(one, str | Path) else one for one in (old, new)]
    return drift(gather(sides[0]), gather(sides[1]), load(dialect)).changes
