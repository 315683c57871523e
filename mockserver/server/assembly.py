"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import field

from mockserver.clock import SteadyClock
from mockserver.operations import OPERATIONS
from mockserver.responders.founding import Founder, WorldOptions
from mockserver.responders.hosted import Worlds
from mockserver.responders.replay.playback import Playback
from mockserver.responders.responder import GeneratedAnswers, Responder
from mockserver.responders.simulation import Simulation
from mockserver.responders.stubs import StubResponder
from mockserver.server.control import Control, Guard, House
from mockserver.server.control.row import Counters
from mockserver.server.service import Service
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Settings(WorldOptions):
    """How a service is to be: its worlds, and who may use the control API (`guard`).

    With `check_answers` every success is held against the contract before it is sent.
    """

    check_answers: bool = False
    guard: Guard = field(default_factory=Guard)


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    founder = Founder(settings, wall or SteadyClock().now)
    return service_of(founder, settings.guard, check_answers=settings.check_answers)


def service_of(founder: Founder, guard: Guard, *, check_answers: bool) -> Service:
    """Return the service whose worlds somebody makes; see `Settings`."""
    contracts = founder.contracts
    simulation = Simulation(OPERATIONS, contracts)
    responders: list[Responder] = [
        StubResponder(),
        GeneratedAnswers(),
        Playback(simulation),
        simulation,
    ]
    worlds = Worlds(founder.found)
    control = Control(House(worlds, founder, Counters()), guard)
    service = Service(worlds, responders, contracts, control, check_answers=check_answers)
    control.house.ready = True
    return service
