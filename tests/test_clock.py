"""The clock is a value that only moves forward."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver import contract
from mockserver.clock import LATEST_MS, Clock, ClockMode, SteadyClock, wall_ms
from mockserver.times_and_durations import ClockRefused, iso, parse_duration, parse_instant

WALL = 1_000_000
TIMES = st.integers(0, 10**13)


@pytest.mark.parametrize("mode", [ClockMode.FROZEN, ClockMode.AUTO])
@given(st.integers(0, 10**9))
def test_a_standing_clock_ignores_the_wall(mode, passed):
    assert Clock(mode, 5_000, WALL).now(WALL + passed) == 5_000


@given(TIMES, st.integers(0, 10**9))
def test_a_real_clock_follows_the_wall(start, passed):
    assert Clock(ClockMode.REAL, start, WALL).now(WALL + passed) == start + passed


@pytest.mark.parametrize("mode", [ClockMode.REAL, ClockMode.SCALED])
def test_a_clock_stops_at_the_last_time_that_the_contract_can_tell(mode):
    most = (
        contract.load()
        .operation("v2.checkOrder")
        .response_schema["then"]["properties"]["data"]["properties"]["timestamp"]["maximum"]
    )
    assert most == LATEST_MS // 1000
    clock = Clock(mode, LATEST_MS - 5, WALL, Decimal(1))
    assert [clock.now(WALL + passed) - LATEST_MS for passed in (4, 5, 6, 10**9)] == [-1, 0, 0, 0]


@given(st.integers(0, 10**9))
def test_a_scaled_clock_runs_faster(passed):
    clock = Clock(ClockMode.SCALED, 0, WALL, Decimal("2.5"))
    assert clock.now(WALL + passed) == passed * 5 // 2


@pytest.mark.parametrize("mode", list(ClockMode))
@given(TIMES, st.integers(0, 10**9), st.integers(0, 10**9))
def test_advancing_adds_to_what_it_shows(mode, start, passed, by):
    clock = Clock(mode, start, WALL)
    wall = WALL + passed
    assert clock.advance(by, wall).now(wall) == clock.now(wall) + by


@pytest.mark.parametrize("before", list(ClockMode))
@pytest.mark.parametrize("after", list(ClockMode))
def test_switching_the_mode_keeps_the_time(before, after):
    clock = Clock(before, 7_000, WALL)
    assert clock.switched(after, WALL + 50).now(WALL + 50) == clock.now(WALL + 50)


def test_it_is_not_turned_back():
    clock = Clock(ClockMode.FROZEN, 10_000, WALL)
    with pytest.raises(ClockRefused, match="only moves forward"):
        clock.set(9_999, WALL)
    with pytest.raises(ClockRefused, match="only moves forward"):
        clock.advance(-1, WALL)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("15s", 15_000), ("1h30m", 5_400_000), ("250ms", 250), ("2.5d", 216_000_000), ("0s", 0)],
)
def test_durations(text, ms):
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "15", "-1s", "1 s", "1y", "s", "1e3s", "NaNs"])
def test_what_is_no_duration(text):
    with pytest.raises(ClockRefused, match="is no duration"):
        parse_duration(text)


def test_instants():
    assert parse_instant("2026-01-01T00:00:00Z") == 1_767_225_600_000
    assert parse_instant("2026-01-01T01:00:00+01:00") == 1_767_225_600_000
    assert iso(1_767_225_600_000) == "2026-01-01T00:00:00Z"
    assert iso(1_767_225_600_007) == "2026-01-01T00:00:00.007Z"


@pytest.mark.parametrize("text", ["yesterday", "2026-01-01", "2026-01-01T00:00:00", ""])
def test_a_time_without_offset_is_not_guessed_at(text):
    with pytest.raises(ClockRefused, match="is no time"):
        parse_instant(text)


def test_an_impossible_time_is_still_shown():
    assert iso(10**30) == f"{10**30} ms"


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(-(10**10), 10**10)), max_size=20))
def test_a_steady_clock_begins_with_the_wall_and_ignores_its_steps(
    passing: list[tuple[int, int]],
) -> None:
    start = 1_767_225_600_000
    shown, run = [start], [5]
    clock = SteadyClock(wall=lambda: shown[0], ticks=lambda: run[0] * 1_000_000)
    total = 0
    for passed, step in passing:
        run[0] += passed
        shown[0] += passed + step
        total += passed
        assert clock.now() == start + total


def test_a_steady_clock_shows_the_time_of_the_wall() -> None:
    assert abs(SteadyClock().now() - wall_ms()) < 1_000


def test_a_real_clock_runs_as_fast_as_the_wall_whatever_rate_its_scenario_has() -> None:
    assert Clock(ClockMode.REAL, 5, 6, Decimal(10)).now(16) == 15
    assert Clock(ClockMode.SCALED, 5, 6, Decimal(10)).now(16) == 105
