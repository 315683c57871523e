"""Every world that ships is judged as itself, and nothing of it is a violation."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from mockserver.clock import ClockMode
from mockserver.conformance import Outcome, Verdict, run
from mockserver.scenarios import calendar_names, load_calendar, load_scenario, scenario_names
from mockserver.testing import running

COURSES = sorted(load_scenario("default").courses)
WORLDS = (
    *(f"scenario {name}" for name in scenario_names()),
    *(f"course {name}" for name in COURSES),
    *(f"calendar {name}" for name in calendar_names()),
)
SEEDS = (1, 2, 1082)
"""With the last one the usual quotes reach the chain that is away in most worlds."""
_AWAY = ("suspended", "may be out of service", "Not support this chain!")
_MINUTE_MS = 60_000


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[str], str]:
    """Return the scenario of a world: a shipped name, or a file that differs from the default."""

    def made(world: str) -> str:
        kind, name = world.split()
        if kind == "scenario":
            return name
        changed: dict[str, object] = {
            "format": "crosschain-mock/scenario@1",
            "title": world,
            "extends": "default",
        }
        changed |= {"orders": {"course": name}} if kind == "course" else {"calendar": name}
        file = tmp_path / "scenario.yaml"
        file.write_text(yaml.safe_dump(changed), "utf-8")
        return str(file)

    return made


def said(url: str, dialect: str, *, armed: bool, seed: int) -> list[Outcome]:
    """Return what a run says against a service, and what it could not tell."""
    result = run(url, dialect=dialect, arm_writes=armed, seed=seed, slow="1m")
    return [
        outcome
        for outcome in result.outcomes
        if outcome.verdict.is_finding or outcome.verdict is Verdict.INCONCLUSIVE
    ]


@pytest.mark.deep
@pytest.mark.parametrize("armed", [False, True], ids=["reading", "submitting"])
@pytest.mark.parametrize("clock", ["auto", "frozen", "real"])
@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_shipped_world_is_not_blamed(file_of, world, dialect, clock, armed):
    """Nor is it by a second run on the same server, of another seed."""
    kind, name = world.split()
    has_outage = kind == "calendar" or name == "outage"
    settings = {"scenario": file_of(world), "dialect": dialect, "clock": ClockMode(clock)}
    with running(refusals="allow") as server, server.world(**settings) as mock:
        if kind == "calendar":
            # Into the first of its outages.
            start = mock.clock.ms
            first = min(load_calendar(name, start_ms=start), key=lambda window: window.from_ms)
            mock.clock.advance(milliseconds=max(0, first.from_ms - start) + _MINUTE_MS)
        for seed in SEEDS:
            found = said(mock.base_url, dialect, armed=armed, seed=seed)
            assert [one for one in found if not (has_outage and _is_of_the_outage(one))] == []


def _is_of_the_outage(outcome: Outcome) -> bool:
    """Tell what follows from a chain that is away, and from a clock that was moved to see that.

    A chain that is away is no finding. Answers are dated by the machine's clock, which prices of a
    moved world are ahead of.
    """
    if outcome.verdict.is_finding:
        return outcome.id == "update-time-is-a-time[v2.getPrice]"
    return any(words in outcome.reason for words in _AWAY)
