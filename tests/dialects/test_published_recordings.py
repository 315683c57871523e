"""What was published, as recordings: they keep the contract of their dialect and are replayed."""

import re

import pytest

from mockserver import jsontext, recordings, resources
from mockserver.contract import load
from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import build
from tests.conftest import frozen, running

FOLDER = resources.fixtures() / "recordings" / "published"
PUBLISHED = recordings.load_folder(FOLDER)
EXCHANGES = [(recording, one) for recording in PUBLISHED for one in recording.exchanges]


KEEPING = [(recording, one) for recording, one in EXCHANGES if recording.dialect]
QUOTES = [(recording, one) for recording, one in KEEPING if one.operation.endswith("Quote")]


@pytest.mark.parametrize(("recording", "exchange"), KEEPING, ids=[e.name for _, e in KEEPING])
def test_the_contract_holds(recording, exchange):
    assert (recording.origin, bool(recording.source)) == ("published", True)
    operation = load(recording.dialect).operation(exchange.operation)
    assert (operation.method, operation.path) == (exchange.request.method, exchange.request.path)
    reading = operation.read(exchange.request)
    assert (reading.refusal, reading.violations) == (None, ())
    assert operation.response_violations(exchange.response_json()) == ()


def test_what_contradicts_says_so():
    (recording,) = (one for one in PUBLISHED if one.dialect is None)
    (exchange,) = recording.exchanges
    observed = load("observed").operation(exchange.operation)
    assert observed.response_violations(exchange.response_json())
    assert "contradicts the observed dialect" in exchange.note
    assert "no dialect" in recording.description


def test_conform_judges_them_and_names_what_their_notes_name(call):
    names = {"documentation-swap", "demo", "interface-note-swap", "demo-lists", "v1-sample"}
    good = [f"published/{name}" for name in sorted(names)]
    judged = [part for name in good for part in ("--recordings", name)]
    ended = call("conform", *judged, "--dialect", "observed")
    assert "\nconforms: " in ended.stdout, ended.stdout
    assert "recorded exchanges judged: 9" in ended.stdout
    # A list of one item has no chains of the tokens of another such list.
    assert "DIFFERS FROM WHAT WAS OBSERVED (1 cause)" in ended.stdout
    assert "tokens are on 'ARB', 'ETH', which is not listed" in ended.stdout
    ended = call("conform", "--recordings", "published/v1-contradiction", "--dialect", "observed")
    assert "address, chain, decimals, price, symbol are missing" in ended.stdout


def test_the_readme_says_of_each_recording_where_it_comes_from():
    root = resources.fixtures()
    rows = re.findall(
        r"^\| `(.+?)` \| (\w+) \| (.+?) \| (.+?) \|$",
        (root / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    stated = {name: (origin, source, dialect) for name, origin, source, dialect in rows}
    folder, rows_met = root / "recordings", set()
    for recording in recordings.load_folder(folder):
        assert recording.file
        path = recording.file.relative_to(folder)
        row = str(path) if str(path) in stated else f"{path.parts[0]}/"
        origin, source, dialect = stated[row]
        rows_met.add(row)
        assert origin == recording.origin, path
        assert {one.origin for one in recording.exchanges} == {origin}, path
        assert recording.source.startswith("" if origin == "simulation" else source), path
        assert dialect == (recording.dialect or "none"), path
    assert rows_met == stated.keys()
    # Nothing was captured from the service, which is gone: the page says so.
    assert "captured" not in {origin for origin, *_ in stated.values()}


BEYOND = {
    "one-usdt-from-bnb-to-fsn": {"minOutAmount"},
}
"""Members that come out although the published answer lacks them: A-085 says why."""


@pytest.mark.parametrize(("recording", "exchange"), QUOTES, ids=[e.name for _, e in QUOTES])
def test_the_scenario_of_published_examples_gives_the_whole_of_it(recording, exchange):
    with running(frozen(dialect=recording.dialect, scenario="published-examples")) as served:
        request = exchange.request
        answered = served.client.call("GET", request.path, query=request.query)
    published = exchange.response_json()
    beyond = BEYOND.get(exchange.name, set())
    if not beyond:
        assert answered.raw == jsontext.encode(published)
        return
    left = {name: value for name, value in answered.data.items() if name not in beyond}
    assert {**answered.json, "data": left} == published
    register = {one.id: one for one in load().source.assumptions}
    assert all(name in register["A-085"].chosen for name in beyond)


@pytest.mark.parametrize("recording", PUBLISHED, ids=[one.title for one in PUBLISHED])
def test_they_are_played_back_in_their_dialect(recording):
    service = build(frozen(dialect=recording.dialect or "observed", replay=(FOLDER,)))
    for exchange in recording.exchanges:
        answer = service.answer(exchange.request).response
        assert (answer.header("X-Mock-Source") or "").endswith(f"#{exchange.name}")
    others = [one for other, one in KEEPING if other.dialect != recording.dialect]
    for exchange in others:
        answer = service.answer(exchange.request).response
        keeps = (
            not load(recording.dialect or "observed")
            .operation(exchange.operation)
            .response_violations(exchange.response_json())
        )
        assert (answer.header("X-Mock-Source") is not None) is keeps
    assert service.failures == []


def test_each_world_is_answered_from_the_recordings_of_its_dialect():
    shipped = resources.fixtures() / "recordings"
    service = build(frozen(replay=(shipped,)))
    body = b'{"key": "field", "dialect": "observed"}'
    assert service.answer(Request("POST", "/__mock/worlds", "", Headers(), body)).response.body
    path = "/v1/checkOrder"
    book = service.answer(Request("GET", path, "id=30000000001")).response
    field = service.answer(Request("GET", f"/w/field{path}", "id=30000000001")).response
    sources = [answer.header("X-Mock-Source") for answer in (book, field)]
    assert sources[1] == "observed/v2-flow.yaml#just-submitted"
    assert sources[0] not in (None, sources[1])


def test_another_answer_would_break_the_contract():
    recording, exchange = EXCHANGES[0]
    assert recording.dialect
    operation = load(recording.dialect).operation(exchange.operation)
    broken = {**exchange.response_json(), "data": {**exchange.response_json()["data"], "gasFee": 1}}
    assert operation.response_violations(broken)
