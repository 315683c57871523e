"""What the parts of a world share: each is a view of its core, made whenever it is asked for."""

from mockserver.engine.core import Core


class View:
    """A part of a world, which keeps nothing of its own."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        """Look at a world's core."""
        self._core = core
