"""Capsules in tests: what a world once went through, gone through again."""

from pathlib import Path

from mockserver.server import capsules
from mockserver.server.capsules import Replayed


def replay_capsule(file: Path) -> Replayed:
    """Go through a capsule in this process; `divergences` tells every answer that is another one.

    Raises `BadCapsule` and `InvalidFile`.
    """
    return capsules.replay(capsules.load(file))
