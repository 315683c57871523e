"""A world whose journal is a recording, so that what judges worlds judges recordings as well."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from mockserver.clock import ClockMode
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.learning.seeding import scenario_text, seed_of
from mockserver.learning.seeding.recorded_successes import exchanges_of
from mockserver.learning.seeding.seed import Seed
from mockserver.recordings import Source
from mockserver.responders.responder import SIMULATION
from mockserver.scenarios import load_scenario
from mockserver.times_and_durations import EXAMPLE_START, parse_instant
from mockserver.userfiles import write_text
from mockserver.worlds.factory import WorldFactory, WorldOptions
from mockserver.worlds.hosted import HostedWorld


class SeveralDialects(CrosschainMockError):
    """Recordings that no single contract describes."""


@dataclass(frozen=True, slots=True)
class RecordedWorld:
    """A world with the chains, tokens and prices of recordings, and their exchanges as journal.

    `omitted` counts exchanges that cannot be judged, since their bodies were not kept.
    """

    hosted: HostedWorld
    omitted: int


def recorded_world(sources: Sequence[Source]) -> RecordedWorld:
    """Return the world of recordings, in the dialect that they name, else as observed.

    The order of exchanges is that of their times, as far as these were recorded, else that of the
    files. Its clock stands still where they were not, so that nobody takes them for a pace. Raises
    `SeveralDialects`.
    """
    spoken = {source.recording.dialect or "observed" for source in sources}
    if len(spoken) > 1:
        raise SeveralDialects(
            f"the recordings are in the dialects {' and '.join(sorted(spoken))}; judge those of "
            "one dialect at a time"
        )
    timed = exchanges_of(sources)
    paced = all(exchange.time_ms is not None for exchange, _ in timed)
    clock = ClockMode.REAL if paced else ClockMode.FROZEN
    options = WorldOptions(dialect=spoken.pop() if spoken else "observed", clock=clock)
    scenario = options.adjusted(_scenario(sources))
    end_ms = timed[-1][1] if timed else parse_instant(EXAMPLE_START)
    factory = WorldFactory(options, lambda: end_ms, scenario)
    world = World(scenario, lambda: end_ms)
    hosted = factory.hosted("recording", world, options)
    known = {operation.id for operation in hosted.contract}
    omitted = 0
    for exchange, at_ms in timed:
        if exchange.request_omitted or exchange.response_omitted:
            omitted += 1
            continue
        operation = exchange.operation if exchange.operation in known else None
        hosted.note(at_ms, operation, exchange.request, exchange.response, SIMULATION)
    return RecordedWorld(hosted, omitted)


def _scenario(sources: Sequence[Source]) -> Scenario:
    """Return the scenario that has the recorded chains, tokens and prices, and no orders."""
    seed = seed_of(sources)
    # Orders and outages of the recording are in its journal; a world that has them already would
    # take the deposits for used.
    bare = Seed(seed.rates, seed.added)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recorded.yaml"
        write_text(file, scenario_text(bare, "the lists of recordings"))
        return load_scenario(file)
