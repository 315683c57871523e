"""Violations say where, what came and what would be right."""

import sys
from decimal import Decimal

import pytest

from mockserver.suggestions import did_you_mean
from mockserver.validation import SchemaCheck, excerpt

SCHEMA = {
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {
            "type": "string",
            "description": "how much",
            "allOf": [{"pattern": "^[0-9]+$", "x-expects": "a whole number"}],
        },
        "side": {"enum": ["buy", "sell"]},
        "level": {"type": "integer", "minimum": 0, "maximum": 10},
        "list": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 5}]},
        "one": {"const": 1},
        "text": {"type": ["string", "null"], "minLength": 2},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, "amount: missing, it is required (how much)"),
        ({"amount": "1.5"}, "amount: expected a whole number, got '1.5'"),
        ({"amount": 1}, "amount: expected a string, got an integer, 1"),
        (
            {"amount": "1", "sides": 1},
            (
                "sides: unknown name; did you mean 'side'? "
                "(allowed: amount, either, level, list, one, side, text)"
            ),
        ),
        (
            {"amount": "1", "side": "bye"},
            "side: expected one of 'buy', 'sell'; did you mean 'buy', got 'bye'",
        ),
        ({"amount": "1", "level": 11}, "level: expected at most 10, got an integer, 11"),
        (
            {"amount": "1", "level": Decimal("1E+999999999")},
            "level: expected at most 10, got a number, 1E+999999999",
        ),
        ({"amount": "1", "list": [True, 1]}, "list[1]: expected a boolean, got an integer, 1"),
        (
            {"amount": "1", "list": [True] * 3},
            "list: expected at most 2 items, got an array with 3 items",
        ),
        (
            {"amount": "1", "either": 4},
            (
                "either: fits none of the allowed forms: expected a string, got an integer, 4; "
                "or expected at least 5, got an integer, 4"
            ),
        ),
        ({"amount": "1", "one": 2}, "one: expected 1, got an integer, 2"),
        ({"amount": "1", "text": 7}, "text: expected a string or null, got an integer, 7"),
        ({"amount": "1", "text": "x"}, "text: expected at least 2 characters, got 'x'"),
        ([], "expected an object, got an array with 0 items"),
        (None, "expected an object, got null"),
    ],
)
def test_a_violation_is_a_sentence(value, told):
    assert told in [str(violation) for violation in SchemaCheck(SCHEMA).violations(value)]


def test_what_keeps_the_schema_has_no_violation():
    good = {"amount": "1", "side": "buy", "level": 3, "list": [True], "either": 5, "one": 1}
    assert SchemaCheck(SCHEMA).violations(good) == ()


def test_all_violations_come_in_one_pass():
    found = SchemaCheck(SCHEMA).violations({"side": 1, "level": -1, "odd": 1})
    assert [violation.field for violation in found] == ["amount", "level", "odd", "side"]


def test_a_long_value_is_cut_and_never_breaks_the_line():
    assert excerpt("x" * 500).endswith("... (502 characters)")
    assert "\n" not in excerpt("a\nb")
    assert excerpt(10**500) == "an integer of many digits"


def test_only_near_names_are_suggested():
    assert did_you_mean("FromChain", ["fromChain", "toChain"]) == "; did you mean 'fromChain'?"
    assert did_you_mean("zzz", ["fromChain"]) == ""


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"pattern": "^[^ \\t]{2,300}$"}, ["ab", "a" * 300, 7], ["a", "a" * 301, "a b", "a\tb"]),
        ({"pattern": "^[a-z]{2,3}$", "maxLength": 2}, ["ab"], ["abc", "a", "AB"]),
        ({"pattern": "^(?:[a-z]{2,3})$"}, ["ab", "abc"], ["a", "abcd"]),
        ({"properties": {"pattern": {"type": "string"}}}, [{"pattern": "a"}], [{"pattern": 1}]),
        (
            {"const": {"pattern": "^[a]{1,3}$"}},
            [{"pattern": "^[a]{1,3}$"}],
            [{"pattern": "^[a]*$"}],
        ),
    ],
)
def test_patterns_that_count_say_the_same_however_they_are_read(schema, right, wrong):
    for check in (SchemaCheck(schema), SchemaCheck(schema, compiled=False)):
        assert [value for value in [*right, *wrong] if check.accepts(value)] == right
        assert all(check.violations(value) for value in wrong)


def test_a_pattern_that_counts_far_takes_little_memory():
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = [SchemaCheck({"pattern": "^[^ ]{1,1000}$", "$comment": str(n)}) for n in range(200)]
    assert all(check.accepts("x") for check in kept)
    # 400 MiB where each of them counts its characters.
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / KIBIBYTES < 40


KIBIBYTES = 1024 * (1024 if sys.platform == "darwin" else 1)
"""Units of the memory that the system tells of, in a mebibyte."""
