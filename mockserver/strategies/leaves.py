"""Texts and numbers of answers: the usual ones, and those that parsers stumble over."""

from collections.abc import Callable
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver.conformance.generation.patterns import WIDE, matching
from mockserver.jsontext import Json
from mockserver.strategies.shape import Shape
from mockserver.validation import SchemaCheck

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
"""The smallest first: examples shrink towards it."""

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
_CHARACTERS = f"{WIDE} \t\n\0\u202e\u0301"
"""A few of each kind: to choose from all of Unicode, Hypothesis first reads a table for seconds."""


def leaf(shape: Shape) -> SearchStrategy[Json]:
    """Return the values of a schema that is neither an object nor an array."""
    if shape.choices is not None:
        return st.sampled_from(shape.choices)
    if not shape.types:
        return anything()
    return st.one_of([_of_type(kind, shape) for kind in shape.types])


def anything() -> SearchStrategy[Json]:
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
        "array": lambda _: st.lists(anything(), max_size=3),
        "object": lambda _: st.dictionaries(
            st.text(_CHARACTERS, max_size=5), anything(), max_size=3
        ),
    }
    return makers[kind](shape)


def _integers(shape: Shape) -> SearchStrategy[Json]:
    low = -_HUGE if shape.least is None else shape.least
    high = max(low, 0) + _HUGE if shape.most is None else shape.most
    edges = [one for one in (*_INTEGERS, low, high) if _is_within(one, shape)]
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
    found: SearchStrategy[Json] = st.one_of(st.sampled_from(edges), made) if edges else made
    return found.filter(fits) if len(shape.patterns) > 1 else found
