"""Everything that is kept has an end, in count and in bytes, and says so when it is reached."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from mockserver import jsontext, limits
from mockserver.clock import ClockMode
from mockserver.http_messages import Headers, Request, Response
from mockserver.responders.faults.registry import Faults
from mockserver.responders.stubs import Stubs
from mockserver.server.assembly import Settings, build
from mockserver.worlds.journal import JournalSpace, WorldJournal
from tests.conftest import START_MS, WALLET, certificate, order
from tests.server.test_bad_input import refused

MIB = limits.MIB


def test_a_journal_is_bounded_in_bytes(mock):
    body = b'"' + b"x" * 1_000_000 + b'"'
    for _ in range(70):
        assert mock.post("/nothing", body).status == 404
    told = mock.control("GET", "/journal?limit=1")
    kept = told["last"] - told["dropped"]
    assert told["last"] == 70
    assert 50 < kept * len(body) / MIB <= 64
    assert told["entries"][0]["sequence"] == told["dropped"] + 1


def test_the_journals_of_all_worlds_are_bounded_together():
    space = JournalSpace(10 * MIB)
    request, response = Request("GET", "/", "", Headers(), b"x" * MIB), Response(200, (), b"")
    journals = [WorldJournal() for _ in range(30)]
    for journal in journals:
        journal.share(space)
    for count, journal in enumerate(journals):
        for _ in range(8 if count == 3 else 1):
            journal.add(0, None, request, response, "server")
        assert sum(one.weight for one in journals) <= 10 * MIB
    assert journals[-1].weight, "who writes keeps what was written last"
    assert journals[3].dropped
    assert all(one.last_sequence == len(one) + one.dropped for one in journals)
    for journal in journals:
        journal.leave()
    journals[0].share(space)
    for _ in range(9):
        journals[0].add(0, None, request, response, "server")
    assert not journals[0].dropped - 1, "the room of those that left is free again"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/submitOrder/__mock/load", 413),
        ("/open/v1/__mock/x", 413),
        ("/v1/__mock/load", 413),
        ("/__mock/nothing", 413),
        ("/__mock/stubs", 413),
        ("/__mock", 413),
        ("/%5f%5fmock/load", 400),
        ("/__mock/load", 400),
        ("/__mock/load/", 400),
    ],
)
def test_only_a_dump_may_be_large(mock, path, status):
    answer = mock.post(path, b"x" * (2 * MIB))
    assert answer.status == status, answer.raw[:300]


def test_a_large_body_is_not_read_for_somebody_who_may_not_control(mock):
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        answer = mock.post("/__mock/load", b"x" * (2 * MIB), headers=headers)
        assert answer.status == 413


@pytest.mark.parametrize(("path", "generation"), [("/v1/getChain", "v2"), ("/open/v1/x", "v1")])
def test_headers_are_bounded_together(mock, path, generation):
    headers = {f"X-{number}": "y" * 6_000 for number in range(20)}
    refused(mock.get(path, headers=headers), generation, "65536", status=431)
    (entry,) = mock.control("GET", "/journal")["entries"]
    assert entry["responder"] == "server"


def test_there_is_a_most_of_worlds(monkeypatch):
    monkeypatch.setattr(limits, "WORLDS", limits.Limit("worlds", 5, "worlds", "the server", ""))
    service = build(Settings(clock=ClockMode.FROZEN))
    for number in range(8):
        answer = service.answer(Request("GET", f"/w/w{number}/v1/getChain")).response
        assert answer.status == (200 if number < 5 else 429)
        if number >= 5:
            assert "5 worlds" in (answer.header("X-Mock-Refusal") or "")
    assert service.answer(Request("GET", "/v1/getChain")).response.status == 200
    made = Request("POST", "/__mock/worlds", "", Headers(), b'{"key": "another"}')
    assert service.answer(made).response.status == 400
    assert service.answer(Request("DELETE", "/__mock/worlds/w1")).response.status == 200
    assert service.answer(made).response.status == 400, "the default world takes a place, too"
    assert service.answer(Request("DELETE", "/__mock/worlds/w2")).response.status == 200
    assert service.answer(made).response.status == 200


@pytest.fixture
def few(monkeypatch):
    """Make a bound small: `few("STUBS", 3)`."""

    def set_to(name: str, most: int) -> None:
        usual = getattr(limits, name)
        monkeypatch.setattr(limits, name, replace(usual, most=most))
        for kind, attribute in product((Stubs, Faults), ("most", "most_bytes")):
            if getattr(kind, attribute) is usual:
                monkeypatch.setattr(kind, attribute, replace(usual, most=most))

    return set_to


def _hash(number: int) -> str:
    return f"0x{number:064x}"


def _submit(mock, number: int, **changes: str):
    body = order(sourceCerts=certificate(certHash=_hash(number)), **changes)
    return mock.post("/v1/submitOrder", body, headers=mock.wallet)


def test_orders_have_an_end(mock, few):
    few("ORDERS", 3)
    assert [_submit(mock, n).json["code"] == 0 for n in range(1, 6)] == [True] * 3 + [False] * 2
    refused(_submit(mock, 9), "v2", "limit-reached", "3 orders", status=429)
    assert _submit(mock, 1).data, "what is there already is found"
    dump = mock.control("GET", "/dump")
    mock.control("POST", "/load", dump)
    mock.control("POST", "/reset", {})
    assert _submit(mock, 9).data


def test_long_texts_of_orders_and_tickets_are_not_kept(mock):
    refused(_submit(mock, 1, channel="x" * 3000), "v2", "limit-reached", status=429)
    answer = mock.operation("v2.submitTicket", body={"chain": "ARB", "hash": "1" * 3000})
    assert answer.refusal, answer.raw
    assert mock.control("GET", "/dump")["world"]["tickets"] == []


def test_tickets_have_an_end(mock, few):
    few("TICKETS", 2)
    answers = [
        mock.operation("v2.submitTicket", body={"chain": "ARB", "hash": _hash(n)})
        for n in range(1, 4)
    ]
    assert [answer.status for answer in answers] == [200, 200, 429]


def test_forced_statuses_have_an_end(mock, few):
    few("FORCED", 10)
    order_id = _submit(mock, 1).data["id"]
    answers = [
        mock.post(f"/__mock/orders/{order_id}", {"status": "Pending", "reason": "x" * 200})
        for _ in range(30)
    ]
    assert {answer.status for answer in answers} == {200, 400}
    assert "10 events" in answers[-1].json["error"]


def test_transactions_have_an_end_in_count_and_bytes(mock, few):
    told = {"chain": "ARB", "from": WALLET, "data": "0x" + "ab" * 1000}
    few("TRANSACTIONS", 3)
    assert _statuses(mock, "/transactions", [told] * 5) == [200] * 3 + [400] * 2
    few("TRANSACTIONS", 100)
    few("TRANSACTION_BYTES", 12_000)
    assert _statuses(mock, "/transactions", [told] * 2) == [200, 400]
    mock.control("POST", "/load", mock.control("GET", "/dump"))
    mock.control("POST", "/reset", {})
    assert _statuses(mock, "/transactions", [told]) == [200]


def test_a_batch_of_calls_has_an_end(mock, few):
    few("BATCH", 3)
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}
    assert len(mock.post("/__mock/chains/ARB", [call] * 3).json) == 3
    assert "3 calls" in mock.post("/__mock/chains/ARB", [call] * 4).json["error"]["message"]


def test_stubs_and_faults_have_an_end_in_bytes(mock, few):
    stub = {"operation": "v2.getChain", "response": {"status": 200, "body": "x" * 1000}}
    fault = {"kind": "latency", "delay": "1ms", "order": "1" * 200}
    few("STUB_BYTES", 7_000)
    few("FAULT_BYTES", 900)
    for path, told in (("/stubs", stub), ("/faults", fault)):
        assert _statuses(mock, path, [told] * 5) == [200] * 3 + [400] * 2
        mock.control("DELETE", path)
        assert _statuses(mock, path, [told] * 2) == [200] * 2


def test_keys_and_expectations_have_an_end(mock, few):
    few("KEYS", 2)
    few("EXPECTED", 2)
    few("APP_KEYS", 3)
    few("ALL_APP_KEYS", 4)
    keys = [{"appKey": f"k{n}", "appSecret": "s"} for n in range(3)]
    assert _statuses(mock, "/keys", [*keys, keys[0]]) == [200, 200, 400, 200]
    mock.control("DELETE", "/keys")
    assert _statuses(mock, "/expect", [{}] * 3) == [200, 200, 400]
    bound = [{"appKeys": [f"{mock.prefix}{n}"]} for n in range(4)]
    assert _statuses(mock, "/app-keys", [*bound, bound[0]]) == [200, 200, 200, 400, 200]
    assert len(mock.control("DELETE", "/app-keys")["released"]) == 3


def test_everything_in_all_worlds_has_an_end(few):
    few("ALL_BYTES", 7 * 1_600)  # seven orders
    service = build(Settings(clock=ClockMode.FROZEN, start_ms=START_MS))
    statuses = []
    for number in range(10):
        body = jsontext.encode(order(sourceCerts=certificate(certHash=_hash(number + 1))))
        headers = Headers((("Evmaddress", WALLET), ("Signature", "ab" * 65)))
        request = Request("POST", f"/w/w{number % 3}/v1/submitOrder", "", headers, body)
        statuses.append(service.answer(request).response.status)
    assert statuses == [200] * 7 + [429] * 3

    def control(method: str, path: str, body: bytes = b"") -> int:
        return service.answer(Request(method, path, "", Headers(), body)).response.status

    assert control("GET", "/w/w1/__mock/dump") == 200
    assert control("POST", "/w/w1/__mock/fork", b'{"to": "x"}') == 400
    assert control("POST", "/w/w1/__mock/snapshots") == 400
    assert control("DELETE", "/__mock/worlds/w2") == 200
    assert control("POST", "/w/w1/__mock/snapshots") == 200


def _statuses(mock, path, bodies):
    return [mock.post(f"/__mock{path}", body).status for body in bodies]


def test_the_worlds_of_a_server_speak_so_many_dialects_and_no_more(serve, few):
    few("DIALECTS", 3)
    client = serve().client
    client.get("/v1/getChain")
    made = [{"key": f"w{n}", "dialect": f"E-0{n}"} for n in range(1, 5)]
    assert _statuses(client, "/worlds", [*made, made[0] | {"key": "again"}]) == [
        *(200, 200),
        *(400, 400),
        200,
    ]


def test_the_page_of_limits_is_fresh():
    shipped = Path(__file__).parents[2] / "docs/reference/limits.md"
    assert shipped.read_text("utf-8") == limits.page()
    assert limits.TABLE[0] is limits.BODY
    assert limits.TABLE[-1] is limits.FILE_DEPTH
