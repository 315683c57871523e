"""Recorded answers served: found by what matters, at their pace, below the world's outages."""

import json
import urllib.request
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest

from mockserver import resources
from mockserver.clock import ClockMode
from mockserver.contract import load
from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange, Recording, gather, shipped_names, text_of
from mockserver.responders.replay import ReplayMode
from mockserver.testing import running
from mockserver.testing.settings import BadSetting, MockSettings
from mockserver.times_and_durations import iso
from tests.conftest import (
    HASH,
    START_MS,
    certificate,
    order,
    v1_submission,
    without_epoch,
)

RECORDED_MS = START_MS - 30 * 86_400_000
ID = "77000000123"
TAKEN = ("Evmaddress", "Signature")
LOOSE = ReplayMode(strict=False, counted=False)
PACED = ReplayMode(counted=False)


@pytest.fixture
def serve(serve):
    """Serve recordings at their own pace, unless a test says otherwise."""
    return lambda **changes: serve(**{"replay_mode": PACED, **changes})


def exchange(operation, method, path, *, query="", body=None, data=None, raw=None, at_s=0, **more):
    """An exchange that was captured so many seconds after the first one."""
    told = raw if raw is not None else json.dumps({"code": 0, "msg": "success", "data": data})
    return RecordedExchange(
        name=more.pop("name", f"{operation.rpartition('.')[2].lower()}-{at_s}"),
        operation=operation,
        request=Request(
            method,
            path,
            urlencode(query) if query else "",
            Headers(),
            b"" if body is None else json.dumps(body).encode(),
        ),
        response=Response(more.pop("status", 200), more.pop("headers", ()), told.encode()),
        origin="captured",
        time_ms=RECORDED_MS + at_s * 1000,
        **more,
    )


def quote(amount, out, at_s=0, **more):
    query = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    data = {
        "price": "0.97",
        "outAmount": out,
        "outAmountUsd": "9.7",
        "serviceFee": "1",
        "gasFee": "2",
        "serviceFeeRate": "6",
    }
    path = "/v1/getBridgeQuote"
    return exchange("v2.getBridgeQuote", "GET", path, query=query, data=data, at_s=at_s, **more)


def submitted(at_s=10, **changes):
    body = order(**changes)
    return exchange(
        "v2.submitOrder",
        "POST",
        "/v1/submitOrder",
        body=body,
        data={"id": ID},
        at_s=at_s,
        removed=TAKEN,
    )


def polled(status, at_s):
    data = {
        "status": status,
        "amountOut": "",
        "execHash": "",
        "reason": "",
        "timestamp": 1767225601,
    }
    return exchange(
        "v2.checkOrder", "GET", "/v1/checkOrder", query={"id": ID}, data=data, at_s=at_s
    )


FLOW = (
    quote("10000000", "9700000000000000000"),
    submitted(),
    polled("Pending", 12),
    polled("Pending", 14),
    polled("Verified", 20),
    polled("Succeeded", 40),
)


@pytest.fixture
def folder(tmp_path):
    """Write captured exchanges as a folder, each operation in a file of its own as recorders do."""

    def write(*exchanges, dialect=None):
        for operation in {one.operation for one in exchanges}:
            mine = tuple(one for one in exchanges if one.operation == operation)
            recording = Recording(
                "captured", "captured", mine, source="https://service.example", dialect=dialect
            )
            (tmp_path / f"{operation}.yaml").write_text(text_of(recording), "utf-8")
        return tmp_path

    return write


def status(client, **options):
    return client.get("/v1/checkOrder", query={"id": ID}, **options).data["status"]


def submit(client, **changes):
    return client.post("/v1/submitOrder", order(**changes), headers=client.wallet)


def ask(client, amount="10000000"):
    query = {"amount": amount, "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    return client.get("/v1/getBridgeQuote", query=query)


def advance(client, by):
    client.control("POST", "/clock", {"advance": by})


def test_a_polled_order_moves_on_at_the_recorded_pace_on_the_clock_of_the_world(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    assert submit(client).data["id"] == ID
    assert [status(client) for _ in range(5)] == ["Pending"] * 5
    advance(client, "9s")
    assert status(client) == "Pending"
    advance(client, "1s")
    assert status(client) == "Verified"
    advance(client, "20s")
    assert status(client) == "Succeeded"


def test_without_its_submission_an_order_counts_from_the_first_look(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    advance(client, "1h")
    assert status(client) == "Pending"
    advance(client, "8s")
    assert status(client) == "Verified"


def test_a_clock_that_jumps_to_the_next_event_jumps_to_the_next_answer(serve, folder):
    client = serve(replay=(folder(*FLOW),), clock=ClockMode.AUTO).client
    submit(client)
    seen = [status(client) for _ in range(5)]
    assert seen == ["Pending", "Pending", "Verified", "Succeeded", "Succeeded"]


def test_counted_each_request_moves_on(serve, folder):
    client = serve(replay=(folder(*FLOW),), replay_mode=ReplayMode(counted=True)).client
    seen = [status(client) for _ in range(5)]
    assert seen == ["Pending", "Pending", "Verified", "Succeeded", "Succeeded"]


def test_a_snapshot_keeps_how_far_a_sequence_was_played(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    submit(client)
    name = client.control("POST", "/snapshots", {})["name"]
    advance(client, "1m")
    assert status(client) == "Succeeded"
    client.control("POST", "/revert", {"name": name})
    assert status(client) == "Pending"


def test_another_deposit_of_the_client_stands_for_the_recorded_one(serve, folder):
    detail = exchange(
        "v2.submitTicket", "POST", "/v1/submitTicket",
        body={"hash": HASH, "chain": "ARB"}, data={"ticketId": 9}, at_s=60, removed=TAKEN,
    )  # fmt: skip
    client = serve(replay=(folder(*FLOW, detail),)).client
    mine = "0x" + "7" * 64
    assert submit(client, sourceCerts=certificate(certHash=mine)).data["id"] == ID
    body = {"hash": mine, "chain": "ARB"}
    assert client.post("/v1/submitTicket", body, headers=client.wallet).data["ticketId"] == 9
    other = {"hash": "0x" + "8" * 64, "chain": "ARB"}
    answer = client.post("/v1/submitTicket", other, headers=client.wallet)
    assert "body field 'hash'" in answer.refusal


def test_two_deposits_of_the_client_stand_for_two_recorded_ones(serve, folder):
    hashes = [f"0x{digit * 64}" for digit in "123456"]
    recorded = [
        replace(sent, name=f"n{at_s}", response=Response(200, (), json.dumps(told).encode()))
        for at_s, number in ((10, 0), (11, 0), (12, 1), (13, 2))
        for sent in [submitted(at_s, sourceCerts=certificate(certHash=hashes[number]))]
        for told in [{"code": 0, "msg": "success", "data": {"id": f"{ID}{number}"}}]
    ]
    client = serve(replay=(folder(*recorded),)).client

    def sent(*numbers):
        orders = (submit(client, sourceCerts=certificate(certHash=hashes[one])) for one in numbers)
        return [order.data["id"].removeprefix(ID) for order in orders]

    # The client sends none twice, or another one, and none of them is skipped or given twice.
    dump = client.control("GET", "/dump")
    assert sent(3, 4, 5, 3, 4, 5) == ["0", "1", "2", "0", "1", "2"]
    client.control("POST", "/load", dump)
    assert sent(3, 3, 3, 4, 4, 5) == ["0", "0", "0", "1", "1", "2"]
    client.control("POST", "/load", dump)
    assert sent(1, 3, 0, 4) == ["1", "0", "0", "2"]


def test_masked_secrets_are_not_compared_under_rules_of_ones_own(serve, folder, tmp_path_factory):
    kept = submitted(sourceCerts=certificate(signature="redacted"))
    kept = replace(kept, removed=(*TAKEN, "signature"))
    rules = tmp_path_factory.mktemp("mine") / "matching.yaml"
    rules.write_text("format: crosschain-mock/matching@1\ntitle: none\n")
    client = serve(replay=(folder(kept),), matching=rules).client
    assert submit(client, sourceCerts=certificate(signature="0x1234")).data["id"] == ID
    other = certificate(signature="0x1234", certHash="0x" + "7" * 64)
    assert submit(client, sourceCerts=other).refusal.startswith("not-recorded: ")


def test_a_choice_of_another_form_is_no_choice(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    answer = submit(client, sourceCerts=certificate(certHash="0x12"))
    assert answer.refusal.startswith("not-recorded: ")


def test_a_near_amount_gets_the_recorded_answer_which_says_for_which(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    near = ask(client, "10050000")
    assert near.data["outAmount"] == "9700000000000000000"
    assert near.headers["x-mock-source"] == (
        "v2.getBridgeQuote.yaml#getbridgequote-0; near amount=10000000"
    )
    assert "query parameter 'amount'" in ask(client, "10200000").refusal


def test_an_amount_that_is_too_long_is_near_to_none(serve, folder):
    client = serve(replay=(folder(quote("1" * 101, "97")),)).client
    assert ask(client, "1" * 101).data["outAmount"] == "97"
    assert "query parameter 'amount'" in ask(client, "1" * 102).refusal


def test_with_the_simulation_behind_a_near_amount_is_computed(serve, folder):
    client = serve(replay=(folder(*FLOW),), replay_mode=LOOSE).client
    assert "x-mock-source" in ask(client).headers
    assert "x-mock-source" not in ask(client, "10050000").headers


def test_rules_of_matching_are_data(serve, folder, tmp_path_factory):
    mine = tmp_path_factory.mktemp("mine") / "matching.yaml"
    mine.write_text(
        "format: crosschain-mock/matching@1\n"
        "operations: {v2.getBridgeQuote: {ignored: [query.toChain], near: {query.amount: 50}}}\n"
    )
    client = serve(replay=(folder(*FLOW),), matching=mine).client
    query = {"amount": "12000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "ETH"}
    assert client.get("/v1/getBridgeQuote", query=query).data["price"] == "0.97"


def test_an_outage_stands_above_recorded_quotes_and_submissions(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    assert ask(client).data
    client.control("POST", "/outages", {"chain": "BNB", "mode": "quote-only"})
    assert ask(client).data
    assert submit(client).refusal.startswith("chain-suspended: ")
    client.control("DELETE", "/outages", {"chain": "BNB"})
    client.control("POST", "/outages", {"chain": "ARB"})
    assert ask(client).refusal.startswith("chain-suspended: ")


def test_an_outage_holds_up_a_recorded_order(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    submit(client)
    client.control("POST", "/outages", {"chain": "BNB"})
    advance(client, "10m")
    assert status(client) == "Pending"
    client.control("DELETE", "/outages", {"chain": "BNB"})
    advance(client, "10s")
    assert status(client) == "Verified"


@pytest.mark.parametrize(
    ("in_flight", "words"),
    [("fail", ["Failed", "Failed"]), ("refund", ["Refunding", "Refunded"])],
)
def test_an_outage_fails_or_refunds_a_recorded_order(serve, folder, in_flight, words):
    client = serve(replay=(folder(*FLOW),)).client
    submit(client)
    assert status(client) == "Pending"
    client.control("POST", "/outages", {"chain": "BNB", "inFlight": in_flight})
    struck = client.get("/v1/checkOrder", query={"id": ID}).data
    assert (struck["status"], struck["amountOut"]) == (words[0], "0")
    assert struck["reason"].startswith("chain BNB suspended at ")
    client.control("DELETE", "/outages", {"chain": "BNB"})
    advance(client, "10m")
    assert status(client) == words[1]


def test_an_outage_does_not_touch_a_recorded_order_that_has_ended(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    submit(client)
    advance(client, "1m")
    client.control("POST", "/outages", {"chain": "BNB", "inFlight": "fail"})
    assert status(client) == "Succeeded"


def test_a_clock_that_jumps_comes_to_what_an_outage_does(serve, folder):
    client = serve(replay=(folder(*FLOW),), clock=ClockMode.AUTO).client
    submit(client)
    coming = {"chain": "BNB", "inFlight": "refund", "from": iso(START_MS + 15_000), "for": "1h"}
    client.control("POST", "/outages", coming)
    seen = [status(client) for _ in range(6)]
    assert seen == ["Pending", "Pending", "Verified", "Refunding", "Refunded", "Refunded"]


def test_a_v1_order_is_given_back_as_v1_tells_it(serve, folder):
    [source] = gather(["v1/getOrderDetailByHashAndEvmAddress"])
    named = {one.name: one for one in source.recording.exchanges}
    flow = [
        replace(named[name], time_ms=RECORDED_MS + at_s * 1000)
        for name, at_s in (("submit", 0), ("ongoing", 5), ("completed", 15))
    ]
    client = serve(replay=(folder(*flow),)).client

    def ask(one):
        asked = one.request
        method, path = asked.method, asked.path
        headers = dict(asked.headers.items_sent)
        if method == "POST":
            return client.post(path, json.loads(asked.body), headers=headers).data
        query = dict(parse_qsl(asked.query))
        return client.get(path, query=query, headers=headers).data["order"]

    assert ask(flow[0])["sn"].startswith("CC1")
    client.control("POST", "/outages", {"chain": "BNB", "inFlight": "refund"})
    order = ask(flow[1])
    assert (order["status"], order["toAmount"], order["backAmount"]) == (1, "0", "0")
    advance(client, "1m")
    order = ask(flow[1])
    assert (order["status"], order["toAmount"], order["backAmount"]) == (3, "0", "10")
    assert (order["backChain"], order["backAddress"]) == (order["fromChain"], order["fromAddress"])


def test_a_dump_keeps_how_far_recordings_were_played(serve, folder):
    kept = folder(*FLOW)
    first, second = (serve(replay=(kept,)).client for _ in range(2))
    mine = "0x" + "7" * 64
    submit(first, sourceCerts=certificate(certHash=mine))
    advance(first, "9s")
    assert status(first) == "Pending"
    dump = first.control("GET", "/dump")
    assert dump["played"]["choices"] == {mine: HASH}
    second.control("POST", "/load", dump)
    assert without_epoch(second.control("GET", "/dump")) == without_epoch(dump)
    advance(second, "1s")
    assert status(second) == "Verified"
    counted = ReplayMode(counted=True)
    third, fourth = (serve(replay=(kept,), replay_mode=counted).client for _ in range(2))
    assert [status(third) for _ in range(2)] == ["Pending", "Pending"]
    fourth.control("POST", "/load", third.control("GET", "/dump"))
    assert status(fourth) == "Verified"


def test_a_chain_that_is_taken_off_the_lists_leaves_the_recorded_list(serve):
    client = serve(replay=("v2/getChain",)).client
    before = client.get("/v1/getChain").data
    client.control("POST", "/outages", {"chain": "BNB", "mode": "delisted"})
    after = client.get("/v1/getChain").data
    gone = [one for one in before["list"] if one not in after["list"]]
    assert [one["nickName"] for one in gone] == ["BNB"]
    assert len(after["list"]) == len(before["list"]) - 1
    assert after["version"] == before["version"] + 1


def test_the_version_of_a_recorded_list_changes_only_where_the_list_does(serve, tmp_path):
    # What a recorded list lacks is out from the beginning of the world that is made of it.
    closed = [
        {"chain": chain, "mode": "delisted", "at": "+0s", "in_flight": "none"}
        for chain in ("ARB", "POLYGON", "TRX")
    ]
    scenario = tmp_path / "recorded.json"
    head = {"format": "crosschain-mock/scenario@1", "title": "recorded", "extends": "default"}
    scenario.write_text(json.dumps({**head, "calendar": closed}), "utf-8")
    listed = {"version": 7, "list": [{"nickName": "BNB"}, {"nickName": "ETH"}]}
    client, ask = replayed_list(serve, tmp_path, "v2.getChain", "", listed, scenario=scenario)
    assert ask() == listed
    seen = []
    for outage in ({"chain": "BNB", "mode": "delisted"}, {"token": "USDT", "mode": "delisted"}):
        client.control("POST", "/outages", outage)
        seen.append((ask()["version"], len(ask()["list"])))
        advance(client, "1m")
        client.control(
            "DELETE", "/outages", {name: outage[name] for name in outage if name != "mode"}
        )
        seen.append((ask()["version"], len(ask()["list"])))
    # No token is in a list of chains, and no version is given twice to what is not the same.
    assert seen == [(8, 1), (9, 2), (9, 2), (9, 2)]


@pytest.mark.parametrize(
    ("operation", "query", "data", "left"),
    [
        ("v2.getChain", "", {"version": 1, "chains": [{"id": "bnb"}, {"id": "eth"}]},
         {"version": 1, "chains": [{"id": "eth"}]}),
        ("v2.getChain", "", [{"ticker": "BNB"}, {"ticker": "ETH"}], [{"ticker": "ETH"}]),
        ("v2.getChain", "", {"list": ["BNB", "ETH"]}, {"list": ["ETH"]}),
        ("v1.getSupportChains", "", {"list": [{"key": "BSC"}, {"key": "ETH"}]},
         {"list": [{"key": "ETH"}]}),
        ("v1.getSupportTokens", {"chain": "BSC"}, {"list": [{"ticker": "USDT", "at": "0x1"}]},
         {"list": []}),
        ("v2.getAssets", "", [{"chain": "BNB", "symbol": "BTC"}, {"chain": "ETH", "symbol": "BNB"}],
         [{"chain": "ETH", "symbol": "BNB"}]),
        ("v2.getAssetsByChain", {"chain": "BNB"}, {"list": [{"symbol": "USDT"}, {"symbol": "ODD"}]},
         {"list": []}),
        ("v1.getSupportTokens", {"chain": "ETH"}, {"list": [{"ticker": "USDT", "at": "0x1"}]},
         {"list": [{"ticker": "USDT", "at": "0x1"}]}),
    ],
)  # fmt: skip
def test_an_outage_takes_its_chain_from_lists_of_any_form(
    serve, tmp_path, operation, query, data, left
):
    client, ask = replayed_list(serve, tmp_path, operation, query, data)
    assert ask() == data
    client.control("POST", "/outages", {"chain": "BNB", "mode": "delisted"})
    shown = ask()
    if isinstance(shown, dict):
        shown.pop("version", None)
        left = {name: value for name, value in left.items() if name != "version"}
    assert shown == left


def replayed_list(serve, tmp_path, operation, query, data, **settings):
    """Replay one list of a service's own form; return the client and what asks for it."""
    spec = load("observed").operation(operation)
    code = 200 if operation.startswith("v1.") else 0
    body = json.dumps({"code": code, "msg": "success", "status": 0, "data": data})
    kept = exchange(operation, spec.method, spec.path, query=query, raw=body)
    path = tmp_path / "kept.yaml"
    recording = Recording(
        "kept", "captured", (kept,), source="https://a.example", dialect="observed"
    )
    path.write_text(text_of(recording), "utf-8")
    settings |= {"dialect": "observed", "replay_mode": ReplayMode(counted=False)}
    running = serve(replay=(path,), **settings)
    address = f"http://127.0.0.1:{running.port}{spec.path}?{urlencode(query)}"

    def ask():
        with urllib.request.urlopen(address) as response:
            return json.load(response)["data"]

    return running.client, ask


@pytest.mark.parametrize(("where", "left"), [({"chain": "BNB"}, [1, 2]), ({}, [2])])
def test_a_token_that_is_listed_no_more_on_one_chain_stays_on_others(serve, tmp_path, where, left):
    listed = [{"chainName": chain, "ticker": "USDT"} for chain in ("BNB", "ETH")]
    listed.append({"chainName": "BNB", "ticker": "ODD"})
    client, ask = replayed_list(serve, tmp_path, "v2.getAssets", "", listed)
    client.control("POST", "/outages", where | {"token": "USDT", "mode": "delisted"})
    assert ask() == [listed[at] for at in left]


def test_a_naked_recording_knows_no_outage(serve, folder):
    client = serve(
        replay=(folder(*FLOW),), replay_mode=ReplayMode(naked=True, counted=False)
    ).client
    client.control("POST", "/outages", {"chain": "ARB"})
    assert ask(client).data["price"] == "0.97"
    assert submit(client).data
    advance(client, "30s")
    assert status(client) == "Succeeded"


def test_faults_strike_recorded_answers(serve, folder):
    client = serve(replay=(folder(*FLOW),)).client
    client.control("POST", "/faults", {"kind": "http-status", "status": 503})
    assert client.call("GET", "/v1/getChain").status == 503


def test_what_is_no_json_comes_back_byte_for_byte(serve, folder):
    page = quote(
        "10000000", "1", raw="<h1>502 Bad Gateway</h1>\n", status=502,
        headers=(("Content-Type", "text/html"), ("Content-Length", "25"), ("Connection", "close")),
    )  # fmt: skip
    digits = exchange("v2.getVaultAddress", "GET", "/v1/getVaultAddress", raw='{"code":0,"x":1.00}')
    client = serve(replay=(folder(page, digits),), dialect="observed").client
    answer = ask(client)
    assert (answer.status, answer.raw) == (502, b"<h1>502 Bad Gateway</h1>\n")
    assert answer.headers["content-type"] == "text/html"
    raw = client.call("GET", "/w/default/v1/getVaultAddress").raw
    assert raw == b'{"code":0,"x":1.00}'


def test_what_cannot_be_used_is_said_with_its_reason(serve, folder):
    kept = quote("10000000", "1")
    omitted = exchange(
        "v2.getChain", "GET", "/v1/getChain", raw="", response_omitted="longer than 100 MB"
    )
    lost = exchange("v2.getVaultAddress", "GET", "/v1/getVaultAddress", data={})
    moved = exchange("v2.getPrice", "GET", "/elsewhere", data={})
    wrong = exchange("v2.getAssets", "GET", "/v1/getAssets", data={"list": 1})
    served = serve(replay=(folder(kept, omitted, lost, moved, wrong, dialect="observed"),))
    assert served.service.replaying == (
        "replaying 1 of 5 recorded exchanges from 5 files; not: "
        "1 of the dialect 'observed', whose answers the dialect 'documented' forbids; "
        "1 whose body was not kept; "
        "1 of v2.getPrice that are not at GET /v1/getPrice; "
        "1 of v2.getVaultAddress, which the dialect 'documented' lacks"
    )
    assert "x-mock-source" in ask(served.client).headers


@pytest.mark.parametrize("option", [{"app_keys": (("K", "S"),)}, {"verify_wallets": True}, {}])
def test_that_signatures_are_not_verified_is_said_at_the_start(serve, folder, option):
    served = serve(replay=(folder(*FLOW),), **option)
    said = served.service.replaying.partition("; ")[2]
    assert said == ("signatures of requests that they answer are not verified" if option else "")
    assert submit(served.client).data["id"] == ID


def test_a_test_of_its_own_replays(folder):
    kept = folder(*FLOW)
    with running(replay=kept, replay_mode="fallback") as mock:
        assert mock.replaying == "replaying 6 of 6 recorded exchanges from 3 files"
        with mock.world("mine", replay="v2/getPrice,published", replay_mode="strict") as world:
            assert world.key == "mine"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"replay": 3}, "replay: expected shipped names, files or folders, got 3"),
        ({"replay_mode": "loose"}, "replay_mode: 'loose' is no way to replay (there are strict"),
        ({"replay_mode": "strict,fallback"}, "exclude each other"),
    ],
)
def test_a_wrong_setting_is_explained(changes, words):
    with pytest.raises(BadSetting) as caught:
        MockSettings().changed(**changes)
    assert words in str(caught.value)


def test_every_shipped_recording_can_be_named():
    root = resources.fixtures() / "recordings"
    for name in shipped_names():
        assert gather([name])
    assert len(gather(["v1", "v2", "observed", "published"])) == len(list(root.rglob("*.yaml")))


def test_a_clock_that_jumps_for_one_sequence_leaves_out_no_answer_of_another(serve, folder):
    prices = [quote("10000000", out, at_s) for out, at_s in (("1", 0), ("2", 300))]
    client = serve(replay=(folder(*FLOW[1:], *prices),), clock=ClockMode.AUTO).client
    ask(client)
    submit(client)
    assert status(client) == "Pending"
    # This takes the clock of the world beyond all that was recorded of the order.
    assert ask(client).data["outAmount"] == "2"
    assert client.control("GET", "/clock")["now"] == iso(START_MS + 300_000)
    seen = [status(client) for _ in range(4)]
    assert seen == ["Pending", "Verified", "Succeeded", "Succeeded"]


V1_HEADERS = {"appKey": "a", "expireTime": "15000", "timestamp": "1", "signature": "b"}
V1_ORDER = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
V1_QUERY = {"chain": "ETH", "hash": HASH, "evmAddress": "0x1"}


def v1_order(told, at_s, *without):
    sent = [(name, text) for name, text in V1_HEADERS.items() if name not in without]
    operation = "v1.getOrderDetailByHashAndEvmAddress"
    raw = json.dumps({"code": 31010, "data": {}, "msg": told, "status": 1})
    one = exchange(operation, "GET", V1_ORDER, query=V1_QUERY, raw=raw, at_s=at_s)
    return replace(one, request=replace(one.request, headers=Headers(sent)))


@pytest.mark.parametrize("clock", [ClockMode.AUTO, ClockMode.FROZEN])
def test_a_refusal_of_a_missing_header_is_not_the_answer_to_a_whole_request(serve, folder, clock):
    kept = folder(
        v1_order("under way", 0),
        v1_order("no key", 1, "appKey"),
        v1_order("no stamp", 2, "timestamp"),
        v1_order("done", 3),
    )
    client, other = (serve(replay=(kept,), clock=clock).client for _ in range(2))

    def look(*without):
        sent = {name: text for name, text in V1_HEADERS.items() if name not in without}
        return client.get(V1_ORDER, query=V1_QUERY, headers=sent).json["msg"]

    assert [look("timestamp"), look("appKey"), look()] == ["no stamp", "no key", "under way"]
    dump = client.control("GET", "/dump")
    other.control("POST", "/load", dump)
    assert without_epoch(other.control("GET", "/dump")) == without_epoch(dump)
    if clock is ClockMode.FROZEN:
        advance(client, "3s")
    assert [look(), look("appKey"), look("timestamp")] == ["done", "no key", "no stamp"]
    # A header that no recorded request lacks: the nearest one answers.
    assert look("signature") == "done"


def test_a_submission_without_its_hash_is_none_with_another_hash(serve, folder):
    path, hashed = "/open/v1/order/submitCrossChain", v1_submission()
    body = {name: value for name, value in hashed.items() if name != "certHash"}

    def sent(request, at_s, told):
        taken, data = {"code": 0, "status": 0}, {"sn": "CC7", "status": 1, "orderType": 1}
        raw = {"code": 31010, "data": {}, "msg": told, "status": 1}
        if told == "success":
            raw = {"msg": told, "data": data} | taken
        return exchange(
            "v1.submitCrossChain", "POST", path, body=request, raw=json.dumps(raw), at_s=at_s
        )

    recorded = (sent(hashed, 0, "success"), sent(body, 1, "no hash"))
    client = serve(replay=(folder(*recorded),)).client
    answers = [client.post(path, one, headers=V1_HEADERS) for one in (body, hashed, body)]
    assert [answer.json["msg"] for answer in answers] == ["no hash", "success", "no hash"]
    client = serve(replay=(folder(*recorded[:1]),)).client
    assert client.post(path, body, headers=V1_HEADERS).refusal.startswith("not-recorded")
