"""A service put together from settings: scenario, contract, responders, worlds."""

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mockserver.clock import SteadyClock
from mockserver.fast_dataclass import dataclass
from mockserver.operations import OPERATIONS
from mockserver.responders.simulation import Simulation
from mockserver.server.control import Control, Guard, ServerState
from mockserver.server.control.route import Counters
from mockserver.server.service import Service
from mockserver.worlds.factory import WorldFactory, WorldOptions
from mockserver.worlds.hosted import Worlds

if TYPE_CHECKING:
    from mockserver.worlds.state import Hold


@dataclass(frozen=True, slots=True)
class Settings(WorldOptions):
    """The settings of a service: its worlds, and who may use the control API (`guard`).

    With `check_answers` every success is checked against the contract before it is sent. `state` is
    the folder that keeps the worlds; `state_sync` says when a change counts as written (`Sync`).
    With `made_only` no world but the default one comes into being by itself. `advertised` is the
    base URL by which clients reach this server; `access_log` is a file to which each request adds a
    line of JSON. `scheme` is what clients speak with it, `http` or `https`.
    """

    check_answers: bool = False
    guard: Guard = field(default_factory=Guard)
    state: Path | None = None
    state_sync: str = "full"
    made_only: bool = False
    advertised: str = ""
    scheme: str = "http"
    access_log: Path | None = None


class Forked(NamedTuple):
    """What processes are forked from: `make` returns the service of one, by its number from 0.

    `model` is a service as each will be. `held` is their state folder, while this is kept.
    """

    model: Service
    make: Callable[[int], Service]
    held: "Hold | None"


def build_workers(settings: Settings, workers: int) -> Forked:
    """Return what the so many processes of a server are. Raises `CrosschainMockError`.

    They are forked: what they share is loaded once.
    """
    wall = SteadyClock().now
    factory = WorldFactory(settings, wall)
    held = None
    if settings.state is not None:
        from mockserver.worlds.state import Hold, arrange  # noqa: PLC0415 - as in `keep`

        # The processes inherit it, so that it lasts as long as they do.
        held = Hold(settings.state)
        arrange(settings.state, workers)

    def make(worker: int) -> Service:
        service = _service(factory, settings)
        if settings.state is not None:
            sync = settings.state_sync
            keep(service, factory, settings.state, sync, wall, (worker, workers))
        return service

    model = _service(factory, settings)
    model.worlds.model()
    return Forked(model, make, held)


def build(settings: Settings, wall: Callable[[], int] | None = None) -> Service:
    """Return the service; nothing listens yet. Raises `CrosschainMockError` for bad settings.

    `wall` returns the time in milliseconds since 1970; by default it is the wall clock's when the
    service is built, and goes on from there whatever the wall clock is set to.
    """
    wall = wall or SteadyClock().now
    factory = WorldFactory(settings, wall)
    service = _service(factory, settings)
    if settings.state is not None:
        keep(service, factory, settings.state, settings.state_sync, wall)
    return service


def _service(factory: WorldFactory, settings: Settings) -> Service:
    service = service_of(factory, settings.guard, check_answers=settings.check_answers)
    service.worlds.made_only = settings.made_only
    if settings.access_log is not None:
        from mockserver.server.access_log import AccessLog  # noqa: PLC0415 - few servers have one

        service.access = AccessLog(settings.access_log)
    service.control.server.advertised = settings.advertised
    service.control.server.scheme = settings.scheme
    return service


def keep(
    service: Service,
    factory: WorldFactory,
    folder: Path,
    sync: str,
    wall: Callable[[], int],
    share: tuple[int, int] = (0, 1),
) -> None:
    """Keep the worlds of a service in a folder, or its `share` of it: the nth of so many.

    Raises `StateNotLoadable`.
    """
    # SQLite is imported by servers that keep state alone.
    from mockserver.worlds.state import Keeper, StateFile, Sync, opened  # noqa: PLC0415

    when = Sync(sync)
    file = opened(folder, when) if share == (0, 1) else StateFile(folder, when, share)
    service.keeper = Keeper(file, factory, service.worlds, wall)


def service_of(factory: WorldFactory, guard: Guard, *, check_answers: bool) -> Service:
    """Return the service with the worlds of a factory, in memory; see `Settings`."""
    contracts = factory.contracts
    simulation = Simulation(OPERATIONS, contracts)
    worlds = Worlds(factory.create, factory.bounds)
    control = Control(ServerState(worlds, factory, Counters(), guard))
    service = Service(worlds, simulation, contracts, control, check_answers=check_answers)
    control.server.ready = True
    return service
