"""What people get wrong on the command line: a sentence, and the documented exit code."""

import json
import re
import shlex
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli, main
from mockserver.cli.command_table import NAMES, TABLE, command
from mockserver.jsontext import camel
from mockserver.server.control import ROWS
from mockserver.testing import running
from tests.conftest import PATIENCE_S

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"


@pytest.fixture(scope="module")
def server():
    with running(refusals="allow") as started:
        yield started


@pytest.fixture
def typed(server, monkeypatch, capsys, tmp_path):
    """Type a line for a running server; return the exit code and both outputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROSSCHAIN_MOCK_URL", server.url)

    def run(line):
        monkeypatch.setattr(sys, "argv", ["crosschain-mock", *shlex.split(line)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return (code, *capsys.readouterr())

    return run


@pytest.mark.parametrize(
    "line",
    [
        "validate {}",
        "compare {} {}",
        "recordings export --to har {}",
        "serve --replay {}",
        "world load {}",
    ],
)
def test_a_name_that_no_file_can_have_is_a_sentence(typed, line):
    code, _, err = typed(line.format(*["x" * 5_000] * 2))
    assert code == 2
    assert re.match(r"error: '?xxx", err), err[:200]
    assert "Traceback" not in err


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999", "http://:80", "http://"])
def test_an_address_that_is_none_is_a_sentence(typed, url):
    code, _, err = typed(f"journal --url {url}")
    assert code == 2
    assert "is no address; write http://" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("line", ["routes", "openapi v2", "assumptions"])
def test_a_full_disk_behind_the_output_is_a_sentence(monkeypatch, capsys, line):
    monkeypatch.setattr(sys, "argv", ["crosschain-mock", *line.split()])
    with Path("/dev/full").open("w") as full, monkeypatch.context() as context:
        context.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as end:
            main()
        # What is left in the buffer could not be written at closing either.
        context.undo()
        with suppress(OSError):
            full.close()
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: the output: no space left on device\n"


def test_every_code_of_the_table_of_misuses_is_documented():
    codes = {
        int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    }
    assert {code for _, code, _ in MISUSES} <= codes


MISUSES = (
    ("outage start BSC", 2, "did you mean 'BNB'?"),
    ("outage start --mode delist BNB", 2, "did you mean 'delisted'?"),
    ("outage start BNB --chain ETH", 2, "one chain at a time: 'BNB' or 'ETH'"),
    ("outage start", 2, "name at least one"),
    ("outage start BNB --mode lagging --lag 0", 2, "'lag': expected a whole number from 1"),
    ("journal --limit 0", 2, "error: 'limit': expected a whole number from 1"),
    ("conform rule", 2, "No such command 'rule'; did you mean 'rules'?"),
    ("conform selftest no-such-break-at-all", 2, "; `crosschain-mock breaks` lists them"),
    ("validate .", 2, "error: .: no YAML file is in this folder"),
    ("recordings drift v2 example.org", 2, "nor a recording; write for example"),
    ("recordings export v3 --to har", 2, "no such file, folder or shipped recording"),
    ("clock shwo", 2, "No such command 'shwo'; did you mean 'show'?"),
    ("record --out kept", 2, "--upstream-v1 URL, --upstream-v2 URL or both"),
    ("fault add refusal refusal=no-such-thing-at-all", 2, "`docs/reference/refusals.md` lists all"),
    ("outage end BNB", 2, "BNB is not suspended"),
    ("outage start BNB --for long", 2, "'long'"),
    ("outage load weekend", 2, "did you mean 'weekend-halt'"),
    ("clock advance 15", 2, "expected a duration such as '15s'"),
    ("clock mode freeze", 2, "expected one of"),
    ("clock set yesterday", 2, "such as '2026-01-01T00:00:00Z'"),
    ("clock run-until 77", 2, "'77' does not exist here"),
    ("fault add latencey", 2, "did you mean 'latency'?"),
    ("fault add latency submitOrdr delay=2s", 2, "did you mean"),
    ("fault add latency delay 2s", 2, "write NAME=VALUE"),
    ("order show 77", 2, "'77' does not exist here"),
    ("order steer 77 sucess", 2, "'77' does not exist here"),
    ("order force 77 Done", 2, "is none of Unknown, Pending"),
    ("verify submitOrder", 2, "say what is wanted: one of exactly, at-least, at-most,"),
    ("verify submitOrdr --exactly 1", 2, "did you mean 'v2.submitOrder'?"),
    ("verify submitOrder --exactly 1", 1, "expected once, came never"),
    ("journal chekOrder", 2, "did you mean"),
    ("snapshot revert before", 2, "snapshot 'before' does not exist"),
    ("world load nothing.json", 2, "nothing.json"),
    ("world new a/b", 2, "a/b"),
    ("calendar show weekend", 2, "did you mean 'weekend-halt'"),
    ("completion tcsh", 2, "is not one of 'bash', 'zsh', 'fish'"),
    ("conform http://example.org", 2, "--allow-host example.org"),
    ("conform 127.0.0.1:8080", 2, "write for example 'http://127.0.0.1:8080'"),
    ("conform http://127.0.0.1:1 --wait soon", 2, "write for example '15s'"),
    ("serve --clock stopped", 2, "is none of real, frozen, auto, client or scaled:60"),
    ("serve --scenario outag", 2, "did you mean 'outage'"),
    ("run -- no-such-program", 127, "'no-such-program' is not found"),
    ("outge list", 2, "No such command 'outge'"),
)


@pytest.mark.parametrize(("line", "code", "told"), MISUSES, ids=[line for line, _, _ in MISUSES])
def test_each_is_answered_by_a_sentence_and_its_exit_code(typed, line, code, told):
    ended, out, err = typed(line)
    assert ended == code, out + err
    assert told in (out if code == 1 else err)
    assert "Traceback" not in out + err
    assert "body field" not in err


def test_where_no_server_is_the_line_says_how_to_start_one(typed, dead_port):
    ended, _, err = typed(f"clock show --url http://127.0.0.1:{dead_port}")
    assert ended == 3
    assert "start one with 'crosschain-mock serve'" in err


@pytest.mark.parametrize(
    ("line", "member"),
    [
        ("clock show", "now"),
        ("clock advance 1s", "now"),
        ("outage start --json --token-symbol USDC", "subject"),
        ("outage list", "outages"),
        ("outage timeline", "spans"),
        ("outage end --token-symbol BTC", "restored"),
        ("fault list", "faults"),
        ("fault clear", "removed"),
        ("order list", "orders"),
        ("world list", "worlds"),
        ("snapshot list", "snapshots"),
        ("verify submitOrder --never", "held"),
    ],
)
def test_json_is_there_with_every_command(typed, server, line, member):
    if line.startswith("outage end"):
        assert typed(line.replace("end", "start"))[0] == 0
    if line.startswith("verify"):
        # Without any request there is no ground for a verdict.
        urllib.request.urlopen(f"{server.url}/v1/getChain", timeout=PATIENCE_S).close()
    ended, out, err = typed(f"{line} --json".replace("--json --token", "--token"))
    assert (ended, err) == (0, "")
    assert member in json.loads(out)


def test_an_answer_that_is_no_ends_with_1_in_json_too(typed):
    ended, out, _ = typed("verify submitOrder --exactly 1 --json")
    assert ended == 1
    assert json.loads(out)["held"] is False


def test_each_command_is_in_one_group_and_each_example_is_one_of_them(typed):
    assert sorted(NAMES) == sorted({path.partition(" ")[0] for path in TABLE["commands"]})
    _, out, _ = typed("--help")
    for group in TABLE["groups"]:
        assert f"{group['title']}:" in out
        assert f"$ crosschain-mock {group['example']}" in out
        assert group["example"].split()[0] in group["commands"]


def test_what_a_command_asks_is_a_row_of_the_control_api_and_what_it_takes_are_its_members():
    rows = {(row.method, re.sub(r"\{\w+\}", "{}", row.path)): row for row in ROWS}
    for path, told in TABLE["commands"].items():
        if "request" in told:
            method, _, where = told["request"].partition(" ")
            row = rows[method, re.sub(r"\{\w+\}", "{}", where)]
            in_query = method in ("GET", "DELETE")
            taken = row.query if in_query else (row.body or {}).get("properties", {})
            ours = {camel(one.name) for one in command(path).params} - {"named", "asJson"}
            ours -= {"url", "world", "serverToken", "epoch", "cacert"}
            ours -= {*re.findall(r"\{(\w+)\}", where)}
            assert ours | told.get("body", {}).keys() <= taken.keys(), path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_script(typed, shell):
    ended, out, _ = typed(f"completion {shell}")
    assert ended == 0
    assert "_CROSSCHAIN_MOCK_COMPLETE" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("crosschain-mock outage start --mode d", {"delisted", "disabled"}),
        ("crosschain-mock fault add lat", {"latency"}),
        ("crosschain-mock cal", {"calendar"}),
        ("crosschain-mock order force 7 Re", {"Refunding", "Refunded"}),
    ],
)
def test_a_shell_completes_commands_modes_and_kinds(words, expected):
    environment = {
        "_CROSSCHAIN_MOCK_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    ended = CliRunner().invoke(_cli, prog_name="crosschain-mock", env=environment)
    assert {line.partition(",")[2] for line in ended.output.split()} == expected
