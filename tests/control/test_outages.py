"""Calendars over the control API, and that replaying one gives the same bytes."""

import pytest

from mockserver.http_messages import Headers, Request
from mockserver.jsontext import encode
from mockserver.mock_headers import EPOCH_HEADER
from mockserver.scenarios import calendar_names
from mockserver.server.assembly import build
from tests.conftest import certificate, frozen, order
from tests.control.conftest import QUOTE


def test_which_outages_are_shown(control):
    control.post("/outages", {"chain": "BNB", "reason": "upgrade"})
    ahead = {"chain": "ETH", "from": "2026-01-01T02:00:00Z", "for": "1h", "lead": "3h"}
    control.post("/outages", ahead)
    control.post("/outages", {"token": "USDT", "from": "2026-02-01T00:00:00Z", "for": "1d"})

    def subjects(which):
        return [one["subject"] for one in control.get(f"/outages?which={which}")["outages"]]

    assert subjects("all") == ["chain BNB", "chain ETH", "token USDT"]
    assert subjects("active") == ["chain BNB"]
    assert subjects("announced") == ["chain ETH"]


def test_every_field_of_an_outage_is_kept(control):
    body = {
        "chain": "BNB",
        "token": "USDT",
        "mode": "flapping",
        "direction": "target",
        "from": "2026-01-02T00:00:00Z",
        "for": "2h",
        "inFlight": "refund",
        "reason": "pool",
        "lead": "1h",
        "period": "10m",
        "downPercent": 30,
    }
    told = control.post("/outages", body)
    assert told == {
        "subject": "token USDT on BNB",
        "chain": "BNB",
        "token": "USDT",
        "mode": "flapping",
        "direction": "target",
        "inFlight": "refund",
        "from": "2026-01-02T00:00:00Z",
        "until": "2026-01-02T02:00:00Z",
        "active": False,
        "reason": "pool",
        "lead": 3_600_000,
        "lag": 1,
        "period": 600_000,
        "downPercent": 30,
    }


def test_what_is_planned_can_be_struck_off(control):
    control.post("/outages", {"chain": "BNB", "from": "2026-01-02T00:00:00Z", "for": "1h"})
    assert "not suspended" in control.refused("DELETE", "/outages?chain=BNB")
    assert len(control.delete("/outages?chain=BNB&planned=true")["restored"]) == 1
    assert control.get("/outages")["outages"] == []
    assert "no outage ahead" in control.refused("DELETE", "/outages?chain=BNB&planned=true")


@pytest.mark.parametrize("name", calendar_names())
def test_every_shipped_calendar_loads_by_its_name(control, name):
    added = control.post("/calendar", {"name": name})["added"]
    assert added
    assert len(control.get("/outages")["outages"]) == len(added)


def test_what_is_past_of_a_calendar_is_left_out(control):
    control.post("/clock", {"set": "2026-01-05T06:30:00Z"})
    told = control.post("/calendar", {"name": "weekend-halt"})
    assert ([one["mode"] for one in told["added"]], told["past"]) == (["lagging"], 2)


def test_a_calendar_is_taken_whole_or_not_at_all(control):
    windows = [{"chain": "BNB", "for": "1h"}, {"chain": "ETH"}, {"chain": "MOON"}]
    assert "'MOON'" in control.refused("POST", "/calendar", {"windows": windows})
    assert control.get("/outages")["outages"] == []
    assert len(control.post("/calendar", {"windows": windows[:2]})["added"]) == 2


def test_the_timeline_is_cut_to_what_is_asked(control):
    control.post("/outages", {"chain": "BNB", "from": "2026-01-01T06:00:00Z", "for": "3d"})
    told = control.get("/timeline?from=2026-01-02T00:00:00Z&for=1d")
    [span] = told["spans"]
    assert (span["from"], span["until"]) == ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    assert control.get("/timeline?for=1h")["spans"] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/outages", {}, "neither a chain nor a token"),
        ("POST", "/outages", {"chain": "MOON"}, "'MOON'"),
        ("POST", "/outages", {"chain": "BNB", "mode": "gone"}, "expected one of"),
        ("POST", "/outages", {"chain": "BNB", "for": "0s"}, "ends before it begins"),
        (
            "POST",
            "/outages",
            {"chain": "BNB", "for": "1h", "until": "2026-01-02T00:00:00Z"},
            "both",
        ),
        ("POST", "/outages", {"chain": "BNB", "mode": "flapping", "period": "1s"}, "too short"),
        ("POST", "/outages", {"chain": "BNB", "mode": "lagging", "lag": 1}, "lag: 1 slows"),
        ("POST", "/outages", {"chain": "BNB", "downPercent": 100}, "from 1 to 99"),
        ("DELETE", "/outages", None, "name the 'chain'"),
        ("DELETE", "/outages?chain=BNB", None, "not suspended"),
        ("GET", "/outages?which=none", None, "'which'"),
        ("POST", "/calendar", {}, "either 'name'"),
        ("POST", "/calendar", {"name": "weekend"}, "did you mean 'weekend-halt'"),
        ("POST", "/calendar", {"name": "../../secret"}, "no shipped calendar"),
        ("POST", "/calendar", {"windows": []}, "'windows'"),
        ("POST", "/calendar", {"windows": [{"chain": "BNB"}, {"chain": "BNB"}]}, "overlaps"),
        ("GET", "/timeline?for=1h&until=2026-01-02T00:00:00Z", None, "not both"),
        ("GET", "/timeline?until=2025-01-01T00:00:00Z", None, "not later"),
    ],
)
def test_a_wrong_request_is_a_sentence_and_changes_nothing(control, method, path, body, words):
    assert words in control.refused(method, path, body)
    assert control.get("/outages")["outages"] == []


def replayed(name):
    """Walk three days of a calendar, hour by hour, and return every answer as it came."""
    service = build(frozen())
    seen = []

    def send(method, path, query="", body=None, headers=()):
        raw = b"" if body is None else encode(body)
        response = service.answer(Request(method, path, query, Headers(headers), raw)).response
        # Each world has an epoch of its own, by which it is told from the one before.
        kept = tuple(pair for pair in response.headers if pair[0] != EPOCH_HEADER)
        seen.append((response.status, kept, response.body))

    send("POST", "/__mock/calendar", body={"name": name, "start": "2026-01-02T00:00:00Z"})
    wallet = (
        ("Evmaddress", "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"),
        ("Signature", "ab" * 65),
    )
    for hour in range(72):
        send("GET", "/v1/getChain")
        send("GET", "/v1/getBridgeQuote", QUOTE)
        send("GET", "/v1/getBridgeQuote", QUOTE.replace("BNB", "POLYGON"))
        if hour % 6 == 0:
            certs = certificate(certHash=f"0x{hour + 1:064x}")
            send("POST", "/v1/submitOrder", body=order(sourceCerts=certs), headers=wallet)
            send("GET", "/__mock/orders")
        send("POST", "/__mock/clock", body={"advance": "1h"})
    send("GET", "/__mock/journal")
    assert service.failures == []
    return seen


# Three days of any set of outages are replayed in the same way; those of chance may differ most.
@pytest.mark.parametrize(
    "name",
    [
        "random",
        pytest.param("rolling-upgrade", marks=pytest.mark.deep),
        pytest.param("weekend-halt", marks=pytest.mark.deep),
    ],
)
def test_three_days_replay_twice_with_the_same_bytes(name):
    first = replayed(name)
    assert replayed(name) == first
    assert len({body for _, _, body in first}) > 80


def test_a_mode_needs_nothing_but_its_name(control):
    lagging = control.post("/outages", {"chain": "BNB", "mode": "lagging"})
    flapping = control.post("/outages", {"chain": "ARB", "mode": "flapping"})
    assert (lagging["lag"], flapping["period"], flapping["downPercent"]) == (4, 60_000, 50)
