"""`conform` as a command: what it ends with, what it writes, what bad targets get."""

import asyncio
import gc
import gzip
import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from mockserver import conformance, file_formats
from mockserver.conformance.runs.option_reading import RunOptions
from mockserver.server.tls import context_of
from mockserver.testing import running
from tests.cli.conftest import command
from tests.conformance.conftest import ticks
from tests.conformance.rawserver import http, raw_server, saying
from tests.conftest import twice
from tests.server.certificates import written_pair

__all__ = ["ticks"]

SECRET = "shhh-0d6c2b9a77e1"  # noqa: S105 (made up)
KEY = "live-key-7f3a91"
# One layer of cheap rules; what the rules find is shown elsewhere.
FEW = (
    "--only",
    "envelope-*",
    "--only",
    "body-is-strict-json",
    "--no-edges",
    "--no-delivery",
    "--examples=0",
)
"""A run of the planned requests: what edge cases and generated ones find is tested elsewhere."""


@pytest.fixture(scope="module")
def mock():
    with running(clock="auto", refusals="allow") as server:
        yield server


@pytest.fixture
def healthy(mock):
    return mock.world("healthy").base_url


@pytest.fixture
def broken(mock):
    breaks = ("envelope-code-as-text", "html-page-for-success")
    return mock.world("broken", breaks=breaks).base_url


def calm(ended):
    """Show that a command ended without a traceback, and return both outputs."""
    text = ended.stdout + ended.stderr
    assert "Traceback" not in text, text
    return text


def test_a_healthy_service_conforms(run, healthy):
    ended = run("conform", healthy, *FEW, "--concurrency", "8")
    assert ended.returncode == 0
    [beforehand] = ended.stderr.splitlines()
    told = re.fullmatch(
        r"sends (\d+) planned requests \(0 of them submissions\), (\d+) with all others at most; "
        r"about (\d+) s to (\d+) s where an answer takes 20 ms, and never more than 10 min",
        beforehand,
    )
    assert told
    planned, most, least_s, most_s = map(int, told.groups())
    assert 0 < planned <= most
    # Eight at a time, rounded up; what comes beside the plan goes one by one.
    assert least_s == -(-planned * 20 // 8000)
    assert most_s >= least_s > 0
    sent = re.search(r"(\d+) requests in", ended.stdout)
    assert sent
    assert planned <= int(sent[1]) <= most
    lines = ended.stdout.splitlines()
    assert lines[0] == f"conformance of {healthy} (v1 and 2.0)"
    assert lines[1].endswith("submissions sent: 0")
    assert lines[-1].startswith("conforms: ")


def test_a_broken_service_does_not(call, broken):
    ended = call("conform", broken, *FEW)
    assert ended.returncode == 1
    assert "contradicts section 2.1" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("does not conform: ")


def test_one_generation_alone(call, healthy):
    ended = call("conform", "--v2", healthy, *FEW)
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[0] == f"conformance of {healthy} (2.0)"
    assert "v1." not in ended.stdout


def test_it_waits_for_a_service_that_is_still_starting(call, healthy):
    """A gateway answers 503 for a service that is not up; then the service answers."""
    start = http(b"", status="503 Service Unavailable")
    later = http(b'{"code":0,"msg":"success","data":{"list":[]}}')

    async def talk(request, writer):
        writer.write(start if len(server.requests) < 3 else later)

    with raw_server(talk) as server:
        ended = call(
            "conform", "--v2", server.url, "--only", "body-is-strict-json", "--wait", "30s"
        )
        assert server.lines[:3] == ["GET /v1/getChain HTTP/1.1"] * 3
        assert len(server.lines) > 3, calm(ended)
    assert "nothing answers" not in calm(ended)


def test_where_nobody_comes_the_run_says_so_itself(call, dead_port):
    ended = call("conform", f"http://127.0.0.1:{dead_port}", "--wait", "300ms")
    assert ended.returncode == 3
    assert "nothing answers" in calm(ended)


def test_nothing_is_waited_for_that_may_not_be_asked(call):
    ended = call("conform", "http://example.org", "--wait", "5m")
    assert ended.returncode == 2
    assert "--allow-host example.org" in calm(ended)


def test_every_format_at_once(call, broken, tmp_path):
    names = ("html", "json", "junit", "sarif", "github")
    options = [f"--report={name}={tmp_path / name}" for name in names]
    ended = call("conform", broken, *FEW, *options)
    assert ended.returncode == 1, calm(ended)
    for name in names:
        assert (tmp_path / name).stat().st_size > 100
    assert file_formats.read(tmp_path / "json").kind == "conformance"
    hint = "--report pytest=FILE"
    assert hint in ended.stdout
    told = call("conform", broken, *FEW, f"--report=pytest={tmp_path / 'test_found.py'}")
    assert hint not in told.stdout


def test_a_report_to_stdout_is_alone_there(run, broken):
    ended = run("conform", broken, *FEW, "--report", "json=-")
    assert json.loads(ended.stdout)["exitCode"] == ended.returncode == 1
    assert "does not conform" in ended.stderr


def test_fail_on_and_strict(call, mock):
    url = mock.world("extra", breaks=("allowed-extra-field",)).base_url
    assert call("conform", url, "--only", "no-undocumented-members").returncode == 0
    code = call("conform", url, "--only", "no-undocumented-members", "--fail-on=extra").returncode
    assert code == 1
    flat = mock.world("code", breaks=("envelope-code-as-text",)).base_url
    unclear = ("conform", flat, "--only", "balance-is-not-negative")
    assert call(*unclear, "--strict").returncode == 3


def test_strict_is_kept_by_a_healthy_service_and_by_none_that_was_not_reached(call, mock):
    url = mock.world("strict", clock="real").base_url
    strict = ("conform", url, "--strict", "--no-edges", "--no-delivery", "--examples=0")
    whole = call(*strict)
    assert whole.returncode == 0, calm(whole)
    assert "not applicable" in whole.stdout.splitlines()[-1]
    short = call(*strict, "--budget=40")
    assert short.returncode == 3
    assert "were not reached" in short.stdout.splitlines()[-1]
    assert call(*strict[:2], *strict[3:], "--budget=40").returncode == 0


def test_a_usage_error_names_the_command_as_it_is_typed(call):
    ended = call("conform", "http://127.0.0.1:9", "--budget", "0")
    assert ended.returncode == 2
    assert "Try 'crosschain-mock conform --help'" in calm(ended)
    assert "conform run" not in calm(ended)
    assert "Try 'crosschain-mock conform plan --help'" in calm(call("conform", "plan", "--nope"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "'nonsense' is no base address"),
        (("http://example.com",), "--allow-host example.com"),
        (
            ("http://example.com", "--allow-host=example.com", "--arm-writes"),
            "--set confirm-host=example.com",
        ),
        (("--v1", "ftp://x"), "'ftp://x' is no base address"),
        (("http://h", "--v1", "http://h", "--v2", "http://h"), "is left over"),
        (("http://127.0.0.1:9", "--report", "hmtl=x"), "did you mean 'html'"),
        (("http://127.0.0.1:9", "--report", "html=no/x"), "there is no folder 'no'"),
        (("http://127.0.0.1:9", "--report=json=-", "--report=html=-"), "only one report"),
        (("http://127.0.0.1:9", "--baseline", "none.yaml"), "none.yaml"),
        (
            ("http://127.0.0.1:9", "--write-baseline", "b.yaml"),
            "--set owner=NAME",
        ),
        (
            (
                "http://127.0.0.1:9",
                "--write-baseline=b",
                "--set=owner=o",
                "--set=expires=2020-01-01",
            ),
            "is over already",
        ),
        (
            ("http://127.0.0.1:9", "--write-baseline=b", "--set=owner=o", "--set=expires=tomorrow"),
            "'tomorrow' is no day",
        ),
        (("http://127.0.0.1:9", "--only", "envelop-code"), "did you mean 'envelope-code'"),
        (("http://127.0.0.1:9", "--dialect", "klingon"), "klingon"),
        (("http://127.0.0.1:9", "--set", "rate=0"), "requests a second"),
        (("http://127.0.0.1:9", "--set", "time=soon"), "'soon' is no duration"),
        (("http://127.0.0.1:9", "--set", "time=0s"), "of 1 ms or more"),
        (("http://127.0.0.1:9", "--set", "timestamp=noon"), "'noon' is no time"),
        (("http://127.0.0.1:9", "--set", f"app-key={KEY}"), "belong together"),
        (("http://127.0.0.1:9", "--set", "bindings=none.yaml"), "none.yaml"),
        (("http://127.0.0.1:9", "--journal=a", "--set=resume=b"), "not both"),
        (("http://127.0.0.1:9", "--report=html=r", "--report=json=./r"), "name two files"),
        (
            ("http://127.0.0.1:9", "--report=html=r", "--journal=r"),
            "--report and --journal: both are 'r'",
        ),
        (("explain", "envelop-code"), "did you mean 'envelope-code'"),
    ],
)
def test_wrong_or_unsafe_options_end_with_a_sentence(call, arguments, said):
    ended = call("conform", *arguments)
    assert ended.returncode == 2, calm(ended)
    assert said in calm(ended)
    assert ended.stdout == ""


def test_nothing_is_sent_where_an_option_is_wrong(call, tmp_path):
    with raw_server(saying(http(b"{}"))) as server:
        for option in ("--report=html=no/x", "--baseline=no", "--set=app-key=x", "--only=no-rule"):
            assert call("conform", server.url, option).returncode == 2
        assert server.requests == []


def bomb():
    return http(gzip.compress(b" " * 200_000_000, 1), "Content-Encoding: gzip")


async def endless(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def huge(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
    for _ in range(100):
        writer.write(b" " * 1_048_576)
        await writer.drain()


TARGETS = {
    "maintenance": saying(http(b"<html>soon</html>", kind="text/html")),
    "redirect": saying(http(b"", "Location: https://example.com/", status="302 Found")),
    "not-found": saying(http(b"", status="404 Not Found")),
    "utf-8": saying(http(b'{"code":0,"msg":"\xff\xfe","data":{}}')),
    "no-http": saying(b"\x15\x03\x01\x00\x02\x02\x50"),
    "nothing": saying(b""),
    "cut": saying(http(b"{}")[:-1] + b""),
    "gzip": saying(http(b"not gzip", "Content-Encoding: gzip")),
    "huge": huge,
    "endless": endless,
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.deep(quick=3)
def test_bad_targets_are_told_and_never_take_longer_than_given(run, call, name):
    # Whether anything is left that keeps a process from its end shows in a process of its own.
    conform = run if name in ("redirect", "huge", "endless") else call
    with raw_server(TARGETS[name]) as server:
        # An answer without an end would keep the run for ever, and the test from its end.
        times = ("4s", "1s") if name in ("huge", "endless") else ("10m", "60s")
        ended = conform(
            "conform",
            server.url,
            *FEW,
            "--set",
            f"time={times[0]}",
            "--set",
            f"request-time={times[1]}",
        )
    text = calm(ended)
    assert ended.returncode in (1, 3), text
    assert len(text.splitlines()) < 80
    if name in ("maintenance", "redirect", "not-found", "no-http", "nothing"):
        assert ended.returncode == 3
        assert "does not answer as the service" in text
        assert ended.stdout.splitlines()[-1] == "inconclusive: nothing was judged"


def test_a_gzip_bomb_does_no_harm(run):
    with raw_server(saying(bomb())) as server:
        ended = run("conform", server.url, *FEW, "--set", "time=4s", "--set", "request-time=2s")
    assert ended.returncode in (1, 3), calm(ended)


def test_a_closed_port_is_told(call):
    ended = call("conform", "http://127.0.0.1:9")
    assert ended.returncode == 3
    assert "is the service running, and is this its port?" in calm(ended)


def test_tls_on_a_plain_port_gets_the_address_that_answers(call, healthy):
    ended = call("conform", healthy.replace("http:", "https:"), *FEW)
    assert ended.returncode == 3
    assert f"{healthy} does: give that as base address" in calm(ended)


def test_a_wrong_base_path_gets_a_hint(call, healthy):
    ended = call("conform", f"{healthy}/open/v1", *FEW)
    assert ended.returncode == 3
    assert f"{healthy} does: give that as base address" in ended.stdout


@pytest.mark.parametrize("by", ["options", "environment"])
@pytest.mark.deep(quick=1)
def test_keys_are_used_and_never_told(call, mock, tmp_path, by):
    url = mock.world("keys", app_keys=((KEY, SECRET),), breaks=("v1-infinity",)).base_url
    names = ("html", "json", "junit", "sarif", "github")
    reports = [f"--report={name}={tmp_path / name}" for name in names]
    options = ["--only", "body-is-strict-json", "--set", "timestamp=2026-01-01T00:00:00Z"]
    if by == "options":
        ended = call(
            "conform",
            url,
            *options,
            *reports,
            "--set",
            f"app-key={KEY}",
            "--set",
            f"app-secret={SECRET}",
        )
    else:
        variables = {"CROSSCHAIN_MOCK_APP_KEY": KEY, "CROSSCHAIN_MOCK_APP_SECRET": SECRET}
        ended = with_environment(variables, "conform", url, *options, *reports)
    assert ended.returncode == 1, calm(ended)
    texts = [calm(ended), *(Path(tmp_path / name).read_text() for name in names)]
    for text in texts:
        assert KEY not in text
        assert SECRET not in text
    assert "${CROSSCHAIN_MOCK_APP_KEY:?}" in ended.stdout


def with_environment(variables, *arguments):
    """Run the command with more variables."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
    )


def test_a_half_given_secret_is_not_repeated(call):
    ended = call("conform", "http://127.0.0.1:9", "--set", f"app-secret={SECRET}")
    assert ended.returncode == 2
    assert SECRET not in calm(ended)


def test_a_baseline_from_writing_to_expiry(call, broken, tmp_path):
    file = tmp_path / "accepted.yaml"
    written = call(
        *("conform", broken, *FEW, "--write-baseline", str(file)),
        *("--set", "owner=team-bridge", "--set", "expires=2999-12-31"),
    )
    assert written.returncode == 0, calm(written)
    ended = call("conform", broken, *FEW, "--baseline", str(file))
    assert ended.returncode == 0, calm(ended)
    assert "accepted: 1 cause, until 2999-12-31" in ended.stdout
    ended = call("conform", broken, *FEW, "--baseline", str(file), "--verbose")
    assert "accepted until 2999-12-31 by team-bridge" in ended.stdout
    file.write_text(file.read_text().replace("2999-12-31", "2020-01-31"))
    ended = call("conform", broken, *FEW, "--baseline", str(file))
    assert ended.returncode == 1
    assert "was accepted until 2020-01-31 by team-bridge" in ended.stdout
    assert call("validate", str(file)).returncode == 0


def test_a_baseline_loses_nothing_that_was_not_judged_again(call, broken, tmp_path, dead_port):
    file = tmp_path / "accepted.yaml"
    kept = (*("--baseline", str(file), "--write-baseline", str(file)), "--set=owner=new")
    entry = "operation: v2.getPrice, reason: r, owner: old, expires: 2999-12-31"
    file.write_text(
        "format: crosschain-mock/baseline@1\naccepted:\n"
        f"  - {{rule: data-form, {entry}}}\n  - {{rule: envelope-members, {entry}}}\n"
    )
    once = call("conform", broken, *FEW, *kept, "--set=expires=2999-12-31")
    assert once.returncode == 0, calm(once)
    owners = [
        (one["rule"], one["owner"]) for one in file_formats.read(file, "baseline").value["accepted"]
    ]
    assert ("data-form", "old") in owners
    assert ("envelope-members", "old") not in owners
    assert "new" in {owner for _, owner in owners}
    text = file.read_text()
    gone = ("conform", f"http://127.0.0.1:{dead_port}", "--write-baseline", str(file))
    ended = call(*gone, "--set=owner=o", "--set=expires=2999-12-31")
    assert ended.returncode == 3
    assert f"{file} is not written: the run could not be decided" in ended.stderr
    assert file.read_text() == text


def test_bindings_are_read_and_their_names_checked(call, healthy, tmp_path):
    file = tmp_path / "bindings.yaml"
    file.write_text("format: crosschain-mock/bindings@1\nroles:\n  symbol: symbol\n")
    assert call("conform", healthy, *FEW, "--set", f"bindings={file}").returncode == 0
    file.write_text("format: crosschain-mock/bindings@1\nroles:\n  symbool: x\n")
    ended = call("conform", healthy, *FEW, "--set", f"bindings={file}")
    assert ended.returncode == 2
    assert "bindings.yaml:3: roles.symbool: no such role; did you mean 'symbol'" in ended.stderr


def test_a_journal_is_kept_and_resumed(call, healthy, tmp_path):
    file = tmp_path / "run.jsonl"
    assert call("conform", healthy, *FEW, "--journal", str(file)).returncode == 0
    ended = call("conform", healthy, *FEW, "--set", f"resume={file}")
    assert ended.returncode == 0
    assert " 0 requests in " in ended.stdout


# Each number is another moment of the same wait; a deep run tries all.
@pytest.mark.parametrize(
    "sent",
    [pytest.param(n, marks=[] if n in (2, 5, 8) else pytest.mark.deep) for n in range(2, 10)],
)
def test_an_interruption_tells_what_there_is(tmp_path, sent):
    """Also where the addresses nearby are being asked, since each request is refused."""
    report = tmp_path / "r.json"
    enough = threading.Event()

    async def refusing(_, writer):
        if len(server.requests) >= sent:
            enough.set()
            await asyncio.sleep(60)
        writer.write(http(b'{"code":7,"msg":"no","data":{},"status":1}'))
        await writer.drain()

    with (
        raw_server(refusing) as server,
        subprocess.Popen(
            command("conform", server.url, "--set", "rate=5", "--report", f"json={report}"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        ) as popen,
    ):
        assert enough.wait(60)
        twice(popen, signal.SIGINT)
        out, err = popen.communicate(timeout=60)
    assert popen.returncode == 130, err
    assert "Traceback" not in err
    assert "note: the run was interrupted" in out
    assert json.loads(report.read_text())["notes"] == ["the run was interrupted"]


def test_explain_rules_and_plan(call):
    ended = call("conform", "explain", "envelope-code")
    assert ended.returncode == 0
    for heading in ("why", "based on", "layer", "severity", "operations", "requests", "example of"):
        assert f"\n{heading}" in ended.stdout
    listed = call("conform", "rules").stdout.splitlines()
    assert listed[0].split()[:3] == ["rule", "layer", "severity"]
    assert any(line.startswith("envelope-code ") for line in listed)
    names = [rule["name"] for rule in json.loads(call("conform", "rules", "--json").stdout)]
    assert len(names) == len(listed) - 1


def test_a_plan_sends_nothing(call):
    with raw_server(saying(http(b"{}"))) as server:
        ended = call("conform", "plan", server.url, *FEW)
        assert ended.returncode == 0, calm(ended)
        told = json.loads(call("conform", "plan", server.url, *FEW, "--json").stdout)
        assert server.requests == []
    assert "nothing was sent" in ended.stdout
    assert re.search(r"^lists +v2.getChain/usual +GET /v1/getChain$", ended.stdout, re.MULTILINE)
    assert told["requests"] == len(told["probes"]) > 3
    assert told["submissions"] == 0
    assert call("conform", "plan").returncode == 0


def test_help_shows_options_and_commands(call):
    text = call("conform", "--help").stdout
    assert "conform URL [OPTIONS]" in text
    for word in ("--arm-writes", "--baseline", "explain", "rules", "plan"):
        assert word in text
    assert call("conform").returncode == 2


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return written_pair(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def secure(pair):
    """A mock with https."""
    with running(clock="auto", refusals="allow", tls=context_of(pair.cert, pair.key)) as server:
        yield server


def test_a_service_with_https_is_trusted_by_a_certificate(
    call, secure, pair, monkeypatch, tmp_path
):
    # Delivery asks again on kept connections, which are opened elsewhere.
    short = [option for option in FEW if option != "--no-delivery"]
    ended = call("conform", secure.url, *short, "--cacert", str(pair.cert), "--wait=30s")
    assert ended.returncode == 0, calm(ended)
    both = tmp_path / "both.pem"
    both.write_bytes(written_pair(tmp_path, "stranger").cert.read_bytes() + pair.cert.read_bytes())
    monkeypatch.setenv("CROSSCHAIN_MOCK_CACERT", str(both))
    plain = secure.url.replace("https:", "http:")
    ended = call("conform", plain, *FEW)
    assert ended.returncode == 3, calm(ended)
    assert f"{secure.url} does: give that as base address" in ended.stdout
    ended = call("compare", secure.url, secure.url, "--budget=20")
    assert ended.returncode == 0, calm(ended)
    assert "no difference" in ended.stdout
    # A connection that was left open when its run ended would be told here, as a warning.
    gc.collect()


def test_keywords_name_a_certificate(secure, pair):
    options: RunOptions = {
        "only": "envelope-*",
        "edges": False,
        "delivery": False,
        "examples": 0,
    }
    assert conformance.run(secure.url, **{**options, "cacert": pair.cert}).exit_code() == 0
    result = conformance.run(secure.url, **options)
    assert not any(exchange.answer.status for exchange in result.exchanges)


def test_another_certificate_is_not_trusted(call, secure, tmp_path):
    for options in ((), ("--cacert", str(written_pair(tmp_path, "stranger").cert))):
        ended = call("conform", secure.url, *FEW, *options)
        assert ended.returncode == 3, calm(ended)
        assert "its certificate is not trusted" in ended.stdout
        assert "cacert" in ended.stdout
        ended = call("compare", secure.url, secure.url, "--budget=20", *options)
        assert ended.returncode == 3, calm(ended)
        assert "its certificate is not trusted" in ended.stdout


def test_a_file_without_certificates_is_refused_before_anything_is_sent(call, mock, pair, tmp_path):
    healthy = mock.world("untouched")
    for file, what in ((pair.key, "no certificate in PEM"), (tmp_path / "none", "no such file")):
        for command_line in (("conform", healthy.base_url), ("compare", *[healthy.base_url] * 2)):
            ended = call(*command_line, "--cacert", str(file))
            assert (ended.returncode, what in calm(ended)) == (2, True), ended.stderr
    assert not healthy.requests()


def test_where_nothing_answers_no_place_in_memory_is_told(call, pair, dead_port):
    url = f"https://127.0.0.1:{dead_port}"
    ended = call("conform", url, *FEW, "--cacert", str(pair.cert), "--report=json=-")
    assert ended.returncode == 3, calm(ended)
    assert "object at" not in calm(ended)
