"""What the control API does to a world while the server runs."""

import pytest

from tests.conftest import order

QUOTE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}


def quoted(mock):
    """Return whether a transfer to BNB is quoted now."""
    return mock.get("/v1/getBridgeQuote", query=QUOTE).json["code"] == 0


def listed(mock):
    """Return the version of the list of chains and the nicknames on it."""
    data = mock.get("/v1/getChain").data
    return data["version"], {chain["nickName"] for chain in data["list"]}


def test_it_is_ready_live_and_knows_its_version(mock):
    assert mock.control("GET", "/ready") == {"ready": True}
    assert mock.control("GET", "/live") == {"live": True}
    told = mock.control("GET", "/version")
    assert (told["dialect"], told["scenario"]) == ("documented", "default")


def test_listed_dead_refuses_while_the_list_stays(mock):
    before = listed(mock)
    mock.control("POST", "/outages", {"chain": "BNB", "mode": "listed-dead"})
    assert not quoted(mock)
    assert listed(mock) == before
    mock.control("DELETE", "/outages?chain=BNB")
    assert quoted(mock)


def test_delisted_takes_the_chain_off_the_list_and_raises_its_version(mock):
    version, names = listed(mock)
    mock.control("POST", "/outages", {"chain": "BNB", "mode": "delisted"})
    assert listed(mock) == (version + 1, names - {"BNB"})
    assert not quoted(mock)
    mock.control("DELETE", "/outages?chain=BNB")
    assert listed(mock) == (version + 2, names)


def test_accept_stall_takes_orders_that_make_no_progress_until_the_end(mock):
    mock.control("POST", "/outages", {"chain": "BNB", "mode": "accept-stall"})
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    mock.control("POST", "/clock", {"advance": "9h"})
    assert _status(mock, order_id) == "Unknown"
    mock.control("DELETE", "/outages?chain=BNB")
    mock.control("POST", "/clock", {"advance": "15s"})
    assert _status(mock, order_id) == "Succeeded"


@pytest.mark.parametrize(
    ("direction", "to_bnb", "from_bnb"),
    [("source", True, False), ("target", False, True), ("both", False, False)],
)
def test_an_outage_has_a_direction(mock, direction, to_bnb, from_bnb):
    mock.control("POST", "/outages", {"chain": "BNB", "direction": direction})
    back = {**QUOTE, "amount": str(10**19), "fromChain": "BNB", "toChain": "ARB"}
    assert quoted(mock) is to_bnb
    assert (mock.get("/v1/getBridgeQuote", query=back).json["code"] == 0) is from_bnb


def test_a_planned_outage_begins_and_ends_on_the_clock(mock):
    plan = {"chain": "BNB", "from": "2026-01-01T01:00:00Z", "for": "30m"}
    mock.control("POST", "/outages", plan)
    seen = []
    for _ in range(4):
        seen.append(quoted(mock))
        mock.control("POST", "/clock", {"advance": "30m"})
    assert seen == [True, True, False, True]


def test_both_generations_see_an_outage(mock):
    mock.control("POST", "/outages", {"chain": "BNB", "mode": "disabled"})
    chains = mock.get("/open/v1/base/getSupportChains").data["chains"]
    assert next(chain for chain in chains if chain["name"] == "BSC")["isActive"] is False
    chains = mock.get("/v1/getChain").data["list"]
    assert next(chain for chain in chains if chain["nickName"] == "BNB")["disabled"] is True


def test_the_journal_has_what_came_and_why_it_was_refused(mock):
    mock.get("/v1/checkOrder", query={"id": "7"})
    entries = mock.control("GET", "/journal")["entries"]
    [entry] = [entry for entry in entries if entry["operation"] == "v2.checkOrder"]
    assert entry["request"]["query"] == [["id", "7"]]
    assert entry["refusal"].startswith("unknown-order")
    assert entry["response"]["body"]["code"] == 3


def test_the_journal_is_bounded_and_counts_what_it_drops(mock):
    for _ in range(1005):
        mock.get("/v1/checkTicket", query={"ticketId": "1"})
    told = mock.control("GET", "/journal")
    assert len(told["entries"]) == 1000
    assert told["dropped"] == told["last"] - 1000
    assert told["dropped"] >= 5


def test_reset_begins_anew(mock):
    mock.post("/v1/submitOrder", order(), headers=mock.wallet)
    mock.control("POST", "/clock", {"advance": "1h"})
    mock.control("POST", "/reset")
    assert mock.control("GET", "/clock")["now"] == "2026-01-01T00:00:00Z"
    assert mock.get("/v1/checkOrder", query={"id": "30000000001"}).refusal


def test_a_browser_may_call_the_api_with_its_headers(mock):
    answer = mock.call(
        "OPTIONS",
        "/open/v1/order/submitCrossChain",
        headers={"Origin": "https://wallet.example", "Access-Control-Request-Method": "POST"},
    )
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "https://wallet.example"
    allowed = answer.headers["access-control-allow-headers"].lower().split(", ")
    assert {"appkey", "signature", "evmaddress", "content-type", "chain"} <= set(allowed)
    simple = mock.get("/v1/getChain", headers={"Origin": "https://wallet.example"})
    assert simple.headers["access-control-allow-origin"] == "https://wallet.example"
    assert "X-Mock-Refusal" in simple.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/clock", {"advance": "-5s"}, "duration"),
        ("POST", "/clock", {"set": "2020-01-01T00:00:00Z"}, "only moves forward"),
        ("POST", "/clock", {"jump": "1s"}, "'jump'"),
        ("POST", "/clock", {"mode": "warp"}, "'mode'"),
        ("POST", "/clock", b"nope", "JSON"),
        ("POST", "/outages", {"chain": "MOON"}, "'MOON'"),
        ("POST", "/outages", {"chain": "BNB", "mode": "gone"}, "'mode'"),
        ("POST", "/outages", {}, "chain"),
        (
            "POST",
            "/outages",
            {"chain": "BNB", "from": "2026-01-02T00:00:00Z", "until": "2026-01-01T12:00:00Z"},
            "until",
        ),
        ("DELETE", "/outages?chain=BNB", None, "not suspended"),
    ],
)
def test_a_wrong_control_request_is_a_sentence_and_changes_nothing(mock, method, path, body, words):
    before = mock.control("GET", "/clock"), mock.control("GET", "/outages")
    answer = mock.call(method, f"/__mock{path}", body=body)
    assert answer.status == 400
    assert words in str(answer.json)
    assert (mock.control("GET", "/clock"), mock.control("GET", "/outages")) == before


def test_an_unknown_control_path_lists_what_there_is(mock):
    answer = mock.get("/__mock/clocks")
    assert answer.status == 404
    assert "/__mock/clock" in str(answer.json)


def _status(mock, order_id):
    return mock.get("/v1/checkOrder", query={"id": order_id}).data["status"]
