"""The clock of a world over the control API."""

import time

import pytest

from mockserver.clock import ClockMode
from tests.conftest import START_MS, order

HOUR = 3_600_000


def test_it_is_advanced_set_and_switched(control):
    assert control.get("/clock") == {
        "now": "2026-01-01T00:00:00Z",
        "ms": START_MS,
        "mode": "frozen",
        "rate": 1,
    }
    assert control.post("/clock", {"advance": "9h"})["ms"] == START_MS + 9 * HOUR
    assert control.post("/clock", {"set": "2026-01-01T10:00:00Z"})["ms"] == START_MS + 10 * HOUR
    scaled = control.post("/clock", {"mode": "scaled", "rate": 60})
    assert (scaled["mode"], scaled["rate"]) == ("scaled", 60)
    assert control.post("/clock", {"mode": "real"})["rate"] == 1


def test_next_jumps_to_what_is_due(control):
    control.post("/outages", {"chain": "BNB", "from": "2026-01-01T02:00:00Z", "for": "1h"})
    assert control.post("/clock", {"next": True})["now"] == "2026-01-01T02:00:00Z"
    assert control.post("/clock", {"next": True})["now"] == "2026-01-01T03:00:00Z"
    assert "nothing is due" in control.refused("POST", "/clock", {"next": True})


def test_run_until_takes_an_order_to_its_end_or_to_a_status(control, mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    control.post("/clock", {"runUntil": {"order": order_id, "status": "WaitVerify"}})
    assert control.get(f"/orders/{order_id}")["status"] == "WaitVerify"
    control.post("/clock", {"runUntil": {"order": order_id, "terminal": True}})
    assert control.get(f"/orders/{order_id}")["status"] == "Succeeded"
    told = control.refused("POST", "/clock", {"runUntil": {"order": order_id, "status": "Failed"}})
    assert "does not come to 'Failed'" in told


def test_run_until_an_order_that_never_ends_is_refused_and_moves_nothing(control, mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    control.post(f"/orders/{order_id}", {"course": "stuck"})
    assert "comes to no end" in control.refused("POST", "/clock", {"runUntil": {"order": order_id}})
    assert control.get("/clock")["ms"] == START_MS


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "give one of"),
        ({"advance": "1s", "next": True}, "give one of"),
        ({"advance": 5}, "body field 'advance': expected a string, got an integer, 5"),
        ({"advance": "a while"}, "expected a duration such as '15s'"),
        ({"advance": "999999999d"}, "more than a hundred years"),
        ({"set": "2025-01-01T00:00:00Z"}, "only moves forward"),
        ({"set": "2026-13-01T00:00:00Z"}, "is no time"),
        ({"set": "tomorrow"}, "expected a time with its offset"),
        ({"mode": "scaled"}, "goes with mode 'scaled'"),
        ({"mode": "frozen", "rate": 2}, "goes with mode 'scaled'"),
        ({"mode": "scaled", "rate": 0}, "above 0"),
        ({"mode": "scaled", "rate": -1}, "above 0"),
        ({"next": False}, "expected true"),
        ({"runUntil": {}}, "'runUntil.order': missing"),
        ({"runUntil": {"order": "77"}}, "'77'"),
        ({"runUntil": {"order": "77", "terminal": True, "status": "Failed"}}, "not both"),
        ([], "expected an object"),
        ({"jump": "1s"}, "'jump': unknown name"),
    ],
)
def test_a_wrong_request_is_a_sentence_and_moves_nothing(control, body, words):
    assert words in control.refused("POST", "/clock", body)
    assert control.get("/clock")["ms"] == START_MS


@pytest.mark.parametrize("mode", [ClockMode.REAL, ClockMode.SCALED])
def test_a_machine_whose_clock_is_set_back_undoes_no_final_status(serve, monkeypatch, mode):
    mock = serve(clock=mode, start_ms=None).client
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    mock.control("POST", "/clock", {"runUntil": {"order": order_id, "terminal": True}})
    told = mock.control("GET", f"/orders/{order_id}")["status"]
    assert told == "Succeeded"
    true = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: true() - HOUR * 10**6)
    assert mock.control("GET", f"/orders/{order_id}")["status"] == told
    assert mock.get("/v1/checkOrder", query={"id": order_id}).data["status"] == told
