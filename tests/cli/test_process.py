"""The manners of the process: port line, ready file, taken port, signals, exit codes, no litter."""

import http.client
import json
import signal
import socket
import urllib.request

import pytest


def test_without_any_argument_but_a_port_it_answers(start, tmp_path):
    server = start("--port", "0")
    assert server.line.startswith("crosschain-mock ready on http://127.0.0.1:")
    with urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=10) as answer:
        assert len(json.load(answer)["data"]["list"]) == 28
    code, out, err = server.stop()
    assert (code, out, err) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_0_also_with_an_idle_connection(start, number):
    server = start("--port", "0")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10):
        code, _, err = server.stop(number)
    assert (code, err) == (0, "")


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
        (["--clock", "slow"], "is none of real, frozen, auto or scaled:60"),
        (["--clock", "scaled"], "a factor goes with 'scaled'"),
        (["--clock", "scaled:NaN"], "more than 0"),
        (["--start", "tomorrow"], "is no time"),
        (["--replay", "./nowhere"], "no recording"),
        (["--replay-fallback"], "goes with --replay"),
        (["--port", "70000"], "70000"),
        (["--refusal-status", "200"], "200"),
    ],
)
def test_wrong_arguments_exit_2_with_a_sentence(run, arguments, words):
    ended = run("serve", "--port", "0", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_broken_scenario_names_file_line_and_what_is_allowed(run, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\n"
        "clock:\n  mode: sometimes\n"
    )
    ended = run("serve", "--port", "0", "--scenario", str(file))
    assert ended.returncode == 2
    assert f"{file}:5: clock.mode: expected one of" in ended.stderr
    assert "frozen" in ended.stderr


def test_requests_are_logged_on_stderr_with_their_refusal(start):
    server = start("--port", "0", "--log-level", "info")
    urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=10).close()
    urllib.request.urlopen(f"{server.url}/v1/checkOrder?id=7", timeout=10).close()
    _, out, err = server.stop()
    assert out == ""
    assert "INFO GET /v1/getChain 200" in err
    assert "GET /v1/checkOrder 200 unknown-order" in err


def test_refusals_can_have_a_status_for_tools_that_read_no_code(start):
    server = start("--port", "0", "--refusal-status", "400")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/v1/checkOrder?id=7")
    answer = connection.getresponse()
    assert answer.status == 400
    assert json.load(answer)["code"] == 3
    connection.close()


def test_the_clock_stands_where_it_was_told(start):
    server = start("--port", "0", "--clock", "frozen", "--start", "2026-01-01T00:00:00Z")
    with urllib.request.urlopen(f"{server.url}/__mock/clock", timeout=10) as answer:
        assert json.load(answer) == {
            "now": "2026-01-01T00:00:00Z",
            "ms": 1767225600000,
            "mode": "frozen",
            "rate": 1,
        }


def test_one_server_serves_two_scenarios_of_chains(start):
    server = start("--port", "0", "--scenario", "outage")
    url = f"{server.url}/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert "suspended" in json.load(answer)["msg"]
