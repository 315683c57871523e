"""Commands that cannot be searched well: a sentence, an exit code of the table, nothing left."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import order

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks its clients")

PAYING = f"""
import json, os, random, signal, socket, subprocess, sys, threading, time, urllib.request
base = os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"]
def call(path, body=None):
    head = {{"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "Signature": "ab" * 65}}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, head)
    return urllib.request.urlopen(request, timeout=60).read()
def pay():
    call("/v1/submitOrder", {order()!r})
"""


FORK = "child = os.fork()\nif not child:\n    os.setsid()\n"


@pytest.fixture
def survive(tmp_path):
    """Search a program that begins with PAYING; see that nothing is left in its folders."""
    program, folder = tmp_path / "client.py", tmp_path / "tmp"
    folder.mkdir()

    def run(code, *words, arguments=()):
        program.write_text(PAYING + code)
        command = [sys.executable, "-m", "mockserver", "survive", *map(str, words), "--"]
        ended = subprocess.run(
            [*command, sys.executable, program, *arguments],
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert "Traceback" not in ended.stdout + ended.stderr
        assert not list(folder.iterdir())
        return ended

    return run


def alive(number):
    """Tell whether a process lives; one that has ended and waits for its parent does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes by /proc")
@pytest.mark.parametrize(
    "leave",
    [
        "child = subprocess.Popen(['sleep', '90'], start_new_session=True).pid",
        # A fork that nobody has started by exec.
        f"{FORK}    os.execvp('sleep', ['sleep', '90'])",
        f"{FORK}    signal.pause()",
    ],
)
def test_children_in_a_session_of_their_own_are_ended_and_told(survive, tmp_path, leave):
    noted = tmp_path / "children"
    code = f"pay()\n{leave}\nprint(child, file=open(sys.argv[1], 'a'))\n"
    ended = survive(code, "--only", "gateway", "--budget", 1, arguments=(noted,))
    assert "leaves processes behind, which were ended" in ended.stdout
    assert ended.returncode == 3
    children = list(map(int, noted.read_text().split()))
    assert len(children) == 4
    assert not [child for child in children if alive(child)]


def test_another_host_is_named_once(survive):
    # Nobody listens there, and no packet leaves this machine.
    code = """
pay()
try:
    socket.create_connection(("0.0.0.0", 9))
except OSError:
    pass
"""
    ended = survive(code, "--only", "gateway", "--budget", 1)
    assert ended.stdout.count("0.0.0.0:9") == 1
    assert "where no failure strikes" in ended.stdout
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        ("for _ in range(2600):\n    call('/v1/checkOrder?id=1')", (), "more than 2500 requests"),
        ("pay()\nwhile True:\n    time.sleep(3600)\n    call('/v1/getChain')", (), "after 7 days"),
        ("pay()\ntime.sleep(60)", ("--clock", "real", "--wall", "2s"), "did not end within 2 s"),
    ],
)
def test_a_flow_that_needs_more_than_the_limits_is_told_which(survive, code, words, sentence):
    ended = survive(code, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "does not end when nothing goes wrong" in ended.stderr
    assert sentence in ended.stderr


def test_a_flow_that_changes_from_run_to_run_is_unsure(survive, tmp_path):
    starts = tmp_path / "starts"
    code = """
with open(sys.argv[1], "a") as file:
    file.write("x")
for number in range(os.path.getsize(sys.argv[1])):
    call("/v1/getChain")
    pay()
"""
    ended = survive(code, "--only", "gateway", "--budget", 1, arguments=(starts,))
    assert ended.returncode == 3
    assert "unsure: the flow is not the same each time: v2.submitOrder was called 1 and" in (
        ended.stdout
    )


def test_threads_in_another_order_are_a_note_alone(survive, tmp_path):
    starts = tmp_path / "starts"
    code = """
with open(sys.argv[1], "a") as file:
    file.write("x")
paths = ["/v1/getChain", "/v1/getAssets"]
# As two threads may come.
for path in paths[:: 1 if os.path.getsize(sys.argv[1]) % 2 else -1]:
    call(path)
pay()
"""
    ended = survive(code, "--only", "gateway", "--budget", 1, arguments=(starts,))
    assert "note: requests come in another order from run to run" in ended.stdout
    assert ended.returncode == 0


OLDER = {"format": "crosschain-mock/survive@0", "results": []}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "report.json"),
        ("{", "report.json"),
        ("[]", "report.json"),
        ('{"format": "crosschain-mock/survive@1"}', "report.json"),
        (json.dumps(OLDER), "version 0 of the format is not known here"),
        ('{"format": "crosschain-mock/world@1"}', "report.json"),
        ("\0\xff", "report.json"),
    ],
)
def test_a_damaged_or_older_report_to_go_on_from_is_a_sentence(survive, tmp_path, text, sentence):
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("latin-1"))
    ended = survive("", "--resume", file)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert sentence in ended.stderr
    assert file.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--report", "json=/proc/no/such/x.json"), 2, "no such folder"),
        (("--to-scenario", "/dev/null"), 2, "/dev/null"),
        (("--to-capsule", "/dev/null/here"), 2, "is no writable folder"),
        (("--resume", "/no/such/report.json"), 2, "/no/such/report.json"),
        (("--replay", "lost:once@submitTickt#1"), 2, "is no call"),
        (("--wall", "soon"), 2, "--wall"),
    ],
)
def test_wrong_words_are_a_sentence(survive, words, code, sentence):
    ended = survive("pay()", *words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr


def test_a_scenario_that_cannot_be_written_is_a_sentence(survive, tmp_path):
    (tmp_path / "full").mkdir()
    code = "try:\n    pay()\nexcept OSError:\n    pass\n"
    words = ("--replay", "unsent:once@submitOrder#1", "--to-scenario", tmp_path / "full")
    # A folder stands where the file is to be.
    (tmp_path / "full" / "unsent-once-submitOrder-1.yaml").mkdir()
    ended = survive(code, *words)
    assert ended.returncode == 2
    assert "unsent-once-submitOrder-1.yaml" in ended.stderr
