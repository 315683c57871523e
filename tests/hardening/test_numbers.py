"""Numbers that would be long when written out: refused where they are read, never expanded."""

import pytest

from mockserver import jsontext
from tests.server.test_bad_input import QUOTE

HUGE = (b"1e999999999", b"1e5000", b"-1e5000", b"1e-999999999", b"1E+99999", b"0e99999", b"1e1001")
LONG = (b"1e1000", b"-1.5e-999", b"1e400", b"1e101", b"123456789e90")


@pytest.mark.parametrize("number", HUGE)
def test_a_number_that_is_too_long_written_out_is_not_read(number):
    with pytest.raises(jsontext.NotJson, match="exponent"):
        jsontext.decode(b'{"a": %s}' % number)


@pytest.mark.parametrize("number", LONG)
def test_a_long_number_is_read_and_written_about_as_long_as_it_came(number):
    value = jsontext.decode(b"[%s]" % number)
    written = jsontext.encode(value)
    assert len(written) < len(number) + 110
    assert jsontext.decode(written) == value


def test_many_digits_are_refused_before_they_are_turned_into_a_number():
    for text in (b"9" * 5000, b"0." + b"9" * 5000, b"1." + b"0" * 5000 + b"e5"):
        with pytest.raises(jsontext.NotJson, match="too many digits"):
            jsontext.decode(b"[" + text + b"]")


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/submitOrder", b'{"a": %s}'),
        ("/open/v1/order/getCrossChainQuote", b'{"amount": %s}'),
        ("/no/such/path", b'{"a": [%s]}'),
    ],
)
def test_the_journal_stays_readable(mock, number, path, body):
    sent = body % number
    answer = mock.post(path, sent, headers=mock.keys)
    assert answer.status in (400, 404)
    (entry,) = mock.control("GET", "/journal")["entries"]
    # What is no JSON to us is shown as the text that came.
    assert entry["request"]["body"] == sent.decode()
    assert mock.control("GET", "/check")["unexpectedRefusals"]


@pytest.mark.parametrize("number", HUGE)
def test_stubs_and_calls_of_a_chain_do_not_take_them(mock, number):
    stub = b'{"operation": "v2.getChain", "response": {"status": 200, "body": %s}}' % number
    call = b'{"jsonrpc": "2.0", "id": %s, "method": "eth_chainId"}' % number
    answer = mock.post("/__mock/stubs", stub)
    assert (answer.status, "exponent" in answer.json["error"]) == (400, True)
    error = mock.post("/__mock/chains/ARB", call).json["error"]
    assert (error["code"], "exponent" in error["message"]) == (-32700, True)


@pytest.mark.parametrize("number", LONG)
def test_an_identifier_of_a_call_comes_back_as_it_was_meant(mock, number):
    call = b'{"jsonrpc": "2.0", "id": %s, "method": "eth_chainId"}' % number
    answer = mock.post("/__mock/chains/ARB", call)
    assert answer.json["id"] == jsontext.decode(number)
    assert len(answer.raw) < 300


@pytest.mark.parametrize("number", [b"1", b"0", b'"a"', b"null"])
def test_an_identifier_of_a_call_is_of_a_kind_that_calls_have(mock, number):
    call = b'{"jsonrpc": "2.0", "id": %s, "method": "eth_chainId"}'
    assert mock.post("/__mock/chains/ARB", call % number).json["id"] == jsontext.decode(number)
    for odd in (b"[" * 50 + b"]" * 50, b"{}", b"true"):
        answer = mock.post("/__mock/chains/ARB", call % odd)
        assert answer.json["error"]["code"] == -32600
        assert answer.json["id"] is None


def test_a_body_nested_as_deep_as_can_be_read_leaves_the_journal_readable(mock):
    deep = b"[" * jsontext.MAX_DEPTH + b"]" * jsontext.MAX_DEPTH
    mock.post("/v1/submitOrder", deep, headers=mock.wallet)
    (entry,) = mock.control("GET", "/journal")["entries"]
    assert entry["request"]["body"] == deep.decode()


def test_an_amount_with_an_exponent_is_still_named(mock):
    body = jsontext.encode({**QUOTE, "amount": 77}).replace(b"77", b"1e400")
    answer = mock.post("/open/v1/order/getCrossChainQuote", body, headers=mock.keys)
    assert answer.status == 200
    assert "'amount'" in answer.refusal
