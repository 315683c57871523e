"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from mockserver import recordings, scenarios
from mockserver.clock import ClockMode, wall_ms
from mockserver.contract import ContractSource
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.operations import OPERATIONS
from mockserver.responders.dialects import Contracts
from mockserver.responders.hosted import HostedWorld, Worlds
from mockserver.responders.playback import Playback
from mockserver.responders.refusing import Refuser
from mockserver.responders.responder import Responder
from mockserver.responders.simulation import Simulation
from mockserver.server.control import Control
from mockserver.server.service import Service


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service is to be. What is None is left to the scenario.

    `rate` is how many times faster than the wall clock a scaled clock runs; `start_ms` is where the
    clocks of the worlds start (ms since 1970); `replay` is a folder of recordings, which answers
    alone where `strict`, and with the simulation behind it otherwise.
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


def build(settings: Settings, wall: Callable[[], int] = wall_ms) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings."""
    contracts = Contracts(ContractSource())
    contract = contracts.get(settings.dialect)
    scenario = adjusted(scenarios.load_scenario(settings.scenario), settings)
    refuser = Refuser(contract, settings.refusal_status)

    def make(key: str) -> HostedWorld:
        return HostedWorld(key, World(scenario, wall), contract, refuser)

    responders: list[Responder] = []
    if settings.replay is not None:
        shelf = recordings.load_folder(settings.replay)
        responders.append(Playback(shelf, contract, strict=settings.strict))
    responders.append(Simulation(OPERATIONS, contracts))
    worlds = Worlds(make)
    control = Control(worlds)
    service = Service(worlds, responders, contracts, control, check_answers=settings.check_answers)
    control.ready = True
    return service


def adjusted(scenario: Scenario, settings: Settings) -> Scenario:
    """Return the scenario with what the settings say instead."""
    changes: dict[str, object] = {
        "clock_mode": settings.clock,
        "clock_rate": settings.rate,
        "start_ms": settings.start_ms,
        "seed": settings.seed,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    return replace(scenario, **given) if given else scenario  # type: ignore[arg-type]
