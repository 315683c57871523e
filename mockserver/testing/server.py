"""A server in the process of the tests: started in milliseconds, with a world for each test."""

import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mockserver.clock import STANDING, SteadyClock
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.scenarios import load_scenario
from mockserver.scenarios.library import is_file
from mockserver.server.assembly import keep, service_of
from mockserver.server.control import Guard
from mockserver.server.process import address, scheme_of
from mockserver.testing.locked_access import LockedService, WorldHandle, public_api
from mockserver.testing.record_modes import tape_of
from mockserver.testing.settings import BadSetting, MockSettings
from mockserver.testing.world import MockWorld
from mockserver.times_and_durations import EXAMPLE_START_MS
from mockserver.worlds.factory import WorldFactory
from mockserver.worlds.hosted import DEFAULT_WORLD, HostedWorld

if TYPE_CHECKING:
    import ssl

_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9._~-]+")
_MOST_KEY_CHARACTERS = 100


@public_api
class MockServer:
    """The worlds of one server. `running` and `serving` put it on a socket."""

    def __init__(self, settings: MockSettings) -> None:
        """Build the service; nothing listens yet. Raises `CrosschainMockError`."""
        self._wall = SteadyClock().now
        self._scenarios: dict[MockSettings, Scenario] = {}
        self._anchored = settings.anchored(Path.cwd())
        scenario = self._scenario(self._anchored)
        # The name of the scenario tells whether a world that was kept is of the same one.
        options = replace(self._anchored.options(), scenario=self._anchored.scenario)
        self._factory = WorldFactory(options, self._wall, scenario)
        self._service = service_of(self._factory, Guard(), check_answers=True)
        if self._anchored.state is not None:
            # A killed test loses nothing by it, and no test waits for the disk.
            keep(self._service, self._factory, Path(self._anchored.state), "normal", self._wall)
        # Nobody makes the default world, and its first request is no stray.
        self._service.worlds.get(DEFAULT_WORLD)
        self._numbers = count(1)
        self.settings = settings
        self.locked = LockedService(self._service)
        self._lock = self.locked.lock
        self.port = 0
        self.tls: ssl.SSLContext | None = None
        """What it serves TLS with; None for plain HTTP."""

    def __repr__(self) -> str:
        return f"<MockServer at {self._address}>"

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
        self.locked.default_used = True
        return self._address

    def secure(self, tls: "ssl.SSLContext | None") -> None:
        """Have it serve TLS, before it is put on a socket."""
        self.tls = tls
        self._service.control.server.scheme = scheme_of(tls)

    @property
    def _address(self) -> str:
        return address("127.0.0.1", self.port, self.tls)

    @property
    def replaying(self) -> str:
        """How many recorded exchanges its worlds can play, and why not the others."""
        return self._service.replaying

    @property
    def default(self) -> MockWorld:
        """The world of clients that name none, which all of them share."""
        return MockWorld(WorldHandle(self.locked, DEFAULT_WORLD), self.url, self.settings)

    def world(self, name: str = "world", **changes: Any) -> MockWorld:
        """Return a new world; changes are settings such as `scenario`.

        The name, a test's for example, becomes its key as far as a key can carry it. As a context
        manager the world is checked and closed. A server with `state` goes on with the world of
        that name, if it has kept one. Raises `CrosschainMockError` for bad settings.
        """
        settings, made = self.settings, self._anchored
        if changes:
            settings = settings.changed(**changes)
            made = made.changed(**changes).anchored(Path.cwd())
        if made.state != self._anchored.state:
            raise BadSetting("state: a server keeps its worlds in one folder; make another server")
        key, tape = self._free_key(name), tape_of(made)
        options = made.options()
        if tape is not None:
            upstream = tape if tape.passes_on else None
            mode = tape.replay_mode(options.replay_mode)
            options = replace(options, replay=tape.sources, replay_mode=mode, upstream=upstream)
        # A test may have written the recordings that the next one plays.
        if tape is not None or "replay" in changes:
            self._factory.forget_changed(options.replay)
        scenario = self._scenario(made, again="scenario" in changes)
        handle = WorldHandle(self.locked, key)
        with handle.lock:
            if key in self._service.worlds:
                self._check_same(handle.hosted, scenario, made)
            else:
                hosted = self._factory.hosted(key, World(scenario, self._wall), options)
                self._service.worlds.put(hosted)
            self.locked.made.add(key)
            self.locked.open.add(key)
            if "audit" in changes:
                self.locked.judged_apart.add(key)
        # Only what this test asked for itself: a setting of the whole session may well judge
        # nothing.
        demands = tuple(name for name in ("audit", "lint") if changes.get(name))
        return MockWorld(handle, self._address, settings, tape, demands)

    def _check_same(self, hosted: HostedWorld, scenario: Scenario, settings: MockSettings) -> None:
        """Raise `BadSetting` where a world that was kept began from other settings."""
        kept, wanted = hosted.contract.dialect.name, self._factory.dialect_of(settings.dialect)
        for what, before, now in (
            ("scenario", hosted.world.scenario.name, scenario.name),
            ("dialect", kept, wanted),
        ):
            if before != now:
                raise BadSetting(
                    f"{what}: world {hosted.key!r} in {str(self._anchored.state)!r} began with "
                    f"{before!r}, and is to go on with {now!r}; go back to that, or remove the "
                    "folder, and it begins anew"
                )

    def _free_key(self, name: str) -> str:
        # The end of a long name, which tells tests apart; the beginning is the path of their file.
        key = _NOT_IN_KEYS.sub("-", name).strip("-.")[-_MOST_KEY_CHARACTERS:] or "world"
        # One that was kept is free for the test that goes on with it.
        taken = self._service.worlds if self._service.keeper is None else self.locked.open
        while key in taken:
            key = f"{key.partition('~')[0]}~{next(self._numbers)}"
        return key

    def _scenario(self, settings: MockSettings, *, again: bool = False) -> Scenario:
        """Return the scenario as settings change it, read once, or `again` if it is a file."""
        # Worlds that differ in their breaks alone share the scenario, and what is made of it.
        key = replace(
            settings,
            breaks=(),
            replay=(),
            replay_mode="strict",
            recordings=None,
            bounds=(),
            state=None,
        )
        scenario = self._scenarios.get(key)
        if scenario is None or (again and is_file(settings.scenario)):
            loaded = self._loaded(settings)
            scenario = scenario if loaded == scenario else loaded
            # A calendar that counts from now is another one for the next world.
            if scenario.start_ms is not None or not scenario.calendar:
                self._scenarios[key] = scenario
        return scenario

    def _loaded(self, settings: MockSettings) -> Scenario:
        start, (mode, rate) = settings.start_ms(), settings.clock_mode_and_rate()
        standing = mode in STANDING
        if start is None and standing and settings.start != "now":
            start = EXAMPLE_START_MS
        # The scenario is read against the start it will have, by which its calendar counts.
        begin = self._wall() if start is None else start
        loaded = load_scenario(settings.scenario, wall=lambda: begin)
        if settings.start is None and loaded.start_ms is not None:
            start = loaded.start_ms
        seed = loaded.seed if settings.seed is None else settings.seed
        return replace(loaded, clock_mode=mode, clock_rate=rate, start_ms=start, seed=seed)
