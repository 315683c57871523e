"""Capsules: what a world went through, in one file that can be gone through again."""

from mockserver.server.capsules.capsule import BadCapsule, Capsule, load, save
from mockserver.server.capsules.made import capsule_of
from mockserver.server.capsules.replaying import Divergence, Replayed, replay

__all__ = [
    "BadCapsule",
    "Capsule",
    "Divergence",
    "Replayed",
    "capsule_of",
    "load",
    "replay",
    "save",
]
