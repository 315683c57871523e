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


def build_workers(
    settings: Settings, workers: int, wall: Callable[[], int] | None = None
) -> tuple[Service, Callable[[int], Service]]:
    """Return a service as it will be, and what makes that of one of so many processes.

    The processes are forked: what they share is loaded once. Raises `CrosschainMockError`.
    """
    wall = wall or SteadyClock().now
    factory = WorldFactory(settings, wall)

    def make(worker: int) -> Service:
        service = service_of(factory, settings.guard, check_answers=settings.check_answers)
        if settings.state is not None:
            _keep(service, factory, settings, wall, (worker, workers))
        return service

    model = service_of(factory, settings.guard, check_answers=settings.check_answers)
    model.worlds.model()
    return model, make


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    wall = wall or SteadyClock().now
    factory = WorldFactory(settings, wall)
    service = service_of(factory, settings.guard, check_answers=settings.check_answers)
    if settings.state is not None:
        _keep(service, factory, settings, wall, (0, 1))
    return service


def _keep(
    service: Service,
    factory: WorldFactory,
    settings: Settings,
    wall: Callable[[], int],
    share: tuple[int, int],
) -> None:
    """Keep the worlds of a service in the state folder, or its `share`: the nth of so many."""
    # SQLite is imported by servers that keep state alone.
    from mockserver.worlds.state import Keeper, StateFile, Sync  # noqa: PLC0415

    if settings.state is not None:
        file = StateFile(settings.state, Sync(settings.state_sync), share)
        service.keeper = Keeper(file, factory, service.worlds, wall)


def service_of(factory: WorldFactory, guard: Guard, *, check_answers: bool) -> Service:
    """Return the service with the worlds of a factory, in memory; see `Settings`."""
    contracts = factory.contracts
    simulation = Simulation(OPERATIONS, contracts)
    worlds = Worlds(factory.create)
    control = Control(ServerState(worlds, factory, Counters()), guard)
    service = Service(worlds, simulation, contracts, control, check_answers=check_answers)
    control.server.ready = True
    return service
