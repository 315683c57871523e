"""Scenarios made of recordings: a world as a service showed it."""

from mockserver.learning.seeding.seed import Seed, scenario_text, seed_of

__all__ = ["Seed", "scenario_text", "seed_of"]
