"""The edges of the process: ready files of others, and standard streams that take nothing."""

import http.client
import json
import logging
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import unquote

import pytest

from mockserver.errors import CannotServe
from mockserver.http_messages import printable
from mockserver.server.process import claim
from mockserver.standard_streams import Log
from tests.cli.conftest import loop, start
from tests.conftest import eventually, frozen, running

__all__ = ["loop", "start"]

ROOT = Path(__file__).parents[2]


def test_a_stale_ready_file_is_gone_before_anything_is_ready(tmp_path):
    file = tmp_path / "ready.json"
    file.write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))
    claim(file)
    assert not file.exists()
    claim(file)


def test_the_ready_file_of_a_server_that_runs_is_left_alone(tmp_path):
    file = tmp_path / "ready.json"
    with running(frozen()) as other:
        told = json.dumps({"url": f"http://127.0.0.1:{other.port}", "pid": 1})
        file.write_text(told)
        with pytest.raises(CannotServe, match="belongs to the server"):
            claim(file)
        assert file.read_text() == told


@pytest.mark.parametrize("text", ["", "notes of mine", "[]", '{"url": "x"}', "[" * 100_000])
def test_what_is_no_ready_file_is_left_alone(tmp_path, text):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with pytest.raises(CannotServe, match="something else is there"):
        claim(file)
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_ready_file_without_a_name_is_a_sentence(name):
    with pytest.raises(CannotServe, match="ready file"):
        claim(Path(name))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
def test_a_full_standard_output_keeps_nobody_from_being_served(tmp_path):
    file = tmp_path / "ready.json"
    with Path("/dev/full").open("w") as full:
        served = subprocess.Popen(
            [sys.executable, "-m", "mockserver", "serve", "--port", "0", "--ready-file", str(file)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert served.stderr is not None
    line = served.stderr.readline()
    assert "the ready line cannot be written: [errno 28]" in line
    url = json.loads(file.read_text())["url"]
    with urllib.request.urlopen(f"{url}/v1/getChain", timeout=60) as answer:
        assert answer.status == 200
    served.terminate()
    _, err = served.communicate(timeout=60)
    assert served.returncode == 0
    assert "Traceback" not in err
    assert not file.exists()


STREAMS = {
    "stderr is closed": "2>&-",
    "stdout is closed": ">&-",
    "all are closed": "<&- >&- 2>&-",
    "stderr is full": "2>/dev/full",
    "the reader of stderr is gone": "2> >(true)",
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
@pytest.mark.parametrize("streams", STREAMS.values(), ids=STREAMS)
@pytest.mark.deep(quick=2)
def test_no_stream_keeps_anybody_from_being_served(tmp_path, streams):
    file = tmp_path / "ready.json"
    line = f'exec "$0" -m mockserver serve --port 0 --ready-file ready.json {streams}'
    served = subprocess.Popen(
        ["bash", "-c", line, sys.executable],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    eventually(lambda: file.exists() or served.poll() is not None, "the ready file")
    assert served.poll() is None
    url = json.loads(file.read_text())["url"]
    with urllib.request.urlopen(f"{url}/v1/getChain", timeout=60) as answer:
        assert answer.status == 200
    served.terminate()
    assert served.wait(60) == 0
    assert not file.exists()


@pytest.mark.parametrize(
    "line",
    ["stub add -", "world load -", "sign v1 --app-key a --app-secret b --body -"],
)
def test_a_closed_standard_input_is_a_sentence(line):
    ended = subprocess.run(
        ["bash", "-c", f'exec "$0" -m mockserver {line} <&-', sys.executable],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode == 2
    assert ended.stderr == "error: standard input cannot be read: it is closed\n"


def test_a_log_that_nobody_reads_keeps_nobody_from_being_served(start):
    served = start("--port", "0", "--dialect", "observed")
    client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    for _ in range(1500):
        client.request("GET", "/v1/checkOrder?id=" + "9" * 30)
        refused = client.getresponse()
        refused.read()
    assert refused.headers["X-Mock-Refusal"].startswith("unknown-order")
    client.close()
    code, _, err = served.stop()
    assert code == 0
    assert err.count("unknown-order") < 1500


def test_lines_that_were_lost_are_counted(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(writing, "w") as writer:
        monkeypatch.setattr(sys, "stderr", writer)
        log = Log()
        record = logging.LogRecord("x", logging.WARNING, "x", 1, "y" * 999, (), None)
        for _ in range(200):
            log.emit(record)
        taken = reader.read(2**20)
        log.emit(record)
        told = reader.read(2**20)
    kept = taken.count(b"\n")
    assert 0 < kept < 200
    assert told.startswith(b"%d lines are lost" % (200 - kept))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('"$0" -m mockserver routes | true; exit "${PIPESTATUS[0]}"', 141),
        ('"$0" -m mockserver calendar show random | true; exit "${PIPESTATUS[0]}"', 141),
        ('"$0" -m mockserver routes >&-', 0),
        ('"$0" -m mockserver routes >/dev/full', 2),
        ('"$0" -m mockserver validate nothing 2>&-', 2),
        ('"$0" -m mockserver validate nothing 2>/dev/full', 2),
    ],
)
def test_a_command_whose_output_goes_nowhere_ends_in_order(tmp_path, command, code):
    ended = subprocess.run(
        ["bash", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
        check=False,
    )
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr


EVIL = [
    "%0aFORGED",
    "%0d%0aFORGED",
    "%1b[2J",
    "%c2%9b2J",
    "%e2%80%ae",
    "%e2%80%a8FORGED",
    "%00",
    "%ff",
]


@pytest.mark.parametrize("evil", EVIL)
def test_no_request_writes_more_than_its_line(serve, caplog, call, evil):
    caplog.set_level(logging.DEBUG, logger="mockserver")
    client = serve(dialect="observed").client
    asked = (f"/{evil}", f"/v1/checkOrder?id={evil}", f"/w/{evil}/v1/getChain", f"/v1/x?{evil}=1")
    for path in asked:
        client.call("GET", path)
        client.call("GET", f"/__mock{path}")
    raw = unquote(evil)
    client.post("/v1/submitTicket", {"hash": raw, "chain": raw}, headers=client.wallet)
    assert len(caplog.records) >= len(asked)
    for record in caplog.records:
        assert record.getMessage().isprintable(), record
    shown = call("journal", "--url", f"http://127.0.0.1:{client.port}").stdout
    assert "FORGED" not in [line[:6] for line in shown.splitlines()]
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "\u202e", "\x00", "\ud800", "\x9b1m"])
def test_what_comes_from_outside_stays_on_its_line(text):
    assert printable(f"x{text}y").isprintable()
    assert printable("plain äöü 💸") == "plain äöü 💸"
