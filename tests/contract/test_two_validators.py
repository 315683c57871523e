"""With or without the extra `speed`, the same requests are accepted."""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver.contract import load
from mockserver.validation import SchemaCheck

pytest.importorskip("jsonschema_rs")

OPERATIONS = {one.id: one for dialect in ("documented", "observed") for one in load(dialect)}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**80), 10**80),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "0", "10", "010", "10\n", "1e5", "0x10", "\u0661", "false", "BNB", " BNB", "ab" * 60]
    ),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=2),
)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=list(OPERATIONS))
@settings(deadline=None)
@given(data=st.data())
@pytest.mark.deep(quick=8)
def test_both_validators_agree_on_requests(operation, data):
    example = operation.row.get("example", {})
    instance = {location: dict(example.get(location, {})) for location in ("query", "headers")}
    if "body" in operation.request_schema["properties"]:
        instance["body"] = dict(example.get("body", {}))
    places = [(location, name) for location, part in instance.items() for name in part]
    if places:
        location, name = data.draw(st.sampled_from(places))
        instance[location][name] = data.draw(ODD)
    agreed(operation.request_schema, instance)


@pytest.mark.parametrize(
    ("schema", "value", "accepted"),
    [
        ({"type": "integer"}, Decimal("2.0"), True),
        ({"type": "integer"}, Decimal("2.5"), False),
        ({"type": "integer"}, True, False),
        ({"type": "number", "maximum": 10**60}, Decimal("1E+999999999"), False),
        ({"pattern": "^[0-9]+$"}, "10\n", False),
        ({"pattern": "^[0-9]+$"}, "10", True),
        ({"type": "string"}, "\ud800", True),
        ({"pattern": "^[0-9]+$"}, "\ud800", False),
        ({"properties": {"a": False}}, {"a": 1}, False),
        ({"allOf": [True, False]}, 1, False),
        ({"if": {"type": "string"}, "then": {"type": "integer"}}, "\ud800", False),
        ({"if": {"const": 1}, "else": {"properties": {"a": {"type": "string"}}}}, {"a": 1}, False),
        ({"allOf": [{"anyOf": [{"type": "string"}, {"minimum": 3}]}]}, 2, False),
        ({"if": {"type": "object"}, "then": False}, {}, False),
        ({"propertyNames": False}, {"a": 1}, False),
        ({"allOf": [{"items": {"type": "string"}, "minItems": 3}]}, [1, "a"], False),
        ({"items": {"properties": {"a": {"type": "string"}}}}, [{"a": 1}, {"a": 2}], False),
        ({"properties": {"a": {"pattern": "^[a-z]{1,3}$"}}}, {"a": "abcd"}, False),
        ({"properties": {"0": {"type": "string"}, "": {"type": "string"}}}, {"0": 1, "": 1}, False),
        (
            {
                "required": ["c", "d"],
                "additionalProperties": False,
                "properties": {"a": {"type": "string"}, "b": False, "e": {"enum": [1]}},
            },
            {"a": 1, "b": 1, "e": 2, "f": 1},
            False,
        ),
    ],
)
def test_where_libraries_like_to_differ(schema, value, accepted):
    assert SchemaCheck(schema, compiled=False).accepts(value) is accepted
    agreed(schema, value)


def test_no_pattern_uses_a_class_that_libraries_read_differently():
    patterns = set(_patterns([one.request_schema for one in OPERATIONS.values()]))
    patterns |= set(_patterns([one.response_schema for one in OPERATIONS.values()]))
    assert len(patterns) > 10
    assert [pattern for pattern in patterns if re.search(r"\\[dDsSwWbB]", pattern)] == []


def _patterns(node):
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for value in node.values():
            yield from _patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from _patterns(value)


def agreed(schema, value):
    compiled, plain = SchemaCheck(schema), SchemaCheck(schema, compiled=False)
    assert compiled.accepts(value) == plain.accepts(value)
    # The quick way to explain tells the same, in the same order and from the same places.
    told = plain.violations(value)
    assert compiled.violations(value) == told
    assert compiled.explained(value, long=True) == told
