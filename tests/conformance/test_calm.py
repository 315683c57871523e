"""No service is called good, or like another one, that does not do its work."""

import pytest

from mockserver.conformance.comparison import Terms, compare
from mockserver.conformance.options import Options
from mockserver.recordings import Recording, text_of
from tests.conformance.rawserver import http, raw_server, saying
from tests.conftest import frozen
from tests.conftest import running as served
from tests.recordings.test_replay import exchange, quote


def answer(text, status="200 OK", *headers):
    return http(text.encode(), *headers, status=status)


# What a service may say to every request when it is out of order.
OUT_OF_ORDER = {
    "too many requests": answer(
        '{"code":429,"msg":"too many requests","data":null}', "429 Too Many Requests"
    ),
    "too many, with 200": answer('{"code":429,"msg":"too many requests","data":{}}'),
    "maintenance": answer('{"code":1,"msg":"service is under maintenance","data":{}}'),
    "maintenance in both envelopes": answer(
        '{"code":1,"msg":"maintenance","message":"maintenance","success":false,"data":{}}'
    ),
    "unavailable": answer('{"code":1,"msg":"maintenance","data":{}}', "503 Service Unavailable"),
    "refuses everything": answer('{"code":3,"msg":"invalid parameter","data":{}}'),
    "unauthorized": answer('{"code":401,"msg":"unauthorized","data":{}}', "401 Unauthorized"),
    "forbidden": answer('{"code":403,"msg":"forbidden","data":{}}', "403 Forbidden"),
    "error": answer('{"code":500,"msg":"oops","data":{}}', "500 Internal Server Error"),
    "error with 200": answer('{"code":500,"msg":"oops","data":{}}'),
    "succeeds at nothing": answer('{"code":0,"msg":"success","data":{}}'),
    "empties all lists": answer('{"code":0,"msg":"success","data":{"list":[]}}'),
    "an empty object": answer("{}"),
    "an empty list": answer("[]"),
    "null": answer("null"),
    "a number": answer("7"),
    "a text": answer('"down"'),
    "an empty body": answer(""),
    "a page": http(b"<!DOCTYPE html><h1>Back soon</h1>", kind="text/html"),
    "not found": answer('{"error":"no route"}', "404 Not Found"),
    "moved": answer("", "302 Found", "Location: /login"),
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing": b"",
}


QUICK = ("too many requests", "too many, with 200", "maintenance", "unauthorized", "null", "a page")
EACH = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.deep) for name in OUT_OF_ORDER
]


@pytest.mark.parametrize("name", EACH)
@pytest.mark.deep(quick=3)
def test_a_service_that_is_out_of_order_does_not_conform(call, name):
    with raw_server(saying(OUT_OF_ORDER[name])) as server:
        ended = call("conform", "run", server.url, "--quiet")
    assert ended.returncode in (1, 3), ended.stdout
    assert "conforms:" not in ended.stdout


@pytest.mark.parametrize("name", EACH)
@pytest.mark.deep(quick=2)
def test_two_services_that_are_out_of_order_are_not_alike(name):
    with (
        raw_server(saying(OUT_OF_ORDER[name])) as left,
        raw_server(saying(OUT_OF_ORDER[name])) as right,
    ):
        comparison = compare(left.url, right.url, Options())
    if name in ("succeeds at nothing", "empties all lists"):
        # They say that they did their work, and say the same.
        assert comparison.exit_code == 0
    else:
        assert comparison.exit_code == 3, comparison.conclusion
        assert comparison.conclusion.startswith("nothing could be compared")


@pytest.mark.parametrize("name", ["maintenance", "too many requests", "nothing"])
@pytest.mark.deep(quick=1)
def test_one_that_works_and_one_that_does_not_are_not_alike(name):
    with served(frozen()) as good, raw_server(saying(OUT_OF_ORDER[name])) as dead:
        url = f"http://127.0.0.1:{good.port}"
        assert compare(url, dead.url, Options()).exit_code in (1, 3)
        assert compare(dead.url, url, Options()).exit_code in (1, 3)


def test_a_service_that_refuses_all_of_one_generation_is_not_called_good(call):
    with served(frozen()) as good, raw_server(saying(OUT_OF_ORDER["maintenance"])) as dead:
        url = f"http://127.0.0.1:{good.port}"
        ended = call("conform", "run", "--v1", url, "--v2", dead.url, "--quiet")
        assert ended.returncode == 3
        assert "2.0 answered no request with a success" in ended.stdout
        assert "service is under maintenance" in ended.stdout


@pytest.fixture
def recorded(tmp_path):
    """Write recordings of a service, and return the folder."""

    def write(name, *exchanges):
        (tmp_path / name).mkdir()
        recording = Recording("one side", "captured", exchanges, source="https://service.example")
        (tmp_path / name / "kept.yaml").write_text(text_of(recording), "utf-8")
        return str(tmp_path / name)

    return write


def refused(name="quote"):
    return exchange(
        "v2.getBridgeQuote",
        "GET",
        "/v1/getBridgeQuote",
        query={"amount": "1", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"},
        raw='{"code": 1, "msg": "maintenance", "data": {}}',
        name=name,
    )


def listing(*items):
    return exchange(
        "v2.getAssets", "GET", "/v1/getAssets", data={"list": list(items)}, name="assets"
    )


def test_recordings_of_refusals_alone_show_no_service_that_conforms(call, recorded):
    assert call("conform", "run", "--recordings", recorded("refused", refused())).returncode == 3


DRIFTS = {
    "the same": ([listing({"symbol": "USDT"})], [listing({"symbol": "USDT"})], {0}),
    "a list became empty": ([listing({"symbol": "USDT"})], [listing()], {1, 3}),
    "refused before and after": ([refused()], [refused()], {3}),
    "refused now": ([quote("10000000", "9700000000")], [refused()], {1, 3}),
    "other operations": ([listing({"symbol": "USDT"})], [refused()], {3}),
}


@pytest.mark.parametrize("name", DRIFTS)
def test_what_shows_nothing_has_not_stayed_as_it_was(call, recorded, name):
    old, new, statuses = DRIFTS[name]
    ended = call("recordings", "drift", recorded("old", *old), recorded("new", *new))
    assert ended.returncode in statuses, ended.stdout


def test_a_service_that_does_not_answer_has_not_stayed_as_it_was(call, recorded, dead_port):
    old = recorded("old", listing({"symbol": "USDT"}))
    assert call("recordings", "drift", old, f"http://127.0.0.1:{dead_port}").returncode == 3
    with raw_server(saying(OUT_OF_ORDER["maintenance"])) as server:
        assert call("recordings", "drift", old, server.url).returncode == 1


def test_forms_alone_are_compared_where_both_did_their_work():
    with served(frozen()) as good:
        url = f"http://127.0.0.1:{good.port}"
        assert compare(url, url, Options(), Terms()).fulfilled > 0
