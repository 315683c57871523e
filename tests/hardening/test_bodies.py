"""Bodies that are not what their headers say, and answers that could not be sent."""

import gzip
import json
import socket
import zlib
from typing import Any

import pytest

from tests.conftest import order
from tests.server.test_bad_input import refused

BODY = b'{"amount": 10}'
PATHS = {
    "v1": "/open/v1/order/getCrossChainQuote",
    "v2": "/v1/submitOrder",
}


@pytest.mark.parametrize("generation", PATHS)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP", " gzip ", "x-gzip", "gzip, gzip"])
def test_a_coding_that_is_not_true_is_refused(mock, generation, coding):
    answer = mock.post(PATHS[generation], BODY, headers={"Content-Encoding": coding})
    refused(answer, generation, "Content-Encoding", status=400)


@pytest.mark.parametrize("generation", PATHS)
@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "rot13", "x", "gzip;q=1", "\x80"])
def test_a_coding_that_is_not_read_here_is_refused(mock, generation, coding):
    answer = mock.post(PATHS[generation], BODY, headers={"Content-Encoding": coding})
    refused(answer, generation, "Content-Encoding", status=415)
    assert answer.headers["accept-encoding"] == "gzip, deflate, identity"


@pytest.mark.parametrize(
    "broken",
    [
        gzip.compress(BODY)[:-4],
        gzip.compress(BODY) + b"more",
        gzip.compress(BODY)[:10] + b"\x00" * 20,
        gzip.compress(BODY) + gzip.compress(b" ")[:-1],
        b"",
    ],
    ids=["cut", "more behind it", "damaged", "later member cut", "empty"],
)
def test_a_damaged_body_is_refused(mock, broken):
    answer = mock.post(PATHS["v2"], broken, headers={"Content-Encoding": "gzip"})
    refused(answer, "v2", status=400)


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("gzip", lambda raw: b"".join(map(gzip.compress, (b"", raw[:9], raw[9:])))),
        ("deflate", zlib.compress),
        ("deflate", lambda raw: zlib.compress(raw, wbits=-15)),
        ("identity", bytes),
        ("", bytes),
    ],
)
def test_a_true_coding_is_read(mock, coding, pack):
    raw = pack(json.dumps(order()).encode())
    headers = {**mock.wallet, "Content-Encoding": coding}
    assert mock.post("/v1/submitOrder", raw, headers=headers).data["id"]


@pytest.mark.parametrize(
    "bomb",
    [gzip.compress(b" " * 20_000_000), gzip.compress(b" " * 600_000) * 2],
    ids=["one member", "two members"],
)
def test_a_small_body_that_would_unpack_to_a_large_one_is_refused(mock, bomb):
    assert len(bomb) < 100_000
    answer = mock.post(PATHS["v2"], bomb, headers={"Content-Encoding": "gzip"})
    refused(answer, "v2", "1048576 bytes", status=413)


def test_the_control_api_refuses_them_in_its_own_form(mock):
    for coding, status in (("gzip", 400), ("br", 415)):
        answer = mock.post("/__mock/stubs", b"{}", headers={"Content-Encoding": coding})
        assert answer.status == status
        assert "Content-Encoding" in answer.json["error"]


def test_what_could_not_be_read_is_in_the_journal_of_its_world(mock):
    mock.post(PATHS["v1"], BODY, headers={"Content-Encoding": "gzip"})
    (entry,) = mock.control("GET", "/journal")["entries"]
    assert entry["refusal"].startswith("bad-coding: ")


@pytest.mark.parametrize(
    "name",
    [
        "Content-Length",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Content-Encoding",
        "Upgrade",
        "Trailer",
        "TE",
        "Keep-Alive",
    ],
)
@pytest.mark.parametrize("kind", ["data", "refusal", "whole"])
def test_stubs_do_not_frame_their_answers(mock, name, kind):
    answers: dict[str, dict[str, Any]] = {
        "data": {"data": {}},
        "refusal": {"refusal": "chain-suspended"},
        "whole": {"status": 200, "body": "x"},
    }
    told = {
        "operation": "v2.getChain",
        "unchecked": True,
        "response": {**answers[kind], "headers": {name: "abc"}},
    }
    answer = mock.post("/__mock/stubs", told)
    assert answer.status == 400
    assert name.lower() in answer.json["error"].lower()
    assert mock.get("/v1/getChain").data


@pytest.mark.parametrize("status", [204, 304, 205])
def test_a_stub_with_a_status_that_has_no_body_takes_none(mock, status):
    told: Any = {"operation": "v2.getChain", "response": {"status": status, "body": "x"}}
    answer = mock.post("/__mock/stubs", told)
    assert answer.status == 400
    assert str(status) in answer.json["error"]
    told["response"].pop("body")
    assert mock.post("/__mock/stubs", told).status == 200
    raw = _raw(mock, b"GET /w/%s/v1/getChain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert raw.startswith(b"HTTP/1.1 %d" % status)


def _raw(mock, text):
    with socket.create_connection(("127.0.0.1", mock.port), timeout=60) as raw:
        raw.sendall(text % mock.prefix.removeprefix("/w/").encode())
        return b"".join(iter(lambda: raw.recv(65_536), b""))
