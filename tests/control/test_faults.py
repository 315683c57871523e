"""Faults: every kind and trigger, and effect apart from answer, over a real socket."""

import asyncio
import contextlib
import http.client
import urllib.error
import urllib.request
from decimal import Decimal

import aiohttp
import pytest

from mockserver import jsontext
from mockserver.clock import ClockMode
from mockserver.contract import load
from mockserver.http_messages import Request
from mockserver.server.assembly import build
from tests.conftest import START_MS, certificate, frozen
from tests.control.conftest import QUOTE_PATH, submitted


def struck(control):
    """Return how often each fault has struck."""
    return [one["struck"] for one in control.get("/faults")["faults"]]


# The kinds


def test_a_fixed_delay_costs_virtual_time_only(control, line):
    control.post("/faults", {"kind": "latency", "delay": "30s"})
    answer = line.get(QUOTE_PATH)
    assert answer.data["outAmount"]
    assert answer.headers["x-mock-virtual-elapsed"] == "30000"
    assert answer.headers["x-mock-fault"] == "latency (1)"
    assert control.get("/clock")["ms"] == START_MS + 30_000


def test_a_uniform_delay_stays_between_its_ends_and_differs(control, line):
    fault = {"kind": "latency", "distribution": "uniform", "delay": "1s", "until": "2s"}
    control.post("/faults", fault)
    seen = [int(line.get(QUOTE_PATH).headers["x-mock-virtual-elapsed"]) for _ in range(20)]
    assert all(1_000 <= one <= 2_000 for one in seen)
    assert len(set(seen)) > 10


def test_a_log_normal_delay_lies_about_its_median(control, line):
    fault = {
        "kind": "latency",
        "distribution": "log-normal",
        "delay": "1s",
        "sigma": Decimal("0.5"),
    }
    control.post("/faults", fault)
    seen = sorted(int(line.get(QUOTE_PATH).headers["x-mock-virtual-elapsed"]) for _ in range(41))
    assert 700 < seen[20] < 1_400
    assert seen[0] < 900
    assert seen[-1] > 1_100


def test_a_delay_under_a_scaled_clock_waits_its_share_of_wall_time(control, line):
    control.post("/clock", {"mode": "scaled", "rate": 1_000_000})
    control.post("/faults", {"kind": "latency", "delay": "10h"})
    answer = line.get(QUOTE_PATH)
    assert answer.headers["x-mock-virtual-elapsed"] == "36000000"
    assert control.get("/clock")["ms"] >= START_MS + 36_000_000


def test_an_http_status_with_retry_after(control, line):
    control.post("/faults", {"kind": "http-status", "status": 503, "retryAfter": 7})
    answer = line.get(QUOTE_PATH)
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")
    assert answer.raw == b"503 Service Unavailable"


def test_an_http_status_with_a_body_and_one_nobody_knows(control, line):
    control.post("/faults", {"kind": "http-status", "status": 599, "body": "héllo", "first": 1})
    answer = line.get(QUOTE_PATH)
    assert (answer.status, answer.raw.decode()) == (599, "héllo")


def test_a_refusal_by_name_and_by_any_code(control, line):
    control.post("/faults", {"kind": "refusal", "refusal": "chain-suspended", "first": 1})
    control.post("/faults", {"kind": "refusal", "code": 4711, "msg": "go away"})
    assert line.get(QUOTE_PATH).refusal.startswith("chain-suspended: ")
    answer = line.get(QUOTE_PATH)
    assert (answer.json["code"], answer.json["msg"]) == (4711, "go away")
    assert answer.refusal.startswith("injected: ")
    v1 = line.get("/open/v1/base/getSupportChains")
    assert (v1.json["code"], v1.json["status"]) == (4711, 1)


def test_broken_json_is_whole_http_and_no_json(control, line):
    control.post("/faults", {"kind": "broken-json"})
    answer = line.get(QUOTE_PATH)
    assert answer.headers["content-type"].startswith("application/json")
    assert int(answer.headers["content-length"]) == len(answer.raw)
    with pytest.raises(jsontext.NotJson):
        assert answer.json


def test_a_wrong_content_type_with_a_page_or_a_name(control, line):
    control.post("/faults", {"kind": "wrong-content-type", "first": 1})
    page = line.get(QUOTE_PATH)
    assert page.headers["content-type"].startswith("text/html")
    assert page.raw.startswith(b"<html>")
    control.post("/faults", {"kind": "wrong-content-type", "contentType": "text/plain"})
    plain = line.get(QUOTE_PATH)
    assert plain.headers["content-type"] == "text/plain"
    assert plain.data["outAmount"]


@pytest.mark.parametrize("change", ["type", "missing", "null", "any"])
def test_a_named_field_breaks_the_contract_and_nothing_else_changes(control, line, change):
    before = line.get(QUOTE_PATH).json
    control.post("/faults", {"kind": "mutation", "field": "outAmount", "change": change})
    answer = line.get(QUOTE_PATH)
    assert answer.headers["x-mock-mutated"] == "data.outAmount"
    body = answer.json
    operation = load().operation("v2.getBridgeQuote")
    assert [one.path[:2] for one in operation.response_violations(body)] == [("data", "outAmount")]
    body["data"]["outAmount"] = before["data"]["outAmount"]
    assert body == before


@pytest.mark.parametrize("path", ["/v1/getChain", QUOTE_PATH, "/open/v1/base/getSupportChains"])
def test_a_drawn_field_breaks_the_contract_the_same_way_in_every_world(serve, path):
    seen = []
    for _ in range(2):
        running = serve(seed=7)
        client = running.client
        client.control("POST", "/faults", {"kind": "mutation"})
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        operation = load().find("GET", path.partition("?")[0])
        assert operation is not None
        assert operation.response_violations(jsontext.decode(body))
        seen.append((response.headers["X-Mock-Mutated"], body))
    assert seen[0] == seen[1]


def test_a_field_that_is_not_there_leaves_the_answer_alone(control, line):
    control.post("/faults", {"kind": "mutation", "field": "noSuchField"})
    answer = line.get(QUOTE_PATH)
    assert answer.headers["x-mock-mutated"] == "nothing"
    assert answer.data["outAmount"]


def test_a_quota_counts_in_windows_of_the_worlds_clock(control, line):
    control.post("/faults", {"kind": "quota", "limit": 2, "window": "1m"})
    assert [line.get(QUOTE_PATH).status for _ in range(3)] == [200, 200, 429]
    control.post("/clock", {"advance": "45s"})
    refused = line.get(QUOTE_PATH)
    assert (refused.status, refused.headers["retry-after"]) == (429, "15")
    control.post("/clock", {"advance": "15s"})
    assert [line.get(QUOTE_PATH).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("refusal", [{"refusal": "no-price"}, {"code": 77, "msg": "hm"}])
def test_a_refusal_has_the_status_that_the_server_gives_refusals(serve, refusal):
    client = serve(refusal_status=422).client
    fault = {"kind": "refusal", "operation": "v2.getChain", "first": 1, **refusal}
    client.control("POST", "/faults", fault)
    assert [client.get("/v1/getChain").status for _ in range(2)] == [422, 200]


def test_a_quota_may_answer_with_a_refusal(control, line):
    control.post(
        "/faults", {"kind": "quota", "limit": 0, "window": "1m", "refusal": "chain-suspended"}
    )
    assert line.get(QUOTE_PATH).refusal.startswith("chain-suspended")


# The connection itself


def test_a_reset_before_the_headers_is_a_reset_without_a_byte(control, line):
    control.post("/faults", {"kind": "reset-before-headers"})
    assert line.raw(QUOTE_PATH) == (b"", True)
    with pytest.raises(ConnectionResetError):
        line.get(QUOTE_PATH)


def test_a_reset_after_the_headers_comes_with_headers_and_no_body(control, line):
    control.post("/faults", {"kind": "reset-after-headers"})
    came, reset = line.raw(QUOTE_PATH)
    assert reset
    assert came.startswith(b"HTTP/1.1 200 OK\r\n")
    assert came.endswith(b"\r\n\r\n")
    with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
        line.get(QUOTE_PATH)


def test_an_empty_answer_is_an_early_end(control, line):
    control.post("/faults", {"kind": "empty-answer"})
    assert line.raw(QUOTE_PATH) == (b"", False)
    with pytest.raises(http.client.RemoteDisconnected):
        line.get(QUOTE_PATH)


def test_a_truncated_body_is_shorter_than_it_says(control, line):
    whole = line.get("/v1/getChain").raw
    control.post("/faults", {"kind": "truncated-body"})
    came, reset = line.raw("/v1/getChain")
    head, _, body = came.partition(b"\r\n\r\n")
    assert not reset
    assert f"Content-Length: {len(whole)}".encode() in head
    assert body == whole[: len(whole) // 2]
    with pytest.raises(http.client.IncompleteRead):
        line.get("/v1/getChain")


def test_the_server_lives_on_after_every_cut(control, line):
    for kind in ("reset-before-headers", "reset-after-headers", "empty-answer", "truncated-body"):
        control.post("/faults", {"kind": kind, "first": 1})
        line.raw(QUOTE_PATH)
    assert line.get(QUOTE_PATH).data["outAmount"]
    assert struck(control) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "kind", ["reset-before-headers", "reset-after-headers", "empty-answer", "truncated-body"]
)
def test_urllib_sees_a_broken_connection(control, line, kind):
    control.post("/faults", {"kind": kind})
    url = f"http://127.0.0.1:{line.port}{line.prefix}/v1/getChain"
    with (
        pytest.raises((urllib.error.URLError, OSError, http.client.HTTPException)),
        urllib.request.urlopen(url, timeout=60) as answer,
    ):
        answer.read()


@pytest.mark.parametrize(
    "kind", ["reset-before-headers", "reset-after-headers", "empty-answer", "truncated-body"]
)
def test_aiohttp_sees_a_broken_connection(control, line, kind):
    control.post("/faults", {"kind": kind})

    async def call() -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{line.port}{line.prefix}/v1/getChain") as answer,
        ):
            await answer.read()

    with pytest.raises(aiohttp.ClientError):
        asyncio.run(call())


# The triggers


@pytest.mark.parametrize(
    ("trigger", "quote", "chains"),
    [
        ({"operation": "v2.getBridgeQuote"}, 503, 200),
        ({"operation": "getSupportChains"}, 200, 503),
        ({"generation": "v1"}, 200, 503),
        ({"generation": "v2"}, 503, 200),
        ({"effect": "read"}, 503, 503),
        ({"effect": "write"}, 200, 200),
        ({"phase": "quotes"}, 503, 200),
        ({"phase": "lists"}, 200, 503),
        ({"chain": "BNB"}, 503, 200),
        ({"chain": "BSC"}, 503, 200),
        ({"chain": "ETH"}, 200, 200),
    ],
)
def test_a_fault_is_for_what_its_trigger_names(control, line, trigger, quote, chains):
    control.post("/faults", {"kind": "http-status", "status": 503, **trigger})
    assert line.get(QUOTE_PATH).status == quote
    assert line.get("/open/v1/base/getSupportChains").status == chains


def test_an_order_trigger_is_for_one_order(control, line):
    first = line.submit().data["id"]
    other = line.submit(sourceCerts=certificate(certHash="0x" + "5" * 64)).data["id"]
    control.post("/faults", {"kind": "http-status", "status": 500, "order": first})
    assert line.get(f"/v1/checkOrder?id={first}").status == 500
    assert line.get(f"/v1/checkOrder?id={other}").status == 200


def test_a_chain_trigger_takes_polls_of_an_order_of_that_chain(control, line):
    order_id = line.submit().data["id"]
    control.post("/faults", {"kind": "http-status", "status": 500, "chain": "ARB"})
    assert line.get(f"/v1/checkOrder?id={order_id}").status == 500


def test_first_every_and_probability(control, line):
    control.post("/faults", {"kind": "http-status", "status": 500, "first": 2})
    assert [line.get(QUOTE_PATH).status for _ in range(3)] == [500, 500, 200]
    control.delete("/faults")
    control.post("/faults", {"kind": "http-status", "status": 500, "every": 3})
    assert [line.get(QUOTE_PATH).status for _ in range(6)] == [200, 200, 500] * 2


def test_chance_follows_the_seed(serve):
    seen = []
    for seed in (1, 1, 2):
        client = serve(seed=seed).client
        client.control(
            "POST", "/faults", {"kind": "http-status", "status": 500, "probability": Decimal("0.5")}
        )
        seen.append([client.get("/v1/getChain").status for _ in range(40)])
    assert seen[0] == seen[1] != seen[2]
    assert 8 < seen[0].count(500) < 32


@pytest.mark.parametrize(("probability", "status"), [(0, 200), (1, 500)])
def test_never_and_always_are_chances_too(control, line, probability, status):
    fault = {"kind": "http-status", "status": 500, "probability": probability}
    control.post("/faults", fault)
    assert {line.get(QUOTE_PATH).status for _ in range(5)} == {status}


def test_delays_add_up_and_the_first_other_fault_decides(control, line):
    control.post("/faults", {"kind": "latency", "delay": "1s"})
    control.post("/faults", {"kind": "latency", "delay": "2s"})
    control.post("/faults", {"kind": "http-status", "status": 502})
    control.post("/faults", {"kind": "http-status", "status": 503})
    answer = line.get(QUOTE_PATH)
    assert (answer.status, answer.headers["x-mock-virtual-elapsed"]) == (502, "3000")
    assert struck(control) == [1, 1, 1, 0]


def test_another_world_has_none_of_it(control, line):
    control.post("/faults", {"kind": "http-status", "status": 503})
    assert line.get(QUOTE_PATH).status == 503
    other = type(line)(line.port, "/w/some-other-world")
    assert other.get(QUOTE_PATH).status == 200


# Effect apart from answer


def test_accepted_and_answered(control, line):
    assert line.submit().data["id"] in submitted(control)


def test_accepted_and_reset(control, line):
    control.post("/faults", {"kind": "reset-before-headers", "does": "done", "effect": "write"})
    with pytest.raises(ConnectionResetError):
        line.submit()
    assert len(submitted(control)) == 1


def test_accepted_and_5xx(control, line):
    control.post("/faults", {"kind": "http-status", "status": 500, "does": "done"})
    assert line.submit().status == 500
    assert len(submitted(control)) == 1


def test_accepted_and_late(control, line):
    control.post("/faults", {"kind": "latency", "delay": "2m", "effect": "write"})
    answer = line.submit()
    assert answer.headers["x-mock-virtual-elapsed"] == "120000"
    [order] = control.get("/orders")["orders"]
    assert (order["id"], order["submitted"]) == (answer.data["id"], "2026-01-01T00:00:00Z")
    assert order["status"] == "Succeeded"


def test_refused_and_answered_as_success(control, line):
    control.post("/faults", {"kind": "false-success", "effect": "write"})
    answer = line.submit()
    assert answer.data["id"]
    assert submitted(control) == []
    assert line.get(f"/v1/checkOrder?id={answer.data['id']}").refusal.startswith("unknown-order")


@pytest.mark.parametrize("kind", ["reset-before-headers", "empty-answer", "http-status", "refusal"])
def test_what_is_refused_by_default_does_nothing(control, line, kind):
    options = {"http-status": {"status": 500}, "refusal": {"code": 5}}.get(kind, {})
    control.post("/faults", {"kind": kind, **options})
    with contextlib.suppress(OSError, http.client.HTTPException):
        line.submit()
    assert submitted(control) == []


@pytest.mark.parametrize("kind", ["truncated-body", "broken-json", "reset-after-headers"])
@pytest.mark.parametrize(("does", "orders"), [("done", 1), ("none", 0)])
def test_a_disturbed_answer_and_its_effect_are_chosen_apart(control, line, kind, does, orders):
    control.post("/faults", {"kind": kind, "does": does})
    with contextlib.suppress(OSError, http.client.HTTPException):
        assert line.submit().raw
    assert len(submitted(control)) == orders


# Reserved values


def amount(code):
    """Return sourceCerts whose amount of USDT on ARB carries a reserved code."""
    return certificate(fromAmount=f"10{code}00")


@pytest.mark.parametrize(
    ("code", "status", "orders"),
    [("5001", 500, 0), ("5002", 503, 0), ("5003", 429, 0), ("5004", 200, 1), ("5007", 500, 1)],
)
def test_a_reserved_amount_chooses_a_fault(control, line, code, status, orders):
    answer = line.submit(sourceCerts=amount(code))
    assert answer.status == status
    assert len(submitted(control)) == orders
    assert f"(reserved {code})" in answer.headers["x-mock-fault"]


def test_reserved_amounts_reset_connections_and_break_json(control, line):
    with pytest.raises(ConnectionResetError):
        line.submit(sourceCerts=amount("5005"))
    assert submitted(control) == []
    with pytest.raises(ConnectionResetError):
        line.submit(sourceCerts=amount("5006"))
    assert len(submitted(control)) == 1
    with pytest.raises(jsontext.NotJson):
        assert line.get(QUOTE_PATH.replace("10000000", "10500800")).json


def test_reserved_addresses_and_hashes_do_the_same(control, line):
    reserved = {one["name"]: one for one in control.get("/reserved")["reserved"]}
    assert line.submit(toAddr=reserved["http-503"]["address"]).status == 503
    certs = certificate(certHash=reserved["http-429"]["hash"])
    assert line.submit(sourceCerts=certs).status == 429
    address = reserved["http-500"]["address"]
    assert line.get(f"/v1/getAllTicketByAddress?filter=Pending&address={address}").status == 500


def test_a_reserved_amount_of_v1_is_in_whole_tokens(control, line, mock):
    raw = b'{"amount":10.5002,"fromChain":"MATIC","toChain":"BSC","token":"USDT","feeLevel":2}'
    connection = http.client.HTTPConnection("127.0.0.1", line.port, timeout=60)
    path = f"{line.prefix}/open/v1/order/getCrossChainQuote"
    connection.request("POST", path, raw, mock.keys)
    response = connection.getresponse()
    assert (response.status, response.headers["Retry-After"]) == (503, "30")
    connection.close()


@pytest.mark.parametrize("amount_of", ["10500101", "5001", "50010000000", "105001000"])
def test_amounts_that_only_look_reserved_are_left_alone(line, amount_of):
    answer = line.get(QUOTE_PATH.replace("10000000", amount_of))
    assert "x-mock-fault" not in answer.headers


# What is kept, and what is refused


def test_faults_are_listed_with_their_counts_and_removed(control, line):
    control.post("/faults", {"kind": "http-status", "status": 503, "id": "gone", "every": 2})
    line.get(QUOTE_PATH)
    line.get(QUOTE_PATH)
    [fault] = control.get("/faults")["faults"]
    assert (fault["id"], fault["seen"], fault["struck"]) == ("gone", 2, 1)
    assert control.delete("/faults/gone")["struck"] == 1
    assert control.get("/faults")["faults"] == []
    assert "does not exist" in control.refused("DELETE", "/faults/gone")


def test_the_journal_names_the_fault(control, line):
    control.post("/faults", {"kind": "reset-before-headers"})
    line.raw(QUOTE_PATH)
    [entry] = control.get("/journal")["entries"]
    assert (entry["fault"], entry["responder"]) == ("reset-before-headers (1)", "fault")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "'kind': missing, it is one of latency"),
        ({"kind": "latencey"}, "did you mean 'latency'"),
        ({"kind": 5}, "got 5"),
        ({"kind": "latency"}, "'delay': missing"),
        ({"kind": "latency", "delay": "2d"}, "more than a day"),
        ({"kind": "latency", "delay": "1s", "sigma": 1}, "takes neither"),
        ({"kind": "latency", "delay": "1s", "distribution": "uniform"}, "takes 'until'"),
        (
            {"kind": "latency", "delay": "2s", "distribution": "uniform", "until": "1s"},
            "shorter than 'delay'",
        ),
        (
            {"kind": "latency", "delay": "1s", "probability": Decimal("1.5")},
            "expected a number from 0 to 1",
        ),
        ({"kind": "latency", "delay": "1s", "probability": Decimal("-0.1")}, "from 0 to 1"),
        ({"kind": "latency", "delay": "1s", "first": 0}, "from 1 to"),
        ({"kind": "latency", "delay": "1s", "every": Decimal("1.5")}, "an integer"),
        ({"kind": "latency", "delay": "1s", "operation": "v2.getChains"}, "'v2.getChain'"),
        ({"kind": "latency", "delay": "1s", "phase": "quote"}, "'quotes'"),
        ({"kind": "latency", "delay": "1s", "chain": "MOON"}, "'MOON'"),
        ({"kind": "latency", "delay": "1s", "limit": 3}, "'limit': unknown name"),
        ({"kind": "http-status", "status": 200}, "from 400 to 599"),
        ({"kind": "http-status", "status": 500, "retryAfter": -1}, "'retryAfter'"),
        ({"kind": "refusal"}, "either 'refusal'"),
        ({"kind": "refusal", "refusal": "chain-suspend"}, "did you mean 'chain-suspended'"),
        ({"kind": "mutation", "change": "odd"}, "'change'"),
        ({"kind": "quota", "limit": 1, "window": "0s"}, "above 0"),
        ({"kind": "quota", "limit": 1, "window": "1s", "first": 1}, "counts by itself"),
        ({"kind": "false-success", "does": "done"}, "leave it out"),
        ({"kind": "wrong-content-type", "contentType": "a\r\nb: c"}, "a media type"),
        ({"kind": "empty-answer", "id": "a b"}, "'id'"),
    ],
)
def test_a_wrong_fault_is_a_sentence_and_sets_nothing(control, body, words):
    assert words in control.refused("POST", "/faults", body)
    assert control.get("/faults") == {"faults": []}


def test_an_id_is_taken_once(control):
    control.post("/faults", {"kind": "empty-answer", "id": "one"})
    assert "another fault" in control.refused(
        "POST", "/faults", {"kind": "broken-json", "id": "one"}
    )


@pytest.mark.parametrize(
    ("mode", "rate", "waited"), [("real", 1, 30_000), ("scaled", 60, 500), ("frozen", 1, 0)]
)
def test_how_long_a_delay_is_waited_follows_the_clock(mode, rate, waited):
    service = build(frozen())
    hosted = service.worlds.get("default")
    hosted.world.time.switch(ClockMode(mode), Decimal(rate))
    told = {"kind": "latency", "delay": "30s"}
    hosted.faults.add(told, hosted.contract, hosted.world.scenario)
    delivery = service.answer(Request("GET", "/v1/getChain"))
    assert delivery.delay_ms == waited
    assert delivery.response.header("X-Mock-Virtual-Elapsed") == "30000"
