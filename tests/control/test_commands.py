"""The commands that control a running server, as people type them."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mockserver.cli import main
from mockserver.responders.faults.kinds import KINDS
from tests.conformance.rawserver import raw_server
from tests.conftest import Client, order
from tests.control.conftest import QUOTE_PATH

ROOT = Path(__file__).parents[2]


def environment(**more):
    """Return an environment in which the command is found and nothing else is set."""
    kept = {name: value for name, value in os.environ.items() if "CROSSCHAIN" not in name}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **more}


def typed(*arguments, stdin="", **more):
    """Run the command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "mockserver", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment(**more),
    )


@pytest.fixture
def told(mock, monkeypatch, capsys):
    """Run a command for the test's own world and return what it prints; it ends with `code`.

    It runs in this process, where starting it costs nothing.
    """
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", f"http://127.0.0.1:{mock.port}")
    monkeypatch.delenv("CROSSCHAIN_MOCK_TOKEN", raising=False)

    def run(*arguments, stdin="", code=0):
        line = ["crosschain-mock", *arguments, "--world", mock.prefix[3:]]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        try:
            main()
            ended = 0
        except SystemExit as exit_:
            ended = int(exit_.code or 0)
        printed = capsys.readouterr()
        assert ended == code, printed.err
        return printed.out

    return run


def test_the_clock_is_moved(told):
    assert told("clock", "advance", "9h") == "2026-01-01T09:00:00Z (frozen)\n"
    assert told("clock", "set", "2026-01-02T00:00:00Z") == "2026-01-02T00:00:00Z (frozen)\n"
    assert "scaled, 60 times as fast" in told("clock", "mode", "scaled:60")
    assert "(frozen)" in told("clock", "mode", "frozen")
    assert "(frozen)" in told("clock", "show")


def test_the_clock_runs_until_an_order_is_terminal(told, mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    assert "T00:00:0" in told("clock", "run-until", f"order:{order_id}", "Verified")
    assert told("clock", "next").startswith("2026-01-01T00:00:")
    told("clock", "run-until", f"order:{order_id}", "terminal")
    shown = told("order", "show", order_id)
    assert re.search(r"^event +past +status +reason$", shown, re.MULTILINE)
    assert re.search(rf"^{order_id} +Succeeded +USDT ARB +USDT BNB +10 USDT ", shown, re.MULTILINE)
    assert re.search(r"Z +yes +delivery +pool +BNB +-10 USDT$", shown, re.MULTILINE)
    assert not re.search(r"Z +no ", shown)
    assert json.loads(told("order", "show", order_id, "--json"))["status"] == "Succeeded"


def test_what_an_order_has_before_it_is_to_come(told, mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    shown = told("order", "show", order_id)
    assert re.search(r"Z +no +Succeeded$", shown, re.MULTILINE)
    assert re.search(r"Z +no +delivery ", shown, re.MULTILINE)
    assert re.search(r"Z +yes +deposit +custody +ARB +10 USDT$", shown, re.MULTILINE)


def test_outages_begin_end_and_are_loaded(told, tmp_path):
    shown = told("outage", "start", "--chain", "BNB", "--mode", "delisted", "--for", "9h")
    assert re.search(r"chain BNB +delisted +both +2026-01-01T00:00:00Z +2026-01-01T09", shown)
    assert "chain BNB" in told("outage", "list", "--which", "active")
    assert "chain BNB" in told("outage", "end", "--chain", "BNB")
    assert len(told("outage", "load", "weekend-halt").splitlines()) == 4
    mine = tmp_path / "mine.yaml"
    text = "format: crosschain-mock/calendar@1\ntitle: mine\nwindows:\n"
    mine.write_text(f"{text}  - {{chain: ETH, at: +2h, for: 1h, mode: lagging, lag: 3}}\n")
    assert "2026-01-01T02:00:00Z" in told("outage", "load", str(mine))
    assert "chain ETH" in told("outage", "timeline", "--for", "1d")
    listed = json.loads(told("outage", "list", "--json"))
    assert {one["lag"] for one in listed["outages"]} == {1, 3, 4}


def test_faults_are_added_listed_and_taken_away(told, mock):
    added = told("fault", "add", "http-status", "status=503", "operation=v2.getChain", "first=1")
    assert re.search(r"1 +http-status +none +0 +0 +.*status=503", added)
    assert mock.get("/v1/getChain").status == 503
    assert re.search(r"1 +http-status +none +1 +1 +status=503", told("fault", "list"))
    told("fault", "remove", "1")
    told("fault", "add", "latency", "delay=2s", "order=30000000001", "id=7", "probability=0.5")
    assert "order=30000000001" in told("fault", "list")
    assert "change=null" in told("fault", "add", "mutation", "field=list", "change=null")
    told("fault", "remove", "7")
    assert told("fault", "clear") == "1 removed\n"


def test_stubs_are_added_from_a_file_or_standard_input(told, mock, tmp_path):
    stub = {"operation": "v2.getChain", "response": {"status": 500}}
    file = tmp_path / "stub.json"
    file.write_text(json.dumps(stub))
    told("stub", "add", str(file))
    told("stub", "add", "-", stdin=json.dumps({**stub, "id": "other"}))
    listed = json.loads(told("stub", "list", "--json"))["stubs"]
    assert [one["id"] for one in listed] == ["1", "other"]
    assert re.search(r'^1 +v2.getChain +0 +\{"status":500\}$', told("stub", "list"), re.MULTILINE)
    shown = told("check", code=1)
    for name in ("1", "other"):
        assert f"stub '{name}' was not used up: expected v2.getChain once, it was used" in shown
    assert len(json.loads(told("check", "--json", code=1))["unusedStubs"]) == 2
    told("stub", "remove", "other")
    assert told("stub", "clear") == "1 removed\n"
    assert "well" not in told("check", code=3)
    mock.get("/v1/getChain")
    assert told("check").startswith("all is well: ")


def test_check_says_what_the_control_api_says(told, mock):
    mock.call("GET", "/v1/checkOrder?id=7")
    told("fault", "add", "http-status", "status=503", "operation=v2.getChain", "first=1")
    told("stub", "add", "-", stdin='{"operation": "v2.getChain", "response": {"status": 500}}')
    sentences = mock.control("GET", "/check")["told"]
    assert len(sentences) == 3
    assert sentences[0].startswith("unexpected refusal: unknown-order: ")
    assert told("check", code=1) == "".join(f"{sentence}\n" for sentence in sentences)


def test_every_kind_of_fault_is_in_the_help(told):
    shown = told("fault", "add", "--help")
    assert [kind for kind in KINDS if not re.search(rf"^  {kind} ", shown, re.MULTILINE)] == []


def test_orders_are_listed_steered_forced_and_stepped(told, mock):
    order_id = mock.post("/v1/submitOrder", order(), headers=mock.wallet).data["id"]
    assert re.search(rf"{order_id} +Unknown +USDT ARB +USDT BNB", told("order", "list"))
    told("order", "steer", order_id, "slow", "--policy", "manual")
    assert re.search(rf"{order_id} +Pending", told("order", "step", order_id))
    forced = json.loads(told("order", "force", order_id, "Failed", "--reason", "because", "--json"))
    assert (forced["status"], forced["reason"]) == ("Failed", "because")


def test_worlds_are_made_forked_dumped_loaded_and_dropped(told, tmp_path):
    told("world", "new", "cli-world", "--scenario", "slow", "--seed", "0", "--app-key", "cli-key")
    assert re.search(r"cli-world +slow +documented", told("world", "list"))
    assert told("world", "drop", "cli-world") == "cli-world is deleted\n"
    assert re.fullmatch(r"cli-fork is at http://.*/w/cli-fork\n", told("world", "fork", "cli-fork"))
    told("world", "drop", "cli-fork")
    file = tmp_path / "world.json"
    told("world", "dump", "-o", str(file))
    told("clock", "advance", "1h")
    assert re.search(r"\w +default .* 2026-01-01T00:00:00Z ", told("world", "load", str(file)))
    assert typed("validate", str(file)).returncode == 0
    assert '"cli-key-2"' in told("world", "bind", "cli-key-2")
    assert '"cli-key-2"' in told("world", "unbind")


def test_snapshots_are_taken_and_gone_back_to(told):
    assert told("snapshot", "take", "before") == "before\n"
    told("clock", "advance", "1h")
    assert told("snapshot", "revert", "before") == "before: it is 2026-01-01T00:00:00Z\n"
    assert told("snapshot", "list") == "before\n"
    told("snapshot", "drop", "before")
    assert told("snapshot", "list") == ""


def test_the_journal_is_printed_with_reasons_and_nearest_forms(told, mock):
    mock.call("GET", QUOTE_PATH)
    mock.call("GET", QUOTE_PATH.replace("BNB", "bnb"))
    shown = told("journal")
    assert "nearest valid form: query parameter 'toChain': 'BNB' instead of 'bnb'" in shown
    assert "refused: unknown-chain" in shown
    assert len(told("journal", "--refused", "--json").splitlines()) == 1
    assert len(told("journal", "--path", "/v1/getBridgeQuote", "--json").splitlines()) == 2
    assert told("journal", "--path", "/v1/getChain") == ""
    told("journal", "--clear")
    assert told("journal") == ""


def test_a_followed_journal_prints_what_comes(mock):
    url = f"http://127.0.0.1:{mock.port}"
    arguments = ["journal", "--follow", "--url", url, "--world", mock.prefix[3:]]
    mock.call("GET", "/v1/checkOrder?id=7")
    with subprocess.Popen(
        [sys.executable, "-m", "mockserver", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as follower:
        assert follower.stdout is not None
        assert follower.stderr is not None
        assert follower.stderr.readline() == "what comes after request 1; Ctrl-C stops\n"
        mock.call("GET", QUOTE_PATH)
        assert "getBridgeQuote?amount=10000000&symbol=USDT" in follower.stdout.readline()
        mock.call("GET", "/v1/getChain")
        assert "getChain" in follower.stdout.readline()
        follower.send_signal(signal.SIGINT)
        _, complaints = follower.communicate(timeout=60)
    assert follower.returncode == 130
    assert "Traceback" not in complaints


def test_verify_exits_1_where_it_does_not_hold(told, mock):
    mock.call("GET", QUOTE_PATH)
    held = told("verify", "--operation", "v2.getBridgeQuote", "--exactly", "1", "--answered")
    assert held == "held: answered v2.getBridgeQuote came once, as wanted\n"
    query = ("--operation", "v2.getBridgeQuote", "--query", "amount=7", "--at-least", "1")
    missed = told("verify", *query, code=1)
    assert "expected at least once, came never" in missed
    assert "expected '7', got '10000000'" in missed
    told("verify", "--operation", "v2.submitOrder", "--never")
    most = told("verify", "--operation", "v2.getBridgeQuote", "--at-most", "0", code=1)
    assert "expected never, came once" in most
    told("verify", "--order", "v2.getBridgeQuote", "--order", "v2.getChain", code=1)


def test_reset_and_any_other_request(told):
    told("clock", "advance", "1h")
    assert json.loads(told("reset", "--json"))["now"] == "2026-01-01T00:00:00Z"
    assert "  2026-01-01T00:00:00Z  " in told("reset")
    assert '"reserved"' in told("control", "GET", "/reserved")
    assert '"outages"' in told("control", "GET", "/outages?which=active")
    for path in ("outages", "/__mock/outages", "__mock/outages"):
        assert '"outages"' in told("control", "GET", path)
    assert '"01:00:00Z"' not in told("control", "POST", "/clock", '{"advance": "1h"}')


def test_what_the_server_refuses_is_a_sentence_and_exit_2(told):
    for arguments in (
        ("clock", "advance", "soon"),
        ("fault", "add", "latencey"),
        ("order", "show", "77"),
        ("snapshot", "revert", "gone"),
        ("verify",),
        ("fault", "add", "latency", "2s"),
    ):
        told(*arguments, code=2)


def test_a_server_that_is_not_there_is_a_sentence_and_exit_3(dead_port):
    ended = typed("clock", "show", "--url", f"http://127.0.0.1:{dead_port}")
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"error: no server answers at http://127.0.0.1:{dead_port} (")
    assert "crosschain-mock serve" in ended.stderr


@pytest.fixture
def ended(monkeypatch, capsys):
    """Run a command in this process, and return its exit code and what it says on stderr."""
    monkeypatch.delenv("CROSSCHAIN_MOCK_TOKEN", raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["crosschain-mock", *arguments])
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
        b'HTTP/1.1 200 OK\r\n\r\n[{"name":"v1.2"}]',
        b'HTTP/1.1 200 OK\r\n\r\n{"code":404,"msg":"unknown path","data":{}}',
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        ("clock", "show"),
        ("order", "list"),
        ("check",),
        ("journal",),
        ("world", "dump"),
        ("world", "new", "mine"),
        ("reset",),
    ],
)
def test_what_is_no_mock_or_ends_while_it_answers_is_a_sentence_and_exit_3(ended, answer, words):
    async def talk(_, writer):
        writer.write(answer)
        await writer.drain()

    with raw_server(talk) as server:
        code, told = ended(*words, "--url", server.url)
    assert (code, told[:7], told.count("\n")) == (3, "error: ", 1)
    assert f"what answers at {server.url} is no crosschain-mock" in told


@pytest.mark.parametrize(("world", "shown"), [("caf\u00e9", "\\xe9"), ("\u2603", "\\u2603")])
def test_a_world_that_cannot_be_is_told_whatever_letters_it_has(ended, mock, world, shown):
    code, told = ended("clock", "show", "--world", world, "--url", f"http://127.0.0.1:{mock.port}")
    assert (code, shown in told, "is no world key" in told) == (2, True, True)


def test_an_address_and_an_option_name_one_world(ended, mock, monkeypatch):
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", f"http://127.0.0.1:{mock.port}/w/one%2d")
    before = mock.control("GET", "/worlds")["worlds"]
    code, told = ended("clock", "advance", "1h", "--world", "two")
    assert (code, "names another world; leave one of them out" in told) == (2, True)
    assert mock.control("GET", "/worlds")["worlds"] == before
    used = Client(mock.port, mock.contract, "/w/one-")
    used.get("/v1/getChain")
    used.close()
    for more in ((), ("--world", "one-")):
        assert ended("check", *more)[0] == 0


@pytest.mark.parametrize("token", ["\u00fc", " ", "one\ntwo", "end "])
@pytest.mark.parametrize("words", [("serve", "--control-token"), ("clock", "show", "--token")])
def test_a_token_that_no_header_can_have_is_a_usage_error(ended, words, token):
    code, told = ended(*words, token)
    assert code == 2
    assert "a token has visible ASCII characters" in told


def test_an_address_that_is_none_is_a_usage_error():
    ended = typed("clock", "show", "--url", "localhost")
    assert ended.returncode == 2
    assert "'localhost' is no address" in ended.stderr


@pytest.mark.deep(quick=1)
def test_a_token_is_made_printed_once_and_asked_for(start):
    server = start("--host", "0.0.0.0", "--port", "0", "--clock", "frozen")  # noqa: S104
    line = server.popen.stderr.readline()
    token = line.split()[-1]
    assert line == f"the control API asks for the token {token}\n"
    assert typed("clock", "show", "--url", server.url).returncode == 2
    assert typed("clock", "show", "--url", server.url, "--token", token).returncode == 0
    assert typed("clock", "show", "--url", server.url, CROSSCHAIN_MOCK_TOKEN=token).returncode == 0
    _, out, err = server.stop()
    assert (token in out, token in err) == (False, False)


@pytest.mark.deep(quick=1)
def test_a_token_may_be_given_and_is_not_printed(start, monkeypatch):
    monkeypatch.setenv("CROSSCHAIN_MOCK_TOKEN", "given-token")
    server = start("--port", "0", "--clock", "frozen")
    refused = typed("clock", "show", "--url", server.url)
    assert refused.returncode == 2
    assert "the token is missing or wrong" in refused.stderr
    assert typed("clock", "show", "--url", server.url, "--token", "given-token").returncode == 0
    assert server.stop()[1:] == ("", f"console: {server.url}/__mock/\n")


# Calendars and documents, which need no server


def test_a_calendar_is_drawn_as_a_time_line():
    start = ("--start", "2026-01-01T00:00:00Z")
    ended = typed("calendar", "show", "weekend-halt", *start, "--width", "60")
    first, polygon, usdc, key, *_ = ended.stdout.splitlines()
    assert ended.returncode == 0
    assert first == "2026-01-01T00:00:00Z to 2026-01-05T08:00:00Z"
    assert re.fullmatch(r"chain POLYGON +\.+-+D+~", polygon)
    assert re.fullmatch(r"token USDC on ARB +\.+q+\.+", usdc)
    assert len(polygon) == len(usdc) == len("token USDC on ARB  ") + 60
    assert "D delisted" in key
    assert "\x1b" not in ended.stdout


def test_a_calendar_is_cut_to_days():
    start = ("--start", "2026-01-01T00:00:00Z")
    ended = typed("calendar", "show", "weekend-halt", *start, "--days", "1", "--width", "40")
    assert ended.stdout.startswith("2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z\n")
    assert "DDD" not in ended.stdout


def test_a_calendar_that_is_wrong_is_a_sentence_with_file_and_line(tmp_path):
    mine = tmp_path / "mine.yaml"
    text = "format: crosschain-mock/calendar@1\ntitle: mine\nwindows:\n"
    mine.write_text(f"{text}  - {{chain: MOON, at: +2h, for: 1h, mode: delisted}}\n")
    ended = typed("calendar", "show", str(mine))
    assert ended.returncode == 2
    assert f"{mine}:4: windows[0].chain" in ended.stderr
    assert typed("calendar", "show", "weekend").returncode == 2


def test_the_document_of_the_control_api_is_printed():
    document = json.loads(typed("openapi", "control").stdout)
    assert "/__mock/clock" in document["paths"]


def test_what_met_no_request_is_told_unless_it_is_to_be_silent(told, mock):
    mock.get("/v1/getChain")
    mock.control("POST", "/outages", {"chain": "BNB"})
    assert "outage of chain BNB met no request" in told("check", code=1)
    assert told("check", "--unused", "allow").startswith("all is well: ")
