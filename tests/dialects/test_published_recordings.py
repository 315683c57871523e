"""What was published, as recordings: they keep the contract of their dialect and are replayed."""

import pytest

from mockserver import recordings, resources
from mockserver.contract import load
from mockserver.exchange import Headers, Request
from mockserver.server.assembly import build
from tests.conftest import frozen, running

FOLDER = resources.fixtures() / "recordings" / "published"
PUBLISHED = recordings.load_folder(FOLDER)
EXCHANGES = [(recording, one) for recording in PUBLISHED for one in recording.exchanges]


@pytest.mark.parametrize(("recording", "exchange"), EXCHANGES, ids=[e.name for _, e in EXCHANGES])
def test_the_contract_holds(recording, exchange):
    assert (recording.origin, bool(recording.source)) == ("published", True)
    operation = load(recording.dialect).operation(exchange.operation)
    assert (operation.method, operation.path) == (exchange.method, exchange.path)
    reading = operation.read(exchange.request())
    assert (reading.refusal, reading.violations) == (None, ())
    assert operation.response_violations(exchange.response_body) == ()


@pytest.mark.parametrize(("recording", "exchange"), EXCHANGES, ids=[e.name for _, e in EXCHANGES])
def test_the_scenario_of_published_examples_says_the_same(recording, exchange):
    with running(frozen(dialect="observed", scenario="published-examples")) as served:
        request = exchange.request()
        answered = served.client.call("GET", request.path, query=request.query).data
    published = exchange.response_body["data"]
    assert {name: answered[name] for name in published} == published


@pytest.mark.parametrize("recording", PUBLISHED, ids=[one.title for one in PUBLISHED])
def test_they_are_played_back_in_their_dialect(recording):
    service = build(frozen(dialect=recording.dialect, replay=FOLDER))
    for exchange in recording.exchanges:
        answer = service.answer(exchange.request()).response
        assert answer.header("X-Mock-Source") == exchange.name
    others = [one for other, one in EXCHANGES if other.dialect != recording.dialect]
    for exchange in others:
        answer = service.answer(exchange.request()).response
        assert answer.header("X-Mock-Source") is None
    assert service.failures == []


def test_each_world_is_answered_from_the_recordings_of_its_dialect():
    shipped = resources.fixtures() / "recordings"
    service = build(frozen(replay=shipped))
    body = b'{"key": "field", "dialect": "observed"}'
    assert service.answer(Request("POST", "/__mock/worlds", "", Headers(), body)).response
    path = "/v1/checkOrder"
    book = service.answer(Request("GET", path, "id=30000000001")).response
    field = service.answer(Request("GET", f"/w/field{path}", "id=30000000001")).response
    sources = [answer.header("X-Mock-Source") for answer in (book, field)]
    assert sources[1] == "just-submitted"
    assert sources[0] not in (None, sources[1])


def test_another_answer_would_break_the_contract():
    recording, exchange = EXCHANGES[0]
    operation = load(recording.dialect).operation(exchange.operation)
    broken = {**exchange.response_body, "data": {**exchange.response_body["data"], "gasFee": 1}}
    assert operation.response_violations(broken)
