"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mockserver import scenarios
from mockserver.clock import ClockMode, SteadyClock
from mockserver.contract.load import source_for
from mockserver.engine.scenario import Scenario
from mockserver.errors import CrosschainMockError
from mockserver.operations import OPERATIONS
from mockserver.responders import founding
from mockserver.responders.dialects import Contracts
from mockserver.responders.founding import Founder, Manner, Wish
from mockserver.responders.generated import GeneratedAnswers
from mockserver.responders.hosted import Worlds
from mockserver.responders.replay import ReplayMode
from mockserver.responders.replay.playback import Playback
from mockserver.responders.responder import Responder
from mockserver.responders.simulation import Simulation
from mockserver.responders.stubs import StubResponder
from mockserver.server.control import Control, Guard, House
from mockserver.server.counters import Counters
from mockserver.server.service import Service
from mockserver.signing import curve
from mockserver.signing.keyring import Keyring

if TYPE_CHECKING:
    from mockserver.responders.replay.tape import Replay


class NothingToReplay(CrosschainMockError):
    """Recordings of which a world can play none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service is to be. What is None is left to the scenario.

    `rate` is how many times faster than the wall clock a scaled clock runs; `start_ms` is where the
    clocks of the worlds start (ms since 1970); `replay` are shipped names, files and folders of
    recordings, which are served as `replay_mode` says; `matching` is a file of rules by which
    requests find them. `app_keys` are pairs of a
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
    replay: tuple[str | Path, ...] = ()
    replay_mode: ReplayMode = field(default_factory=ReplayMode)
    matching: Path | None = None
    refusal_status: int | None = None
    check_answers: bool = False
    app_keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    verify_wallets: bool = False
    breaks: tuple[str, ...] = ()
    guard: Guard = field(default_factory=Guard)


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    wall = wall or SteadyClock().now
    contracts = Contracts(source_for(settings.dialect))
    # An unknown dialect is told of now, and not with the first world.
    contracts.get(settings.dialect)
    start = settings.start_ms
    # A calendar's `+2h` counts from where the clocks of the worlds start.
    since = wall if start is None else (lambda: start)
    scenario = adjusted(scenarios.load_scenario(settings.scenario, wall=since), settings)
    replay = replayed(settings, contracts)
    manner = Manner(
        settings.dialect, settings.refusal_status, keyring(settings), settings.breaks, replay
    )
    founder = Founder(contracts, scenario, wall, manner)
    simulation = Simulation(OPERATIONS, contracts)
    responders: list[Responder] = [
        StubResponder(),
        GeneratedAnswers(),
        Playback(simulation),
        simulation,
    ]
    worlds = Worlds(founder.found)
    control = Control(House(worlds, founder, Counters()), settings.guard)
    service = Service(worlds, responders, contracts, control, check_answers=settings.check_answers)
    control.house.ready = True
    return service


def replayed(settings: Settings, contracts: Contracts) -> "Replay | None":
    """Return the recordings that answer in every world; None where none do.

    Raises `InvalidFile` for what cannot be read, `NothingToReplay` where nothing can be played.
    """
    if not settings.replay:
        return None
    # Most servers replay nothing.
    from mockserver.recordings import gather, load_rules  # noqa: PLC0415
    from mockserver.responders.replay.tape import Replay  # noqa: PLC0415

    sources, rules = gather(settings.replay), load_rules(settings.matching)
    replay = Replay(sources, rules, settings.replay_mode)
    usable = replay.tape(contracts.get(settings.dialect)).usable
    if not usable.used:
        raise NothingToReplay(f"there is nothing to replay here: {usable}")
    return replay


def keyring(settings: Settings) -> Keyring:
    """Return the keys that every world begins with. Raises `SigningUnavailable`."""
    if settings.verify_wallets:
        curve.require()
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
