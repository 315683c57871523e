"""Requests of a journal that are kept as a recording, and served again from it."""

import gzip
import json

import pytest

from mockserver.recordings import load
from tests.conftest import order
from tests.control.conftest import QUOTE, QUOTE_PATH


@pytest.fixture
def kept(tmp_path):
    """Write what the control API gave as a file, in a folder to replay, and read it."""

    def write(told):
        file = tmp_path / "kept" / "recording.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(told["text"], "utf-8")
        recording = load(file)
        assert len(recording.exchanges) == told["exchanges"]
        return recording

    return write


def test_what_is_kept_is_served_again_as_it_was(control, kept, tmp_path, serve):
    first = control.client.call("GET", QUOTE_PATH)
    control.post("/clock", {"advance": "90s"})
    control.client.call("GET", "/v1/checkOrder?id=7")
    recording = kept(control.get("/recording?title=Two%20requests"))
    assert (recording.title, recording.dialect) == ("Two requests", "documented")
    assert recording.start == "2026-01-01T00:00:00Z"
    assert [one.advance_ms for one in recording.exchanges] == [0, 90_000]
    again = serve(replay=(tmp_path / "kept",)).client
    assert again.get("/v1/getBridgeQuote", query=QUOTE).raw == first.raw
    assert again.get("/v1/checkOrder", query={"id": "7"}).refusal.startswith("unknown-order")


def test_filters_and_a_position_choose_what_is_kept(control, kept):
    for path in (QUOTE_PATH, "/v1/checkOrder?id=7", "/v1/getChain"):
        control.client.call("GET", path)
    assert len(kept(control.get("/recording?refused=false")).exchanges) == 2
    (one,) = kept(control.get("/recording?since=2&limit=1")).exchanges
    assert (one.name, one.operation) == ("request-3", "v2.getChain")


def test_no_secret_is_kept(control, kept):
    client = control.client
    secret = "f00dfeed" * 16
    client.post(
        "/v1/submitOrder",
        order(),
        headers={"Evmaddress": client.wallet["Evmaddress"], "Signature": secret},
    )
    client.get("/v1/getChain", headers={"Authorization": "Bearer not-for-others"})
    text = control.get("/recording")["text"]
    assert secret not in text
    assert "not-for-others" not in text


def test_what_no_operation_answered_is_not_kept(control):
    assert "none of these requests" in control.refused("GET", "/recording")
    control.client.call("GET", "/v1/nothing")
    assert "none of these requests" in control.refused("GET", "/recording")


def test_a_stub_says_that_it_was_one(control, kept):
    control.post("/stubs", {"operation": "v2.getChain", "response": {"status": 201, "body": "{}"}})
    control.client.call("GET", "/v1/getChain")
    (one,) = kept(control.get("/recording")).exchanges
    assert one.note == "answered by stub"


def test_a_packed_body_is_kept_as_it_reads(control, kept):
    packed = gzip.compress(json.dumps(order()).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    control.client.call("POST", "/v1/submitOrder", body=packed, headers=headers)
    (one,) = kept(control.get("/recording")).exchanges
    # What `sourceCerts` holds is redacted.
    told = json.loads(one.request.body)
    assert {**told, "sourceCerts": ""} == {**order(), "sourceCerts": ""}
