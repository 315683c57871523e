"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import field

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

    With `check_answers` every success is checked against the contract before it is sent.
    """

    check_answers: bool = False
    guard: Guard = field(default_factory=Guard)


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    factory = WorldFactory(settings, wall or SteadyClock().now)
    return service_of(factory, settings.guard, check_answers=settings.check_answers)


def service_of(factory: WorldFactory, guard: Guard, *, check_answers: bool) -> Service:
    """Return the service with the worlds of a factory; see `Settings`."""
    contracts = factory.contracts
    simulation = Simulation(OPERATIONS, contracts)
    worlds = Worlds(factory.create)
    control = Control(ServerState(worlds, factory, Counters()), guard)
    service = Service(worlds, simulation, contracts, control, check_answers=check_answers)
    control.server.ready = True
    return service
