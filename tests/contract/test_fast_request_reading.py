"""What is read value by value comes out as what is read in full, whatever a request looks like."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver.contract import load
from mockserver.contract.fast_request_reading import OtherSchema, tied_names
from mockserver.contract.request_reading import RequestReader
from mockserver.http_messages import Headers, Request
from tests.conftest import costly

OPERATIONS = {
    (dialect, one.id): one
    for dialect in ("documented", "observed")
    for one in load(dialect)
    if one.fields
}
QUICK = {key: RequestReader(one.request_schema) for key, one in OPERATIONS.items()}
FULL = {key: RequestReader(one.request_schema) for key, one in OPERATIONS.items()}
for reader in FULL.values():
    reader.read = reader._read_alone

ODD = st.one_of(
    st.sampled_from(["", "0", "1", "2", "10", "010", "10\n", "1e5", "0x10", "\u0661", "ab" * 60]),
    st.sampled_from(["BNB", " BNB", "%42NB", "a+b", "%ff", "\ud800"]),
    st.sampled_from(["0x", "0x7B7d", "7b7", "7b 7d", "0X7b", "7b\n", "\uff17b"]),
    st.sampled_from([5, -1, True, None, [1], {"a": 1}]),
)


@pytest.fixture(scope="module", autouse=True)
def known():
    """Read an example of each operation, so that what is like it is read value by value."""
    for key, operation in OPERATIONS.items():
        QUICK[key].read(_request(operation, operation.row.get("example", {})))


def _request(operation, told, query=None):
    pairs = told.get("query", {}).items() if query is None else query
    body = json.dumps(told["body"]).encode() if "body" in told else b""
    headers = Headers([(name, str(value)) for name, value in told.get("headers", {}).items()])
    text = "&".join(f"{name}={value}" for name, value in pairs)
    return Request(operation.method, operation.path, text, headers, body)


def _outcome(reader, request):
    inputs = reader.read(request)
    return dict(inputs), inputs.violations, inputs.refusal, inputs.reason


def odd_request(data, operation):
    """Return an example of an operation's request, changed in some places."""
    told = {part: dict(said) for part, said in operation.row.get("example", {}).items()}
    for _ in range(data.draw(st.integers(0, 3))):
        part = data.draw(st.sampled_from(["headers", "query", "body"]))
        said = told.setdefault(part, {}) if part != "body" or "body" in told else {}
        names = [*said, *(one.name for one in operation.fields), "unknown"]
        name = data.draw(st.sampled_from(names))
        if data.draw(st.booleans()):
            said.pop(name, None)
        else:
            said[name] = data.draw(ODD)
    pairs = list(told.get("query", {}).items())
    pairs += data.draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []
    return _request(operation, told, data.draw(st.permutations(pairs)))


@costly(40, 1000)
@given(st.data())
def test_both_ways_of_reading_agree(data) -> None:
    key = data.draw(st.sampled_from(sorted(OPERATIONS)))
    request = odd_request(data, OPERATIONS[key])
    wanted = _outcome(FULL[key], request)
    assert _outcome(QUICK[key], request) == wanted
    assert _outcome(QUICK[key], request) == wanted, "remembered wrongly"
    assert FULL[key].violations(request) == wanted[1]


def test_what_is_right_is_read_value_by_value_once_the_like_is_known() -> None:
    read = 0
    for key, operation in OPERATIONS.items():
        request = _request(operation, operation.row.get("example", {}))
        inputs = FULL[key].read(request)
        # What getSign signs has no names.
        if not inputs.violations and not inputs.refusal and operation.id != "v1.getSign":
            quick = QUICK[key]._quick
            assert quick is not None
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(quick, "_in_full", None)
                assert quick.read(request) == inputs
            read += 1
    assert read > len(OPERATIONS) // 2


@pytest.mark.parametrize("name", ["v2.getBridgeQuote", "v2.checkOrder", "v2.getPrice"])
@pytest.mark.parametrize("place", [0, -1])
def test_a_query_with_one_new_value_is_read_as_any_other(name: str, place: int) -> None:
    key = ("documented", name)
    *pairs, (at, text) = OPERATIONS[key].row["example"]["query"].items()
    pairs.insert(len(pairs) if place else 0, (at, text))
    role, _ = pairs[place]
    odd = ["", "0", "010", "10\n", "1e5", "%31", "1+0", "\u0661", "\ud800", "a b", "ab" * 300]
    for value in [*("7", "8", "9"), *odd, "7&" + role + "=8", "1&unknown=1", "11"]:
        pairs[place] = role, value
        request = _request(OPERATIONS[key], {}, pairs)
        assert _outcome(QUICK[key], request) == _outcome(FULL[key], request), value
    quick = QUICK[key]._quick
    assert quick is not None
    assert quick._rests


@pytest.mark.parametrize("colon", [":", ": "])
@pytest.mark.parametrize("spread", [("toAddr", "0"), ("channel", ' "sourceCerts": "ab" ')])
def test_a_body_with_one_new_value_is_read_as_any_other(colon: str, spread) -> None:
    key = ("documented", "v2.submitOrder")
    told = OPERATIONS[key].row["example"]
    body = {**told["body"], spread[0]: spread[1] * 3}
    at, written = body["sourceCerts"], json.dumps(body, separators=(",", colon))
    odd = ["", "0", "7b\n", "7b 7d", "\\u0037b", "7\x00b", "\uff17b", "\ud800", '7b"', "7b\\", "[]"]
    more = ['7b","sourceCerts":"7d', '7b","unknown":"7d', '7b"} {"', "00" * 3_000]
    quick = QUICK[key]._quick
    assert quick is not None
    for value in ["7b" * 300, "7B8d", *odd, *more, "7d" * 300]:
        text = written.replace(at, value)
        request = _request(OPERATIONS[key], {"headers": told["headers"]})
        request = replace(request, body=text.encode("utf-8", "surrogatepass"))
        assert _outcome(QUICK[key], request) == _outcome(FULL[key], request), value
    assert quick._framed(request)
    for old, new in [("{", "["), ("{", '{"toAddr":"0",'), ("}", "}}"), ("}", ""), ('"1"', '"01"')]:
        request = replace(request, body=text.replace(old, new).encode())
        assert _outcome(QUICK[key], request) == _outcome(FULL[key], request), new


def test_a_condition_ties_the_inputs_that_it_names() -> None:
    part = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {}, "c": {}},
        "required": ["a"],
        "allOf": [
            {"properties": {"a": {}, "b": {"x-basis": "assumed"}}, "additionalProperties": False},
            {"if": {"properties": {"a": {"const": "1"}}}, "then": {"required": ["c"]}},
        ],
    }
    assert tied_names(part) == frozenset({"a"})


@pytest.mark.parametrize(
    "part", [{"minProperties": 1}, {"additionalProperties": {"type": "string"}}, {"$ref": "#/x"}]
)
def test_other_words_leave_the_schema_to_the_whole_reading(part) -> None:
    with pytest.raises(OtherSchema):
        tied_names(part)
    schema = {"properties": {"query": {**part, "properties": {"a": {"type": "string"}}}}}
    assert RequestReader(schema)._quick is None
