"""What the rules about HTTP and JSON say of answers as they come over a socket, and by hand."""

import asyncio
import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import outcome_of
from mockserver.conformance.options import Options
from mockserver.conformance.requests.unusual_http import (
    HOSTILE,
    UNKNOWN_PATH,
    WRONG_METHOD,
    is_outside_the_contract,
)
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import UNREACHED, Verdict
from mockserver.contract import Layer
from mockserver.testing import running
from tests.conformance.exchanges import (
    CONTRACT,
    UNJUDGED,
    answer,
    answered,
    by_probe,
    context_of,
    exchange,
    judged,
)
from tests.conformance.rawserver import http, raw_server, saying
from tests.conftest import costly

GOOD = {"code": 0, "msg": "success", "data": {"price": "1", "updateTime": "1", "source": "x"}}
PRICE = "v2.getPrice"
VIOLATION = Verdict.VIOLATION


def of_server(talk, rule, operation="v2.getChain", **limits):
    """Return what a rule says of a server that answers everything alike."""
    with raw_server(talk) as server:
        options = Options(only=(rule,), most_bytes=100_000, **{"request_ms": 60_000, **limits})
        result = run(Target(server.url, server.url), options)
    (outcome,) = [one for one in result.outcomes if one.operation.id == operation]
    return outcome


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (b"", "the body is empty"),
        (b"<html><body>maintenance</body></html>", "the body is a page of HTML or XML"),
        (b'{"code":0', "the body is not JSON"),
        (b'{"code":0,"msg":"ok', "the body ends too early"),
        (b'{"code":0} // fine', "something follows the JSON"),
        (b'{"code":0,"code":0}', "a member is there twice"),
        (b'{"code":0,"price":NaN}', "a number is none"),
        (b'\xef\xbb\xbf{"code":0}', "the body begins with a byte order mark"),
        (b'{"code":0,"msg":"\xe9"}', "the body is not UTF-8"),
        (b'{"a":1e99999999999999999999}', "the body is not JSON"),
    ],
)
def test_a_body_that_is_no_strict_json_is_found(raw, cause):
    outcome = judged("body-is-strict-json", PRICE, exchange(PRICE, answer(raw)))
    assert outcome.verdict is VIOLATION
    assert [finding.cause for finding in outcome.findings] == [cause]
    refused = judged("body-is-strict-json", PRICE, exchange(PRICE, answer(raw, status=400)))
    assert refused.basis_of(refused.findings[0]).reference == "7"


@pytest.mark.parametrize(
    ("name", "is_spoilt"),
    [
        *(("Café", False), ("Tether USD₮", False), ("Ã", False), ("漢字 é", False)),
        *(("CafÃ©", True), ("Tether USD\u00e2\u201a\u00ae", True), ("æ¼¢", True)),
    ],
)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_text_that_was_encoded_twice_is_told(name, is_spoilt, ascii_only):
    body = json.dumps({**GOOD, "msg": name}, ensure_ascii=ascii_only).encode()
    outcome = judged("body-is-strict-json", PRICE, exchange(PRICE, answer(body)))
    expected = ["text encoded twice"] if is_spoilt else []
    assert [finding.cause for finding in outcome.findings] == expected


@pytest.mark.parametrize(
    "raw", [b'{\n  "code": 3\n}\n', '{"code":3,"msg":"é \\u00e9"}'.encode(), b'{"code":3}']
)
def test_any_way_to_write_json_is_taken(raw):
    outcome = judged("body-is-strict-json", PRICE, exchange(PRICE, answer(raw)))
    assert outcome.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("application/json", Verdict.HOLDS),
        ("application/json; charset=UTF-8", Verdict.HOLDS),
        ("Application/JSON;charset=utf8", Verdict.HOLDS),
        ("application/vnd.api+json", Verdict.HOLDS),
        ("text/json", Verdict.HOLDS),
        ("text/html; charset=utf-8", Verdict.DIFFERS_ASSUMPTION),
        ("application/octet-stream", Verdict.DIFFERS_ASSUMPTION),
        ("application/json; charset=gbk", Verdict.DIFFERS_ASSUMPTION),
        (None, Verdict.DIFFERS_ASSUMPTION),
    ],
)
def test_the_media_type_says_json(kind, verdict):
    headers = (("content-type", kind),) if kind else ()
    one = exchange(PRICE, answer(GOOD, headers=headers))
    assert judged("media-type-is-json", PRICE, one).verdict is verdict


@pytest.mark.parametrize(
    ("status", "verdict"), [(200, Verdict.HOLDS), (206, Verdict.DIFFERS_OBSERVED)]
)
def test_success_comes_with_200(status, verdict):
    one = exchange(PRICE, answer(GOOD, status=status))
    assert judged("success-is-http-200", PRICE, one).verdict is verdict


def test_a_server_error_is_found_and_a_service_that_is_down_is_not_accused():
    broken = exchange(PRICE, answer({"code": 500, "msg": "oops"}, status=500), number=2)
    good = exchange(PRICE, answer(GOOD))
    found = judged("no-server-error", PRICE, good, broken)
    assert found.verdict is Verdict.DIFFERS_ASSUMPTION
    down = exchange(PRICE, answer(b"", status=503))
    assert judged("no-server-error", PRICE, down).verdict is Verdict.INCONCLUSIVE
    assert judged("no-server-error", PRICE, good).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("statuses", "headers", "verdict"),
    [
        ({3: 503}, (("Retry-After", "1"),), Verdict.INCONCLUSIVE),
        # A single operation that is away is no service that is busy, nor is one that is so often.
        ({3: 503}, (), Verdict.DIFFERS_ASSUMPTION),
        ({3: 503, 4: 503}, (("Retry-After", "1"),), Verdict.DIFFERS_ASSUMPTION),
        ({3: 500}, (("Retry-After", "1"),), Verdict.DIFFERS_ASSUMPTION),
    ],
)
def test_a_service_that_is_seldom_busy_is_not_accused(statuses, headers, verdict):
    every = [
        exchange(
            PRICE,
            answer({"code": 503, "msg": "busy"}, status=statuses[number], headers=headers)
            if number in statuses
            else answer(GOOD),
            number=number,
        )
        for number in range(60)
    ]
    assert judged("no-server-error", PRICE, *every).verdict is verdict


def test_a_redirect_of_one_operation_is_found_and_one_of_all_is_not_judged():
    moved = answer(b"", status=302, headers=(("Location", "/login"),))
    good = exchange(PRICE, answer(GOOD))
    other = exchange("v2.getChain", moved)
    assert judged("no-redirect", "v2.getChain", good, other).verdict is VIOLATION
    both = (exchange(PRICE, moved), other)
    assert judged("no-redirect", "v2.getChain", *both).verdict is Verdict.INCONCLUSIVE
    assert judged("no-redirect", PRICE, good).verdict is Verdict.HOLDS


async def endless(_, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("talk", "cause"),
    [
        (saying(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}"), NoAnswer.CUT),
        (saying(b""), NoAnswer.CUT),
        (saying(b"nonsense\r\n\r\n"), NoAnswer.BROKEN_HTTP),
        (saying(http(b" " * 200_000)), NoAnswer.TOO_LARGE),
        (saying(http(b"{}", "Content-Encoding: gzip")), NoAnswer.CUT),
    ],
)
def test_an_answer_that_does_not_arrive_in_whole_is_found(talk, cause):
    outcome = of_server(talk, "answers-are-whole")
    assert outcome.verdict is VIOLATION
    assert [finding.cause for finding in outcome.findings] == [cause]


@pytest.mark.usefixtures("wall_time")
def test_an_answer_that_does_not_end_is_found():
    outcome = of_server(endless, "answers-are-whole", request_ms=700, time_ms=8_000)
    assert outcome.verdict is VIOLATION
    assert [finding.cause for finding in outcome.findings] == [NoAnswer.TIMED_OUT]


def test_a_service_that_is_away_is_not_accused(dead_port):
    url = f"http://127.0.0.1:{dead_port}"
    result = run(Target(url, url), Options())
    verdicts = {outcome.verdict for outcome in result.outcomes}
    assert verdicts <= {*UNREACHED, Verdict.NOT_APPLICABLE}


def test_a_body_is_compressed_only_where_that_was_asked():
    packed = gzip.compress(json.dumps(GOOD).encode())
    talk = saying(http(packed, "Content-Encoding: gzip"))
    assert of_server(talk, "no-unasked-compression").verdict is Verdict.DIFFERS_ASSUMPTION
    plain = saying(http(json.dumps(GOOD).encode()))
    assert of_server(plain, "no-unasked-compression").verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        *(
            (text, Verdict.HOLDS)
            for text in ("0", "120", "Fri, 31 Dec 1999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994")
        ),
        *((text, Verdict.DIFFERS_ASSUMPTION) for text in ("-1", "1.5", "soon", "30 s")),
    ],
)
@pytest.mark.parametrize("status", [200, 503])
def test_a_wait_is_seconds_or_a_date(shown, verdict, status):
    one = exchange("v2.getChain", answer(GOOD, status, (("Retry-After", shown),)))
    assert judged("headers-of-answers-hold", "v2.getChain", one).verdict is verdict


_AT = "Fri, 31 Dec 1999 23:59:59 GMT"
_OF_EMPTY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
_MD5_OF_EMPTY = "1B2M2Y8AsgTpgAmY7PhCfg=="


@pytest.mark.parametrize(
    ("headers", "cause"),
    [
        ({"Date": _AT, "Last-Modified": "Sat, 01 Jan 2000 07:59:59 GMT"}, "Last-Modified"),
        ({"Date": _AT, "Last-Modified": "Sat, 01 Jan 2000 00:00:20 GMT"}, ""),
        ({"Date": _AT, "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"}, ""),
        ({"Date": _AT, "Last-Modified": "soon"}, ""),
        ({"Last-Modified": _AT}, ""),
        ({"Content-Digest": f"sha-256=:{_OF_EMPTY}:"}, ""),
        ({"Content-Digest": "sha-256=:AAAA:"}, "Content-Digest"),
        ({"Content-Digest": f"new=:AAAA:, sha-256=:{_OF_EMPTY}:"}, ""),
        ({"Repr-Digest": "sha-512=:AAAA:"}, "Repr-Digest"),
        ({"Repr-Digest": "sha-256=:AAAA:", "Content-Encoding": "gzip"}, ""),
        ({"Digest": f"SHA-256={_OF_EMPTY},MD5={_MD5_OF_EMPTY}"}, ""),
        ({"Digest": "md5=AAAA"}, "Digest"),
        ({"Content-MD5": _MD5_OF_EMPTY}, ""),
        ({"Content-MD5": "AAAA"}, "Content-MD5"),
    ],
)
def test_headers_of_an_answer_hold_together(headers, cause):
    one = exchange("v2.getChain", answer(b"", 200, tuple(headers.items())))
    outcome = judged("headers-of-answers-hold", "v2.getChain", one)
    assert [finding.cause for finding in outcome.findings] == [cause] * bool(cause)
    assert outcome.verdict is (Verdict.DIFFERS_ASSUMPTION if cause else Verdict.HOLDS)


@pytest.mark.parametrize(
    ("operation", "status", "shown", "cause"),
    [
        ("v2.getChain", 206, "bytes 0-9/40", ""),
        ("v2.getChain", 206, "bytes 0-10/40", "Content-Range"),
        ("v2.getChain", 200, "bytes 0-10/40", ""),
        ("v2.getChain", 304, "", ""),
        ("v1.getCrossChainQuote", 304, "", "not modified"),
    ],
)
def test_a_part_is_as_long_as_it_says_and_only_reading_is_not_modified(
    operation, status, shown, cause
):
    one = exchange(operation, answer(b"0123456789", status, (("Content-Range", shown),)))
    outcome = judged("headers-of-answers-hold", operation, one)
    assert [finding.cause for finding in outcome.findings] == [cause] * bool(cause)


@pytest.mark.parametrize(("wbits", "judged_well"), [(15, True), (-15, False)])
def test_what_is_called_deflate_is_in_the_format_of_zlib(wbits, judged_well):
    packer = zlib.compressobj(wbits=wbits)
    packed = packer.compress(json.dumps(GOOD).encode()) + packer.flush()
    outcome = of_server(
        saying(http(packed, "Content-Encoding: deflate")), "headers-of-answers-hold"
    )
    assert (outcome.verdict is Verdict.HOLDS) == judged_well


def test_equal_requests_have_answers_of_equal_form():
    data = {"version": 1, "list": []}
    one = exchange("v2.getChain", answer({"code": 0, "msg": "success", "data": data}))
    same = exchange(
        "v2.getChain",
        answer({"code": 0, "msg": "fine", "data": {"version": 2, "list": [{}]}}),
        "last look",
        2,
    )
    other = exchange(
        "v2.getChain",
        answer({"code": 0, "msg": "success", "data": {**data, "version": "1"}}),
        "last look",
        2,
    )
    name = "equal-requests-are-answered-alike"
    assert judged(name, "v2.getChain", one, same).verdict is Verdict.HOLDS
    assert judged(name, "v2.getChain", one, other).verdict is Verdict.DIFFERS_ASSUMPTION
    assert judged(name, "v2.getChain", one).verdict is Verdict.VACUOUS


@pytest.mark.parametrize(
    ("rule", "operation", "words"),
    [
        ("unknown-path-is-no-success", "v2.getChain", UNKNOWN_PATH),
        ("wrong-method-is-no-success", "v1.getCrossChainQuote", WRONG_METHOD),
    ],
)
def test_what_no_operation_answers_is_no_success(rule, operation, words):
    def outcome(came):
        return judged(rule, operation, exchange(operation, came, words)).verdict

    assert outcome(answer({"code": 0, "msg": "success", "data": {}})) is Verdict.EXTRA
    assert outcome(answer({"code": 404, "msg": "no"}, status=404)) is Verdict.HOLDS
    assert outcome(answer(b"<html>", status=405)) is Verdict.HOLDS
    away = Answer(0, trouble=NoAnswer.UNREACHABLE)
    assert outcome(away) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (answer({"code": 3, "msg": "no"}), Verdict.HOLDS),
        (answer(b"too long", status=414), Verdict.HOLDS),
        (answer({"code": 1, "msg": "oops"}, status=500), Verdict.DIFFERS_ASSUMPTION),
        (Answer(0, trouble=NoAnswer.CUT), Verdict.DIFFERS_ASSUMPTION),
        (Answer(0, trouble=NoAnswer.TIMED_OUT), Verdict.DIFFERS_ASSUMPTION),
    ],
)
def test_hostile_text_does_not_break_the_service(came, verdict):
    operation = "v1.getTransferToMinterRaw"
    good = exchange(operation, answer({"code": 3, "msg": "no"}))
    hostile = exchange(operation, came, HOSTILE, 2)
    outcome = judged("survives-hostile-text", operation, good, hostile)
    assert outcome.verdict is verdict


def test_what_http_itself_refuses_needs_no_envelope(healthy):
    page = answer(b"<html>405</html>", status=405, headers=(("Content-Type", "text/html"),))
    for probe in ("v1.getCrossChainQuote/wrong method", "v1.getCrossChainQuote/body truncated"):
        beneath = healthy[probe]
        assert is_outside_the_contract(beneath)
        for rule in RULES:
            if rule.layer is Layer.PROTOCOL and beneath.operation.id in rule.operations:
                outcome = outcome_of(rule, context_of([answered(beneath, page)]), beneath.operation)
                assert not outcome.findings, rule.name
    assert not is_outside_the_contract(healthy["v1.getCrossChainQuote/usual"])


@pytest.fixture(scope="module")
def healthy():
    with running(clock="auto") as mock:
        yield by_probe(run(Target(mock.url, mock.url), rules=UNJUDGED).exchanges)


LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["0", "", "abc"])
NAMES = st.sampled_from(
    ["code", "msg", "data", "status", "list", "version", "symbol", "contracts", "chains", "index"]
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
SUCCESS = JSON.map(lambda data: {"code": 0, "msg": "success", "status": 0, "data": data})
ANSWERS = st.builds(
    Answer,
    status=st.sampled_from([0, 200, 200, 200, 204, 302, 400, 404, 429, 500, 503]),
    headers=st.lists(
        st.tuples(st.sampled_from(["Content-Type", "Location"]), st.text(max_size=30)), max_size=2
    ).map(tuple),
    body=st.binary(max_size=50)
    | (SUCCESS | JSON).map(lambda body: json.dumps(body).encode("utf-8", "surrogatepass"))
    | st.sampled_from([b'{"code":0.0,"data":{"version":1e400}}', b'{"code":' + b"9" * 5000 + b"}"]),
    elapsed_ms=st.integers(0, 20_000),
    trouble=st.sampled_from([None, None, None, *NoAnswer]),
)


@costly(quick=4, deep=12)
@given(st.lists(ANSWERS, min_size=1, max_size=5), st.integers(1, 7))
def test_no_answer_whatever_makes_a_rule_fail(healthy, answers, step):
    """Every rule is asked about a run in which some answers are replaced by anything at all."""
    context = context_of(
        answered(one, answers[number % len(answers)]) if number % step == 0 else one
        for number, one in enumerate(healthy.values())
    )
    for rule in RULES:
        for operation in map(CONTRACT.operation, rule.operations):
            outcome = outcome_of(rule, context, operation)
            assert "a defect of this rule" not in outcome.reason, outcome.id
            assert all(outcome.basis_of(finding).reference for finding in outcome.findings)
