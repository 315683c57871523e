"""Breaks survive whatever is asked and whatever is answered, alone and all together."""

from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from mockserver import jsontext
from mockserver.http_messages import Headers, Request, Response
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.breaks import Breaks, MutationContext
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.responders.responder import Call
from tests.breaks.conftest import CONTRACT, played, script, service

TEXTS = ("", "0", "-1", "0.5", "1.", "9" * 300, "\u0663", "\ud7ff\x00", "1e9", "NaN", "true", "0x")
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    Decimal("1e-30"),
    10**100,
    [],
    [1],
    {},
    {"a": None},
    *TEXTS,
)
BODIES = (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":1,"a":2}', b'"text"', b"NaN")
LISTS = ("list", "chains", "tokenVos", "contracts")
INNER = {
    *("nickName", "symbol", "index", "decimals", "contractAddress", "name", "address", "status"),
    *("ticketId", "succeeded", "amountIn", "amountOut", "fee", "gas", "tokenIn", "fromAmount"),
    *("toAmount", "price", "contracts"),
}


def _requests(operation):
    """Return odd requests for an operation."""
    method, path = operation.method, operation.path
    names = [field.name for field in operation.fields]
    found = [Request(method, path, query) for query in ("%ff", "&&=&a", "a=1&a=2")]
    for text in (*TEXTS, "7" * 5000):
        query = "&".join(f"{name}={_escaped(text)}" for name in (*names, "colour"))
        headers = Headers(tuple((name, text) for name in (*names, "Accept-Encoding")))
        found.append(Request(method, path, query, headers))
    for value in VALUES:
        body = jsontext.encode(dict.fromkeys(names, value))
        found.append(Request(method, path, "", Headers(), body))
    return found + [Request(method, path, "", Headers(), raw) for raw in BODIES]


def _escaped(text):
    return "".join(f"%{byte:02x}" for byte in text.encode()) if len(text) < 100 else text


@cache
def _answers(operation_id):
    """Return odd answers: any field of any type, other envelopes, refusals, no JSON."""
    operation = CONTRACT.operation(operation_id)
    envelope, fields = operation.generation.answer, _fields(operation.data_schema)
    items: list[Any] = [1, None, "x", [], {}, *(dict.fromkeys(INNER, value) for value in VALUES)]
    bodies: list[Any] = [envelope(dict.fromkeys(fields, value)) for value in VALUES]
    bodies += [envelope(dict.fromkeys(fields, dict.fromkeys(INNER, value))) for value in VALUES]
    bodies += [envelope(dict.fromkeys(LISTS, items)), envelope(dict.fromkeys(LISTS, items[::-1]))]
    bodies += [envelope({}), envelope([]), envelope(None), {}, [], {"code": False, "data": {}}]
    found = [Response(200, (JSON_TYPE,), jsontext.encode(body)) for body in bodies]
    found += [Response(200, (JSON_TYPE,), raw) for raw in BODIES]
    refusal = jsontext.encode({"code": 3, "msg": "no"})
    found += [Response(200, (JSON_TYPE, (REFUSAL_HEADER, "x: y")), raw) for raw in (refusal, b"[]")]
    return [*found, Response(500, (), b"boom")]


def _always(delivery):
    """Return what answers every call in the same way."""
    return lambda asked: delivery


def _fields(schema):
    """Return the names of the data's members."""
    found = list(schema.get("properties", {}))
    return found + [name for branch in schema.get("allOf", ()) for name in _fields(branch)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_it_survives_odd_requests_and_odd_answers(name):
    one, hosted = CATALOGUE[name], service().worlds.get("odd")
    for operation in (CONTRACT.operation(found) for found in one.operations[:4]):
        empty = jsontext.encode(operation.generation.answer({}))
        good = Delivery(Response(200, (JSON_TYPE,), empty))
        plain = Request(operation.method, operation.path)
        pairs = [(request, good) for request in _requests(operation)]
        pairs += [(plain, Delivery(answer)) for answer in _answers(operation.id)]
        memory: dict[str, Any] = {}
        for request, delivery in pairs:
            call = Call(operation, request, hosted)
            one.act(MutationContext(call, memory, _always(delivery)))
        jsontext.encode(memory)


def test_all_at_once_answer_without_a_defect_and_the_same_again():
    told = played(list(CATALOGUE))
    assert len(told) == sum(step.request is not None for step in script())
    assert [one.delivery for one in played(list(CATALOGUE))] == [one.delivery for one in told]
    assert service().failures == []


def test_odd_requests_reach_no_defect_of_the_server(is_deep):
    # Every odd request to every operation takes long: in a quick run each goes to every third.
    step = 1 if is_deep else 3
    shared = service()
    shared.worlds.get("odd-server").breaks.set(list(CATALOGUE))
    for number, operation in enumerate(CONTRACT):
        for sent in _requests(operation)[number % step :: step]:
            path = f"/w/odd-server{sent.path}"
            shared.answer(Request(sent.method, path, sent.query, sent.headers, sent.body))
    assert shared.failures == []


def test_a_break_leaves_what_it_does_not_name_alone_and_untold():
    breaks, hosted = Breaks(["price-as-number"]), service().worlds.get("odd")
    operation = CONTRACT.operation("v2.getBridgeQuote")
    sent = Delivery(Response(200, (JSON_TYPE,), b"{}"))
    call = Call(operation, Request("GET", operation.path), hosted)
    outcome = breaks.apply(call, lambda asked: sent)
    assert (outcome.delivery, outcome.names, outcome.note) == (sent, (), "")
