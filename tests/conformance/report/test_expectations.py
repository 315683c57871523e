"""What a healthy answer would have been: each expectation as a test that is really run."""

from typing import Any

import pytest

from mockserver import jsontext
from mockserver.conformance.report.expectations import at, expectation_of
from mockserver.conformance.report.testing import test_of as module_of
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Verdict
from tests.conformance.rawserver import http, raw_server
from tests.conformance.report.made import exchange, finding, report
from tests.conformance.report.test_exchanges import pytest_of

QUOTE = {
    "price": "1",
    "outAmount": "100",
    "outAmountUsd": "1.0",
    "serviceFee": "1",
    "gasFee": "1",
}
GOOD = {"code": 0, "msg": "success", "data": QUOTE}
LIST = {"code": 0, "msg": "success", "data": {"version": 1, "list": [{"symbol": "A"}]}}
REFUSED = {"code": 7, "msg": "no", "data": {}}


def without(name):
    return {**GOOD, "data": {key: value for key, value in QUOTE.items() if key != name}}


def priced(value):
    return {**GOOD, "data": {**QUOTE, "price": value}}


# A case is: the wrong answer, the right one, the place, and what else there is to say.
CASES: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "status-500": (http(b"{}", status="500 Oh"), GOOD, "", {}),
    "redirect": (http(b"{}", "Location: /x", status="302 Found"), GOOD, "", {}),
    "not-json": (http(b"nothing"), GOOD, "", {}),
    "not-a-number": (http(b'{"code":0,"msg":"","data":{"price":NaN}}'), GOOD, "", {}),
    "twice": (http(b'{"code":0,"code":0,"msg":"","data":{}}'), GOOD, "", {}),
    "byte-order-mark": (http(b"\xef\xbb\xbf{}"), GOOD, "", {}),
    "no-object": (http(b"[]"), GOOD, "", {}),
    "media-type": (http(jsontext.encode(GOOD), kind="text/plain"), GOOD, "header Content-Type", {}),
    "taken": (GOOD, REFUSED, "query.amount", {"should_refuse": True}),
    "not-taken": (REFUSED, GOOD, "query.amount", {}),
    "extra": (priced("1") | {"more": 1}, GOOD, "more", {"verdict": Verdict.EXTRA}),
    "extra-inside": (
        {**GOOD, "data": {**QUOTE, "more": 1}},
        GOOD,
        "data.more",
        {"verdict": Verdict.EXTRA},
    ),
    "code": ({**GOOD, "code": "0"}, GOOD, "code", {}),
    "code-missing": ({"msg": "success", "data": QUOTE}, GOOD, "code", {}),
    "msg": ({**GOOD, "msg": None}, GOOD, "msg", {}),
    "data": ({**GOOD, "data": []}, GOOD, "data", {}),
    "required": (without("price"), GOOD, "data.price", {}),
    "type": (priced(5), GOOD, "data.price", {}),
    "list-type": (
        {**LIST, "data": {"version": 1, "list": {}}},
        LIST,
        "data.list",
        {"operation": "v2.getAssets"},
    ),
    "pattern": (
        {**GOOD, "data": {**QUOTE, "outAmount": "-1e5"}},
        GOOD,
        "data.outAmount",
        {},
    ),
}


def raw(answer):
    return answer if isinstance(answer, bytes) else http(jsontext.encode(answer))


def read(answer):
    """Return an HTTP answer's bytes as the transport would."""
    head, _, body = raw(answer).partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = tuple(tuple(line.split(": ", 1)) for line in lines)
    return Answer(int(status.split()[1]), headers, body, 3)


def case_of(name):
    """Return the exchange of a case and its finding."""
    broken, _, place, more = CASES[name]
    operation = more.get("operation", "v2.getBridgeQuote")
    one = exchange(operation, path=f"/{name}", answer=read(broken))
    told = {key: value for key, value in more.items() if key != "operation"}
    return one, finding("wrong", one, place=place, **told)


def answering(side):
    """Return a server's way of giving each case its wrong answer, or its right one."""

    async def talk(request, writer):
        name = request.split()[1].decode().strip("/")
        writer.write(raw(CASES[name][side]))
        await writer.drain()

    return talk


def modules(server):
    found = {}
    for name in CASES:
        one, wrong = case_of(name)
        told = report(wrong, exchanges=[one], target=Target(server.url, server.url))
        found[name.replace("-", "_")] = module_of(told.causes[0], told)
    return found


def test_each_test_fails_on_the_wrong_answer_and_passes_on_the_right_one(tmp_path):
    for side, outcome in ((0, "FAILED"), (1, "PASSED")):
        with raw_server(answering(side)) as server:
            found = modules(server)
            came = pytest_of(found, tmp_path / outcome)
        assert came == dict.fromkeys(found, outcome)


@pytest.mark.parametrize("name", CASES)
def test_each_is_told_by_one_answer(name):
    one, wrong = case_of(name)
    expected, exchange_of_it = expectation_of(wrong, wrong.verdict or Verdict.VIOLATION)
    assert expected is not None
    assert exchange_of_it is one


def test_a_good_answer_tells_nothing():
    one = exchange(answer=read(GOOD))
    found = expectation_of(finding("differs", one, place="data.price"), Verdict.VIOLATION)
    assert found == (None, one)


def test_a_cut_answer_is_told_by_reading_it():
    cut = Answer(200, (), b"{", 3, NoAnswer.CUT, "cut")
    expected, _ = expectation_of(finding("cut", exchange(answer=cut)), Verdict.VIOLATION)
    assert expected is not None
    assert expected.lines == ("assert answer.status",)
    late = Answer(0, (), b"", 3, NoAnswer.TIMED_OUT, "late")
    assert expectation_of(finding("late", exchange(answer=late)), Verdict.VIOLATION)[0] is None


def test_beside_a_good_request_the_wrong_one_is_meant():
    sent = "amount=1&symbol=USDT&fromChain=ARB&toChain=BNB"
    good = exchange(query=sent, answer=read(GOOD))
    bad = exchange(query=sent.replace("USDT", "QXZJ"), answer=read(GOOD), number=2)
    wrong = finding("taken", good, bad, place="query.symbol", should_refuse=True)
    expected, best = expectation_of(wrong, Verdict.VIOLATION)
    assert expected is not None
    assert best is bad
    slow = finding("took long", good, place="headers.expireTime")
    assert expectation_of(slow, Verdict.VIOLATION) == (None, good)
    compared = finding("differs", good, exchange(query=sent, answer=read(GOOD), number=3))
    assert expectation_of(compared, Verdict.VIOLATION) == (None, compared.exchanges[-1])
    assert expectation_of(finding("nothing"), Verdict.VIOLATION) == (None, None)


def test_places_lead_to_values():
    value = {"data": {"list": [{"a": 1}, {"b": 2}, 3], "x": [[4], [5]]}}
    assert list(at(value, "data.list[].a")) == [1]
    assert list(at(value, "data.x[][]")) == [4, 5]
    assert list(at(value, "data.none.a")) == []
    assert list(at(value, "")) == [value]
