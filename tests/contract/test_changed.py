"""What errata change of the reading of a request, and that nothing else can explain a refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver.contract import load
from mockserver.responders.dialect_contracts import Contracts, SchemaPlace, changed, places_of
from mockserver.validation import Violation
from tests.conftest import costly
from tests.contract.test_fast_request_reading import OPERATIONS, odd_request


def _request(**parts):
    return {"type": "object", "properties": parts}


def _part(*required, **inputs):
    return {"type": "object", "properties": inputs, "required": list(required)}


def _in_query(*place):
    return ("properties", "query", *place)


A = _request(query=_part("a", a={"type": "string"}, b={"type": "string"}), body=_part("c"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (_part("a", a={"type": "string"}, b={"type": "string"}), set()),
        (_part("a", "b", a={"type": "string"}, b={"type": "string"}), set()),
        (_part(a={"type": "string"}, b={"type": "string"}), {("required", "a")}),
        (_part("a", a={"type": "string"}, b={"type": "integer"}), {("properties", "b"), ("type",)}),
        (_part("a", a={"type": "string"}), {("properties", "b"), ("type",)}),
        (
            {**_part("a", a={"type": "string"}, b={"type": "string"}), "minProperties": 2},
            {("type",)},
        ),
    ],
)
def test_parts_of_a_schema_that_another_one_has_not_got(query, expected) -> None:
    places = {_in_query(*place) for place in expected}
    assert changed(A, _request(query=query, body=_part("c"))) == places


def test_a_condition_on_texts_is_doubtful_where_they_are_read_differently() -> None:
    tied = {"allOf": [{"if": {"properties": {"b": {"const": 1}}}, "then": {"required": ["a"]}}]}
    one = _request(query={**_part(b={"type": "string"}), **tied})
    other = _request(query={**_part(b={"type": "integer"}), **tied})
    assert _in_query("allOf", 0) in changed(one, other)
    bodies = [_request(body=schema["properties"]["query"]) for schema in (one, other)]
    assert changed(*bodies) == {("properties", "body", "properties", "b")}


def test_a_body_that_is_read_in_one_dialect_alone_may_undo_all() -> None:
    wrong = Violation(("query", "z"), "wrong", "type", _in_query("properties", "z", "type"))
    assert changed(A, _request(query=_part())) & places_of([wrong])


@pytest.mark.parametrize(
    ("path", "place", "undone"),
    [
        (("body", "a"), ("properties", "body", "properties", "a", "allOf", 0, "pattern"), True),
        (("body", "a", 0), ("properties", "body", "properties", "a", "items", "type"), True),
        (("body", "a"), ("properties", "body", "allOf", 1, "then", "properties", "a"), False),
        (("body", "b"), ("properties", "body", "allOf", 2, "additionalProperties"), True),
        (("body", "b"), ("properties", "body", "required"), True),
        (("body", "a"), ("properties", "body", "required"), False),
        (("body",), ("properties", "body", "minProperties"), False),
        (("body",), ("properties", "body", "type"), True),
        (("body",), ("required",), True),
        (("query",), ("required",), False),
        (("body", "a"), (), True),
        (("body", "b"), (), False),
    ],
)
def test_a_violation_may_be_undone_where_its_part_is_another(path, place, undone) -> None:
    body = ("properties", "body")
    places: frozenset[SchemaPlace] = frozenset(
        [
            (*body, "properties", "a"),
            (*body, "allOf", 2),
            (*body, "required", "b"),
            (*body, "type"),
            ("required", "body"),
        ]
    )
    assert bool(places & places_of([Violation(path, "wrong", "x", place)])) is undone


CONTRACTS = Contracts()


@costly(60, 1500)
@given(st.data())
def test_errata_that_are_passed_over_would_explain_nothing(data) -> None:
    dialect, name = data.draw(st.sampled_from(sorted(OPERATIONS)))
    contract = CONTRACTS.get(dialect)
    operation = contract.operation(name)
    request = odd_request(data, operation)
    violations = operation.violations(request)
    for erratum, other, places in CONTRACTS._turned(contract, operation):
        if places.isdisjoint(places_of(violations)):
            assert len(other.violations(request)) >= len(violations), erratum.id


def test_errata_change_what_is_read() -> None:
    documented, observed = load("documented"), load("observed")
    differ = 0
    for one in documented:
        other = next(found for found in observed if found.id == one.id)
        if one.request_schema == other.request_schema:
            assert not changed(one.request_schema, other.request_schema)
        differ += bool(changed(one.request_schema, other.request_schema))
    assert differ > 5
