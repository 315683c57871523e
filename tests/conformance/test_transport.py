"""The one place where bytes leave: whatever the other side does is an answer, and takes no longer
than it may."""

import asyncio
import gzip
import json
import socket
import zlib
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from queue import SimpleQueue

import pytest

from mockserver.clock import ticks_ms
from mockserver.conformance.session import transport as sending
from mockserver.conformance.session.exchange import NoAnswer
from mockserver.conformance.session.permit import Arming, Limits, Permit, Refusing, Spent
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.target import Target, UnsafeOrWrong, target_of
from mockserver.conformance.session.transport import Transport
from mockserver.contract import load
from mockserver.http_messages import Headers, Request, is_loopback
from mockserver.testing import running
from tests.conformance.rawserver import http, raw_server, saying
from tests.conftest import PATIENCE_S, eventually

CHAINS = Request("GET", "/v1/getChain")
SUBMIT = Request("POST", "/v1/submitOrder", body=b"{}")
FAST = Decimal(10_000)
OK = json.dumps({"code": 0, "msg": "success", "data": {"version": 1, "list": []}}).encode()


def transport(url, *, arming=None, **limits):
    target = Target(url, url)
    permit = Permit(load(), target, arming=arming)
    return Transport(target, permit, Limits(**{"rate": FAST, "request_ms": 60_000, **limits}))


def answer_of(talk, **limits):
    with raw_server(talk) as server, transport(server.url, **limits) as client:
        return client.send("v2", CHAINS)


def test_an_answer_comes_as_it_was_sent():
    answer = answer_of(saying(http(OK, "X-Odd:  a b ", "X-Odd: c")))
    assert (answer.status, answer.body, answer.trouble) == (200, OK, None)
    assert [value for name, value in answer.headers if name == "X-Odd"] == ["a b", "c"]


def test_a_request_leaves_as_it_was_drafted():
    request = Request(
        "GET", "/v1/getPrice", "chain=a%00b&symbol=%25+%2B", Headers((("X-A", "1"), ("X-A", "2")))
    )
    with raw_server(saying(http(OK))) as server, transport(server.url) as client:
        client.send("v2", request)
        came = server.requests[0].decode("latin-1")
    assert came.startswith("GET /v1/getPrice?chain=a%00b&symbol=%25+%2B HTTP/1.1\r\n")
    assert "X-A: 1\r\n" in came
    assert "X-A: 2\r\n" in came


def test_the_whole_address_is_the_target_where_that_is_drafted():
    draft = Draft(raw_query="chain=BNB", is_absolute=True)
    with raw_server(saying(http(OK))) as server, transport(f"{server.url}/w/a") as client:
        client.send("v2", draft.request(load().operation("v2.getPrice")))
        assert server.lines == [f"GET {server.url}/w/a/v1/getPrice?chain=BNB HTTP/1.1"]


LIST = http(OK).replace(b"Connection: close\r\n", b"")


@pytest.mark.parametrize(
    ("answers", "stays_open", "troubles"),
    [
        (LIST + LIST, False, [None, None]),
        (LIST + LIST, True, [None, None]),
        (LIST, False, [None, NoAnswer.CUT]),
        (LIST, True, [None, NoAnswer.TIMED_OUT]),
        (LIST + LIST[:-5], False, [None, NoAnswer.CUT]),
        (b"", False, [NoAnswer.CUT, NoAnswer.CUT]),
    ],
)
def test_two_requests_in_one_packet_get_an_answer_each(monkeypatch, answers, stays_open, troubles):
    monkeypatch.setattr(sending, "_SOON_MS", 300)

    async def talk(_, writer):
        writer.write(answers)
        await writer.drain()
        await asyncio.sleep(60 * stays_open)

    with raw_server(talk) as server, transport(server.url) as client:
        told = client.send_together([("v2", CHAINS)] * 2, in_one_packet=True)
        assert client.count == 2
    assert [answer.trouble for answer in told] == troubles
    assert all(answer.body == OK for answer in told if answer.trouble is None)
    both = troubles == [None, None]
    assert ("its connection stays open for 0.3 s" in told[1].reason) == (both and stays_open)


def test_a_request_is_sent_and_left():
    with raw_server(_silent) as server, transport(server.url) as client:
        client.send_and_leave("v2", CHAINS)
        assert client.count == 1
        eventually(lambda: server.lines == ["GET /v1/getChain HTTP/1.1"], "the request came")
        with pytest.raises(Refusing):
            client.send_and_leave("v2", SUBMIT)


def test_a_base_path_is_kept_in_front():
    with raw_server(saying(http(OK))) as server, transport(f"{server.url}/w/a/") as client:
        client.send("v2", CHAINS)
        assert server.lines == ["GET /w/a//v1/getChain HTTP/1.1"]
    assert target_of("http://127.0.0.1:1/w/a/").v2 == "http://127.0.0.1:1/w/a"


async def _forever(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"5\r\nabcde\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _dripping_head(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nX-A: ")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _silent(_, writer):
    await asyncio.sleep(60)


async def _hundred_megabytes(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    for _part in range(1000):
        writer.write(b" " * 100_000)
        await writer.drain()


@pytest.mark.parametrize(
    ("talk", "trouble"),
    [
        (_hundred_megabytes, NoAnswer.TOO_LARGE),
        (saying(b""), NoAnswer.CUT),
        (saying(http(OK)[:-5]), NoAnswer.CUT),
        (
            saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
            NoAnswer.CUT,
        ),
        (saying(b"220 mail.example ESMTP\r\n\r\n"), NoAnswer.BROKEN_HTTP),
        (saying(http(OK, "Content-Encoding: gzip")), NoAnswer.CUT),
    ],
)
def test_what_is_no_whole_answer_is_a_trouble_with_a_reason(talk, trouble):
    answer = answer_of(talk, most_bytes=1_000_000)
    assert answer.trouble is trouble
    assert answer.reason


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
COUNTED = HEAD + b"Content-Length: 2\r\n\r\n"
PACKED = gzip.compress(b"{}", mtime=0)


def packed(coding, body):
    return HEAD + b"Content-Encoding: %s\r\n\r\n" % coding + body


@pytest.mark.parametrize(
    "wire",
    [
        HEAD + b"\r\n{}",
        b"\r\n" + COUNTED + b"{}",
        b"HTTP/1.0 200\n\n{}",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + COUNTED + b"{}\r\n",
        HEAD + b"X-A: 1\r\n 2\r\nX-B: \xe9\x01\r\nContent-Length: 002\r\n\r\n{}",
        CHUNKED + b"2;a=b\r\n{}\r\n0\r\nX-T: 1\r\n\r\n",
        CHUNKED + b"1 \r\n{\r\n01\r\n}\r\n0\r\n\r\n",
        packed(b"gzip", PACKED),
        packed(b"GZIP", gzip.compress(b"{", mtime=0) + gzip.compress(b"}", mtime=0)),
        packed(b"deflate", zlib.compress(b"{}")),
        packed(b"deflate", zlib.compress(b"{}")[2:-4]),
        packed(b"odd", b"{}"),
    ],
)
def test_an_answer_is_read_however_it_is_written(wire):
    answer = answer_of(saying(wire))
    assert (answer.status, answer.body, answer.trouble) == (200, b"{}", None)


@pytest.mark.parametrize(
    ("wire", "trouble", "reason"),
    [
        (b"HTTP/1.1 20 OK\r\n\r\n", NoAnswer.BROKEN_HTTP, "expected a status as in"),
        (b"HTTP/1.3 200 OK\r\n\r\n", NoAnswer.BROKEN_HTTP, "expected a status as in"),
        (b"\rHTTP/1.1 200 OK\r\n\r\n", NoAnswer.BROKEN_HTTP, "control character"),
        (HEAD + b"X-A 1\r\n\r\n", NoAnswer.BROKEN_HTTP, "expected a header as in"),
        (HEAD + b"X-A: a\x00b\r\n\r\n", NoAnswer.BROKEN_HTTP, "control character"),
        (HEAD + b"X-A: " + b"a" * 70_000, NoAnswer.BROKEN_HTTP, "more than 65536 bytes"),
        (HEAD + b"X-A: 1\r\n" * 129, NoAnswer.BROKEN_HTTP, "more than 128 headers"),
        (HEAD + b"Content-Length: +2\r\n\r\n{}", NoAnswer.BROKEN_HTTP, "expected a number"),
        (HEAD + b"Content-Length: 2\r\n" * 2 + b"\r\n{}", NoAnswer.BROKEN_HTTP, "two headers"),
        (COUNTED + b"{}{}", NoAnswer.BROKEN_HTTP, "after the end of the answer came '{}'"),
        (CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n", NoAnswer.BROKEN_HTTP, "the size of a chunk"),
        (CHUNKED + b"2\n{}\n0\n\n", NoAnswer.BROKEN_HTTP, "control character"),
        (CHUNKED + b"1\r\n{}\r\n0\r\n\r\n", NoAnswer.BROKEN_HTTP, "goes on with '}'"),
        (packed(b"br", b"{}"), NoAnswer.BROKEN_HTTP, "packed as br"),
        (CHUNKED + b"2\r\n{}\r\n0\r\n", NoAnswer.CUT, "ends before the chunked body does"),
        (HEAD + b"Content-Length: 5\r\n\r\n{}", NoAnswer.CUT, "3 bytes before the body does"),
        (HEAD + b"X-A", NoAnswer.CUT, "ends before the head does"),
        (packed(b"gzip", PACKED[:-6]), NoAnswer.CUT, "ends before what is packed"),
        (packed(b"gzip", PACKED + b"more"), NoAnswer.CUT, "cannot be unpacked as gzip"),
    ],
)
def test_what_is_wrong_on_the_wire_is_said(wire, trouble, reason):
    answer = answer_of(saying(wire))
    assert answer.trouble is trouble
    assert reason in answer.reason
    is_read = trouble is NoAnswer.CUT or reason == "packed as br"
    assert answer.status == (200 if is_read and b"\r\n\r\n" in wire else 0)


@pytest.mark.parametrize("answers", [2, 1])
def test_a_kept_connection_is_used_until_its_other_end_closes_it(answers):
    accepted: list[socket.socket] = []
    closed: SimpleQueue[bool] = SimpleQueue()
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:

        def serve():
            for _ in range(2 // answers):
                connection, _ = listener.accept()
                accepted.append(connection)
                for _ in range(answers):
                    connection.recv(65_536)
                    connection.sendall(COUNTED + b"{}")
                connection.close()
                closed.put(True)

        serving = pool.submit(serve)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with transport(url) as client, client.kept_connection():
            assert client.send("v2", CHAINS).body == b"{}"
            if answers == 1:
                closed.get(timeout=PATIENCE_S)
            assert client.send("v2", CHAINS).body == b"{}"
        serving.result(PATIENCE_S)
    assert len(accepted) == 2 // answers


def test_what_is_sent_beside_a_kept_connection_has_its_own_and_leaves_that_open():
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:

        def serve():
            kept, _ = listener.accept()
            for is_beside in (False, True, False):
                connection = listener.accept()[0] if is_beside else kept
                connection.recv(65_536)
                connection.sendall(COUNTED + b"{}")
                if is_beside:
                    connection.close()
            kept.close()

        serving = pool.submit(serve)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with transport(url) as client, client.kept_connection():
            assert client.send("v2", CHAINS).body == b"{}"
            with client.beside_kept():
                assert client.send("v2", CHAINS).body == b"{}"
            assert client.send("v2", CHAINS).body == b"{}"
        serving.result(PATIENCE_S)


def test_what_refuses_a_body_before_it_is_read_has_answered():
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:

        def refuse():
            connection, _ = listener.accept()
            connection.recv(10)
            connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}")
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
            connection.close()

        serving = pool.submit(refuse)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with transport(url, request_ms=20_000) as client:
            large = Request("POST", "/open/v1/order/getCrossChainQuote", body=b" " * 3_000_000)
            assert client.send("v2", large).status == 413
        serving.result(PATIENCE_S)


@pytest.mark.parametrize("talk", [_forever, _dripping_head, _silent])
def test_what_does_not_end_in_time_is_a_trouble_with_a_reason(talk):
    answer = answer_of(talk, request_ms=400, most_bytes=1_000_000_000)
    assert answer.trouble is NoAnswer.TIMED_OUT
    assert answer.reason


def test_a_small_answer_that_grows_when_unpacked_is_too_large():
    bomb = gzip.compress(b" " * 50_000_000)
    answer = answer_of(saying(http(bomb, "Content-Encoding: gzip")), most_bytes=1_000_000)
    assert answer.trouble is NoAnswer.TOO_LARGE
    assert len(answer.body) == 65_536, "nobody reads more of it"


def test_nobody_at_the_port_is_a_trouble(dead_port):
    with transport(f"http://127.0.0.1:{dead_port}") as client:
        assert client.send("v2", CHAINS).trouble is NoAnswer.UNREACHABLE


def test_no_tls_at_the_port_is_a_trouble():
    with running() as mock, transport(mock.url.replace("http:", "https:")) as client:
        assert client.send("v2", CHAINS).trouble is NoAnswer.TLS


def test_a_redirect_is_an_answer_and_is_not_followed():
    moved = http(b"", "Location: http://127.0.0.1:9/v1/getChain", status="302 Found")
    with raw_server(saying(moved)) as server, transport(server.url) as client:
        answer = client.send("v2", CHAINS)
        assert (answer.status, answer.header("location")) == (302, "http://127.0.0.1:9/v1/getChain")
        assert len(server.requests) == 1


def test_a_request_whose_connection_drops_is_not_sent_again_behind_our_back():
    with raw_server(saying(b"")) as server, transport(server.url) as client:
        for _ in range(3):
            client.send("v2", CHAINS)
        assert len(server.requests) == client.count == 3


def test_a_cookie_is_not_sent_back():
    with raw_server(saying(http(OK, "Set-Cookie: a=b"))) as server, transport(server.url) as client:
        client.send("v2", CHAINS)
        client.send("v2", CHAINS)
        assert b"ookie" not in b"".join(server.requests)


@pytest.mark.parametrize("name", ["a\nb", "a\r\nX: 1", "\x00", "\x1b[2J", "\ud800"])
def test_what_no_header_can_carry_does_not_leave(name):
    request = Request("GET", "/open/v1/base/getSupportTokens", headers=Headers([("chain", name)]))
    with raw_server(saying(http(OK))) as server, transport(server.url) as client:
        with pytest.raises(Refusing, match="header 'chain' cannot carry"):
            client.send("v1", request)
        assert client.count == 0
        assert not server.requests


def test_the_budget_is_kept():
    with raw_server(saying(http(OK))) as server, transport(server.url, budget=2) as client:
        client.send("v2", CHAINS)
        client.send("v2", CHAINS)
        with pytest.raises(Spent, match="budget of 2 requests"):
            client.send("v2", CHAINS)
        assert len(server.requests) == 2


def test_what_all_answers_have_together_is_bounded():
    large = http(b" " * 60_000)
    with raw_server(saying(large)) as server, transport(server.url, most_kept=100_000) as client:
        assert len(client.send("v2", CHAINS).body) == 60_000
        client.send("v2", CHAINS)
        with pytest.raises(Spent, match="120000 bytes in all"):
            client.send("v2", CHAINS)
        assert len(server.requests) == 2


def test_the_time_is_kept():
    with raw_server(_silent) as server:
        target = Target(server.url, server.url)
        limits = Limits(rate=FAST, time_ms=300, request_ms=60_000)
        now = [0]
        with Transport(target, Permit(load(), target), limits, ticks=lambda: now[0]) as client:
            # By this clock no time passes while it waits; what it may take is the 300 ms that are
            # left, and the service would let it wait for a minute.
            assert client.send("v2", CHAINS).trouble is NoAnswer.TIMED_OUT
            assert client.left_ms == 300
            now[0] = 300
            with pytest.raises(Spent, match="time of 300 ms"):
                client.send("v2", CHAINS)


def test_the_rate_is_kept():
    with raw_server(saying(http(OK))) as server:
        target = Target(server.url, server.url)
        limits = Limits(rate=Decimal(20))
        with Transport(target, Permit(load(), target), limits) as client:
            began = ticks_ms()
            for _ in range(4):
                client.send("v2", CHAINS)
            assert ticks_ms() - began >= 149


@pytest.mark.parametrize(
    "request_",
    [
        SUBMIT,
        Request("POST", "/v1/submitTicket"),
        Request("POST", "/open/v1/order/submitCrossChain"),
        Request("POST", "/v1/getChain"),
        Request("PUT", "/v1/submitOrder"),
        Request("DELETE", "/v1/getChain"),
        Request("POST", "/v1/../v1/submitOrder"),
        Request("POST", "//v1/submitOrder"),
        Request("POST", "/v1/submitorder"),
        Request("post", "/v1/submitOrder"),
        Request("PATCH", "/anything"),
    ],
)
def test_nothing_that_may_change_something_leaves_unarmed(request_):
    with raw_server(saying(http(OK))) as server, transport(server.url) as client:
        with pytest.raises(Refusing):
            client.send("v2", request_)
        assert server.requests == []


def test_armed_submissions_leave_up_to_the_cap():
    arming = Arming(writes=True, most=2)
    with raw_server(saying(http(OK))) as server, transport(server.url, arming=arming) as client:
        client.send("v2", SUBMIT)
        client.send("v2", SUBMIT)
        with pytest.raises(Refusing, match="cap of 2"):
            client.send("v2", SUBMIT)
        client.send("v2", CHAINS)
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    "host", ["api.example.com", "10.0.0.7", "127.0.0.1.example.com", "[2001:db8::1]"]
)
def test_a_host_that_is_not_this_machine_must_be_named(host):
    target = target_of(f"http://{host}:8080")
    with pytest.raises(UnsafeOrWrong, match="--allow-host"):
        Permit(load(), target)
    Permit(load(), target, hosts=target.hosts)


def test_submissions_to_another_host_need_its_name_typed_again():
    target = target_of("http://api.example.com")
    armed = Arming(writes=True)
    with pytest.raises(UnsafeOrWrong, match="--set confirm-host=api"):
        Permit(load(), target, hosts=("api.example.com",), arming=armed)
    typed = Arming(writes=True, confirmed=("api.example.org",))
    with pytest.raises(UnsafeOrWrong, match="--set confirm-host="):
        Permit(load(), target, hosts=("api.example.com",), arming=typed)
    right = Arming(writes=True, confirmed=("API.example.com",))
    assert Permit(load(), target, hosts=("API.example.com",), arming=right).refusal(SUBMIT) == ""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "a.localhost"])
def test_loopback_is_known_by_its_name(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["localhost.example.com", "0.0.0.0", "10.0.0.1", "", "128.0.0.1"])  # noqa: S104
def test_nothing_else_is_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.0.0.1:80",
        "ftp://127.0.0.1",
        "http://",
        "http://h:0",
        "http://h:99999",
        "http://u:p@h",
        "http://h/?a=b",
        "http://h/#x",
        "http://[::1",
    ],
)
def test_what_is_no_base_address_is_told(text):
    with pytest.raises(UnsafeOrWrong):
        target_of(v2=text or None, v1=None)


def test_each_generation_may_have_its_own_address():
    target = target_of(v1="http://127.0.0.1:1/a/", v2="http://LOCALHOST:2")
    assert target.bases == {"v1": "http://127.0.0.1:1/a", "v2": "http://LOCALHOST:2"}
    assert target.hosts == ("127.0.0.1", "localhost")
    assert target_of(v2="http://127.0.0.1:1").bases == {"v2": "http://127.0.0.1:1"}
    assert Target("http://127.0.0.1:1", None).hosts == ("127.0.0.1",)


def test_no_post_leaves_for_another_machine_without_a_developer_account():
    target = target_of("https://api.example.com")
    quote = Request("POST", "/open/v1/order/getCrossChainQuote")
    bare = Permit(load(), target, hosts=target.hosts)
    assert "--set app-key=" in bare.refusal(quote)
    assert bare.refusal(CHAINS) == ""
    assert Permit(load(), target, hosts=target.hosts, own_keys=True).refusal(quote) == ""
    assert Permit(load(), target_of("http://127.0.0.1:1")).refusal(quote) == ""
