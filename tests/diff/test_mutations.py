"""Whatever is changed in a contract is noticed, and nothing that is read makes it fail."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.openapi import document
from mockserver.errors import CrosschainMockError
from tests.conftest import costly
from tests.diff.conftest import document as small
from tests.diff.conftest import query, versions

Path = tuple[str | int, ...]

ORIGINAL = json.loads(jsontext.encode(document(load("observed"), None, version="1")))
_OTHER_TYPE = {"string": "boolean"}


def _schemas(node: Any, path: Path = (), *, inside: bool = False) -> Iterator[Path]:
    """Yield the path of every schema of a document."""
    if inside and isinstance(node, Mapping):
        yield path
    children = node.items() if isinstance(node, Mapping) else enumerate(node)
    for key, child in children:
        if isinstance(child, dict | list) and key not in ("required", "enum", "example", "const"):
            below = key == "schema" or (inside and key not in ("properties", "allOf", "anyOf"))
            within = inside and path[-1:] in (("properties",), ("allOf",), ("anyOf",))
            yield from _schemas(child, (*path, key), inside=below or within or _named(path, key))


def _named(path: Path, key: object) -> bool:
    """Tell whether a key names a schema: a field, or a place in a list of schemas."""
    return "schema" in path and path[-1:] in (("properties",), ("allOf",), ("anyOf",))


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _mutations(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield what can be put in the place of a keyword so that the meaning changes."""
    node = _at(ORIGINAL, path)
    if isinstance(node.get("type"), str):
        yield "type", _OTHER_TYPE.get(node["type"], "string")
        yield "not", {"const": "zz"}
        yield "x-unheard-of-keyword".removeprefix("x-"), 1
        yield "description", "said in another way"
    if node.get("type") == "string":
        yield "maxLength", 0
    if "pattern" in node:
        yield "pattern", "^zz$"
    if "minimum" in node:
        # Above what any other branch asks for.
        yield "minimum", node["minimum"] + 10**30
    if "enum" in node and "properties" not in node:
        yield "enum", node["enum"][1:]
    beside = _required_beside(path)
    for name in node.get("required", ()):
        # What another schema of the same value requires as well is still required.
        if name not in beside:
            yield "required", [one for one in node["required"] if one != name]
    for name in node.get("properties", {}):
        if "type" in node:
            yield "properties", {key: one for key, one in node["properties"].items() if key != name}


def _required_beside(path: Path) -> set[str]:
    """Return what all other schemas of the value require that a schema is about."""
    whole = path
    while whole[-1] in ("then", "else") or whole[-2] == "allOf":
        whole = whole[:-1] if whole[-1] in ("then", "else") else whole[:-2]
    own, found, left = _at(ORIGINAL, path), set[str](), [_at(ORIGINAL, whole)]
    while left:
        node = left.pop()
        left += [*node.get("allOf", ()), *(node[key] for key in ("then", "else") if key in node)]
        found |= set(node.get("required", ())) if node is not own else set()
    return found


def _sent(path: Path) -> bool:
    """Tell whether an answer is held to a schema: a success without envelope has no other form."""
    bare = "schema" in path and "else" in _at(ORIGINAL, path[: path.index("schema") + 1])
    return "if" not in path and not (bare and path.count("then") > 1)


POINTS = [
    (path, keyword, value)
    for path in _schemas(ORIGINAL)
    if _sent(path)
    for keyword, value in _mutations(path)
]


def alone(point: str | int) -> dict[str, Any]:
    """Return the document with a single path in it, which is as good and much faster."""
    return {**ORIGINAL, "paths": {point: copy.deepcopy(ORIGINAL["paths"][point])}}


def test_a_changed_keyword_is_noticed_both_ways(is_deep):
    # All of them take a minute: in a quick run every hundredth is changed.
    for path, keyword, value in POINTS[:: 1 if is_deep else 100]:
        original, found = alone(path[1]), alone(path[1])
        _at(found, path)[keyword] = value
        assert versions(original, found).changes, (path, keyword, value)
        assert versions(found, original).changes, (path, keyword, value)


def test_there_is_much_to_change():
    assert len(POINTS) > 1000
    assert {keyword for _, keyword, _ in POINTS} >= {"type", "required", "properties", "pattern"}


_KEYWORDS = st.sampled_from(
    [
        *("type", "enum", "const", "pattern", "minimum", "exclusiveMaximum", "maxLength"),
        *("properties", "items", "additionalProperties", "allOf", "anyOf", "oneOf", "not", "if"),
        *("then", "else", "$ref", "multipleOf", "format", "default", "x-basis", "x-section"),
        *("patternProperties", "required"),
    ]
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.decimals(-2, 2, places=1)
    | st.sampled_from(["string", "integer", "object", "array", "a", "^a+$", "#/paths", "#/"])
    | st.sampled_from(["assumed", "#/components/schemas/A", "#/components/schemas/B"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYWORDS | st.sampled_from("ab"), inner, max_size=3)
    ),
    max_leaves=8,
)


def good(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas that are well-formed, nested so deep at most."""
    inner = good(depth - 1) if depth else st.just({})
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "object", "array", ["null", "number"]]),
            "enum": st.lists(st.sampled_from(["a", 1, None, True]), max_size=3),
            "pattern": st.sampled_from(["^a+$", "b", "(?=a)"]),
            "minimum": st.decimals(-2, 2, places=1),
            "maxLength": st.integers(0, 3),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "items": inner,
            "allOf": st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "additionalProperties": st.booleans() | inner,
            "$ref": st.sampled_from(["#/components/schemas/A", "#/components/schemas/B"]),
        },
    )


GOOD = good(2)


def holding(schema: Any, other: Any) -> dict[str, Any]:
    found = small(body=schema, data=other, parameters=[query(schema)])
    schemas = {"A": schema, "B": {"properties": {"a": other, "b": {"type": "string"}}}}
    return {**found, "components": {"schemas": schemas}}


def complaint(old: Any, new: Any) -> str | None:
    """Return what is said against a pair that cannot be compared; anything else must not happen."""
    try:
        versions(old, new)
    except CrosschainMockError as error:
        return str(error)
    return None


@given(_VALUES, _VALUES)
def test_no_schema_whatever_makes_it_fail(one, other):
    problem = complaint(holding(one, other), holding(other, one))
    assert problem is None or ".json" in problem


@costly(quick=10, deep=1000)
@given(GOOD, GOOD)
def test_a_good_schema_is_equal_to_itself_and_compared_with_any_other(one, other):
    pair = holding(one, other), holding(other, one)
    problem = complaint(*pair)
    if problem is None:
        assert versions(pair[0], pair[0]).changes == ()
        assert bool(versions(*pair).changes) is bool(versions(*reversed(pair)).changes)
    else:
        assert "leads back to itself" in problem


def _places(node: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _places(child, (*path, key))


SMALL = json.loads(json.dumps(holding({"type": "object"}, {"type": "array", "items": {}})))
PLACES = [place for place in _places(SMALL) if place]


@given(st.sampled_from(PLACES), _VALUES)
def test_no_document_whatever_makes_it_fail(place, value):
    found = copy.deepcopy(SMALL)
    _at(found, place[:-1])[place[-1]] = value
    problem = complaint(SMALL, found)
    assert problem is None or ".json" in problem
