"""What other tools wrote becomes recordings, and recordings become what other tools read."""

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange, Recording, load, load_folder, text_of
from mockserver.server.assembly import build
from tests.conftest import WALLET, frozen, order

ROOT = Path(__file__).parents[2]
ANSWER = '{"code":0,"msg":"success","data":{"price":1.00}}'
URL = "https://service.example/gateway/v1/getPrice?symbol=KAS&chain=KAS"


@pytest.fixture
def imported(call, tmp_path):
    """Import a file with this content and return what was kept, and what was said."""

    def start(content, *arguments, name="other.json"):
        raw = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(raw)
        ended = call("recordings", "import", name, "--out", "new", *arguments)
        if not (tmp_path / "new").is_dir() or not list((tmp_path / "new").glob("*.yaml")):
            return [], ended
        kept = [one for file in load_folder(tmp_path / "new") for one in file.exchanges]
        return kept, ended

    return start


def har_entry(**changes):
    """An entry as a browser writes it."""
    return {
        "_initiator": {"type": "script", "stack": {"callFrames": []}},
        "startedDateTime": "2026-01-01T00:00:00.250Z",
        "time": 84.73299999,
        "request": {
            "method": "GET",
            "url": URL,
            "httpVersion": "h2",
            "headers": [
                {"name": ":authority", "value": "service.example"},
                {"name": "cookie", "value": "session=0123456789abcdef"},
                {"name": "accept", "value": "application/json"},
            ],
            "queryString": [],
            "cookies": [],
            "headersSize": -1,
            "bodySize": 0,
        },
        "response": {
            "status": 200,
            "statusText": "",
            "headers": [
                {"name": "content-type", "value": "application/json"},
                {"name": "content-encoding", "value": "br"},
            ],
            "content": {"size": 48, "mimeType": "application/json", "text": ANSWER},
        },
        "cache": {},
        "timings": {},
        **changes,
    }


def har(*entries):
    """A HAR of entries."""
    return {"log": {"version": "1.2", "creator": {"name": "b", "version": "1"}, "entries": entries}}


def test_a_har_of_a_browser(imported, tmp_path):
    (kept,), ended = imported(har(har_entry()), "--source", "https://service.example")
    assert ended.returncode == 0, ended.stderr
    assert "other.json (HAR): 1 of 1 exchanges can be used" in ended.stdout
    assert (kept.operation, kept.request.path) == ("v2.getPrice", "/v1/getPrice")
    assert kept.request.query == "symbol=KAS&chain=KAS"
    assert kept.response.body == ANSWER.encode()
    assert (kept.time_ms, kept.duration_ms) == (1_767_225_600_250, 84)
    assert kept.request.headers.items_sent == (("accept", "application/json"),)
    text = (tmp_path / "new" / "v2.getPrice.yaml").read_text()
    assert "source: https://service.example" in text
    assert "0123456789abcdef" not in text


def test_a_har_body_in_base64_and_a_posted_one(imported):
    posted = har_entry()
    posted["request"] |= {
        "method": "POST",
        "url": "http://h/open/v1/order/getCrossChainQuote",
        "postData": {"mimeType": "application/json", "text": '{"amount":1.50}'},
    }
    posted["response"]["content"] = {"size": 3, "encoding": "base64", "text": "/wAB"}
    (kept,), _ = imported(har(posted))
    assert (kept.request.body, kept.response.body) == (b'{"amount":1.50}', b"\xff\x00\x01")


def test_what_a_har_cannot_give_is_named(imported):
    blocked, data, other, empty = (har_entry() for _ in range(4))
    blocked["response"] = {"status": 0}
    data["request"]["url"] = "data:image/png;base64,AAAA"
    other["request"]["url"] = "https://service.example/logo.png"
    empty["response"]["content"] = {"size": 99}
    (kept,), ended = imported(har(blocked, data, other, empty))
    assert "1 of 4 exchanges can be used" in ended.stdout
    assert "log.entries[0]: it has no answer: its status is 0" in ended.stderr
    assert "log.entries[1]: its address is none of HTTP: data" in ended.stderr
    assert "log.entries[2]: GET /logo.png is no operation of the service" in ended.stderr
    assert kept.response_omitted == "the HAR does not hold it"


def test_nothing_to_use_ends_with_1(imported):
    other = har_entry()
    other["request"]["url"] = "https://service.example/logo.png"
    assert imported(har(other))[1].returncode == 1


CASSETTE = f"""interactions:
- request:
    body: null
    headers:
      Accept: ['*/*']
      appKey: [abcdef0123456789]
    method: GET
    uri: {URL}
  response:
    body:
      string: !!binary |
        {base64.b64encode(gzip.compress(ANSWER.encode(), mtime=0)).decode()}
    headers:
      Content-Encoding: [gzip]
      Content-Type: [application/json]
    status: {{code: 200, message: OK}}
- request:
    body: '{{"amount":1.50}}'
    headers: {{}}
    method: POST
    uri: https://service.example/open/v1/order/getCrossChainQuote
  response:
    body: {{string: '{ANSWER}'}}
    headers: {{}}
    status: {{code: 200, message: OK}}
version: 1
"""


def test_a_cassette_of_vcr(imported):
    (quote, price), ended = imported(CASSETTE, name="cassette.yaml")
    assert "cassette.yaml (VCR.py cassette): 2 of 2 exchanges can be used" in ended.stdout
    assert price.response.body == quote.response.body == ANSWER.encode()
    assert price.request.headers.items_sent == (("Accept", "*/*"),)
    assert quote.request.body == b'{"amount":1.50}'


def test_a_cassette_in_json(imported):
    told = yaml.safe_load(CASSETTE)
    told["interactions"][0]["response"]["body"] = {"base64_string": "/wAB"}
    told["interactions"][0]["response"]["headers"] = {}
    kept, _ = imported(told)
    assert {one.response.body for one in kept} == {b"\xff\x00\x01", ANSWER.encode()}


def stub(request, **response):
    """A WireMock mapping."""
    return {"request": {"method": "GET", **request}, "response": {"status": 200, **response}}


def test_wiremock_mappings_that_mean_one_request(imported):
    quote = {"urlPath": "/v1/getPrice", "queryParameters": {"symbol": {"equalTo": "KAS"}}}
    post = {
        "method": "POST",
        "url": "/open/v1/order/getCrossChainQuote",
        "bodyPatterns": [{"equalToJson": {"amount": 1}}],
    }
    kept, ended = imported(
        {
            "mappings": [
                stub(quote, jsonBody={"code": 0}, headers={"Content-Type": "application/json"}),
                stub(post, base64Body="/wAB"),
                stub({"urlPathPattern": "/v1/.*"}, body="x"),
                stub({"urlPath": "/v1/getPrice", "queryParameters": {"a": {"matches": "."}}}),
                stub({"url": "/v1/getPrice", "method": "ANY"}),
            ]
        }
    )
    assert "2 of 5 exchanges can be used" in ended.stdout
    assert "mappings[2]: its request is a pattern (urlPathPattern)" in ended.stderr
    assert "mappings[3]: queryParameters.a is compared by matches" in ended.stderr
    assert "mappings[4]: it answers any method" in ended.stderr
    told = {one.operation: one for one in kept}
    assert told["v2.getPrice"].request.query == "symbol=KAS"
    assert told["v2.getPrice"].response.body == b'{"code":0}'
    assert told["v1.getCrossChainQuote"].request.body == b'{"amount":1}'
    assert told["v1.getCrossChainQuote"].response.body == b"\xff\x00\x01"


def test_wiremock_scenarios_are_read_in_the_order_of_their_states(imported):
    turns = (("b", "c", "2"), (None, None, "4"), ("Started", "b", "1"), ("c", None, "3"))
    mappings = [
        {
            **stub({"url": "/v1/getChain", "headers": {"x": {"matches": ".*"}}}, body=body),
            "scenarioName": "s",
            "requiredScenarioState": state,
            "newScenarioState": then,
        }
        for state, then, body in turns
    ]
    mappings[1]["scenarioName"] = None
    kept, _ = imported({"mappings": mappings})
    assert [one.response.body for one in kept] == [b"1", b"4", b"2", b"3"]
    assert kept[0].removed == ("x",)


def test_a_har_with_a_form_that_stands_there_as_parameters_alone(imported):
    entry = har_entry()
    entry["request"] |= {
        "method": "POST",
        "url": "http://h/open/v1/order/getCrossChainQuote",
        "postData": {
            "mimeType": "application/x-www-form-urlencoded",
            "params": [{"name": "a b", "value": "1&é"}, {"name": "c"}],
        },
    }
    (kept,), _ = imported(har(entry))
    assert kept.request.body == b"a+b=1%26%C3%A9&c="


def test_what_a_file_of_another_tool_cannot_hold_is_said(call, tmp_path):
    request = Request("GET", "/v1/getChain", "", Headers((("Accept", "a/b"),)))
    answer = Response(200, (("Content-Type", "x/y"),), b"z")
    first = RecordedExchange("a", "v2.getChain", request, answer, "captured", 1000, 5)
    second = replace(
        first, name="b", note="n", response=replace(answer, body=b""), response_omitted="too long"
    )
    recording = Recording("t", "captured", (first, second), source="a")
    (tmp_path / "mine.yaml").write_text(text_of(recording))
    said = {
        name: call("recordings", "export", "mine.yaml", "--to", name).stderr.splitlines()
        for name in ("har", "vcr", "wiremock")
    }
    assert said["har"] == [
        "HAR: that a body was left out of 1 exchange cannot be held",
        "HAR: the note of 1 exchange cannot be held",
    ]
    assert "VCR.py cassette: the time of 2 exchanges cannot be held" in said["vcr"]
    title = "WireMock mappings: the headers of the request of 2 exchanges cannot be held"
    assert title in said["wiremock"]


def test_a_wiremock_file_beside(imported, tmp_path):
    (tmp_path / "__files").mkdir()
    (tmp_path / "__files" / "a.json").write_text(ANSWER)
    (tmp_path / "mappings").mkdir()
    told = stub({"url": "/v1/getChain"}, bodyFileName="a.json")
    (kept,), _ = imported(told, name="mappings/one.json")
    assert kept.response.body == ANSWER.encode()
    _, ended = imported(stub({"url": "/v1/getChain"}, bodyFileName="../x"), name="mappings/b.json")
    assert (ended.returncode, "expected a file in" in ended.stderr) == (2, True)


@pytest.mark.parametrize("lines", [False, True])
def test_a_journal_of_the_mock(imported, call, lines, tmp_path):
    service = build(frozen())
    query = (
        "chain=ARB&address=0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A&contractAddress=0x" + "e" * 40
    )
    answered = service.answer(Request("GET", "/w/mine/v1/getBalance", query)).response
    service.worlds.get("mine").world.time.advance(15_000)
    service.answer(Request("GET", "/w/mine/v1/getChain"))
    host = Headers((("Host", "127.0.0.1"),))
    journal = service.answer(Request("GET", "/w/mine/__mock/journal", headers=host)).complete()
    told = json.loads(journal.body)
    content = "\n".join(map(json.dumps, told["entries"])) if lines else told
    kept, ended = imported(content)
    assert "(journal of the mock): 2 of 2" in ended.stdout
    assert kept[0].response.body == answered.body
    assert [one.advance_ms for one in kept] == [0, 15_000]
    (file,) = (tmp_path / "new").glob("*.yaml")
    assert load(file).origin == "simulation"
    assert call("recordings", "simulate", str(file)).returncode == 0
    answers = [one.response.body for one in kept]
    assert [one.response.body for one in load(file).exchanges] == answers
    # A line for editors is no part of what was recorded.
    file.write_text(
        f"# yaml-language-server: $schema=mine.json\n{file.read_text('utf-8')}", "utf-8"
    )
    assert call("recordings", "simulate", "--check", str(file)).returncode == 0
    assert [one.response.body for one in load(file).exchanges] == answers


def test_what_was_masked_in_a_journal_is_no_refusal_when_it_is_simulated(imported, call, tmp_path):
    service = build(frozen())
    headers = Headers((("Evmaddress", WALLET), ("Signature", "0x" + "1b" * 65)))
    request = Request("POST", "/v1/submitOrder", "", headers, json.dumps(order()).encode())
    service.answer(request)
    service.answer(replace(request, headers=Headers(headers.items_sent[1:])))
    told = json.loads(service.answer(Request("GET", "/__mock/journal")).complete().body)
    kept, _ = imported(told)
    (file,) = (tmp_path / "new").glob("*.yaml")
    text = file.read_text()
    assert "Content-Type: application/json" in text
    ended = call("recordings", "simulate", str(file))
    assert file.read_text().replace("dialect: documented\n", "") == text
    assert (ended.returncode, ended.stderr) == (0, "")
    codes = [json.loads(one.response.body)["code"] for one in kept]
    assert codes[0] == 0
    assert codes[1] != 0


def test_a_journal_of_conformance(imported, serve, call, tmp_path):
    running = serve()
    url = f"http://127.0.0.1:{running.port}"
    call("conform", url, "--journal", "run.jsonl", "--only", "v2.getChain", "--budget", "3")
    ended = call("recordings", "import", "run.jsonl", "--out", "new")
    assert "run.jsonl (journal of conform): " in ended.stdout, ended.stderr
    (file, *_) = load_folder(tmp_path / "new")
    assert (file.origin, file.source) == ("captured", url)
    assert file.exchanges[0].response_json()["code"] == 0


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        ("{", "x.json", "x.json:1: not JSON"),
        ("[1]", "x.json", "formats that are read: har, vcr, wiremock, journal, conform"),
        ("[" * 100_000, "x.json", "x.json: not JSON: nested deeper than 500 levels"),
        ("format: crosschain-mock/recording@2\n", "x.yaml", "is a recording already"),
        ({"log": {"entries": [{}]}}, "x.har", "x.har: log.entries[0].request: missing"),
        ({"log": {"entries": 7}}, "x.har", "log.entries: expected an array, got an integer"),
        ("interactions:\n- request: 5\n", "x.yaml", "x.yaml:2: interactions[0].response: missing"),
        ("interactions:\n- !!python/object:os.system x\n", "x.yaml", "x.yaml:2:"),
        (
            {"log": {"entries": [har_entry(request={"method": "GET", "url": "http://[:80/v1"})]}},
            "x.har",
            "log.entries[0].request.url: no address: Invalid IPv6 URL",
        ),
        (
            """interactions:
- request: {method: GET, uri: 'http://[:80/v1'}
  response: {status: {code: 200}}
""",
            "x.yaml",
            "x.yaml:2: interactions[0].request.uri: no address: Invalid IPv6 URL",
        ),
        (
            {"mappings": [{"request": {"method": "GET", "url": "//[:80/v1"}, "response": {}}]},
            "x.json",
            "request.url: no address: Invalid IPv6 URL",
        ),
        ("a: &a [1]\ninteractions: [*a, *a]\n", "x.yaml", "aliases are not read"),
        (
            {
                "mappings": [
                    {"request": {"url": "/v1/getChain", "method": "GET"}, "response": {"status": 9}}
                ]
            },
            "x.json",
            "an HTTP status from 100 to 599",
        ),
        ({"entries": [{"at": "now"}]}, "x.json", "entries[0].request: missing"),
    ],
)
def test_what_cannot_be_read_is_named(imported, content, name, says):
    kept, ended = imported(content, name=name)
    assert (kept, ended.returncode) == ([], 2)
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_commands_of_the_page_work(call, tmp_path):
    page = ROOT / "docs" / "how-to" / "import-and-export-recordings.md"
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "browser.har").write_text(json.dumps(har(har_entry())))
    (tmp_path / "cassette.yaml").write_text(CASSETTE)
    for line in "".join(blocks).splitlines():
        ended = call(*line.split()[1:])
        assert ended.returncode == 0, ended.stderr


def test_an_unreadable_file_leaves_no_folder(call, tmp_path):
    assert call("recordings", "import", "no.har", "--out", "new").returncode == 2
    assert not (tmp_path / "new").exists()


EXCHANGES = (
    (Request("GET", "/v1/getChain", "a=1&a=2&b=%C3%A9"), Response(200, (), b'{"p": 1.00}')),
    (Request("GET", "/v1/getChain", "a=1&a=2&b=%C3%A9"), Response(200, (), b'{"p": 2}')),
    (
        Request("POST", "/open/v1/order/getCrossChainQuote", "", Headers(), b'{"amount": 1.50}'),
        Response(502, (("Content-Type", "text/html"),), b"<h1>\xc3\xa9</h1>"),
    ),
    (Request("GET", "/v1/getAssets"), Response(200, (("Content-Type", "x/y"),), b"\xff\x00")),
)


@pytest.mark.parametrize("name", ["har", "vcr", "wiremock"])
def test_what_is_exported_can_be_imported_again(call, tmp_path, name):
    made = tuple(
        RecordedExchange(f"one-{index}", "v2.getChain", request, response, "captured", 1000 * index)
        for index, (request, response) in enumerate(EXCHANGES)
    )
    recording = Recording("t", "captured", made, source="https://service.example")
    (tmp_path / "mine.yaml").write_text(text_of(recording))
    ended = call("recordings", "export", "mine.yaml", "--to", name, "--out", "out.json")
    assert ended.returncode == 0, ended.stderr
    ended = call("recordings", "import", "out.json", "--out", "new", "--file-per", "flow")
    assert f"{len(EXCHANGES)} of {len(EXCHANGES)} exchanges can be used" in ended.stdout
    (back,) = load_folder(tmp_path / "new")
    for one, (request, response) in zip(back.exchanges, EXCHANGES, strict=True):
        assert (one.request.method, one.request.path) == (request.method, request.path)
        assert one.request.query == request.query
        assert one.request.body == request.body
        assert (one.response.status, one.response.body) == (response.status, response.body)


def test_a_har_has_the_address_of_the_recording(call, tmp_path):
    one = RecordedExchange("a", "v2.getChain", *EXCHANGES[0], "captured")
    (tmp_path / "mine.yaml").write_text(
        text_of(Recording("t", "captured", (one,), source="https://service.example"))
    )
    told = json.loads(call("recordings", "export", "mine.yaml", "--to", "har").stdout)
    (entry,) = told["log"]["entries"]
    assert entry["request"]["url"] == "https://service.example/v1/getChain?a=1&a=2&b=%C3%A9"
    assert entry["response"]["content"]["text"] == '{"p": 1.00}'


def test_a_request_is_another_where_wiremock_takes_it_for_another(call, tmp_path):
    path = "/open/v1/order/getCrossChainQuote"
    bodies = (
        b'{"a":1.50}',
        b'{"a": 1.5}',
        b'{"a":' + b"1" * 40 + b"}",
        b'{"a":' + b"1" * 39 + b"2}",
    )
    sent = [Request("POST", path, "", Headers(), body) for body in (*bodies, b"")]
    made = tuple(
        RecordedExchange(
            f"one-{index}", "v1.getCrossChainQuote", request, Response(200, (), b"z"), "captured"
        )
        for index, request in enumerate(sent)
    )
    (tmp_path / "mine.yaml").write_text(text_of(Recording("t", "captured", made, source="a")))
    told = json.loads(call("recordings", "export", "mine.yaml", "--to", "wiremock").stdout)
    sequences = [one.get("scenarioName") for one in told["mappings"]]
    assert sequences[0] == sequences[1] is not None
    assert sequences[2:] == [None, None, None]
    assert told["mappings"][4]["request"]["bodyPatterns"] == [{"absent": True}]


def test_polled_answers_become_a_wiremock_scenario(call, tmp_path):
    made = tuple(
        RecordedExchange(f"one-{index}", "v2.getChain", request, response, "captured")
        for index, (request, response) in enumerate(EXCHANGES[:2])
    )
    (tmp_path / "mine.yaml").write_text(text_of(Recording("t", "captured", made, source="a")))
    told = json.loads(call("recordings", "export", "mine.yaml", "--to", "wiremock").stdout)
    first, second = told["mappings"]
    assert first["scenarioName"] == second["scenarioName"]
    assert (first["requiredScenarioState"], first["newScenarioState"]) == ("Started", "answered 1")
    assert second["requiredScenarioState"] == "answered 1"
    assert "newScenarioState" not in second


def test_a_field_that_chromium_puts_into_two_lines_is_two_fields(imported):
    entry = har_entry()
    entry["response"]["headers"] = [
        {"name": "cache-control", "value": "no-store\nno-cache"},
        {"name": "location", "value": "/a\r/b"},
    ]
    kept, _ = imported({"log": {"entries": [entry]}})
    assert kept[0].response.headers == (
        ("cache-control", "no-store"),
        ("cache-control", "no-cache"),
        ("location", "/a /b"),
    )
