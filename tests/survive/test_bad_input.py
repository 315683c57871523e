"""Commands that cannot be searched well: a sentence, an exit code of the table, nothing left."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import lives, order

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

    def run(code, *words, arguments=(), command=None, environment=None, **options):
        program.write_text(PAYING + code, "utf-8")
        searching = [sys.executable, "-m", "mockserver", "survive", *map(str, words), "--"]
        ended = subprocess.run(
            [*searching, *(command or [sys.executable, program, *arguments])],
            env={**os.environ, "TMPDIR": str(folder), **(environment or {})},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=280,
            check=False,
            **options,
        )
        assert "Traceback" not in ended.stdout + ended.stderr
        assert not list(folder.iterdir())
        return ended

    return run


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
@pytest.mark.deep(quick=2)
def test_children_in_a_session_of_their_own_are_ended_and_told(survive, tmp_path, leave):
    noted = tmp_path / "children"
    code = f"pay()\n{leave}\nprint(child, file=open(sys.argv[1], 'a'))\n"
    ended = survive(code, "--only", "gateway", "--budget", 1, arguments=(noted,))
    assert "leaves processes behind, which were ended" in ended.stdout
    assert ended.returncode == 3
    children = list(map(int, noted.read_text().split()))
    assert len(children) == 4
    assert not [child for child in children if lives(child)]


@pytest.mark.deep(quick=1)
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
        (
            "pay()\ntime.sleep(600)",
            ("--clock", "real", "--wall", "30s"),
            "did not end within 30 s of its last request",
        ),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_flow_that_needs_more_than_the_limits_is_told_which(survive, code, words, sentence):
    ended = survive(code, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "does not end when nothing goes wrong" in ended.stderr
    assert sentence in ended.stderr


@pytest.mark.deep(quick=1)
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
@pytest.mark.deep(quick=3)
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
@pytest.mark.deep(quick=3)
def test_wrong_words_are_a_sentence(survive, words, code, sentence):
    ended = survive("pay()", *words)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr


@pytest.mark.deep
def test_a_scenario_that_cannot_be_written_is_a_sentence(survive, tmp_path):
    (tmp_path / "full").mkdir()
    code = "try:\n    pay()\nexcept OSError:\n    pass\n"
    words = ("--replay", "unsent:once@submitOrder#1", "--to-scenario", tmp_path / "full")
    # A folder stands where the file is to be.
    (tmp_path / "full" / "unsent-once-submitOrder-1.yaml").mkdir()
    ended = survive(code, *words)
    assert ended.returncode == 2
    assert "unsent-once-submitOrder-1.yaml" in ended.stderr


PYTHON = sys.executable
LONE = ("--only", "gateway", "--budget", "1")
CHUNKED = f"""
import http.client, urllib.parse
place = urllib.parse.urlsplit(base)
line = http.client.HTTPConnection(place.hostname, place.port)
head = {{"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "Signature": "ab" * 65}}
body = json.dumps({order()!r}).encode()
parts = [body[:40], body[40:]]
line.request("POST", place.path + "/v1/submitOrder", parts, head, encode_chunked=True)
sys.exit(line.getresponse().status != 200)
"""
POOL = """
import http.client, urllib.parse
place = urllib.parse.urlsplit(base)
lines = [http.client.HTTPConnection(place.hostname, place.port) for _ in range(50)]
for line in lines:
    line.request("GET", place.path + "/v1/getChain")
for line in lines:
    line.getresponse().read()
pay()
"""
DAEMON = """
pay()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.chdir("/")
        os.closerange(0, 64)
        signal.pause()
    os._exit(0)
os.wait()
"""
ASIDE = (
    "base = base.replace('127.0.0.1', '[::1]')\ntry:\n    pay()\nexcept OSError:\n    sys.exit(7)\n"
)
ROOT = """
base = "/".join(base.split("/")[:3])
try:
    pay()
except OSError:
    sys.exit(7)
"""
STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\npay()\ntime.sleep(600)\n"
TERMINAL = """
pay()
try:
    open("/dev/tty")
except OSError:
    sys.exit("a terminal is needed")
"""
PROXIES = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy"), "http://127.0.0.1:9")
PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
OWN_SITE = "import builtins\nassert builtins.of_the_user == 1\npay()\n"

# The code of the client, the command (where it is empty, Python with that code as a file), the
# environment, words of `survive`, the exit code, and a part of what is told.
ODD = {
    "folder": ("", ["/usr"], {}, (), 126, "cannot run '/usr'"),
    "built-in": ("", ["source", "env.sh"], {}, (), 127, "'source' is not found"),
    "signal": ("pay()\nos.kill(os.getpid(), 11)", [], {}, (), 2, "signal 11 ends it"),
    "no-stdout": ("os.close(1)\npay()", [], {}, (), 0, "0 defects"),
    "no-streams": ("os.closerange(0, 3)\npay()", [], {}, (), 0, "0 defects"),
    "loud": ("for _ in range(100):\n    os.write(2, b'x' * 999_999 + b'\\n')\npay()", [], {},
             (), 0, "0 defects"),
    "daemon": (DAEMON, [], {}, (), 3, "leaves processes behind, which were ended"),
    "chdir": ("os.chdir('/')\npay()", [], {}, (), 0, "0 defects"),
    "terminal": (TERMINAL, [], {}, (), 2, "a terminal is needed"),
    "proxy": ("pay()", [], PROXIES, (), 0, "0 defects"),
    "ipv6": (ASIDE, [], {}, (), 2, "sent no request to the mock"),
    "no-path": (ROOT, [], {}, (), 0, "0 defects"),
    "chunked": (CHUNKED, [], {}, (), 0, "0 defects"),
    "pool": (POOL, [], {}, (), 0, "0 defects"),
    "stdin": ("sys.stdin.read()\npay()", [], {}, (), 0, "0 defects"),
    "stubborn": (STUBBORN, [], {}, ("--clock", "real", "--wall", "30s"), 2, "within 30 s"),
    "locale": ("print('zahlt \xfc')\npay()", [PYTHON, "client.py", "\xfc \u20bf"], PLAIN, (), 0,
               "0 defects"),
    "site": (OWN_SITE, [], {"PYTHONPATH": "site"}, (), 0, "0 defects"),
    "site-spawned": (OWN_SITE, [PYTHON, "-B", "client.py"], {"PYTHONPATH": "site"}, (), 0,
                     "0 defects"),
    "optimized": ("assert False\npay()", [PYTHON, "-O", "client.py"], {}, (), 0, "0 defects"),
    "isolated": ("time.sleep(0.1)\npay()", [PYTHON, "-I", "client.py"], {}, (), 0, "0 defects"),
    "exit": ("pay()\nos._exit(0)", [], {}, (), 0, "0 defects"),
    "exit-early": ("os._exit(3)", [], {}, (), 2, "to the mock, and it exits with 3: it has to use"),
    "false": ("", ["false"], {}, (), 2, "'false' sent no request to the mock, and it exits with 1"),
    "true": ("", ["true"], {}, (), 2, "'true' sent no request to the mock: it has to use"),
    "idle": ("time.sleep(90)", [], {}, ("--clock", "real", "--wall", "1s"), 2,
             "to the mock, and it did not end within 1 s: it has to use"),
    "sh": ("pay()", ["sh", "-c", f"'{PYTHON}' client.py"], {}, (), 0, "0 defects"),
    "env": ("pay()", ["env", "VAR=1", PYTHON, "client.py"], {}, (), 0, "0 defects"),
    "windows": ("", ["C:\\Program Files\\pay.exe"], {}, (), 127, "is not found"),
    "empty": ("", [""], {}, (), 126, "cannot run ''"),
}  # fmt: skip
OFTEN = ("folder", "false", "proxy", "no-path", "daemon", "locale", "site-spawned", "env")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in OFTEN else pytest.mark.deep) for name in ODD],
)
@pytest.mark.deep(quick=4)
def test_an_odd_command_gets_a_sentence_and_an_exit_code(survive, tmp_path, name):
    code, command, environment, words, exit_code, sentence = ODD[name]
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.of_the_user = 1")
    mark = {"ODD_COMMAND": str(tmp_path)}
    # Nobody ever writes to what the search itself reads.
    reading, writing = os.pipe()
    try:
        ended = survive(
            code,
            *LONE,
            *words,
            command=command,
            environment={**environment, **mark},
            cwd=tmp_path,
            stdin=reading,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (ended.returncode, sentence in ended.stdout + ended.stderr) == (exit_code, True), ended
    assert not started_with(f"ODD_COMMAND={tmp_path}")


def started_with(variable):
    """Return the living processes that have a variable of the environment."""
    there = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            text = (place / "environ").read_bytes()
        except OSError:
            continue
        if variable.encode() in text.split(b"\0") and lives(int(place.name)):
            there.append(place.name)
    return there


@pytest.mark.deep
def test_what_another_command_has_survived_is_tried_again(survive, tmp_path):
    file, second = tmp_path / "report.json", tmp_path / "second.json"

    def tried(*words, arguments=()):
        ended = survive("pay()", *LONE, *words, "--report", f"json={second}", arguments=arguments)
        assert ended.returncode == 0
        return [result["id"] for result in json.loads(second.read_text())["results"]], ended.stderr

    first, _ = tried()
    file.write_bytes(second.read_bytes())
    rest, told = tried("--resume", file)
    assert not set(first) & set(rest)
    assert told == ""
    again, told = tried("--resume", file, arguments=("--fast",))
    assert again == first
    assert "is the report of another command" in told
    assert "client.py'" in told


@pytest.mark.deep(quick=1)
def test_folders_with_spaces_and_letters(survive, tmp_path):
    folder = tmp_path / "mein Geld \xfc\u20bf"
    (folder / "tmp").mkdir(parents=True)
    program = folder / "zahlt \xfc.py"
    program.write_text(PAYING + "pay()\n")
    words = ("--report", f"html={folder}/r \xfc.html", "--to-capsule", folder / "c \xfc")
    ended = survive(
        "",
        *LONE,
        *words,
        command=[PYTHON, program],
        environment={"TMPDIR": str(folder / "tmp")},
    )
    assert ended.returncode == 0
    assert not list((folder / "tmp").iterdir())


@pytest.mark.deep
def test_a_folder_for_files_that_nobody_can_write_to(survive):
    # Nothing is written to /proc, not even by root.
    ended = survive("pay()", *LONE, environment={"TMPDIR": "/proc"})
    assert ended.returncode == 0
