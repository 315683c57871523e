"""What is no service at all is told as such, with a base address that would answer."""

import asyncio

import pytest

from mockserver import jsontext
from mockserver.conformance.options import Options
from mockserver.conformance.runs.wrong_service import (
    WrongService,
    hints,
    silenced,
    why_wrong_service,
)
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.conformance.rawserver import http, raw_server, saying
from tests.conformance.report.pack import judged

PAGE = http(b"<!DOCTYPE html><h1>We are back soon</h1>", kind="text/html")


def asked(target, **options):
    """Return the result of a run with its doubts, and what is told of them."""
    why_not = WrongService()
    chosen = Options(**options)
    result = judged("", chosen, target=target, why_not=why_not)
    lines, counted = hints(why_not.wrong_service, result, chosen)
    return why_not, lines, counted, silenced(counted, why_not.wrong_service)


def at(server, path=""):
    return Target(f"{server.url}{path}", f"{server.url}{path}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (PAGE, "it is an HTML page (HTTP 200)"),
        (http(b"", status="404 Not Found"), "it knows no such path (HTTP 404)"),
        (http(b"", "Location: /login", status="302 Found"), "it redirects (HTTP 302 to /login)"),
        (
            http(b"", "Location: http://[/<script>", status="301 Moved"),
            "it redirects (HTTP 301 to http://[/<script>)",
        ),
        (http(b"down", status="503 Away"), "it answers HTTP 503 without the envelope"),
        (b"", "the connection ends without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "what answers speaks no HTTP"),
    ],
)
@pytest.mark.deep(quick=3)
def test_what_is_no_service_is_named_and_left_alone(answer, said):
    with raw_server(saying(answer)) as server:
        why_not, lines, result, silent = asked(at(server))
        assert said in why_not.wrong_service["v2"]
        assert said in lines[0]
        # Three lists, then addresses near by, and nothing else.
        assert result.requests <= 20
        assert {line.split()[1].rpartition("/")[2] for line in server.lines} <= {
            *("getChain", "getAssets", "getSupportChains"),
        }
    assert {outcome.verdict for outcome in silent.outcomes} <= {
        Verdict.INCONCLUSIVE,
        Verdict.NOT_RUN,
    }


@pytest.mark.parametrize(
    "answer",
    [
        http(b'\xef\xbb\xbf{"code":0,"msg":"success","data":{}}'),
        http(b'{"code":"0"}', kind="text/html"),
        http(b'{"code":7,"msg":"no","data":{}}'),
        http(b'{"code":7,"msg":"no","data":{}}', status="500 Oh"),
        http(b""),
    ],
)
def test_a_service_with_a_defect_is_left_to_the_rules(answer):
    with raw_server(saying(answer)) as server:
        why_not, lines, result, _ = asked(at(server))
    assert why_not.wrong_service == {}
    assert lines == ()
    assert result.requests > 5


@pytest.mark.parametrize("path", ["/v1", "/open/v1", "/open/v1/base", "/v1/getChain"])
def test_the_base_address_that_answers_is_found(server, path):
    base = server.world().base_url
    target = Target(base + path, base + path)
    _, lines, result, _ = asked(target)
    [line] = lines
    assert f"{base} does: give that as base address" in line
    assert line.startswith(f"{base}{path} does not answer as the service")
    assert result.submissions == 0


def test_one_generation_alone_is_told_alone(server):
    base = server.world().base_url
    why_not, lines, _, silent = asked(Target(f"{base}/open", base))
    assert list(why_not.wrong_service) == ["v1"]
    assert "as the v1 service" in lines[0]
    verdicts = {o.verdict for o in silent.outcomes if o.operation.generation.id == "v2"}
    assert Verdict.HOLDS in verdicts


def test_the_other_scheme_is_tried(server):
    base = server.world().base_url
    wrong = base.replace("http:", "https:")
    _, lines, _, _ = asked(Target(wrong, wrong))
    assert f"{base} does: give that as base address" in lines[0]
    assert "no TLS connection" in lines[0]


def test_longer_addresses_are_tried():
    fine = http(jsontext.encode({"code": 0, "msg": "success", "data": {}, "status": 0}))

    async def gateway(request, writer):
        writer.write(fine if b" /api/" in request else http(b"no", status="404 Not Found"))
        await writer.drain()

    with raw_server(gateway) as server:
        _, lines, _, _ = asked(at(server))
        assert f"{server.url}/api does" in lines[0]


def test_where_it_redirects_to_is_tried():
    fine = http(jsontext.encode({"code": 0, "msg": "success", "data": {}, "status": 0}))

    async def moved(request, writer):
        path = request.split()[1].decode()
        there = path.startswith("/new/place")
        writer.write(
            fine if there else http(b"", f"Location: /new/place{path}", status="301 Moved")
        )
        await writer.drain()

    with raw_server(moved) as server:
        _, lines, _, _ = asked(at(server))
        assert f"{server.url}/new/place does" in lines[0]


@pytest.mark.usefixtures("wall_time")
def test_a_hint_keeps_budget_and_time():
    with raw_server(saying(http(b"", status="404 Not Found"))) as server:
        _, _, result, _ = asked(at(server, "/a/b/c"), budget=4)
        assert len(server.requests) == result.requests == 4

    async def silent(_, writer):
        await asyncio.sleep(60)

    with raw_server(silent) as server:
        why_not, _, result, _ = asked(at(server), time_ms=900, request_ms=300)
        assert "no answer comes in time" in why_not.wrong_service["v2"]
        # Each takes 300 ms at the least, so there is no time for more.
        assert 1 <= len(server.requests) <= 4


def test_a_foreign_host_is_no_candidate():
    answer = http(b"", "Location: http://example.invalid/v1/getChain", status="301 Moved")
    with raw_server(saying(answer)) as server:
        _, lines, _, _ = asked(at(server))
    assert "no base address near by does either" in lines[0]


def test_nothing_asked_is_nothing_strange():
    assert why_wrong_service([], "v2") == ""


@pytest.fixture(scope="module")
def server():
    with running(clock="auto", refusals="allow") as mock:
        yield mock
