"""JSON is read strictly and written exactly."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver import jsontext

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False, places=6)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_was_written_is_read_again(value):
    assert jsontext.decode(jsontext.encode(value)) == value


@given(VALUES)
def test_the_readable_form_says_the_same(value):
    assert jsontext.decode(jsontext.pretty(value).encode()) == value


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.lists(VALUES, max_size=9))
def test_pieces_are_the_whole_text(value, items):
    lazy = {**value, "many": {"items": jsontext.LazyArray(iter(items))}}
    pieces = list(jsontext.pieces(lazy, many=2))
    assert b"".join(pieces) == jsontext.encode({**value, "many": {"items": items}})
    assert len(pieces) == 1 + len(items) // 2


@given(VALUES)
def test_other_parsers_read_it_too(value):
    json.loads(jsontext.encode(value))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "expecting value at line 1 column 1"),
        (b"{", "line 1 column 2"),
        (b"[NaN]", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b'{"a": 1, "a": 2}', "the key 'a' is given twice"),
        (b"\xff", "not UTF-8: byte 0xff at offset 0"),
        (b"[" * 65 + b"]" * 65, "nested deeper than 64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper than 64 levels"),
        (b"1" * 5000, "a number with too many digits"),
        (b"1e99999999999999999999", "a number with too large an exponent"),
        (b"[1] x", "extra data"),
        (b'["\t"]', "invalid control character at line 1 column 3"),
        (b'\xef\xbb\xbf{"a": 1}', "begins with a byte order mark"),
        ('{"a": 1}'.encode("utf-16-le"), "not UTF-8 but UTF-16"),
        ('{"a": 1}'.encode("utf-32-be"), "not UTF-8 but UTF-16 or UTF-32"),
        (b"hash=0x41&chain=ARB", "a form, as name=value"),
        (b"hash=", "a form, as name=value"),
        (b"--x\r\nContent-Disposition: form-data; name=a\r\n", "a multipart form"),
        (b"a = 1", "expecting value at line 1 column 1"),
        (b"--", "expecting value at line 1 column 1"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(raw, reason):
    with pytest.raises(jsontext.NotJson, match=reason):
        jsontext.decode(raw)


def test_depth_counts_only_brackets_outside_of_strings():
    text = json.dumps(["[" * 500 + '"\\'])
    assert jsontext.decode(text.encode()) == ["[" * 500 + '"\\']
    assert jsontext.decode(b"[" * 64 + b"]" * 64)
    for broken in (b'"' + b"[" * 65, b'["\\', b"}" * 80 + b"[" * 64):
        with pytest.raises(jsontext.NotJson) as raised:
            jsontext.decode(broken)
        assert "nested" not in str(raised.value)
    for deep in (b"[" * 65, b'{"a":' * 65, b'["\\"]",' * 65):
        with pytest.raises(jsontext.NotJson, match="nested deeper than 64 levels"):
            jsontext.decode(deep)


def test_numbers_stay_exact():
    assert jsontext.decode(b"0.1") == Decimal("0.1")
    assert jsontext.encode([Decimal("1E-7"), Decimal("10.50"), Decimal("1E+3"), Decimal("-0")]) == (
        b"[0.0000001,10.5,1000,0]"
    )


def test_half_a_surrogate_pair_is_escaped():
    assert jsontext.encode(jsontext.decode(b'"\\ud800"')) == b'"\\ud800"'


def test_a_float_is_no_json_of_ours():
    with pytest.raises(TypeError, match="no form for float"):
        jsontext.encode({"amount": 0.1})


_PARTS = st.sampled_from(
    [
        *(
            b'"a"',
            b'"b"',
            b'"x:y"',
            b'"\\u003a"',
            b'"\\ud800"',
            b'"\xc3\xa9"',
            b'"\xff"',
            b'"\x01"',
        ),
        *(b"0", b"-0", b"01", b"1.0", b"1e2", b"9223372036854775807", b"18446744073709551616"),
        *(
            b"true",
            b"null",
            b"NaN",
            b"[]",
            b"[1.5]",
            b"{}",
            b'{"a":1}',
            b" ",
            b"\n",
            b"\xef\xbb\xbf",
        ),
    ]
)
_MEMBERS = st.tuples(_PARTS, _PARTS).map(b":".join)
_OBJECTS = st.lists(_MEMBERS, max_size=4).map(lambda members: b"{%b}" % b",".join(members))


@pytest.fixture(params=["orjson", "json"], scope="module", autouse=True)
def _reader(request):
    """Read with each of the readers that there may be."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "orjson":
            pytest.importorskip("orjson")
        else:
            patch.setattr(jsontext, "_quick_loads", None)
        yield


def _read(raw):
    try:
        # The text tells 1 from True and from 1.0.
        return repr(jsontext.decode(raw))
    except jsontext.NotJson as error:
        return error.args


@given(_OBJECTS | st.lists(_PARTS | _OBJECTS, max_size=3).map(b"".join))
def test_the_quick_reader_reads_nothing_otherwise(raw):
    loads = pytest.importorskip("orjson").loads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsontext, "_quick_loads", loads)
        quick = _read(raw)
        patch.setattr(jsontext, "_quick_loads", None)
        assert quick == _read(raw)


def test_the_quick_reader_is_asked_for_plain_objects_alone():
    loads = pytest.importorskip("orjson").loads
    assert jsontext._plain_object(b'{"a": "b", "c": 1, "d": null}', loads) == {
        "a": "b",
        "c": 1,
        "d": None,
    }
    for odd in (b'{"a": 1.5}', b'{"a": 1, "a": 2}', b'{"a": "x:y"}', b'{"a": []}', b"[]", b"{"):
        assert jsontext._plain_object(odd, loads) is None
