"""Texts that are nested too deep, where a library has raised Python's limit far beyond the stack.

py_ecc, of the libraries for signatures, does so when it is imported: the parser of the standard
library then ends the process before it refuses a text.
"""

import subprocess
import sys

import pytest

DEEP = "[" * 200_000
RAISED = (
    "import sys; sys.setrecursionlimit(1_000_000)\nfrom mockserver.__main__ import main\nmain()"
)


def a_journal(place):
    (place / "run.jsonl").write_text(f"{DEEP}\n{DEEP}\n")
    return ("conform", "http://127.0.0.1:9", "--set", "resume=run.jsonl")


def a_foreign_recording(place):
    (place / "other.json").write_text(DEEP)
    return ("recordings", "import", "other.json", "--out", "new")


def saved_requests(place):
    (place / "saved.jsonl").write_text(f"{DEEP}\n")
    return ("conform", "http://127.0.0.1:9", "--probes", "saved.jsonl")


def a_body_to_sign(place):
    (place / "body.json").write_text(DEEP)
    keys = ("--app-key", "key", "--app-secret", "secret")
    return ("sign", "v1", *keys, "--body", "@body.json")


def a_recording(place):
    (place / "own.yaml").write_text(DEEP)
    return ("validate", "own.yaml")


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (a_journal, "run.jsonl"),
        (a_foreign_recording, "other.json: not JSON: nested deeper than 500 levels"),
        (saved_requests, "saved.jsonl:1: expected a JSON object"),
        (a_body_to_sign, "--body: no JSON text"),
        (a_recording, "own.yaml:1: nested deeper than 50 levels"),
    ],
)
@pytest.mark.deep(quick=2)
def test_a_deep_text_is_refused_in_a_sentence(made, says, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", RAISED, *made(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2, (ended.returncode, ended.stderr[-500:])
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr
