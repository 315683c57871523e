"""Commands and tests of a report are run for real."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mockserver.conformance.report.exchanges_and_curl import reported
from mockserver.conformance.report.masking import masker_for
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.exchange import Answer
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.target import Target
from tests.conformance.rawserver import http, raw_server, saying
from tests.conformance.report.made import BASE, exchange

V1_QUOTE = "v1.getCrossChainQuote"
TIMED = (("timestamp", "1767225600000"),)
KEYS = (("appKey", "k-5f21ab77"), ("signature", "5c1f9e3b7a2d4068" * 4))
ROOT = Path(__file__).parents[3]
FINE = http(b'{"code":0,"msg":"success","data":{}}')


@pytest.fixture(scope="module")
def listening():
    with raw_server(saying(FINE)) as server:
        yield server


def line_of(one, server, caller=None):
    """Return the curl line of an exchange, sent to a server of the test."""
    return shown(one, server.url, caller or Caller()).command


def shown(one, url, caller):
    """Return an exchange as reports have it."""
    return reported(one, Target(url, url), masker_for([one], caller), own_keys=caller.own_keys)


def run(line, **environment):
    """Run a line in a plain shell."""
    return subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        timeout=300,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment},
    )


def arrived(server, line, **environment):
    """Run a line; return the request that came because of it: first line, headers, body."""
    before = len(server.requests)
    ended = run(line, **environment)
    assert ended.returncode == 0, ended.stderr
    [request] = server.requests[before:]
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8").split("\r\n")
    headers = [tuple(one.split(": ", 1)) if ": " in one else (one[:-1], "") for one in lines]
    return first, [one for one in headers if one[0] not in ("Host", "User-Agent")], body


BODIES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from([b"@/etc/passwd", b"%s\\n$HOME`id`'\"", b"\x00\xff%\\", b"{}", b"'"]),
)


@settings(max_examples=12)
@example(body=b"-\x00", value="")
@example(body=b"--\xff", value="-")
@given(body=BODIES, value=st.text(st.characters(codec="latin-1", categories=["L", "N", "P", "S"])))
def test_a_line_sends_the_request_byte_for_byte(listening, body, value):
    sent = (("X-Odd", value.strip()), ("Content-Type", "application/json"))
    query = f"a={quote(value)}&b[]={{x}}&c=%2e"
    one = exchange(V1_QUOTE, headers=sent, body=body, query=query)
    first, headers, came = arrived(listening, line_of(one, listening))
    assert first == f"POST /open/v1/order/getCrossChainQuote?{query} HTTP/1.1"
    assert came == body
    assert [one for one in headers if one[0] in ("X-Odd", "Content-Type")] == list(sent)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/getChain"), ("DELETE", "/v1/../v1/./x"), ("PUT", "/v1/x y")]
)
def test_method_and_path_stay_as_they_were(listening, method, path):
    one = exchange("v2.getChain", method=method, path=path)
    first, headers, body = arrived(listening, line_of(one, listening))
    assert first == f"{method} {path.replace(' ', '%20')} HTTP/1.1"
    assert body == b""
    assert ("Accept", "application/json") in headers


def test_a_head_request_does_not_wait_for_a_body(listening):
    one = exchange("v2.getChain", method="HEAD")
    assert arrived(listening, line_of(one, listening))[0] == "HEAD /v1/getChain HTTP/1.1"


def test_the_version_and_the_whole_address_are_sent_again(listening):
    one = exchange("v2.getPrice", query="chain=BNB", version="1.0", is_absolute=True)
    first, _, _ = arrived(listening, line_of(one, listening))
    assert first == f"GET {listening.url}/v1/getPrice?chain=BNB HTTP/1.0"


def test_a_post_without_body_and_a_body_without_type(listening):
    one = exchange(V1_QUOTE)
    first, headers, body = arrived(listening, line_of(one, listening))
    assert (first[:5], body) == ("POST ", b"")
    assert ("Content-Length", "0") in headers
    assert not [name for name, _ in headers if name == "Content-Type"]
    one = exchange(V1_QUOTE, body=b"{}")
    _, headers, body = arrived(listening, line_of(one, listening))
    assert body == b"{}"
    assert not [name for name, _ in headers if name == "Content-Type"]


def test_a_large_body_goes_through_a_pipe(listening):
    one = exchange(V1_QUOTE, body=b"x" * 150_000)
    line = line_of(one, listening)
    assert line.startswith("printf ")
    # What is longer than an argument may be is no argument of the shell either.
    ended = subprocess.run(
        ["/bin/bash"], input=line.encode(), capture_output=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert listening.requests[-1].endswith(b"x" * 150_000)


def test_the_example_account_has_placeholders_that_the_environment_replaces(listening):
    one = exchange(V1_QUOTE, headers=KEYS, body=b"{}")
    line = line_of(one, listening)
    assert "k-5f21ab77" not in line
    assert shown(one, listening.url, Caller()).needs == ""
    _, headers, _ = arrived(listening, line)
    assert dict(headers)["appKey"] == "example-app-key"
    assert dict(headers)["signature"] == "0" * 64
    _, headers, _ = arrived(listening, line, CROSSCHAIN_MOCK_APP_KEY="mine $x'", SIGNATURE="s")
    assert (dict(headers)["appKey"], dict(headers)["signature"]) == ("mine $x'", "s")


def test_an_own_account_has_to_be_exported(listening):
    caller = Caller(app_key="k-5f21ab77", own_keys=True)
    one = exchange(V1_QUOTE, headers=(*KEYS, *TIMED), body=b"{}")
    line = line_of(one, listening, caller)
    before = len(listening.requests)
    ended = run(line)
    assert ended.returncode != 0
    assert b"CROSSCHAIN_MOCK_APP_KEY" in ended.stderr
    assert len(listening.requests) == before
    _, headers, _ = arrived(listening, line, CROSSCHAIN_MOCK_APP_KEY="k", SIGNATURE="s")
    assert (dict(headers)["appKey"], dict(headers)["signature"]) == ("k", "s")
    assert dict(headers)["timestamp"] == "1767225600000"


def test_what_has_to_be_exported_signs_the_request():
    one = exchange(V1_QUOTE, headers=(*KEYS, *TIMED, ("expireTime", "15000")), body=b'{"a":"\'"}')
    told = shown(one, BASE, Caller(own_keys=True)).needs
    script = told.partition(", then ")[2].replace(
        "crosschain-mock", f"{sys.executable} -m mockserver"
    )
    ended = run(
        f'{script} && echo "$TIMESTAMP $SIGNATURE"',
        CROSSCHAIN_MOCK_APP_KEY="demo-app-key",
        CROSSCHAIN_MOCK_APP_SECRET="demo-app-secret",  # noqa: S106 (everybody knows it)
        PYTHONPATH=str(ROOT),
    )
    caller = Caller()
    signed = caller.sign_v1(Draft(body={"a": "'"}))
    assert ended.stdout.decode().split() == ["1767225600000", signed.headers["signature"]]


def test_a_time_that_was_now_is_now_again(listening):
    answer = Answer(200, (("Date", "Thu, 01 Jan 2026 00:00:07 GMT"),), b"{}", 5)
    one = exchange(V1_QUOTE, headers=TIMED, body=b"{}", answer=answer)
    line = line_of(one, listening)
    assert "$(($(date +%s)-7))000" in line
    _, headers, _ = arrived(listening, line)
    assert len(dict(headers)["timestamp"]) == 13
    assert dict(headers)["timestamp"] > "1767225600000"
    # A world whose clock stands has a time of its own, which stays.
    far = Answer(200, (("Date", "Sat, 21 Nov 2026 00:00:00 GMT"),), b"{}", 5)
    one = exchange(V1_QUOTE, headers=TIMED, body=b"{}", answer=far)
    assert "timestamp: 1767225600000" in line_of(one, listening)
