"""What can be long takes time in proportion: calendars, flapping outages, lists of worlds."""

import time
from dataclasses import replace

import pytest

from mockserver.clock import ClockMode
from mockserver.engine.outage_calendar import Calendar
from mockserver.engine.outages import InFlight, Mode, OrderRoute, Window
from mockserver.server.assembly import Settings, build
from tests.conftest import START_MS

ROUTE = OrderRoute("ARB", "USDT", "BNB", "USDT")
DAY = 86_400_000


@pytest.fixture
def within():
    """Time that a block may take: far more than it needs, far less than it took."""
    began = time.process_time()
    return lambda seconds: time.process_time() - began < seconds


def windows(count, **more):
    return [
        {
            "chain": "BNB",
            "from": f"20{26 + n // 300:02}-{1 + n // 25 % 12:02}-{1 + n % 25:02}T00:00:00Z",
            "for": "1h",
            **more,
        }
        for n in range(count)
    ]


def test_a_long_calendar_is_added_at_once(mock, within):
    told = mock.control("POST", "/calendar", {"windows": windows(1000)})
    assert len(told["added"]) + told["past"] == 1000
    assert within(5)
    assert len(mock.control("GET", "/outages")["outages"]) == 1000 - told["past"]
    struck = mock.control("DELETE", "/outages?chain=BNB&planned=true")["restored"]
    assert struck
    assert within(10)


def test_a_long_calendar_that_overlaps_is_refused_at_once(mock, within):
    same = [{"chain": "BNB", "for": "1h"}] * 1000
    answer = mock.post("/__mock/calendar", {"windows": same})
    assert answer.status == 400
    assert "overlaps window" in answer.json["error"]
    assert within(5)


def test_a_year_of_flapping_is_no_work(within):
    flapping = Window(
        "BNB", None, START_MS, None, Mode.FLAPPING, period_ms=5_000, in_flight=InFlight.STALL
    )
    lagging = Window("ARB", None, START_MS, None, Mode.LAGGING, lag=1_000_000)
    calendar = Calendar([flapping, lagging])
    for _ in range(1_000):
        assert calendar.when(ROUTE, START_MS, 40_000) == START_MS + 2 * 40_000 * 1_000_000
    assert within(1)
    odd = replace(flapping, chain="ARB", period_ms=5_003)
    third = replace(flapping, chain="ARB", period_ms=5_009, down_percent=33)
    calendar = Calendar([flapping, odd, third])
    assert calendar.when(ROUTE, START_MS, 3_000_000) is not None
    assert calendar.when(ROUTE, START_MS, 10**12) is None, "nobody looks at so many turns"
    assert within(2)


def test_a_thousand_outages_in_a_row_are_looked_at_once_each(within):
    halts = [
        Window("BNB", None, START_MS + n * 2_000, START_MS + n * 2_000 + 1_000)
        for n in range(1_000)
    ]
    calendar = Calendar(halts)
    for _ in range(20):
        assert calendar.when(ROUTE, START_MS, 990_000) == START_MS + 1_980_000
    assert within(2)


def test_ten_thousand_worlds_with_app_keys_are_listed(within):
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=START_MS))
    for number in range(5_000):
        key = f"w{number}"
        service.worlds.get(key)
        service.worlds.bind([f"app-{number}"], key)
    assert len([service.worlds.bound(hosted.key) for hosted in service.worlds]) == 5_000
    assert within(3)
