"""A server in the process of the tests: started in milliseconds, with a world for each test."""

import re
from itertools import count
from typing import TYPE_CHECKING, Any

from mockserver.responders.hosted import DEFAULT_WORLD
from mockserver.responders.journal import Journal
from mockserver.testing.border import bordered
from mockserver.testing.gate import Gate
from mockserver.testing.making import Maker
from mockserver.testing.settings import MockSettings
from mockserver.testing.sight import Sight
from mockserver.testing.world import MockWorld

_ODD = re.compile(r"[^A-Za-z0-9._~-]+")
_LONGEST = 100
_JOURNAL = 10_000
"""Entries a world keeps, so that the check after a long test sees all of it."""


@bordered
class MockServer:
    """The worlds of one server. `running` and `serving` put it on a socket."""

    def __init__(self, settings: MockSettings) -> None:
        """Build the service; nothing listens yet. Raises `CrosschainMockError`."""
        self._maker = Maker(settings)
        self._numbers = count(1)
        self.settings = settings
        self.gate = Gate(self._maker.service)
        self.port = 0

    def __repr__(self) -> str:
        return f"<MockServer at {self.url}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in vars(MockWorld) or name in ("clock", "orders"):
                raise AttributeError(
                    f"a server has no {name!r}, its worlds have: `with server.world() as world`, "
                    "or the fixture crosschain_mock, which is one"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def url(self) -> str:
        """The address of the server itself: its control API and the default world."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def replaying(self) -> str:
        """How many recorded exchanges its worlds can play, and why not the others."""
        return self._maker.service.replaying

    @property
    def default(self) -> MockWorld:
        """The world of clients that name none, which all of them share."""
        return MockWorld(Sight(self.gate, DEFAULT_WORLD), self.url, self.settings)

    def world(self, name: str = "world", **changes: Any) -> MockWorld:
        """Return a new world that nobody has touched; changes are settings such as `scenario`.

        The name, a test's for example, becomes its key as far as a key can carry it. As a context
        manager the world is checked and closed. Raises `CrosschainMockError` for bad settings.
        """
        settings = self.settings.changed(**changes) if changes else self.settings
        with self.gate.lock:
            key = self._free_key(name)
            hosted = self._maker.hosted(key, settings)
            hosted.journal = Journal(_JOURNAL)
            self._maker.service.worlds.put(hosted)
            self.gate.made.add(key)
        return MockWorld(Sight(self.gate, key), self.url, settings)

    def _free_key(self, name: str) -> str:
        key = _ODD.sub("-", name).strip("-.")[-_LONGEST:] or "world"
        taken = self._maker.service.worlds
        while key in taken:
            key = f"{key.partition('~')[0]}~{next(self._numbers)}"
        return key
