"""Connections that say nothing, half of something, or are too many."""

import asyncio
import contextlib
import re
import resource
import select
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from mockserver import limits
from mockserver.server.descriptor_exhaustion import Exhaustion
from tests.conftest import PATIENCE_S, eventually, exchanged, frozen, running

HALF = [
    b"",
    b"GET /v1/getChain HTT",
    b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\nX-",
    b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/g",
]


def later(mock, raw, step, until=b""):
    """Let time pass, step by step, until bytes have come or the end of them.

    Returns what came, and how many seconds were passed over for that.
    """
    came, passed = b"", 0.0
    while True:
        if select.select([raw], [], [], 0.05)[0]:
            part = raw.recv(65_536)
            came += part
            if not part or (until and until in came):
                return came, passed
        else:
            mock.clock.skip(step)
            passed += step


@pytest.mark.parametrize("sent", HALF)
def test_a_connection_without_a_whole_head_is_closed(sent):
    with running(frozen()) as mock, _connected(mock.port) as raw:
        began = mock.clock.now()
        raw.sendall(sent)
        answers = sent.count(b"\r\n\r\n")
        begin = raw.recv(65_536) if answers else b""
        rest, _ = later(mock, raw, 5)
        assert mock.clock.now() - began > limits.IDLE.most
    assert (begin + rest).count(b"HTTP/1.1 200") == answers


@pytest.mark.parametrize("headers", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_arrive_is_not_waited_for(headers):
    with running(frozen()) as mock, _connected(mock.port) as raw:
        began = mock.clock.now()
        raw.sendall(b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n")
        answer, _ = later(mock, raw, 5, until=b"\r\n\r\n")
        assert mock.clock.now() - began > limits.BODY_WAIT.most
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"X-Mock-Refusal: request-timeout" in answer


def test_a_client_that_does_not_read_is_let_go(monkeypatch):
    soon = limits.Limit("", 1, "seconds", "a connection", "")
    monkeypatch.setattr(limits, "STALLED", soon)
    with running(frozen()) as mock, _connected(mock.port) as raw:
        body = {"status": 200, "body": "x" * 900_000}
        mock.client.control("POST", "/stubs", {"operation": "v2.getChain", "response": body})
        with pytest.raises(ConnectionError):
            _flood(raw, b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n")


PLAIN = b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c", b"TLS/1.0, HTTP/1.1"])
@pytest.mark.parametrize("body", [b"", b"{}"])
@pytest.mark.parametrize("together", [True, False])
def test_nobody_waits_behind_a_request_for_another_protocol(protocol, body, together):
    head = b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: "
    first = head + protocol + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
    parts = [first + body + PLAIN] if together else [first, body + PLAIN]
    with running(frozen()) as mock, _connected(mock.port) as raw:
        for part in parts:
            raw.sendall(part)
        answers = b""
        while answers.count(b"HTTP/1.1 ") < 2 and (more := raw.recv(65_536)):
            answers += more
    # The second is answered, or the end of the connection tells that nobody has heard it.
    assert answers.startswith(b"HTTP/1.1 ")


_NEEDS_REPLY = (
    b"POST /open/v1/order/getCrossChainQuote HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
)


@pytest.mark.parametrize(
    "unreadable",
    [
        b"\0garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nb ad: x\r\n\r\n",
        b"GET /v1/getChain HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
)
@pytest.mark.parametrize("whole", [PLAIN, _NEEDS_REPLY, PLAIN + _NEEDS_REPLY + PLAIN])
@pytest.mark.parametrize("half", [False, True])
def test_what_came_whole_before_something_unreadable_has_its_answer(unreadable, whole, half):
    with running(frozen()) as mock:
        came = exchanged(mock.port, lambda: None, whole + unreadable, half=half)
        assert mock.service.failures == []
        journal = mock.client.control("GET", "/journal")["entries"]
    asked = whole.count(b"Host:")
    assert re.findall(rb"HTTP/1.. (\d+)", came) == [b"200"] * asked + [b"400"]
    assert sum(entry["operation"] is not None for entry in journal) == asked


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
def test_a_request_for_another_protocol_keeps_its_connection(protocol):
    asked = PLAIN[:-2] + b"Connection: Upgrade\r\nUpgrade: " + protocol + b"\r\n\r\n"
    with running(frozen()) as mock, _connected(mock.port) as raw:
        for sent in (asked, asked, PLAIN):
            raw.sendall(sent)
            answer = raw.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200 OK")
            size = int(answer.partition(b"Content-Length: ")[2].split(b"\r", 1)[0])
            while len(answer.partition(b"\r\n\r\n")[2]) < size:
                answer += raw.recv(65_536)


def _answered(raw, sent):
    raw.sendall(sent)
    return raw.recv(65_536)


def test_a_client_that_has_said_all_is_not_kept_for_ever():
    with running(frozen()) as mock, _connected(mock.port) as raw:
        mock.client.control("POST", "/clock", {"mode": "real"})
        mock.client.control("POST", "/faults", {"kind": "latency", "delay": "1h"})
        raw.sendall(PLAIN)
        raw.shutdown(socket.SHUT_WR)
        began = mock.clock.now()
        nothing, _ = later(mock, raw, 5)
        waited = mock.clock.now() - began
    assert nothing == b""
    assert limits.STALLED.most < waited < limits.STALLED.most + 60


HOLDING_BACK = b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n"


@pytest.mark.parametrize("length", [b"Content-Length: 2", b"Transfer-Encoding: chunked"])
def test_a_client_that_holds_its_body_back_is_asked_for_it(length):
    body = b"2\r\n{}\r\n0\r\n\r\n" if b"chunked" in length else b"{}"
    with running(frozen()) as mock, _connected(mock.port) as raw:
        for _ in range(2):
            invited = _answered(raw, HOLDING_BACK + length + b"\r\n\r\n")
            assert invited == b"HTTP/1.1 100 Continue\r\n\r\n"
            answer = _answered(raw, body)
            assert answer.startswith(b"HTTP/1.1 ")
            assert b"X-Mock-Refusal: contract-violation" in answer


@pytest.mark.parametrize(
    "sent",
    [
        HOLDING_BACK + b"Content-Length: 2\r\n\r\n{}",
        HOLDING_BACK + b"Content-Length: 99999999\r\n\r\n",
        HOLDING_BACK + b"\r\n",
        HOLDING_BACK.replace(b"Continue", b"surprise") + b"Content-Length: 2\r\n\r\n{}",
        HOLDING_BACK.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Content-Length: 2\r\n\r\n{}",
    ],
    ids=["sent-already", "too-large", "no-body", "something-else", "old"],
)
def test_nobody_is_asked_for_a_body_that_is_here_or_not_wanted(sent):
    with running(frozen()) as mock, _connected(mock.port) as raw:
        answer = _answered(raw, sent)
    assert b"X-Mock-Refusal: " in answer
    assert b"100 Continue" not in answer


BUSY = {
    "silent": b"",
    "asking": b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\n\r\n",
    "sending": b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
    "listening": b"GET /__mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@contextlib.contextmanager
def _with_few_files(loop, errors):
    """Serve with so few file descriptors that tests can take them all; yields it and its port."""
    if loop == "uvloop":
        pytest.importorskip("uvloop")

    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))

    command = [sys.executable, "-m", "mockserver", "serve", "--port", "0", "--log-level", "info"]
    with subprocess.Popen(
        [*command, "--loop", loop],
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        preexec_fn=few_files,  # noqa: PLW1509 (no thread runs yet)
    ) as served:
        try:
            assert served.stdout is not None
            line = served.stdout.readline()
            yield served, int(line.partition("127.0.0.1:")[2].split()[0])
        finally:
            served.terminate()


# Each loop in half of the ways; a deep run tries the other half, too.
@pytest.mark.parametrize(
    ("loop", "sent"),
    [
        pytest.param(
            *(loop, sent),
            id=f"{loop}-{name}",
            marks=() if number % 2 == turn else pytest.mark.deep,
        )
        for turn, loop in enumerate(["asyncio", "uvloop"])
        for number, (name, sent) in enumerate(BUSY.items())
    ],
)
@pytest.mark.deep(quick=2)
def test_running_out_of_file_descriptors_is_told_once_and_passes(tmp_path, loop, sent):
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context((tmp_path / "stderr").open("w+"))
        served, port = stack.enter_context(_with_few_files(loop, errors))
        waiting = [stack.enter_context(_connected(port)) for _ in range(70)]
        for raw in waiting:
            with contextlib.suppress(ConnectionError):
                raw.sendall(sent)
        url = f"http://127.0.0.1:{port}/v1/getChain"
        if sent in (b"", BUSY["asking"]):
            _answered_again(url)  # idle connections make room
        else:
            eventually(lambda: "ulimit" in Path(errors.name).read_text(), "a word of `ulimit`")
        for raw in waiting:
            raw.close()
        _answered_again(url)
        served.terminate()
        served.wait(PATIENCE_S)
        errors.seek(0)
        told = errors.read()
    assert told.count("idle connections, and turns new ones away") == 1
    assert "no file descriptor is left" not in told, "what a first request needs was read in time"
    assert "Traceback" not in told
    assert len([line for line in told.splitlines() if " GET /" not in line]) < 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in /proc")
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_first_request_is_answered_though_connections_took_all_descriptors(tmp_path, loop):
    head = b"GET /v1/getChain HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue"
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context((tmp_path / "stderr").open("w+"))
        served, port = stack.enter_context(_with_few_files(loop, errors))
        busy = stack.enter_context(_connected(port))
        busy.sendall(head + b"\r\n\r\n")
        assert busy.recv(65_536).startswith(b"HTTP/1.1 100"), "it is in the middle of a request now"
        waiting = [stack.enter_context(_connected(port)) for _ in range(70)]
        eventually(lambda: "ulimit" in Path(errors.name).read_text(), "a word of `ulimit`")
        _take_all_descriptors(served)
        busy.sendall(b"{}")
        answer = busy.recv(65_536)
        assert len(waiting) == 70
    assert answer.startswith(b"HTTP/1.1 200"), answer


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts in /proc")
@pytest.mark.parametrize("path", ["/v1/getChain", "/v1/getAssets", "/__mock/", "/v1/none"])
@pytest.mark.deep(quick=2)
def test_a_request_that_finds_no_file_descriptor_is_told_so(tmp_path, path):
    errors = tmp_path / "stderr"
    command = [sys.executable, "-m", "mockserver", "serve", "--port", "0"]
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=stack.enter_context(errors.open("w"))
            )
        )
        stack.callback(served.terminate)
        assert served.stdout is not None
        port = int(served.stdout.readline().partition(b"127.0.0.1:")[2].split()[0])
        raw = stack.enter_context(_connected(port))
        # The answer tells that the connection was accepted, and has its descriptor.
        assert _head_of(raw, "/__mock/clock").startswith(b"HTTP/1.1 200")
        before = _take_all_descriptors(served)
        starved = _head_of(raw, path)
        resource.prlimit(served.pid, resource.RLIMIT_NOFILE, before)
        raw = stack.enter_context(_connected(port))
        fed = _head_of(raw, path)
    # What was read before is answered without a file.
    assert starved == fed or b"X-Mock-Refusal: limit-reached" in starved, starved
    assert fed.startswith(b"HTTP/1.1 404" if path == "/v1/none" else b"HTTP/1.1 200")
    assert "Traceback" not in errors.read_text()


def test_other_failures_of_a_loop_are_told_as_ever(caplog):
    loop = asyncio.new_event_loop()
    Exhaustion(lambda: 0, lambda: None).handle(
        loop, {"message": "something else", "exception": OSError(5, "x")}
    )
    loop.close()
    assert "something else" in caplog.text


def _connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)


def _head_of(raw, path):
    """Ask for a path, and return the head of the answer, without its date."""
    raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        more = raw.recv(65_536)
        assert more, answer
        answer += more
    lines = answer.partition(b"\r\n\r\n")[0].splitlines()
    return b"\n".join(line for line in lines if not line.startswith(b"Date:"))


def _take_all_descriptors(served):
    """Let a process open no file from now on, and return the limits that it had."""
    before = resource.prlimit(served.pid, resource.RLIMIT_NOFILE)
    taken = {int(one.name) for one in Path(f"/proc/{served.pid}/fd").iterdir()}
    free = min(set(range(len(taken) + 1)) - taken)
    resource.prlimit(served.pid, resource.RLIMIT_NOFILE, (free, before[1]))
    return before


def _answered_again(url):
    """Ask until there is an answer: the server has yet to notice that others went away."""

    def asked():
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(url, timeout=PATIENCE_S) as answer,
        ):
            return answer.status == 200
        return False

    eventually(asked, f"an answer from {url}")


def _flood(raw, request):
    while True:
        raw.sendall(request * 10)


def test_a_connection_whose_body_never_came_is_closed_soon_after_the_refusal(serve):
    head = b"POST /v1/submitOrder HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    mock = serve()
    with _connected(mock.port) as connection:
        connection.sendall(head)
        came, _ = later(mock, connection, 5, until=b"}}")
        assert came.startswith(b"HTTP/1.1 408 ")
        _, passed = later(mock, connection, 0.5)
    assert passed < 5, "aiohttp would wait for ten seconds"
