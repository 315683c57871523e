"""`crosschain-mock run`: a server around another command, in any language."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.certificates import written_pair

ROOT = Path(__file__).parents[2]
TELL = """
import json, os, urllib.request
told = {name: os.environ[name] for name in os.environ if name.startswith("CROSSCHAIN_MOCK_")}
with urllib.request.urlopen(told["CROSSCHAIN_MOCK_URL"] + "/__mock/clock", timeout=60) as answer:
    told["clock"] = json.load(answer)["now"]
print(json.dumps(told))
"""


@pytest.fixture
def run(apart):
    def start(*arguments):
        return apart("-m", "mockserver", "run", *arguments)

    return start


def test_the_command_finds_the_server_and_its_output_is_its_own(run, tmp_path):
    start = ["--clock", "frozen", "--start", "2026-01-01T00:00:00Z"]
    ended = run(*start, "--", sys.executable, "-c", TELL)
    said = "check: there is nothing to judge: no request came to any world\n"
    assert (ended.returncode, ended.stderr) == (0, said)
    told = json.loads(ended.stdout)
    assert told["clock"] == "2026-01-01T00:00:00Z"
    url = told["CROSSCHAIN_MOCK_URL"]
    assert url.startswith("http://127.0.0.1:")
    assert told["CROSSCHAIN_MOCK_BASE_URL"] == told["CROSSCHAIN_MOCK_BASE_URL_V2"] == url
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=60)


TELL_SECURELY = """
import json, os, ssl, subprocess, sys, urllib.request
os.chdir("/")
told = {name: os.environ[name] for name in os.environ if name.startswith("CROSSCHAIN_MOCK_")}
trusting = ssl.create_default_context(cafile=told["CROSSCHAIN_MOCK_CACERT"])
address = told["CROSSCHAIN_MOCK_BASE_URL_V2"] + "/__mock/world"
with urllib.request.urlopen(address, timeout=60, context=trusting) as answer:
    told["place"] = json.load(answer)["url"]
print(json.dumps(told), flush=True)
sys.exit(subprocess.call([sys.executable, "-m", "mockserver", "clock", "show"]))
"""


def test_the_command_finds_a_server_with_https(run, tmp_path):
    written_pair(tmp_path)
    secure = ("--tls-cert", "server.pem", "--tls-key", "server.key")
    ended = run("--clock=frozen", *secure, "--", sys.executable, "-c", TELL_SECURELY)
    assert ended.returncode == 0, ended.stderr
    first, _, shown = ended.stdout.partition("\n")
    told = json.loads(first)
    url = told["CROSSCHAIN_MOCK_URL"]
    assert url.startswith("https://127.0.0.1:")
    assert told["CROSSCHAIN_MOCK_BASE_URL"] == told["CROSSCHAIN_MOCK_BASE_URL_V2"] == url
    assert told["CROSSCHAIN_MOCK_CACERT"] == str(tmp_path / "server.pem")
    assert told["place"] == f"{url}/w/default"
    assert "frozen" in shown


def test_certificates_with_which_nobody_can_be_served_run_nothing(call, tmp_path):
    pair = written_pair(tmp_path)
    late = written_pair(tmp_path, "late", days=(-9, -8))
    own_key = f"--tls-key={pair.key}"
    command = ("--", sys.executable, "-c", "open('ran', 'w')")
    for code, words, options in (
        (2, "--tls-key goes with --tls-cert", (own_key,)),
        (4, "expired", ("--tls-cert", str(late.cert), "--tls-key", str(late.key))),
        (4, "late.key", ("--tls-cert", str(pair.cert), "--tls-key", str(late.key))),
        (2, "asked by plain HTTP", ("--clock=client", f"--tls-cert={pair.cert}", own_key)),
    ):
        ended = call("run", *options, *command)
        assert (ended.returncode, words in ended.stderr) == (code, True), ended.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise SystemExit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
    ],
)
@pytest.mark.deep(quick=1)
def test_the_exit_code_is_passed_on(run, source, code):
    assert run("--", sys.executable, "-c", source).returncode == code


def test_a_command_that_is_not_there_is_a_sentence(run, tmp_path):
    ended = run("--", "no-such-command")
    assert ended.returncode == 127
    assert ended.stderr.startswith("error: command 'no-such-command' is not found")
    (tmp_path / "notes.txt").write_text("not a program")
    ended = run("--", "./notes.txt")
    assert ended.returncode == 126
    assert ended.stderr == "error: cannot run './notes.txt': permission denied\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["--scenario", "nope", "--", "true"], "'nope' is no shipped scenario"),
        (["--erratum", "E-01", "--dialect", "observed", "--", "true"], "goes with the documented"),
    ],
)
@pytest.mark.deep(quick=1)
def test_wrong_arguments_exit_2_and_nothing_is_run(run, arguments, words):
    ended = run(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr


# Blocked first: a signal that comes between the line and the wait is not lost.
WAIT = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
print("waiting", flush=True)
number = signal.sigwait((signal.SIGINT, signal.SIGTERM))
print("ended by", signal.Signals(number).name, flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.deep(quick=1)
def test_a_signal_reaches_the_command_and_nothing_is_left(number):
    popen = subprocess.Popen(
        [sys.executable, "-m", "mockserver", "run", "--", sys.executable, "-c", WAIT],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert popen.stdout is not None
    assert popen.stdout.readline() == "waiting\n"
    popen.send_signal(number)
    out, err = popen.communicate(timeout=60)
    assert (popen.returncode, err) == (3, "")
    assert out == f"ended by {signal.Signals(number).name}\n"
