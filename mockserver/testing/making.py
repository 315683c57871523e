"""Worlds made as settings say, from one service whose parts they share."""

from collections.abc import Callable
from dataclasses import replace

from mockserver.clock import ClockMode, SteadyClock, parse_instant, wall_ms
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.responders.breaks import Breaks
from mockserver.responders.dialects import Contracts
from mockserver.responders.hosted import DEFAULT_WORLD, HostedWorld
from mockserver.responders.refusing import Refuser
from mockserver.responders.replay.tape import Replay
from mockserver.scenarios import load_scenario
from mockserver.server.assembly import Settings, build, keyring, replayed
from mockserver.server.service import Service
from mockserver.testing.settings import DEFAULT_START, MockSettings


class Maker:
    """Makes worlds on a service; scenarios and contracts are read once."""

    def __init__(self, settings: MockSettings, wall: Callable[[], int] | None = None) -> None:
        """Take the settings of the service. Raises `CrosschainMockError` for bad ones."""
        self._wall = wall or SteadyClock().now
        self._scenarios: dict[MockSettings, Scenario] = {}
        self.settings = settings
        self.service: Service = build(self._assembled(settings), self._wall)
        template = self.service.worlds.get(DEFAULT_WORLD)
        self._contracts = Contracts(template.contract.source)
        self._refusers = {settings.dialect: template.refuser}
        self._replays: dict[tuple[object, ...], Replay | None] = {
            (settings.replay, settings.replay_mode, settings.dialect): template.replay
        }

    def hosted(self, key: str, settings: MockSettings) -> HostedWorld:
        """Return a world under a key, not yet hosted. Raises `CrosschainMockError`."""
        refuser = self._refusers.get(settings.dialect)
        contract = self._contracts.get(settings.dialect)
        if refuser is None:
            refuser = self._refusers[settings.dialect] = Refuser(contract)
        keys = keyring(_signing(settings))
        if settings.stamps == "either":
            keys = replace(keys, clock=wall_ms)
        world = World(self.scenario(settings), self._wall)
        breaks = Breaks(settings.breaks)
        replay = self._replayed(settings)
        return HostedWorld(key, world, contract, refuser, keys=keys, breaks=breaks, replay=replay)

    def scenario(self, settings: MockSettings) -> Scenario:
        """Return the scenario as the settings change it."""
        # Worlds that differ in their breaks alone share the scenario, and what is made of it.
        key = replace(settings, breaks=(), replay=(), replay_mode="strict")
        found = self._scenarios.get(key)
        if found is None:
            found = self._loaded(settings)
            # A calendar that counts from now is another one for the next world.
            if found.start_ms is not None or not found.calendar:
                self._scenarios[key] = found
        return found

    def _replayed(self, settings: MockSettings) -> Replay | None:
        """Return the recordings of settings, read once: files may grow while tests run."""
        key = settings.replay, settings.replay_mode, settings.dialect
        if key not in self._replays:
            assembled = replace(_replaying(settings), dialect=settings.dialect)
            self._replays[key] = replayed(assembled, self._contracts)
        return self._replays[key]

    def _loaded(self, settings: MockSettings) -> Scenario:
        start, (mode, rate) = settings.start_ms(), settings.clock_mode_and_rate()
        standing = mode in (ClockMode.FROZEN, ClockMode.AUTO)
        if start is None and standing and settings.start != "now":
            start = parse_instant(DEFAULT_START)
        begin = self._wall() if start is None else start
        loaded = load_scenario(settings.scenario, wall=lambda: begin)
        if settings.start is None and loaded.start_ms is not None:
            start = loaded.start_ms
        seed = loaded.seed if settings.seed is None else settings.seed
        return replace(loaded, clock_mode=mode, clock_rate=rate, start_ms=start, seed=seed)

    def _assembled(self, settings: MockSettings) -> Settings:
        scenario = self.scenario(settings)
        return replace(
            _signing(settings),
            scenario=settings.scenario,
            dialect=settings.dialect,
            clock=scenario.clock_mode,
            rate=scenario.clock_rate,
            start_ms=scenario.start_ms,
            seed=scenario.seed,
            check_answers=True,
            breaks=settings.breaks,
            replay=settings.replay,
            replay_mode=settings.mode_of_replay(),
        )


def _replaying(settings: MockSettings) -> Settings:
    return Settings(replay=settings.replay, replay_mode=settings.mode_of_replay())


def _signing(settings: MockSettings) -> Settings:
    return Settings(app_keys=settings.app_keys, verify_wallets=settings.verify_wallets)
