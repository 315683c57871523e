"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from mockserver.clock import SteadyClock
from mockserver.operations import OPERATIONS
from mockserver.responders.simulation import Simulation
from mockserver.server.control import Control, Guard, ServerState
from mockserver.server.control.row import Counters
from mockserver.server.service import Service
from mockserver.values import dataclass
from mockserver.worlds.factory import WorldFactory, WorldOptions
from mockserver.worlds.hosted import Worlds


@dataclass(frozen=True, slots=True)
class Settings(WorldOptions):
    """The settings of a service: its worlds, and who may use the control API (`guard`).

    With `check_answers` every success is checked against the contract before it is sent. `state` is
    the folder that keeps the worlds; `state_sync` says when a change counts as written (`Sync`).
    """

    check_answers: bool = False
    guard: Guard = field(default_factory=Guard)
    state: Path | None = None
    state_sync: str = "full"


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    wall = wall or SteadyClock().now
    factory = WorldFactory(settings, wall)
    service = service_of(factory, settings.guard, check_answers=settings.check_answers)
    if settings.state is not None:
        # SQLite is imported by servers that keep state alone.
        from mockserver.worlds.state import Keeper, StateFile, Sync  # noqa: PLC0415

        file = StateFile(settings.state, Sync(settings.state_sync))
        service.keeper = Keeper(file, factory, service.worlds, wall)
    return service


def service_of(factory: WorldFactory, guard: Guard, *, check_answers: bool) -> Service:
    """Return the service with the worlds of a factory, in memory; see `Settings`."""
    contracts = factory.contracts
    simulation = Simulation(OPERATIONS, contracts)
    worlds = Worlds(factory.create)
    control = Control(ServerState(worlds, factory, Counters()), guard)
    service = Service(worlds, simulation, contracts, control, check_answers=check_answers)
    control.server.ready = True
    return service
