"""The journal, verification, stubs, and what the end of a test complains about."""

import base64
import gzip
import json
from decimal import Decimal

import pytest

from mockserver.contract import load
from mockserver.http_messages import Headers, Request
from mockserver.jsontext import encode
from tests.control.conftest import QUOTE, QUOTE_PATH

QUOTED = {"operation": "v2.getBridgeQuote"}


@pytest.fixture
def busy(line, control):
    """A world that has seen two quotes, a refused one between them, and an order 10 s later."""
    line.get(QUOTE_PATH)
    line.get(QUOTE_PATH.replace("BNB", "bnb"))
    line.get(QUOTE_PATH.replace("10000000", "20000000"))
    control.post("/clock", {"advance": "10s"})
    line.submit()
    return control


# The journal


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3, 4]),
        ("?operation=v2.submitOrder", [4]),
        ("?operation=getBridgeQuote", [1, 2, 3]),
        ("?refused=true", [2]),
        ("?refused=false", [1, 3, 4]),
        ("?method=POST", [4]),
        ("?path=/v1/submitOrder", [4]),
        ("?path=/v1/submit", []),
        ("?since=2", [3, 4]),
        ("?limit=2", [1, 2]),
        ("?since=1&limit=1", [2]),
        ("?from=2026-01-01T00:00:05Z", [4]),
        ("?until=2026-01-01T00:00:05Z", [1, 2, 3]),
    ],
)
def test_it_is_searched(busy, query, found):
    assert [one["sequence"] for one in busy.get(f"/journal{query}")["entries"]] == found


def test_each_request_tells_how_long_its_answer_took(busy, line):
    line.send("GET", "/v1/nowhere")
    line.send(
        "OPTIONS", "/v1/getChain", headers={"Access-Control-Request-Method": "GET", "Origin": "x:"}
    )
    entries = busy.get("/journal")["entries"]
    assert [entry["responder"] for entry in entries[-2:]] == ["server", "preflight"]
    assert all(0 < entry["durationMs"] < 60_000 for entry in entries)
    assert busy.get("/journal/2")["durationMs"] == entries[1]["durationMs"]


def test_the_cursor_goes_through_it_without_loss(busy, line):
    seen, cursor = [], 0
    for _ in range(4):
        told = busy.get(f"/journal?since={cursor}&limit=3")
        seen += [one["sequence"] for one in told["entries"]]
        cursor = told["next"]
        line.get(QUOTE_PATH)
    assert seen == [1, 2, 3, 4, 5, 6, 7]


def test_a_refused_request_comes_with_its_reason_and_nearest_valid_form(busy):
    [entry] = busy.get("/journal?refused=true")["entries"]
    assert entry["refusal"].startswith("unknown-chain: query parameter 'toChain'")
    near = entry["nearest"]
    assert near["query"]["toChain"] == "BNB"
    assert near["changed"] == ["query parameter 'toChain': 'BNB' instead of 'bnb'"]


BRIDGE, SWAP, V1 = "v2.getBridgeQuote", "v2.getAggregateSwap", "v1.getCrossChainQuote"


@pytest.mark.parametrize(
    ("operation", "place", "sent", "meant"),
    [
        (BRIDGE, "query.amount", "10000000.0", "'10000000' instead of '10000000.0'"),
        (BRIDGE, "query.amount", "10000000 ", "'10000000' instead of '10000000 '"),
        (BRIDGE, "query.amount", "2e7", "'20000000' instead of '2e7'"),
        (SWAP, "query.allowPartialFill", "True", "'true' instead of 'True'"),
        (SWAP, "query.allowPartialFill", "False", "'false' instead of 'False'"),
        (V1, "body.feeLevel", "3", "3 instead of '3'"),
        (V1, "body.amount", "0.5", "0.5 instead of '0.5'"),
        (V1, "body.amount", Decimal("0.50000000000000000001"), "0.5 instead of 0.50000000"),
        ("v2.submitOrder", "body.orderType", 1, "'1' instead of 1"),
    ],
)
def test_what_only_needs_another_form_keeps_its_meaning(
    control, mock, operation, place, sent, meant
):
    location, name = place.split(".")
    example = load().operation(operation).row["example"]
    headers = mock.keys if operation == V1 else mock.wallet
    parts = {"headers": headers, location: {**example[location], name: sent}}
    assert mock.operation(operation, **parts).refusal
    [entry] = control.get("/journal")["entries"]
    assert f"{name!r}: {meant}" in "; ".join(entry["nearest"]["changed"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/getBridgeQuote?amount=ten&symbol=USDT", None),
        ("GET", "/v1/getBridgeQuote?amount=1e999999999&symbol=USDT", None),
        ("GET", "/v1/getBridgeQuote?amount=NaN&symbol=USDT", None),
        ("GET", f"/v1/getBridgeQuote?{QUOTE}&colour=red", None),
        ("GET", "/v1/getBridgeQuot", None),
        ("DELETE", "/v1/getChain", None),
        ("GET", "/v1/checkTicket?ticketId=abc", None),
        ("POST", "/v1/submitOrder", {"channel": 5}),
        ("POST", "/v1/submitOrder", [1]),
        ("POST", "/open/v1/order/getCrossChainQuote", {"amount": 10, "token": "USDT"}),
        ("GET", "/open/v1/order/getOrderDetailByHashAndEvmAddress?chain=BSC", None),
    ],
)
def test_the_nearest_form_keeps_the_contract(control, line, method, path, body):
    assert line.send(method, path, body).refusal
    [entry] = control.get("/journal")["entries"]
    near = entry["nearest"]
    assert near["changed"]
    operation = load().operation(near["operation"])
    assert (operation.method, operation.path) == (near["method"], near["path"])
    query = "&".join(f"{name}={value}" for name, value in near["query"].items())
    raw = b"" if near["body"] is None else encode(near["body"])
    headers = Headers(tuple(near["headers"].items()))
    reading = operation.read(Request(near["method"], near["path"], query, headers, raw))
    assert not reading.violations
    assert not reading.refusal


@pytest.mark.parametrize("operation", ["v2.getBalance", "v2.getPrice", "v2.getAggregateQuote"])
def test_the_nearest_form_stays_on_the_chain_that_was_named(control, mock, operation):
    example = load().operation(operation).row["example"]["query"]
    address, chain = next(
        pair
        for pair in (("contractAddress", "chain"), ("fromTokenAddress", "fromChain"))
        if pair[0] in example
    )
    for listed in mock.get("/v1/getChain").data["list"]:
        sent = {**example, chain: listed["nickName"], address: "nothing"}
        assert mock.operation(operation, query=sent).refusal
        near = control.get("/journal")["entries"][-1]["nearest"]
        assert near["query"][chain] == listed["nickName"]
        refusal = mock.operation(operation, query=near["query"]).refusal
        # A chain may be suspended or have no price, which no other form would change.
        wrong = ("unknown-token", "wrong-decimals", "token-not-on-chain")
        assert not refusal.startswith(wrong), refusal


def test_no_example_is_nearer_than_what_only_the_world_knows(control, line):
    line.get("/v1/checkOrder?id=30000000099")
    [entry] = control.get("/journal")["entries"]
    assert entry["refusal"].startswith("unknown-order")
    assert entry["nearest"] is None


def test_an_answered_request_has_no_nearest_form(control, line):
    line.get(QUOTE_PATH)
    [entry] = control.get("/journal")["entries"]
    assert entry["nearest"] is None


def test_it_can_be_forgotten(busy):
    assert busy.delete("/journal") == {"last": 4}
    assert busy.get("/journal") == {"last": 4, "next": 4, "dropped": 4, "entries": []}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?since=-1", "'since'"),
        ("?since=many", "'since'"),
        ("?limit=0", "'limit'"),
        ("?refused=perhaps", "'refused'"),
        ("?operation=v2.getBridgeQuot", "did you mean 'v2.getBridgeQuote'"),
        ("?colour=red", "'colour': unknown name"),
        ("?since=1&since=2", "more than once"),
        ("?from=noon", "'from'"),
        ("?path=%ff", "UTF-8"),
    ],
)
def test_a_wrong_search_is_a_sentence(control, query, words):
    assert words in control.refused("GET", f"/journal{query}")


# Verification


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ({**QUOTED, "exactly": 3}, True),
        ({**QUOTED, "exactly": 2}, False),
        ({**QUOTED, "exactly": 2, "refused": False}, True),
        ({**QUOTED, "exactly": 1, "refused": True}, True),
        ({**QUOTED, "atLeast": 3}, True),
        ({**QUOTED, "atLeast": 4}, False),
        ({**QUOTED, "atMost": 3}, True),
        ({**QUOTED, "atMost": 2}, False),
        ({**QUOTED, "atLeast": 2, "atMost": 4}, True),
        ({"operation": "v2.submitTicket", "never": True}, True),
        ({"operation": "v2.submitOrder", "never": True}, False),
        ({"operation": "v2.submitOrder", "exactly": 0}, False),
        ({"match": {"query": {"amount": 20000000}}, "exactly": 1}, True),
        ({"match": {"body": {"toChain": "BNB"}}, "exactly": 1}, True),
        ({"match": {"body": {"toChain": "ETH"}}, "exactly": 0}, True),
        ({"match": {"headers": {"signature": "ab" * 65}}, "exactly": 1}, True),
        ({"within": "10s"}, True),
        ({"within": "9s"}, False),
        ({**QUOTED, "within": "0s"}, True),
        ({"from": "2026-01-01T00:00:05Z", "until": "2026-01-01T00:01:00Z", "exactly": 1}, True),
        ({"order": ["v2.getBridgeQuote", "v2.submitOrder"]}, True),
        ({"order": ["v2.getBridgeQuote", "v2.getBridgeQuote", "submitOrder"]}, True),
        ({"order": ["v2.submitOrder", "v2.getBridgeQuote"]}, False),
        ({"order": ["v2.getChain", "v2.submitOrder"]}, False),
        ({**QUOTED, "since": 1, "exactly": 2}, True),
    ],
)
def test_it_tells_whether_what_is_wanted_holds(busy, wanted, held):
    told = busy.post("/verify", wanted)
    assert told["held"] is held, told


def test_it_says_what_was_expected_beside_what_came(busy):
    told = busy.post("/verify", {**QUOTED, "match": {"query": {"amount": "7"}}, "exactly": 1})
    assert told["told"] == "v2.getBridgeQuote: expected once, came never"
    assert told["nearest"][0] == "request 1: query parameter 'amount': expected '7', got '10000000'"
    told = busy.post("/verify", {"order": ["v2.submitOrder", "v2.getBridgeQuote"]})
    assert "v2.getBridgeQuote did not come after v2.submitOrder" in told["told"]
    assert busy.post("/verify", {**QUOTED, "exactly": 3})["sequences"] == [1, 2, 3]


def test_it_says_when_older_requests_are_gone(busy):
    busy.delete("/journal")
    told = busy.post("/verify", {**QUOTED, "exactly": 3})
    assert (told["held"], told["dropped"]) == (False, 4)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "say what is wanted"),
        (QUOTED, "say what is wanted"),
        ({**QUOTED, "exactly": 1, "atLeast": 1}, "do not go together"),
        ({**QUOTED, "never": False}, "only true has a meaning"),
        ({**QUOTED, "exactly": -1}, "'exactly'"),
        ({"operation": "nothing", "never": True}, "'nothing'"),
        ({"order": ["v2.getChain"]}, "'order'"),
        ({"within": "soon"}, "a duration"),
        ({"match": {"form": {}}, "exactly": 1}, "'match.form'"),
    ],
)
def test_a_wrong_verification_is_a_sentence(control, body, words):
    control.get("/clock")
    assert words in control.refused("POST", "/verify", body)


# Stubs


def stub(**changes):
    """Return a stub of a bridge quote."""
    data = {
        "price": "1",
        "outAmount": "42",
        "outAmountUsd": "42",
        "serviceFee": "0",
        "gasFee": "0",
        "serviceFeeRate": "6",
    }
    return {"operation": "v2.getBridgeQuote", "response": {"data": data}, **changes}


def test_a_stub_answers_first_in_the_envelope(control, line):
    control.post("/stubs", stub())
    answer = line.get(QUOTE_PATH)
    assert answer.data["outAmount"] == "42"
    [entry] = control.get("/journal")["entries"]
    assert entry["responder"] == "stub"


def test_a_stub_answers_what_it_matches_as_often_as_it_says(control, line):
    control.post("/stubs", stub(match={"query": {"toChain": "BNB"}}, times=2))
    amounts = [line.get(QUOTE_PATH).data["outAmount"] for _ in range(3)]
    assert amounts[:2] == ["42", "42"] != amounts[1:]
    control.post("/stubs", stub(match={"query": {"toChain": "ETH"}}))
    assert line.get(QUOTE_PATH).data["outAmount"] != "42"


def test_the_newest_stub_that_fits_answers(control, line):
    control.post("/stubs", stub())
    control.post(
        "/stubs", stub(response={"refusal": "chain-suspended", "reason": "tonight"}, times=1)
    )
    assert line.get(QUOTE_PATH).refusal == "chain-suspended: tonight"
    assert line.get(QUOTE_PATH).data["outAmount"] == "42"


def test_a_stub_gives_any_answer_whole(control, line):
    whole = {"status": 418, "body": {"short": "stout"}, "headers": {"X-Tea": "pot"}}
    control.post("/stubs", stub(response=whole, times=1))
    answer = line.get(QUOTE_PATH)
    assert (answer.status, answer.headers["x-tea"], answer.json) == (418, "pot", {"short": "stout"})
    control.post("/stubs", stub(response={"status": 200, "body": "<p>"}))
    answer = line.get(QUOTE_PATH)
    assert (answer.raw, answer.headers["content-type"]) == (b"<p>", "text/plain; charset=utf-8")


def test_a_body_is_matched_in_parts(control, line):
    control.post(
        "/stubs",
        {
            "operation": "v2.submitOrder",
            "match": {"body": {"toChain": "BNB"}},
            "response": {"data": {"id": "9"}},
        },
    )
    assert line.submit().data == {"id": "9"}
    assert control.get("/orders")["orders"] == []
    assert line.submit(toChain="ETH").data["id"] != "9"


def test_data_that_breaks_the_contract_is_said_at_once_unless_it_is_meant(control, line):
    broken = stub(response={"data": {"outAmount": 42}})
    told = control.refused("POST", "/stubs", broken)
    assert "breaks the contract of v2.getBridgeQuote" in told
    assert control.get("/stubs") == {"stubs": []}
    control.post("/stubs", {**broken, "unchecked": True})
    assert line.get(QUOTE_PATH).json["data"] == {"outAmount": 42}


def test_a_fault_disturbs_the_answer_of_a_stub_too(control, line):
    control.post("/stubs", stub())
    control.post("/faults", {"kind": "latency", "delay": "1s"})
    answer = line.get(QUOTE_PATH)
    assert (answer.data["outAmount"], answer.headers["x-mock-virtual-elapsed"]) == ("42", "1000")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "'operation': missing"),
        ({"operation": "v2.getChain"}, "'response': missing"),
        ({"operation": "v2.getChains", "response": {"status": 200}}, "'v2.getChain'"),
        ({"operation": "v2.getChain", "response": {}}, "at least 1"),
        ({"operation": "v2.getChain", "response": {"status": 200, "data": {}}}, "give one of"),
        ({"operation": "v2.getChain", "response": {"refusal": "no-such"}}, "is no refusal"),
        ({"operation": "v2.getChain", "response": {"status": 200, "reason": "x"}}, "takes no"),
        ({"operation": "v2.getChain", "response": {"status": 99}}, "from 200 to 599"),
        (
            {"operation": "v2.getChain", "response": {"status": 200, "headers": {"a b": "c"}}},
            "the name of a header",
        ),
        (
            {
                "operation": "v2.getChain",
                "response": {"status": 200, "headers": {"a": "b\r\nc: d"}},
            },
            "printable ASCII",
        ),
        ({"operation": "v2.getChain", "response": {"status": 200}, "times": 0}, "'times'"),
    ],
)
def test_a_wrong_stub_is_a_sentence_and_sets_nothing(control, body, words):
    assert words in control.refused("POST", "/stubs", body)
    assert control.get("/stubs") == {"stubs": []}


def test_stubs_are_removed_one_by_one_and_all(control):
    control.post("/stubs", stub(id="a"))
    control.post("/stubs", stub())
    assert "another stub" in control.refused("POST", "/stubs", stub(id="a"))
    assert control.delete("/stubs/a")["used"] == 0
    assert control.delete("/stubs") == {"removed": 1}
    assert "does not exist" in control.refused("DELETE", "/stubs/a")


# The end of a test


def test_a_quiet_world_has_nothing_to_complain_of(control, line):
    control.post("/stubs", stub())
    line.get(QUOTE_PATH)
    told = control.get("/check")
    stubbed = "1 answer by stubs, of which the world knows nothing"
    assert stubbed in told.pop("ground")["holes"]
    assert told == {
        "ok": True,
        "told": [],
        "unusedStubs": [],
        "unmet": [],
        "failures": [],
        "unexpectedRefusals": [],
    }


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/outages", {"chain": "BNB"}, "outage of chain BNB met no request"),
        ("/prices", {"token": "ETH", "percent": -40}, "price of ETH met no request"),
        ("/breaks", {"breaks": ["allowed-list-order"]}, "breaks allowed-list-order met no request"),
        ("/faults", {"kind": "http-status", "status": 503}, "never struck"),
        ("/at", {"operation": "getChain", "clock": "1h"}, "did nothing: none came"),
        ("/expect", {"refusal": "unknown-order"}, "expected 'unknown-order', it did not come"),
        ("/expect", {"operation": "checkOrder"}, "expected a refusal of v2.checkOrder, it did not"),
    ],
)
def test_what_was_set_and_met_no_request_is_told(control, line, path, body, words):
    line.get("/v1/getChain")
    control.send("PUT" if path == "/breaks" else "POST", path, body)
    [sentence] = control.get("/check")["unmet"]
    assert words in sentence
    assert not control.get("/check")["ok"]
    assert control.get("/check?unused=allow")["ok"]
    line.get("/v1/checkOrder?id=7" if path == "/expect" else "/v1/getChain")
    assert control.get("/check")["unmet"] == []


def test_breaks_that_were_taken_away_are_not_told(control, line):
    control.send("PUT", "/breaks", {"breaks": ["allowed-list-order"]})
    control.send("PUT", "/breaks", {"breaks": []})
    line.get(QUOTE_PATH)
    assert control.get("/check")["ok"]


def test_unused_stubs_are_told(control, line):
    control.post("/stubs", stub(id="idle", match={"query": {"toChain": "ETH"}}))
    control.post("/stubs", stub(id="half", times=2))
    line.get(QUOTE_PATH)
    told = control.get("/check")
    assert [(one["id"], one["used"]) for one in told["unusedStubs"]] == [("idle", 0), ("half", 1)]
    assert not told["ok"]


def test_refusals_are_told_unless_they_are_expected_or_put_in(control, line):
    control.post("/stubs", stub(response={"refusal": "no-price"}, times=1))
    control.post("/faults", {"kind": "refusal", "code": 1, "every": 2})
    line.get(QUOTE_PATH)
    line.get(QUOTE_PATH)
    assert control.get("/check")["ok"]
    control.delete("/faults")
    line.get("/v1/checkOrder?id=7")
    [refusal] = control.get("/check")["unexpectedRefusals"]
    assert refusal["refusal"].startswith("unknown-order")
    control.post("/expect", {"refusal": "unknown-order", "operation": "v2.checkTicket"})
    assert control.get("/check")["unexpectedRefusals"]
    control.post("/expect", {"refusal": "unknown-order"})
    assert control.get("/check?unused=allow")["ok"]
    assert control.get("/check")["unmet"] == [
        "expected 'unknown-order' of v2.checkTicket, it did not come"
    ]


def test_a_test_in_any_language_is_told_the_sentences_of_pytest(control, line):
    control.post("/stubs", stub(id="idle", match={"query": {"toChain": "ETH"}}))
    line.get("/v1/checkOrder?id=7")
    line.get("/v1/checkOrder?id=7")
    control.post("/outages", {"chain": "BNB"})
    control.post("/claims", {"expects": [{"amount": "10 USDT", "to": "BNB"}]})
    refused, idle, unmet = control.get("/check")["told"]
    assert refused.startswith("unexpected refusal: unknown-order: ")
    assert "\n  and of request 2\n" in refused
    assert idle.startswith("stub 'idle' was not used up: ")
    assert "outage of chain BNB met no request" in unmet
    *sentences, audited = control.get("/check?unused=allow&audit=true")["told"]
    assert sentences == [refused]
    assert audited.startswith("audit: 10 USDT for BNB: expected")


@pytest.mark.parametrize("kind", ["latency", "mutation", "wrong-content-type", "false-success"])
def test_a_refusal_that_a_fault_only_disturbs_is_told(control, line, kind):
    delay = {"delay": "5s"} if kind == "latency" else {}
    control.post("/faults", {"kind": kind, "operation": "checkOrder", **delay})
    line.get("/v1/checkOrder?id=7")
    [refusal] = control.get("/check")["unexpectedRefusals"]
    assert (refusal["fault"], refusal["refusal"][:13]) == (f"{kind} (1)", "unknown-order")


def test_the_refusals_of_a_quota_are_expected(control, line):
    quota = {"kind": "quota", "limit": 0, "window": "1m", "refusal": "no-price"}
    control.post("/faults", {"kind": "latency", "delay": "1s", "operation": "getBridgeQuote"})
    control.post("/faults", {**quota, "operation": "getBridgeQuote"})
    line.get(QUOTE_PATH)
    [entry] = control.get("/journal?refused=true")["entries"]
    assert (entry["fault"], control.get("/check")["ok"]) == ("latency (1), quota (2)", True)


def test_a_wrong_expectation_is_a_sentence(control):
    assert "'unknown-order'" in control.refused("POST", "/expect", {"refusal": "unknown-orders"})
    assert "'nothing'" in control.refused("POST", "/expect", {"operation": "nothing"})


@pytest.mark.parametrize(
    "note",
    [
        json.dumps({"password": "ryAadz5bNsCPP7"}).encode().hex(),
        "ghp_ArbkUQ6AykzMDwzfDF5Q3zHLjvV76isBJ9ZH",
        base64.b64encode(gzip.compress(b'{"pwd": "ryAadz5bNsCPP7"}', mtime=0)).decode(),
    ],
)
def test_a_secret_that_only_its_form_tells_of_is_shown_of_no_other_request(mock, note):
    secret = note if note.startswith("ghp_") else "ryAadz5bNsCPP7"
    mock.call("GET", f"/v1/checkOrder?id={secret}")
    mock.post("/v1/submitTicket", {"note": note})
    mock.call("GET", f"/v1/checkOrder?id={secret}")
    for path in ("/journal", "/journal/1", "/check?audit=true", "/recording", "/lint"):
        assert secret not in str(mock.control("GET", path)), path


def test_a_defect_of_the_server_is_told_in_its_own_world(serve):
    running = serve()
    client = running.client
    client.prefix = "/w/mine"
    hosted = running.service.worlds.get("mine")
    hosted.failures = ("v2.getChain: RuntimeError: broken",)
    verdict = client.control("GET", "/check")
    assert verdict["failures"] == ["v2.getChain: RuntimeError: broken"]
    # Also where the journal has lost the request.
    assert verdict["told"][0].endswith("no longer has:\n  v2.getChain: RuntimeError: broken")
    client.prefix = "/w/other"
    client.get("/v1/getChain")
    assert client.control("GET", "/check")["ok"]
