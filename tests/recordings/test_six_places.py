"""Every planted secret once through the mock and through reports: nobody can read one afterwards.

The places are the disk (a capsule, a recording), the journal, the check, capsules, reports in every
format, and logs. What the recorder writes and prints is in `test_planted.py`.
"""

import base64
import json
import logging
import sys
import zipfile
from functools import partial
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

import pytest

from mockserver.conformance.report.report_files import NAMES
from tests.recordings.conftest import answer
from tests.recordings.test_planted import CASES, answered, readable_in, send
from tests.secrets_corpus.more import more_cases
from tests.secrets_corpus.reading import told_by_requests

MORE = list(more_cases())
_SENDER = """\
import base64, http.client, json, os, sys
from urllib.parse import urlsplit
parts = urlsplit(os.environ["CROSSCHAIN_MOCK_URL"])
for method, target, headers, body in json.load(open(sys.argv[1])):
    line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    line.putrequest(method, parts.path.rstrip("/") + target, skip_accept_encoding=True)
    for name, value in headers:
        line.putheader(name, value)
    raw = base64.b64decode(body)
    if raw:
        line.putheader("Content-Length", str(len(raw)))
    line.endheaders(raw or None)
    line.getresponse().read()
    line.close()
"""


@pytest.fixture
def planted(is_deep: bool):
    """The cases that are planted: all with `--deep`."""
    return [*CASES, *MORE] if is_deep else [*CASES[::24], *MORE[::2]]


def all_files(folder: Path) -> list[bytes]:
    raw = []
    for file in folder.rglob("*"):
        if file.is_file() and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                raw += [packed.read(name) for name in packed.namelist()]
        elif file.is_file():
            raw.append(file.read_bytes())
    return raw


def plan_of(scratch: Path, planted) -> tuple[Path, Path]:
    """Write a program that sends the cases, and what it sends."""
    rows = [
        (
            exchange.method,
            quote(exchange.path, safe="/%:;@") + (f"?{exchange.query}" if exchange.query else ""),
            exchange.headers,
            base64.b64encode(exchange.body).decode(),
        )
        for case in planted
        for exchange in case.exchanges
    ]
    sender, plan = scratch / "sender.py", scratch / "plan.json"
    sender.write_text(_SENDER)
    plan.write_text(json.dumps(rows))
    return sender, plan


def test_sixty_more_are_written():
    assert len(MORE) >= 60
    assert len({case.name for case in MORE}) == len(MORE)


def test_the_mock_shows_none(serve, call, planted, tmp_path, caplog):
    """Journal, check, recording, capsule, access log and log of the server."""
    planted = told_by_requests(planted)
    log = tmp_path / "access.log"
    with caplog.at_level(logging.DEBUG):
        mock = serve(access_log=log)
        for case in planted:
            for exchange in case.exchanges:
                send(mock.port, exchange)
    url = f"http://127.0.0.1:{mock.port}"
    control = partial(mock.client.control, "GET")
    verdict = control("/check?audit=true")
    assert any("unexpected refusal" in sentence for sentence in verdict["told"])
    answers = [verdict, *map(control, ("/journal", "/check", "/recording", "/audit", "/lint"))]
    shown = [json.dumps(each, default=str).encode() for each in answers]
    said = []
    for command in (
        ["journal"],
        ["check"],
        ["audit"],
        ["capsule", "save", "mock.capsule"],
    ):
        ended = call(*command, "--url", url)
        said += [ended.stdout.encode(), ended.stderr.encode()]
    assert (tmp_path / "mock.capsule").exists()
    assert log.read_text().count("\n") >= sum(len(case.exchanges) for case in planted)
    for place, raw in {
        "control": shown,
        "commands": said,
        "log": [caplog.text.encode()],
        "files": all_files(tmp_path),
    }.items():
        assert readable_in(planted, *raw) == [], place


def test_the_reports_of_a_run_show_none(call, planted, tmp_path):
    planted = told_by_requests(planted)
    scratch = tmp_path.parent / f"{tmp_path.name}-sender"
    scratch.mkdir()
    command = (sys.executable, *map(str, plan_of(scratch, planted)))
    ended = call("run", "--report", "junit=run.xml", "--capsule", "run.capsule", "--", *command)
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "run.xml").read_text().count("<") > 3
    said = [ended.stdout.encode(), ended.stderr.encode()]
    assert readable_in(planted, *said, *all_files(tmp_path)) == []


@pytest.mark.deep(quick=1)
def test_reports_of_conform_show_none(upstream, call, planted, tmp_path):
    """A service that answers with secrets wherever it can: in each format, and on the terminal."""
    # One that only its request tells of, and that comes again in an answer, is not planted here.
    planted = [case for case in planted if len(case.exchanges) == 1]
    turns = cycle([exchange for case in planted for exchange in case.exchanges])

    def reply(handler, _):
        exchange = next(turns)
        answer(handler, exchange.answer, headers=answered(exchange))

    upstream.reply = reply
    formats = [part for name in NAMES for part in ("--report", f"{name}=report-{name}")]
    ended = call("conform", upstream.url, "--budget", "400", *formats, "--journal", "run.jsonl")
    said = [ended.stdout.encode(), ended.stderr.encode()]
    assert len(all_files(tmp_path)) > len(NAMES), ended.stderr
    assert len(upstream.seen) > 100
    assert readable_in(planted, *said, *all_files(tmp_path)) == []
