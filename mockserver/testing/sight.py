"""How the views of a test see their world: by its key, and one caller at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from mockserver.errors import CrosschainMockError
from mockserver.responders.hosted import HostedWorld
from mockserver.testing.gate import Gate


class WorldClosed(CrosschainMockError):
    """A world whose test has ended."""


class Sight:
    """One world of a gate. Looked up each time: loading a dump puts another one in its place."""

    def __init__(self, gate: Gate, key: str) -> None:
        """See the world under a key, until it is closed."""
        self.key = key
        self._gate = gate
        self._closed = False

    @contextmanager
    def hosted(self) -> Iterator[HostedWorld]:
        """Hold the world while it is looked at or changed. Raises `WorldClosed`."""
        self._open()
        with self._gate.lock:
            yield self._gate.service.worlds.get(self.key)

    def strays(self) -> list[str]:
        """Return what is to be said of requests to worlds of the server that nobody made."""
        return self._gate.strays()

    def close(self) -> None:
        """Forget the world; asked for again, a world of that key begins afresh."""
        if not self._closed:
            self._closed = True
            with self._gate.lock:
                self._gate.service.worlds.drop(self.key)

    def _open(self) -> None:
        if self._closed:
            raise WorldClosed(f"world {self.key!r} is closed, its test has ended; make a fresh one")
