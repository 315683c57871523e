"""Whatever is sent to the control API, the answer is what was asked for or a sentence."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mockserver.http_messages import Headers, Request
from mockserver.jsontext import decode, encode
from mockserver.server.assembly import build
from mockserver.server.control import ROWS
from mockserver.server.service import Service
from mockserver.validation import SchemaCheck
from tests.conftest import WALLET, frozen, order

TEXTS = st.sampled_from(
    [
        *("BNB", "ARB", "BSC", "USDT", "MOON", "default", "a b", "", "1", "30000000001", "slow"),
        *("15s", "0s", "36500d", "1h30m", "2026-01-01T00:00:00Z", "2026-02-30T00:00:00Z"),
        *(
            "9999-12-31T23:59:59+00:00",
            "0001-01-01T00:00:00+23:59",
            "v2.getChain",
            "fail",
            "\ud800",
        ),
        *("crosschain-mock/world@1", "0x", WALLET, "observed", "E-01", "list[0].symbol", "time"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.integers() | TEXTS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def bodies(form: Any) -> st.SearchStrategy[Any]:
    """Return bodies that are nearly, and often quite, of a form."""
    if "oneOf" in form:
        return st.one_of([bodies(variant) for variant in form["oneOf"]])
    if "const" in form:
        return st.just(form["const"])
    if "enum" in form:
        return st.sampled_from(form["enum"]) | VALUES
    if "properties" in form:
        required = form.get("required", ())
        named = {name: bodies(schema) for name, schema in form["properties"].items()}
        return st.fixed_dictionaries(
            {name: named[name] for name in required},
            optional={name: value for name, value in named.items() if name not in required},
        )
    if form.get("type") == "array" and "items" in form:
        return st.lists(bodies(form["items"]), max_size=2) | VALUES
    if form.get("type") == "integer":
        return st.integers(form.get("minimum", -3), form.get("maximum", 10**6)) | VALUES
    return TEXTS | VALUES


@pytest.fixture(scope="module")
def service() -> Service:
    """A service with an order in it."""
    found = build(frozen())
    wallet = Headers((("Evmaddress", WALLET), ("Signature", "ab" * 65)))
    found.answer(Request("POST", "/v1/submitOrder", "", wallet, encode(order())))
    return found


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.body is not None and row.path != "/chains/{chain}"],
    ids=lambda row: f"{row.method} {row.path}",
)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
@pytest.mark.deep(quick=10)
def test_a_row_answers_its_form_or_a_sentence(service, row, data):
    body = data.draw(bodies(row.body) | VALUES)
    path = row.path.replace("{id}", "30000000001")
    request = Request(row.method, f"/w/any/__mock{path}", "", Headers(), encode(body))
    # A question makes no world, and would be refused for that alone.
    service.worlds.get("any")
    response = service.answer(request).response
    told = decode(response.body)
    if response.status == 200:
        assert not SchemaCheck(row.answer).violations(told)
    else:
        assert response.status == 400
        assert told["error"]
    # A world that was moved to the end of time serves no further example.
    service.worlds.drop("any")
