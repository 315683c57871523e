"""What errata change of the reading of a request, and that nothing else can explain a refusal."""

import pytest

from mockserver.contract import load
from mockserver.responders.dialects import changed, may_undo
from mockserver.validation import Violation


def _request(**parts):
    return {"type": "object", "properties": parts}


def _part(*required, **inputs):
    return {"type": "object", "properties": inputs, "required": list(required)}


def _wrong(*path):
    return Violation(path, "wrong", "type", ())


A = _request(query=_part("a", a={"type": "string"}, b={"type": "string"}), body=_part())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (_part("a", a={"type": "string"}, b={"type": "string"}), set()),
        (_part("a", a={"type": "string"}, b={"type": "integer"}), {("query", "b")}),
        (_part("a", "b", a={"type": "string"}, b={"type": "string"}), {("query", "b")}),
        (_part("a", a={"type": "string"}), {("query", "b")}),
        (
            {**_part("a", a={"type": "string"}, b={"type": "string"}), "minProperties": 2},
            {("query", "*")},
        ),
    ],
)
def test_inputs_of_which_two_schemas_say_different_things(query, expected) -> None:
    assert changed(A, _request(query=query, body=_part())) == expected


def test_a_condition_on_texts_makes_all_of_their_location_doubtful() -> None:
    tied = {"allOf": [{"if": {"properties": {"b": {"const": 1}}}, "then": {"required": ["a"]}}]}
    one = _request(query={**_part(b={"type": "string"}), **tied})
    other = _request(query={**_part(b={"type": "integer"}), **tied})
    assert changed(one, other) == {("query", "b"), ("query", "*")}


def test_a_body_that_is_read_in_one_dialect_alone_may_undo_all() -> None:
    assert may_undo(changed(A, _request(query=_part())), [_wrong("query", "z")])


@pytest.mark.parametrize(
    ("violation", "undone"),
    [
        (_wrong("body", "a"), True),
        (_wrong("body", "a", 0), True),
        (_wrong("body", "b"), False),
        (_wrong("headers", "a"), False),
        (_wrong("body"), True),
        (_wrong("headers"), False),
        (_wrong("query", "c"), True),
    ],
)
def test_a_violation_may_be_undone_where_its_input_is_read_differently(violation, undone) -> None:
    assert may_undo(frozenset({("body", "a"), ("query", "*")}), [violation]) is undone


def test_errata_that_are_passed_over_would_explain_nothing() -> None:
    documented, observed = load("documented"), load("observed")
    differ = 0
    for one in documented:
        other = next(found for found in observed if found.id == one.id)
        differ += one.request_schema != other.request_schema
        assert (changed(one.request_schema, other.request_schema) == frozenset()) is (
            one.request_schema == other.request_schema
        )
    assert differ > 5
