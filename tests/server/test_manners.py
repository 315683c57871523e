"""HTTP as RFC 9110 and 9112 have it, for clients that are no browser and no test of ours."""

import http.client
import json

import pytest

from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import build
from tests import conftest
from tests.conftest import frozen, running

WALLET = b"EvmAddress: 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A\r\nSignature: 00\r\n"
TICKET = json.dumps({"hash": f"0x{'41' * 32}", "chain": "ARB"}).encode()
POST = b"POST /v1/submitTicket HTTP/1.1\r\nHost: x\r\n" + WALLET
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(TICKET), TICKET)
SIZED = POST + b"Content-Length: %d\r\n" % len(TICKET)
LIST = b"GET /v1/getAssetsByChain?chain=KAS HTTP/1.1\r\nHost: x\r\n"


def asked(mock, method, path, headers=None):
    """Return status, headers and body of a plain request."""
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=60)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}
    body = answer.read()
    connection.close()
    return *found, body


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/getChain", "/v1/getAssetsByChain?chain=KAS", "/v1/getAssetsByChain?chain=NONE"),
        *("/w/mine/v1/checkOrder?id=1", "/open/v1/base/getSupportChains"),
        *("/__mock/ready", "/__mock/clock", "/w/mine/__mock/orders", "/__mock/orders?limit=0"),
        *("/__mock/", "/none", "/__mock/none"),
    ],
)
def test_head_is_answered_as_get_without_the_body(mock, path):
    status, headers, body = asked(mock, "GET", path)
    assert body
    told, of_head, nothing = asked(mock, "HEAD", path)
    assert nothing == b""
    for varying in (headers, of_head):
        varying.pop("date")
    assert (told, of_head) == (status, headers)


def test_head_is_seen_as_what_it_was(mock):
    asked(mock, "HEAD", f"{mock.prefix}/v1/getAssetsByChain?chain=KAS")
    [entry] = mock.control("GET", "/journal")["entries"]
    assert (entry["request"]["method"], entry["operation"]) == ("HEAD", "v2.getAssetsByChain")
    recorded = mock.control("GET", "/recording")["text"]
    assert "method: GET" in recorded, "what was answered is the answer to a GET"
    assert "symbol: KAS" in recorded


def test_a_head_of_the_events_ends(mock):
    status, headers, body = asked(mock, "HEAD", "/__mock/events")
    assert (status, body) == (200, b"")
    assert headers["content-type"].startswith("text/event-stream")


def test_a_head_of_what_is_only_posted_is_a_wrong_method(mock):
    for path in ("/v1/submitOrder", "/__mock/reset"):
        status, headers, _ = asked(mock, "HEAD", path)
        assert (status, headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/getChain", "GET, HEAD, OPTIONS"),
        ("/w/mine/v1/submitOrder", "POST, OPTIONS"),
        ("*", "GET, POST, HEAD, OPTIONS"),
        ("/__mock/clock", "GET, POST, HEAD, OPTIONS"),
        ("/__mock/reset", "POST, OPTIONS"),
    ],
)
def test_options_tells_what_a_path_allows(mock, path, allowed):
    status, headers, body = asked(mock, "OPTIONS", path)
    assert (status, headers["allow"], body) == (204, allowed, b"")


def test_options_of_nothing_is_an_unknown_path(mock):
    assert asked(mock, "OPTIONS", "/v1/none")[0] == 404
    assert asked(mock, "OPTIONS", "/__mock/none")[0] == 404


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"HTTP://127.0.0.1/v1/getChain", 200),
        (b"https://other.example/v1/getChain", 200),
        (b"*", 400),
    ],
)
def test_targets_in_their_other_forms(mock, target, status):
    answer = exchanged(mock, b"GET " + target + b" HTTP/1.0\r\nHost: x\r\n\r\n")
    assert answer.split()[1] == str(status).encode()
    assert (b"'*' is no target of this method" in answer) == (status == 400)


def exchanged(mock, *parts, half=False):
    """Return all that comes until the server closes; `half` closes our end after sending."""
    return conftest.exchanged(mock.port, lambda: mock.control("GET", "/live"), *parts, half=half)


@pytest.mark.parametrize(
    "parts",
    [
        (CHUNKED, b"zz\r\n"),
        (CHUNKED, CHUNK, b"-5\r\n"),
        (CHUNKED + CHUNK, b"0\r\nX Y: a\r\n\r\n"),
        (CHUNKED, b"2\r\n{}more"),
        (CHUNKED, CHUNK + b"0\r\n", b"X: " + b"a" * 70_000 + b"\r\n\r\n"),
    ],
    ids=["size", "later size", "trailer", "length", "long trailer"],
)
def test_a_body_that_breaks_on_its_way_is_refused_at_once(mock, parts):
    answer = exchanged(mock, *parts)
    assert answer.count(b"HTTP/1.") == 1
    assert answer.split()[1] == b"400", answer
    assert b"X-Mock-Refusal: bad-http" in answer


BARE = b"GET /v1/getAssetsByChain?chain=KAS HTTP/1.1\r\n"


@pytest.mark.parametrize("lane", [True, False])
@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        (b"", b"Missing 'Host' header"),
        (b"Host: x\r\nHost: x\r\n", b"Duplicate"),
        (b"Host: a b\r\n", b"expected a host and a port, got 'a b'"),
        (b"Host: a/b\r\n", b"got 'a/b'"),
        (b"Host: a:b\r\n", b"got 'a:b'"),
        (b"Host: ::1\r\n", b"got '::1'"),
        (b"Host: me@x\r\n", b"got 'me@x'"),
        (b"Host: \xc3\xa9\r\n", b"got '\\xe9'"),
    ],
)
@pytest.mark.deep(quick=5)
def test_a_host_that_is_none_is_refused(hosts, says, lane):
    with running(frozen(), lane=lane) as mock:
        answer = exchanged(mock.client, BARE + hosts + b"\r\n")
    assert answer.split()[1] == b"400"
    assert says in answer


@pytest.mark.parametrize(
    "hosts",
    [
        *(b"Host: localhost", b"Host: x:80", b"Host: [::1]:80", b"Host: 127.0.0.1:", b"Host:"),
        *(b"Host: my_mock.example.", b"HOST: a%20b"),
    ],
)
def test_every_other_host_is_answered(mock, hosts):
    answer = exchanged(mock, BARE + hosts + b"\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200"), answer


@pytest.mark.parametrize("lane", [True, False])
def test_only_chunks_are_read(lane):
    with running(frozen(), lane=lane) as mock:
        ended = CHUNK + b"0;a=b\r\nTrailer: c\r\n\r\n"
        head = POST + b"Connection: close\r\nTransfer-Encoding: "
        assert b'"ticketId":1' in exchanged(mock.client, head + b"Chunked\r\n\r\n" + ended)
        refused = exchanged(mock.client, head + b"gzip, chunked\r\n\r\n" + ended)
    assert refused.startswith(b"HTTP/1.1 400")
    assert b"Transfer-Encoding 'gzip, chunked' is not read here" in refused


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        (LIST + b"\r\n", 1),
        (LIST + b"Connection: close\r\n\r\n", 1),
        (SIZED + b"\r\n" + TICKET, 1),
        (SIZED + b"Connection: close\r\n\r\n" + TICKET, 1),
        (CHUNKED + CHUNK + b"0\r\n\r\n", 1),
        ((LIST + b"\r\n") * 3 + SIZED + b"\r\n" + TICKET, 4),
        (b"GET /v1/none HTTP/1.0\r\n\r\n", 1),
        (b"nonsense\r\n\r\n", 1),
        (b"GET /__mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n", 1),
        (SIZED + b"\r\n" + TICKET[:-1], 0),
        (LIST, 0),
        (b"", 0),
    ],
    ids=[
        *(
            "get",
            "get and close",
            "post",
            "post and close",
            "chunks",
            "pipeline",
            "old",
            "nonsense",
        ),
        *("events", "half a body", "half a head", "nothing"),
    ],
)
@pytest.mark.parametrize("lane", [True, False])
@pytest.mark.deep(quick=8)
def test_a_client_that_has_said_all_is_answered(sent, answers, lane):
    with running(frozen(), lane=lane) as mock:
        told = exchanged(mock.client, sent, half=True)
    assert told.count(b"HTTP/1.") == answers
    assert told.count(b"\r\nServer: ") == answers


def test_a_socketless_head_has_the_answer_of_a_get():
    service = build(frozen())
    answers = [
        service.answer(Request(method, "/v1/getChain", "", Headers(), b"")).response
        for method in ("GET", "HEAD")
    ]
    assert answers[0].body == answers[1].body
