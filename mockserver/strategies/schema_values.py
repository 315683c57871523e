"""Values of a schema, with all that it leaves open; and those of its documented part alone.

Texts and numbers are the usual ones, and those that parsers stumble over.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.generation.input_values import WIDE, matching
from mockserver.contract import Basis, BasisKind
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, Schema
from mockserver.validation import SchemaCheck

_INSIDE = ("items", "additionalProperties")
_MOST_ITEMS = 3
_NEW_NAMES = ("added", "isNew", "data", "status", "amount", "名", "")
# The smallest first: examples shrink towards it.
_TEXTS = (
    "",
    "0",
    "1",
    "0.1",
    "-0.1",
    "0x",
    "0.000000000000000001",
    str(2**53 + 1),
    str(10**18 + 1),
    "123456789012345678901234",
    "9" * 38,
    "9" * 77,
    "null",
    "NaN",
    "SomethingNew",
    " ",
    '"\\\n\t',
    "é中😀",
    "<b>&amp;</b>",
    "x" * 300,
)

_INTEGERS = (0, 1, 2, 18, 77, -1, 2**31, 2**53 + 1, 2**64, 10**30)
_NUMBERS = (
    0,
    1,
    Decimal("0.1"),
    Decimal("0.000000000000000001"),
    Decimal("123456789.123456789012345678"),
    2**53 + 1,
    10**30,
    -1,
)
_HUGE = 10**18
_LONGEST = 24
# A few of each kind: to choose from all of Unicode, Hypothesis first reads a table for seconds.
_CHARACTERS = f"{WIDE} \t\n\0\u202e\u0301"


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema with its branches merged; what is empty or None is not restricted.

    `members` and `items` are schemas again; `others` is that of members which are not declared.
    """

    types: tuple[str, ...]
    choices: tuple[Json, ...] | None
    patterns: tuple[str, ...]
    least: int | None
    most: int | None
    longest: int | None
    members: Mapping[str, Schema]
    required: frozenset[str]
    items: Schema
    others: Schema


def shape_of(schema: Schema) -> Shape:
    branches = list(_branches(schema))
    named = [branch.get("properties", {}) for branch in branches]
    choices = [tuple(branch["enum"]) for branch in branches if "enum" in branch]
    choices += [(branch["const"],) for branch in branches if "const" in branch]
    types = [branch["type"] for branch in branches if "type" in branch]
    return Shape(
        types=_in_all(
            [
                (type_name,) if isinstance(type_name, str) else tuple(type_name)
                for type_name in types
            ]
        ),
        choices=_in_all(choices) if choices else None,
        patterns=tuple(branch["pattern"] for branch in branches if "pattern" in branch),
        least=max((branch["minimum"] for branch in branches if "minimum" in branch), default=None),
        most=min((branch["maximum"] for branch in branches if "maximum" in branch), default=None),
        longest=min(
            (branch["maxLength"] for branch in branches if "maxLength" in branch), default=None
        ),
        members={
            name: _all_of([schema[name] for schema in named if name in schema])
            for name in dict.fromkeys(name for schema in named for name in schema)
        },
        required=frozenset(name for branch in branches for name in branch.get("required", ())),
        items=_all_of([branch["items"] for branch in branches if "items" in branch]),
        others=_all_of(
            [
                branch["additionalProperties"]
                for branch in branches
                if "additionalProperties" in branch
            ]
        ),
    )


def documented(schema: Schema, inherited: Basis | None = None) -> Schema:
    """Return the part of a schema that the interface description itself demands."""
    basis = (inherited or Basis()).below(schema)
    if basis.kind is not BasisKind.DOCUMENTED:
        return {}
    kept = dict(schema)
    for name in _INSIDE:
        if isinstance(schema.get(name), Mapping):
            kept[name] = documented(schema[name], basis)
    if "properties" in schema:
        kept["properties"] = {
            name: documented(node, basis) for name, node in schema["properties"].items()
        }
    if "allOf" in schema:
        kept["allOf"] = [documented(node, basis) for node in schema["allOf"]]
    return kept


def _branches(schema: Schema) -> Iterator[Schema]:
    yield schema
    for branch in schema.get("allOf", ()):
        yield from _branches(branch)


def _in_all(several: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return (
        tuple(name for name in several[0] if all(name in each for each in several[1:]))
        if several
        else ()
    )


def _all_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"allOf": schemas} if schemas else {}


def values_of(schema: Schema, *, undocumented: bool = False) -> SearchStrategy[Json]:
    """Return values that keep a schema, with and without optional members, and with further ones.

    With `undocumented` only what is documented has to be kept: what was observed or assumed may be
    missing, and may have other values, beside the usual ones.
    """
    return _values(schema, documented(schema) if undocumented else schema)


def _values(ordinary: Schema, firm: Schema) -> SearchStrategy[Json]:
    """Return values that keep the schema `firm`, in the form of `ordinary` where `firm` allows."""
    shape, least = shape_of(ordinary), shape_of(firm)
    if shape.types == ("object",) or shape.members:
        return _widened(_object(shape, least), least)
    if shape.types == ("array",):
        items = _values(shape.items, least.items)
        return _widened(st.lists(items, max_size=_MOST_ITEMS), least)
    return _leaf(shape) if shape == least else st.one_of(_leaf(shape), _leaf(least))


def _widened(values: SearchStrategy[Json], least: Shape) -> SearchStrategy[Json]:
    """Return the values, and others where no type is demanded."""
    return values if least.types or least.members else st.one_of(values, _anything())


def _object(shape: Shape, least: Shape) -> SearchStrategy[Json]:
    members = {
        name: _values(node, least.members.get(name, {})) for name, node in shape.members.items()
    }
    known = [name for name in members if name in least.required]
    unnamed = sorted(least.required - members.keys())
    needed = {name: members.get(name, _anything()) for name in (*known, *unnamed)}
    optional = {name: made for name, made in members.items() if name not in needed}
    declared = st.fixed_dictionaries(needed, optional=optional)
    names = st.sampled_from([name for name in _NEW_NAMES if name not in members])
    others = _values(shape.others, least.others) if shape.others else _anything()
    further = st.dictionaries(names, others, max_size=2)
    # Most objects come as they are known.
    maybe = further if shape.others else st.one_of(st.just({}), st.just({}), further)
    return st.builds(lambda item, more: {**item, **more}, declared, maybe)


def _leaf(shape: Shape) -> SearchStrategy[Json]:
    """Return the values of a schema that is neither an object nor an array."""
    if shape.choices is not None:
        return st.sampled_from(shape.choices)
    if not shape.types:
        return _anything()
    return st.one_of([_of_type(kind, shape) for kind in shape.types])


def _anything() -> SearchStrategy[Json]:
    """Return any JSON value, most of them small."""
    plain = st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(_INTEGERS),
        st.sampled_from(_NUMBERS),
        st.sampled_from(_TEXTS),
        st.text(_CHARACTERS, max_size=_LONGEST),
    )
    return st.one_of(
        plain,
        st.lists(plain, max_size=2),
        st.dictionaries(st.text(_CHARACTERS, max_size=5), plain, max_size=2),
    )


def _of_type(kind: str, shape: Shape) -> SearchStrategy[Json]:
    makers: dict[str, Callable[[Shape], SearchStrategy[Json]]] = {
        "null": lambda _: st.none(),
        "boolean": lambda _: st.booleans(),
        "integer": _integers,
        "number": lambda _: st.sampled_from(_NUMBERS),
        "string": _texts,
        "array": lambda _: st.lists(_anything(), max_size=3),
        "object": lambda _: st.dictionaries(
            st.text(_CHARACTERS, max_size=5), _anything(), max_size=3
        ),
    }
    return makers[kind](shape)


def _integers(shape: Shape) -> SearchStrategy[Json]:
    low = -_HUGE if shape.least is None else shape.least
    high = max(low, 0) + _HUGE if shape.most is None else shape.most
    edges = [integer for integer in (*_INTEGERS, low, high) if _is_within(integer, shape)]
    return st.one_of(st.sampled_from(edges), st.integers(low, high))


def _is_within(number: int, shape: Shape) -> bool:
    return (shape.least is None or number >= shape.least) and (
        shape.most is None or number <= shape.most
    )


def _texts(shape: Shape) -> SearchStrategy[Json]:
    fits = SchemaCheck(
        {
            "allOf": [{"type": "string"}]
            + [{"pattern": pattern} for pattern in shape.patterns]
            + ([] if shape.longest is None else [{"maxLength": shape.longest}])
        }
    ).accepts
    if shape.patterns:
        made = matching(shape.patterns[-1])
    else:
        made = st.text(_CHARACTERS, max_size=min(_LONGEST, shape.longest or _LONGEST))
    edges = [text for text in _TEXTS if fits(text)]
    texts: SearchStrategy[Json] = st.one_of(st.sampled_from(edges), made) if edges else made
    return texts.filter(fits) if len(shape.patterns) > 1 else texts
