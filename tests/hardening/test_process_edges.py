"""The edges of the process: ready files of others, and a standard output that takes nothing."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from mockserver.errors import CannotServe
from mockserver.exchange import printable
from mockserver.server.process import claim
from tests.conftest import frozen, running

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
    with urllib.request.urlopen(f"{url}/v1/getChain", timeout=20) as answer:
        assert answer.status == 200
    served.terminate()
    _, err = served.communicate(timeout=20)
    assert served.returncode == 0
    assert "Traceback" not in err
    assert not file.exists()


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "\u202e", "\x00", "\ud800", "\x9b1m"])
def test_what_comes_from_outside_stays_on_its_line(text):
    assert printable(f"x{text}y").isprintable()
    assert printable("plain äöü 💸") == "plain äöü 💸"
