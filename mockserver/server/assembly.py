"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from mockserver import recordings, scenarios
from mockserver.clock import ClockMode, wall_ms
from mockserver.contract import ContractSource
from mockserver.engine.scenario import Scenario
from mockserver.operations import OPERATIONS
from mockserver.responders import founding
from mockserver.responders.dialects import Contracts
from mockserver.responders.founding import Founder, Manner, Wish
from mockserver.responders.hosted import Worlds
from mockserver.responders.playback import Playback
from mockserver.responders.responder import Responder
from mockserver.responders.simulation import Simulation
from mockserver.responders.stubs import StubResponder
from mockserver.server.control import Control, Guard, House
from mockserver.server.counters import Counters
from mockserver.server.service import Service
from mockserver.signing import wallet
from mockserver.signing.keyring import Keyring


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service is to be. What is None is left to the scenario.

    `rate` is how many times faster than the wall clock a scaled clock runs; `start_ms` is where the
    clocks of the worlds start (ms since 1970); `replay` is a folder of recordings, which answers
    alone where `strict`, and with the simulation behind it otherwise. `app_keys` are pairs of a
    developer key and its secret: with one, every world verifies v1 signatures from its beginning.
    `guard` tells who may use the control API. `breaks` are names of the ways in which every world
    is wrong from its beginning.
    """

    scenario: str | Path = "default"
    dialect: str = "documented"
    clock: ClockMode | None = None
    rate: Decimal | None = None
    start_ms: int | None = None
    seed: int | None = None
    replay: Path | None = None
    strict: bool = True
    refusal_status: int | None = None
    check_answers: bool = False
    app_keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    verify_wallets: bool = False
    breaks: tuple[str, ...] = ()
    guard: Guard = field(default_factory=Guard)


def build(settings: Settings, wall: Callable[[], int] = wall_ms) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings."""
    contracts = Contracts(ContractSource())
    # An unknown dialect is told of now, and not with the first world.
    contracts.get(settings.dialect)
    start = settings.start_ms
    # A calendar's `+2h` counts from where the clocks of the worlds start.
    since = wall if start is None else (lambda: start)
    scenario = adjusted(scenarios.load_scenario(settings.scenario, wall=since), settings)
    manner = Manner(settings.dialect, settings.refusal_status, keyring(settings), settings.breaks)
    founder = Founder(contracts, scenario, wall, manner)
    responders: list[Responder] = [StubResponder()]
    if settings.replay is not None:
        shelf = recordings.load_folder(settings.replay)
        responders.append(Playback(shelf, strict=settings.strict))
    responders.append(Simulation(OPERATIONS, contracts))
    worlds = Worlds(founder.found)
    control = Control(House(worlds, founder, Counters()), settings.guard)
    service = Service(worlds, responders, contracts, control, check_answers=settings.check_answers)
    control.house.ready = True
    return service


def keyring(settings: Settings) -> Keyring:
    """Return the keys that every world begins with. Raises `SigningUnavailable`."""
    if settings.verify_wallets:
        wallet.require()
    return Keyring(MappingProxyType(dict(settings.app_keys)), settings.verify_wallets)


def adjusted(scenario: Scenario, settings: Settings) -> Scenario:
    """Return the scenario with what the settings say instead."""
    return founding.adjusted(
        scenario,
        Wish(
            clock=settings.clock,
            rate=settings.rate,
            start_ms=settings.start_ms,
            seed=settings.seed,
        ),
    )
