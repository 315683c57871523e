"""The table of the control API and what is computed from it."""

import json
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from mockserver.engine.reserved_values import RESERVED
from mockserver.errors import InvalidFile
from mockserver.responders.faults.kinds import KINDS
from mockserver.server.control import ROWS, about
from mockserver.server.control.openapi import document, operation_id
from mockserver.server.control.reference_pages import answered_examples, pages
from mockserver.server.control.route_table import read
from tests.control.conftest import QUOTE_PATH

ROOT = Path(__file__).parents[2]


def test_the_document_is_valid_openapi_and_has_every_row():
    found = json.loads(json.dumps(document(ROWS), default=dict))
    validate(found)
    listed = {(method.upper(), path) for path, item in found["paths"].items() for method in item}
    assert listed == {(row.method, f"/__mock{row.path}") for row in ROWS}
    names = [operation_id(row) for row in ROWS]
    assert len(set(names)) == len(names)


def test_the_server_shows_its_own_document(control):
    assert control.get("/openapi")["paths"].keys() == document(ROWS)["paths"].keys()


CLOSED = [row for row in ROWS if not row.open_query]
"""The rows but those at which a node is asked whatever nodes of its chain are asked."""


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: f"{row.method} {row.path}")
def test_a_row_takes_nothing_it_does_not_know(control, row):
    path = row.path.replace("{id}", "1").replace("{key}", "k").replace("{name}", "n")
    path = path.replace("{chain}", "BNB").replace("{area}", "transactions")
    assert "'colour': unknown name" in control.refused(row.method, f"{path}?colour=red")
    if row.body is None:
        assert "takes none" in control.refused(row.method, path, {"colour": "red"})
    elif row.body.get("additionalProperties") is False:
        assert "'colour'" in control.refused(row.method, path, {"colour": "red"})


WITH_BODY = [row for row in ROWS if row.body]


@pytest.mark.parametrize("row", WITH_BODY, ids=lambda row: row.path)
@pytest.mark.parametrize("body", [b"{", b'{"a":1,"a":2}', b"\xff", b"NaN", b"[" * 100])
def test_a_body_that_is_no_json_is_a_sentence(mock, control, row, body):
    path = row.path.replace("{id}", "1").replace("{chain}", "BNB")
    if row.path == "/chains/{chain}":
        # As nodes say it.
        error = mock.call(row.method, f"/__mock{path}", body=body).json["error"]
        assert (error["code"], error["message"].partition(": body: ")[0]) == (-32700, "parse error")
    else:
        assert control.refused(row.method, path, body).startswith("body: ")


def test_an_unknown_place_and_a_wrong_method_say_what_there_is(mock):
    lost = mock.call("GET", "/__mock/clocks")
    assert (lost.status, "did you mean '/__mock/clock'" in lost.json["error"]) == (404, True)
    wrong = mock.call("DELETE", "/__mock/clock")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, POST, HEAD, OPTIONS")


def test_metrics_count_requests_refusals_and_faults_and_tell_the_worlds_time(serve):
    running = serve()
    client = running.client
    client.call("GET", QUOTE_PATH)
    client.call("GET", "/v1/checkOrder?id=7")
    client.call("GET", "/v1/nothing")
    client.control("POST", "/faults", {"kind": "http-status", "status": 500})
    client.call("GET", QUOTE_PATH)
    client.control("POST", "/clock", {"advance": "1h"})
    told = client.control("GET", "/metrics")
    assert told["requests"] == {"unknown": 1, "v2.checkOrder": 1, "v2.getBridgeQuote": 2}
    assert told["refusals"] == {"unknown-order": 1, "unknown-path": 1}
    assert told["faults"] == {"http-status": 1}
    assert (told["worlds"], told["world"], told["uptimeMs"]) == (1, "default", 3_600_000)


def test_it_is_not_ready_before_it_is(serve):
    running = serve()
    running.service.control.server.ready = False
    answer = running.client.call("GET", "/__mock/ready")
    assert (answer.status, answer.json) == (503, {"ready": False})
    running.service.control.server.ready = True
    assert running.client.control("GET", "/ready") == {"ready": True}


def test_a_large_dump_may_be_sent_but_not_a_large_order(mock):
    large = {"format": "x" * 2_000_000}
    assert mock.call("POST", "/__mock/load", body=large).status == 400
    assert mock.call("POST", "/v1/submitOrder", body=large).status == 413
    mock.close()
    mock._connection = None
    assert mock.call("POST", "/__mock/stubs", body={"operation": "x" * 2_000_000}).status == 413


@pytest.fixture(scope="module")
def made():
    return pages()


def test_the_shipped_pages_are_fresh(made):
    for name, text in made.items():
        assert (ROOT / "docs" / "reference" / name).read_text("utf-8") == text, name


def test_the_pages_list_every_row_every_kind_of_fault_and_every_reserved_value(made):
    for row in ROWS:
        assert f"## {row.method} /__mock{row.path}\n" in made["control.md"]
    for kind in KINDS:
        assert f"### {kind}\n" in made["control.md"]
    for one in RESERVED:
        assert f"| {one.code} | {one.meaning} |" in made["reserved.md"]


def test_every_row_has_an_example_that_is_answered_as_the_row_says():
    for row, example in zip(ROWS, answered_examples(ROWS), strict=True):
        assert example.line.startswith(f"{row.method} /__mock/")
        if row.streams:
            assert example.answer.startswith("event: ")
            continue
        told = json.loads(example.answer)
        assert "error" not in told or row.path == "/chains/{chain}", example.line
        assert set(row.answer.get("required", ())) <= set(told), example.line


_OWN_TABLE = """format: crosschain-mock/control@1
forms: {}
requests: {}
rows:
  GET /live: {is: Tell that it answers, does: about.live, answer: {live: boolean}}
  POST /echo: {is: Say it again, does: DOES, body: {what!: [text, what to say]}, answer: FORM}
"""


def test_a_row_more_is_one_entry(tmp_path):
    file = tmp_path / "control.yaml"
    file.write_text(_OWN_TABLE.replace("DOES", "about.live").replace("FORM", "{live: boolean}"))
    added = tuple(read(file))[-1]
    assert (added.method, added.path, added.action) == ("POST", "/echo", about.live)
    assert (added.body or {})["required"] == ["what"]
    assert added.answer["required"] == ["live"]
    assert document([added])["paths"]["/__mock/echo"]["post"]["summary"] == "Say it again"


@pytest.mark.parametrize(
    ("does", "form", "told"),
    [
        ("about.lives", "{live: boolean}", "'server.control.about:lives' is nothing"),
        ("abouts.live", "{live: boolean}", "'server.control.abouts:live' is nothing"),
        ("about.live", "lively", "'lively' is nothing"),
        ("about.live", "{live: list of lives}", "'lives' is nothing"),
    ],
)
def test_a_name_that_nothing_has_is_told_with_its_line(tmp_path, does, form, told):
    file = tmp_path / "control.yaml"
    file.write_text(_OWN_TABLE.replace("DOES", does).replace("FORM", form))
    with pytest.raises(InvalidFile, match=f"control.yaml:6: .*{told}"):
        tuple(read(file))
