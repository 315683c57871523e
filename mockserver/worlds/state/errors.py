"""What can go wrong with a state folder."""

from mockserver.engine.refusal import StateNotLoadable


class NotKept(Exception):
    """A change that could not be written, such as on a full disk; the message says why."""


class WorldDamaged(StateNotLoadable):
    """A world whose rows cannot be read back as they were written."""
