"""Answers are written as the schema says, whichever way they are written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver import jsontext
from mockserver.contract.answer_writing import writer_of
from mockserver.engine.order_statuses import Status

TEXT = {"type": "string"}
SCHEMA = {"properties": {"a": TEXT, "b%s": TEXT, 'c"': {"type": ["string", "null"]}}}
MIXED = {"properties": {**SCHEMA["properties"], "n": {"type": "integer"}}}
VALUES = st.one_of(st.text(max_size=5), st.integers(), st.none(), st.just(Status.PENDING))
NAMES = st.sampled_from([*MIXED["properties"], "unknown"])


@given(st.dictionaries(NAMES, VALUES))
def test_objects_of_texts_are_written_as_all_others(value) -> None:
    one, other = writer_of(SCHEMA)(value), writer_of(MIXED)({**value, "n": 1})
    before, _, _ = other.rpartition('"n":1')
    assert one == f"{before.rstrip(',')}}}"
    told = json.loads(one)
    assert list(told) == [name for name in SCHEMA["properties"] if name in value]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "x", "b%s": "y", 'c"': "z"}, r'{"a":"x","b%s":"y","c\"":"z"}'),
        ({"a": "x", "b%s": 5, 'c"': None}, r'{"a":"x","b%s":"5","c\"":null}'),
        ({"b%s": "y", "d": "left out"}, '{"b%s":"y"}'),
        ("no object", '"no object"'),
    ],
)
def test_an_object_shows_the_members_that_its_schema_has(value, text) -> None:
    assert writer_of(SCHEMA)(value) == text
    assert jsontext.decode(text.encode()) is not None
