"""The manners of the process: port line, ready file, taken port, signals, exit codes, no litter."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from mockserver.clock import wall_ms
from tests.cli.conftest import command, everything
from tests.conftest import eventually

SCENARIOS = Path(__file__).parents[2] / "fixtures" / "scenarios"


def test_without_any_argument_but_a_port_it_answers(start, tmp_path):
    server = start("--port", "0")
    assert server.line.startswith("crosschain-mock ready on http://127.0.0.1:")
    with urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=60) as answer:
        assert len(json.load(answer)["data"]["list"]) == 28
    code, out, err = server.stop()
    assert (code, out, err) == (0, "", f"console: {server.url}/__mock/\n")
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_it_says_where_everything_is_and_how_to_stop():
    ours, theirs = os.openpty()
    with subprocess.Popen(
        command("serve", "--port", "0"), stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as popen:
        os.close(theirs)
        assert popen.stdout is not None
        url = popen.stdout.readline().split()[3]
        popen.send_signal(signal.SIGTERM)
        assert popen.wait(60) == 0
    told = everything(ours)
    parts = (f"{url}/open/v1/", f"{url}/v1/", f"console: {url}/__mock/", "docs:", "stop:    Ctrl-C")
    assert [part for part in parts if part not in told] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_0_also_with_an_idle_connection(start, number):
    server = start("--port", "0")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60):
        code, _, err = server.stop(number)
    assert (code, err) == (0, f"console: {server.url}/__mock/\n")


def test_the_ready_file_holds_the_address_and_goes_away(start, tmp_path):
    file = tmp_path / "ready.json"
    server = start("--port", "0", "--ready-file", str(file))
    told = json.loads(file.read_text())
    assert told == {"url": server.url, "pid": server.popen.pid}
    server.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_ready_file_that_cannot_be_written_is_a_sentence(run, tmp_path):
    ended = run("serve", "--port", "0", "--ready-file", str(tmp_path / "no" / "such" / "folder"))
    assert ended.returncode == 3
    assert "cannot write the ready file" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_taken_port_exits_3_with_a_sentence(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("serve", "--port", str(port))
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"error: cannot listen on 127.0.0.1:{port}: the port is taken")
    assert "--port" in ended.stderr
    assert ended.stdout == ""


def test_an_unknown_host_exits_3(run):
    ended = run("serve", "--host", "no.such.host.invalid", "--port", "0")
    assert ended.returncode == 3
    assert "the host is not known here" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scenario", "nope"], "'nope' is no shipped scenario"),
        (["--scenario", "./nope.yaml"], "cannot be read"),
        (["--dialect", "klingon"], "unknown dialect 'klingon'"),
        (["--erratum", "E-99"], "unknown dialect 'E-99'"),
        (["--erratum", "E-01", "--dialect", "observed"], "goes with the documented dialect"),
        (["--clock", "slow"], "is none of real, frozen, auto, client or scaled:60"),
        (["--clock", "scaled"], "a factor goes with 'scaled'"),
        (["--clock", "scaled:NaN"], "more than 0"),
        (["--start", "tomorrow"], "is no time"),
        (["--replay", "./nowhere"], "there is no such file, folder or shipped recording"),
        (["--replay-fallback"], "goes with --replay"),
        (["--replay", str(SCENARIOS)], "default.yaml:1: format: expected one of"),
        (["--port", "70000"], "70000"),
        (["--host", ""], "'' is no host; give a name or an address such as 127.0.0.1 or ::1"),
        (["--host", "127.0.0.1:80"], "the port goes to --port"),
        (["--host", "[::1]:80"], "the port goes to --port"),
        (["--host", "http://localhost"], "is no host"),
        (["--seed", "-1"], "0<=x<=18446744073709551615"),
        (["--seed", "18446744073709551616"], "0<=x<=18446744073709551615"),
        (["--refusal-status", "200"], "200"),
    ],
)
def test_wrong_arguments_exit_2_with_a_sentence(call, arguments, words):
    ended = call("serve", "--port", "0", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_broken_scenario_names_file_line_and_what_is_allowed(call, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\n"
        "clock:\n  mode: sometimes\n"
    )
    ended = call("serve", "--port", "0", "--scenario", str(file))
    assert ended.returncode == 2
    assert f"{file}:5: clock.mode: expected one of" in ended.stderr
    assert "frozen" in ended.stderr


def test_requests_are_logged_on_stderr_with_their_refusal(start):
    server = start("--port", "0", "--log-level", "info")
    urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=60).close()
    urllib.request.urlopen(f"{server.url}/v1/checkOrder?id=7", timeout=60).close()
    _, out, err = server.stop()
    assert out == ""
    assert "INFO GET /v1/getChain 200" in err
    assert "GET /v1/checkOrder 200 unknown-order" in err


def test_refusals_whose_text_tells_nothing_are_told_on_the_console(start):
    server = start("--port", "0", "--dialect", "observed")
    told = []
    for change in ({"feeLevel": 11}, {"amount": "-1"}):
        body = {"amount": "9", "fromChain": "BSC", "toChain": "ETH", "token": "USDT", "feeLevel": 0}
        asked = urllib.request.Request(
            f"{server.url}/open/v1/order/getCrossChainQuote",
            json.dumps({**body, **change}).encode(),
            {"appKey": "k", "expireTime": "15000", "timestamp": "1", "signature": "0" * 64},
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            told.append(json.load(answer)["msg"])
    urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=60).close()
    _, _, err = server.stop()
    assert told == ["Validation failed!"] * 2
    assert err.count("getCrossChainQuote 200 contract-violation") == 2
    assert "body field 'feeLevel'" in err
    assert "body field 'amount'" in err
    assert err.count("X-Mock-Refusal") == 1, "where else it can be seen is told once"
    assert "getChain" not in err


def test_refusals_can_have_a_status_for_tools_that_read_no_code(start):
    server = start("--port", "0", "--refusal-status", "400")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/v1/checkOrder?id=7")
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.load(answer)["code"] == 3
    connection.close()


def test_the_clock_stands_where_it_was_told(start):
    server = start("--port", "0", "--clock", "frozen", "--start", "2026-01-01T00:00:00Z")
    with urllib.request.urlopen(f"{server.url}/__mock/clock", timeout=60) as answer:
        assert json.load(answer) == {
            "now": "2026-01-01T00:00:00Z",
            "ms": 1767225600000,
            "mode": "frozen",
            "rate": 1,
        }


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--stamps", "world"), 31010)])
def test_a_client_may_stamp_by_the_wall_clock(start, options, code):
    frozen = ("--clock", "frozen", "--start", "2026-01-01T00:00:00Z")
    server = start("--port", "0", *frozen, *options)
    headers = {"appKey": "k", "expireTime": "15000", "timestamp": str(wall_ms()), "signature": "s"}
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 2}
    asked = urllib.request.Request(
        f"{server.url}/open/v1/order/getCrossChainQuote", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert json.load(answer)["code"] == code


def test_one_server_serves_two_scenarios_of_chains(start):
    server = start("--port", "0", "--scenario", "outage")
    url = f"{server.url}/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
    with urllib.request.urlopen(url, timeout=60) as answer:
        assert "suspended" in json.load(answer)["msg"]


def _idle(port: int) -> socket.socket:
    """A connection that has had its answer and is kept for the next request."""
    kept = socket.create_connection(("127.0.0.1", port), timeout=60)
    kept.sendall(b"GET /v1/checkOrder?id=1 HTTP/1.1\r\nHost: mock\r\n\r\n")
    assert kept.recv(65_536).startswith(b"HTTP/1.1 200")
    return kept


def _waiting(port: int) -> socket.socket:
    """A connection whose answer is delayed by half a minute (the reserved amount 10.5004)."""
    query = "amount=10500400&symbol=USDT&fromChain=ARB&toChain=BNB"
    waiting = socket.create_connection(("127.0.0.1", port), timeout=60)
    waiting.sendall(f"GET /v1/getBridgeQuote?{query} HTTP/1.1\r\nHost: mock\r\n\r\n".encode())
    _seen(port, "getBridgeQuote")
    return waiting


def _deaf(port: int) -> socket.socket:
    """A connection that asks for megabytes and reads none of them."""
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.settimeout(60)
    deaf.connect(("127.0.0.1", port))
    deaf.sendall(b"GET /v1/getAssets HTTP/1.1\r\nHost: mock\r\n\r\n" * 400)
    _seen(port, "getAssets")
    return deaf


def _half_sent(port: int) -> socket.socket:
    """A connection that has announced a body and sent half of it."""
    half = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = "POST /v1/submitTicket HTTP/1.1\r\nHost: mock\r\nContent-Length: 90\r\n\r\n"
    half.sendall(f'{head}{{"hash"'.encode())
    return half


def _seen(port: int, operation: str) -> None:
    """Ask until the journal of the server shows a request of an operation."""
    url = f"http://127.0.0.1:{port}/__mock/journal?operation={operation}"

    def is_noted() -> bool:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return operation in answer.read().decode()

    eventually(is_noted, f"the server sees {operation}")


@pytest.mark.parametrize("connection", [_idle, _waiting, _deaf, _half_sent])
@pytest.mark.deep(quick=3)
def test_a_signal_is_obeyed_whatever_a_connection_waits_for(start, connection):
    server = start("--port", "0")
    with connection(server.port):
        code, _, err = server.stop()
    assert (code, err) == (0, f"console: {server.url}/__mock/\n")


_WATCHED = """
import atexit, sys
from mockserver.cli import main

class Freed:
    def __del__(self):
        print("freed")

kept = Freed()
atexit.register(print, "the end")
main()
"""


@pytest.mark.parametrize(("arguments", "told"), [(["serve", "--port", "0"], ""), ([], "freed\n")])
def test_a_server_does_what_is_to_be_done_at_the_end_and_frees_nothing(arguments, told):
    with subprocess.Popen(
        [sys.executable, "-c", _WATCHED, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as popen:
        assert popen.stdout is not None
        if arguments:
            assert " ready on " in popen.stdout.readline()
            popen.send_signal(signal.SIGTERM)
        assert popen.stdout.read().endswith(f"the end\n{told}")
    assert popen.returncode == (0 if arguments else 2)
