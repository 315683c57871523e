"""Triggers, held answers and moved prices, over a real socket."""

import threading

import pytest

from mockserver.clock import ClockMode
from mockserver.worlds.trigger_actions import ACTIONS
from tests.control.conftest import QUOTE_PATH

USDT = "chain=BNB&contractAddress=0x55d398326f99059ff775485246999027b3197955&symbol=USDT"


def price(line):
    """Return the price that clients see."""
    return line.get(f"/v1/getPrice?{USDT}").data["price"]


def test_an_outage_begins_right_before_its_call_and_not_earlier(control, line):
    outage = {"chain": "BNB", "mode": "delisted", "for": "9h"}
    control.post(
        "/at", {"operation": "getBridgeQuote", "nth": 2, "phase": "before", "outage": outage}
    )
    assert line.get(QUOTE_PATH).json["code"] == 0
    assert line.get(QUOTE_PATH).json["code"] != 0
    [trigger] = control.get("/at")["triggers"]
    assert (trigger["seen"], trigger["struck"]) == (2, True)


def test_an_outage_begins_after_its_call_and_not_before(control, line):
    control.post(
        "/at", {"operation": "getBridgeQuote", "outage": {"chain": "BNB", "mode": "delisted"}}
    )
    assert line.get(QUOTE_PATH).json["code"] == 0
    assert line.get(QUOTE_PATH).json["code"] != 0


def test_a_fault_set_before_a_call_strikes_that_call(control, line):
    fault = {"kind": "http-status", "status": 503, "operation": "getBridgeQuote", "first": 1}
    control.post("/at", {"nth": 2, "phase": "before", "fault": fault})
    assert [line.get(QUOTE_PATH).status for _ in range(3)] == [200, 503, 200]


def test_one_call_of_many_is_struck_by_its_number(control, line):
    control.post("/faults", {"kind": "http-status", "status": 503, "nth": 2})
    assert [line.get(QUOTE_PATH).status for _ in range(3)] == [200, 503, 200]


def test_the_next_order_takes_a_course_that_was_set_before_it_was_there(control, line):
    control.post("/at", {"counts": "orders", "steer": "dropped"})
    number = line.submit().data["id"]
    control.post("/clock", {"advance": "1h"})
    assert control.get(f"/orders/{number}")["status"] == "Dropped"


def test_prices_move_now_at_a_call_and_in_forks_and_dumps(control, line):
    before = price(line)
    control.post("/at", {"operation": "getBridgeQuote", "price": {"token": "USDT", "percent": -40}})
    line.get(QUOTE_PATH)
    assert float(price(line)) == pytest.approx(float(before) * 0.6)
    assert control.post("/prices", {"token": "USDT", "usd": 1234})["usd"] == "1234"
    dump = control.get("/dump")
    control.post("/snapshots", {"name": "moved"})
    control.post("/reset", {})
    assert price(line) == before
    control.post("/revert", {"name": "moved"})
    assert price(line) == "1234"
    control.post("/reset", {})
    control.post("/load", dump)
    assert price(line) == "1234"


def test_a_dump_has_triggers_with_their_counts(control, line):
    control.post("/at", {"operation": "getBridgeQuote", "nth": 2, "clock": "1h"})
    line.get(QUOTE_PATH)
    dump = control.get("/dump")
    control.post("/reset", {})
    control.post("/load", dump)
    line.get(QUOTE_PATH)
    assert control.get("/clock")["ms"] == dump["world"]["clock"]["now_ms"] + 3_600_000


def test_a_break_begins_at_a_call(control, line):
    control.post("/at", {"breaks": ["bridge-whole-tokens"]})
    before, after = (line.get(QUOTE_PATH).data["outAmount"] for _ in range(2))
    assert before != after


@pytest.mark.parametrize("hold", [{"until": "getChain"}, {"name": "first"}])
def test_an_answer_is_held_until_it_is_released(control, line, hold):
    control.post("/at", {"operation": "getBridgeQuote", "hold": hold})
    answers = []
    client = threading.Thread(target=lambda: answers.append(line.get(QUOTE_PATH)))
    client.start()
    while not control.get("/at")["triggers"][0]["struck"]:
        pass
    assert not answers
    if "until" in hold:
        line.get("/v1/getChain")
    else:
        assert control.post("/release", hold) == {"released": 1}
    client.join(60)
    assert answers[0].json["code"] == 0


def test_a_held_answer_goes_by_itself_in_the_end(control, line):
    control.post("/at", {"operation": "getBridgeQuote", "hold": {"most": "50ms"}})
    assert line.get(QUOTE_PATH).json["code"] == 0


def test_a_late_answer_comes_when_a_client_has_waited_for_it(control, line):
    control.post("/clock", {"mode": ClockMode.CLIENT.value})
    control.post("/faults", {"kind": "latency", "delay": "90s"})
    answers = []
    client = threading.Thread(target=lambda: answers.append(line.get(QUOTE_PATH)))
    client.start()
    while not control.get("/faults")["faults"][0]["struck"]:
        pass
    begun = control.get("/clock")["ms"]
    # A client that gives up after ten seconds sees no answer; one that waits longer has it then.
    assert control.post("/clock", {"wait": "10s"})["ms"] == begun + 10_000
    assert not answers
    assert control.post("/clock", {"wait": "10m"})["ms"] == begun + 90_000
    client.join(60)
    assert answers[0].json["code"] == 0


def test_what_cannot_be_done_at_its_call_is_told(control, line):
    control.post("/at", {"operation": "getBridgeQuote", "steer": "dropped"})
    control.post("/at", {"operation": "getBridgeQuote", "signal": "KILL"})
    line.get(QUOTE_PATH)
    failed = [one["failed"] for one in control.get("/at")["triggers"]]
    assert "neither made nor named an order" in failed[0]
    assert "no process of a client" in failed[1]
    assert len(control.get("/check")["unmet"]) == 2


def test_a_trigger_that_never_strikes_is_told(control, line):
    control.post("/at", {"operation": "submitOrder", "nth": 2, "clock": "1h"})
    control.post(
        "/faults", {"kind": "http-status", "status": 503, "operation": "submitOrder", "nth": 3}
    )
    line.submit()
    told = control.get("/check")
    assert not told["ok"]
    assert "never struck: 1 such requests came" in told["unmet"][0]
    assert "did nothing: only 1 such calls came" in told["unmet"][1]


def test_triggers_are_taken_away(control):
    for _ in range(3):
        control.post("/at", {"clock": "1h"})
    assert control.delete("/at/2")["id"] == "2"
    assert control.delete("/at") == {"removed": 2}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, f"give one of {', '.join(ACTIONS)}"),
        ({"clock": "1h", "breaks": []}, "give one of"),
        ({"operation": "submitOrde", "clock": "1h"}, "did you mean 'v2.submitOrder'"),
        ({"nth": 0, "clock": "1h"}, "from 1"),
        ({"steer": "dropt"}, "is no course"),
        ({"counts": "orders", "operation": "getChain", "steer": "fail"}, "leave out 'operation'"),
        ({"fault": {"kind": "mutatoin"}}, "did you mean 'mutation'"),
        ({"outage": {"chain": "BNBB"}}, "did you mean 'BNB'"),
        ({"restore": {}}, "name the 'chain' or the 'token'"),
        ({"price": {"token": "ETH"}}, "give 'usd', the new price, or 'percent'"),
        ({"price": {"token": "ETHH", "usd": 1}}, "ETHH"),
        ({"breaks": ["nothing-like-it"]}, "is no break"),
        ({"hold": {"until": "getChians"}}, "did you mean 'v2.getChain'"),
        ({"phase": "before", "hold": {}}, "held after its call"),
        ({"signal": "SEGV"}, "KILL"),
    ],
)
def test_a_trigger_that_cannot_be_is_refused_when_it_is_set(control, body, sentence):
    assert sentence in control.refused("POST", "/at", body)
    assert control.get("/at") == {"triggers": []}


def test_an_injected_refusal_has_the_words_of_the_one_it_plays(control, line):
    control.post("/faults", {"kind": "refusal", "refusal": "chain-suspended", "nth": 1})
    control.post("/faults", {"kind": "refusal", "code": 90001, "nth": 1})
    played = line.get(QUOTE_PATH).json
    control.post("/outages", {"chain": "BNB", "mode": "listed-dead"})
    control.delete("/faults/1")
    unknown, real = line.get(QUOTE_PATH).json, line.get(QUOTE_PATH).json
    assert played["code"] == real["code"]
    assert real["msg"].startswith(played["msg"])
    assert "purpose" not in played["msg"] + unknown["msg"]
