"""The recorder on the wire: clients as the server has them, and services that are hardly HTTP."""

import json
import socket
import threading

import pytest

from mockserver import limits
from tests import conftest
from tests.recordings.conftest import answer

GET = b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /open/v1/order/getCrossChainQuote HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
ENDED = b"2\r\n{}\r\n0\r\n\r\n"


def exchanged(recorder, *parts, half=False):
    """Return all that comes until the recorder closes; `half` closes our end after sending."""
    return conftest.exchanged(
        recorder.port, lambda: recorder.call("POST", "/none"), *parts, half=half
    )


@pytest.mark.parametrize(
    ("parts", "status", "says"),
    [
        ((CHUNKED, b"zz\r\n"), 400, "Invalid character in chunk size"),
        ((CHUNKED, b"2\r\n{}more"), 400, "chunk"),
        ((POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",), 400, "'gzip, chunked' is not read"),
        ((b"\x16\x03\x01\x02\x00\x01\r\n\r\n",), 400, ""),
        ((b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",), 400, "HTTP/2 is not spoken here"),
        ((b"GET /v1/getChain HTTP/2.0\r\n\r\n",), 400, "HTTP/2.0 is not spoken here"),
        ((GET + b"X: " + b"a" * 70_000 + b"\r\n\r\n",), 431, f"more than {limits.HEAD.most} bytes"),
        ((GET + b"X: a\r\n" * 1_001 + b"\r\n",), 431, "headers"),
        ((POST + b"Content-Length: 16777217\r\n\r\n",), 413, "more than 16777216 bytes"),
    ],
    ids=["size", "length", "coding", "TLS", "HTTP/2", "2.0", "long", "lines", "large"],
)
@pytest.mark.deep(quick=6)
def test_what_is_no_request_is_refused_at_once(record, upstream, parts, status, says):
    got = exchanged(record("--arm-writes"), *parts)
    head, _, body = got.partition(b"\r\n\r\n")
    assert got.count(b"X-Recorder: trouble") == 1
    assert int(head.split()[1]) == status, got
    told = json.loads(body)
    assert told["code"] == status
    assert says in told["msg"]
    assert told["msg"].endswith("nothing was sent")
    assert upstream.seen == []


def test_a_body_that_broke_before_its_turn_is_refused(record, upstream):
    asked, release = threading.Event(), threading.Event()

    def slow(handler, _):
        asked.set()
        release.wait(60)
        answer(handler, b"{}")

    upstream.reply = slow
    recorder = record()
    with socket.create_connection(("127.0.0.1", recorder.port), timeout=30) as raw:
        raw.sendall(GET + b"\r\n" + CHUNKED)
        asked.wait(60)
        raw.sendall(b"zz\r\n")
        recorder.call("POST", "/none")
        release.set()
        told = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert b"\r\n\r\n{}HTTP/1.1 400" in told
    assert len(upstream.seen) == 1


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        (GET + b"\r\n", 1),
        (GET + b"Connection: close\r\n\r\n", 1),
        ((GET + b"\r\n") * 3, 3),
        (CHUNKED + ENDED, 1),
        (POST + b"Content-Length: 2\r\n\r\n{}", 1),
        (POST + b"Content-Length: 3\r\n\r\n{}", 0),
        (GET, 0),
    ],
    ids=["get", "close", "pipeline", "chunks", "post", "half a body", "half a head"],
)
def test_a_client_that_has_said_all_is_answered(record, upstream, sent, answers):
    recorder = record()
    assert exchanged(recorder, sent, half=True).count(b'{"code":0}') == answers
    assert len(recorder.exchanges) == answers


def served(upstream, raw):
    """Have the service answer with these bytes and close."""

    def reply(handler, _):
        handler.wfile.write(raw)
        handler.close_connection = True

    upstream.reply = reply


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"HTTP/1.1 101 Up\r\nUpgrade: websocket\r\n\r\n", "status 101"),
        (b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", "status 99"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + ENDED, "gzip, chunked"),
        (b"HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", "Invalid header token: 'No colon'"),
        (b"hello\r\n\r\n", "Bad status line"),
        (
            b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            "or a body follows where HTTP has none: to HEAD, or of status 204 or 304",
        ),
    ],
)
def test_what_is_no_answer_is_told_of(record, upstream, raw, says):
    served(upstream, raw)
    recorder = record()
    status, sentence = recorder.said(target="/v1/getChain?key=told-to-nobody")
    assert status == 502
    assert f"{upstream.url} answers no HTTP: " in sentence
    assert says in sentence
    assert "told-to-nobody" not in sentence
    assert recorder.exchanges == []


def test_a_status_that_no_file_takes_is_passed_on_and_the_file_stays_readable(record, upstream):
    recorder = record()
    recorder.call()
    served(upstream, b"HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nno")
    assert recorder.call()[::2] == (999, b"no")
    assert [one.response.status for one in recorder.exchanges] == [200]


def test_an_answer_of_events_costs_nothing_that_comes_after_it(record, upstream):
    recorder = record()
    served(upstream, b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\ndata: 1\n\ndata: 2\n\n")
    recorder.call()
    recorder.call(target="/v1/getAssetsByChain?chain=ARB")
    recorder.call()
    assert [one.response.body for one in recorder.exchanges] == [b"data: 1\n\ndata: 2\n\n"] * 3


def test_headers_come_through_as_they_were_encoded(record, upstream):
    language = "français".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Language: " + language
    served(upstream, head + b"\r\nContent-Length: 0\r\n\r\n")
    recorder = record()
    told = exchanged(recorder, GET + b"Connection: close\r\n\r\n")
    assert b"\r\nContent-Language: " + language + b"\r\n" in told
    (kept,) = recorder.exchanges
    assert kept.response.header("Content-Language") == "français"


def test_headers_that_are_no_utf_8_are_kept_and_passed_on(record, upstream):
    recorder = record()
    sent = b"Accept: \xff\r\nX-Name: \xe9\r\nConnection: close\r\n\r\n"
    assert exchanged(recorder, GET + sent).startswith(b"HTTP/1.1 200")
    (kept,) = recorder.exchanges
    assert kept.request.headers["Accept"] == "\xff"
    assert upstream.seen[0][2]["X-Name"].encode("latin-1").decode() == "é"


def test_a_client_that_leaves_in_the_middle_of_its_request_is_nothing_to_tell(record, capfd):
    recorder = record()
    with socket.create_connection(("127.0.0.1", recorder.port), timeout=30) as raw:
        raw.sendall(POST + b"Content-Length: 9\r\n\r\n{")
        recorder.call("POST", "/none")
    recorder.call()
    told = capfd.readouterr().err
    assert "Traceback" not in told
    assert "lost" not in told.lower()
